// SPDX-License-Identifier: BSD-3-Clause
#include "stack/images.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/str.h"
#include "elf/elf.h"

#define IMAGES_MAX 2048u	/* files kept open */
#define PAGE 4096u
#define PAGES 1024u		/* 4 MiB */
#define VDSO_MAX (64u << 10)

struct image_page {
	uint64_t number;	/* page of the image, from 1 */
	unsigned int image;
	char data[PAGE];
};

static void free_image(struct image *im)
{
	elf_file_close(im->elf);
	close(im->fd);
	map_free(&im->names);
	free(im->file);
}

void images_free(struct images *images)
{
	for (size_t i = 0; i < images->all.n; i++)
		free_image(&images->all.v[i]);
	VEC_FREE(&images->all);
	map_free(&images->by_key);
	free(images->pages);
}

/* A copy of our vdso: the kernel maps the same one into every process of this machine's kind. */
static int open_vdso(void)
{
	const char *vdso = (const char *)getauxval(AT_SYSINFO_EHDR);
	int fd = vdso ? memfd_create("gpuprof-vdso", MFD_CLOEXEC) : -1;

	/* It is mapped page by page; an unmapped page ends the copy. */
	for (size_t at = 0; fd >= 0 && at < VDSO_MAX; at += PAGE)
		if (pwrite(fd, vdso + at, PAGE, (off_t)at) != PAGE)
			break;
	return fd;
}

/* The new image's number, 0 (no ELF file) or -ENOMEM. fd is taken. */
static int add_image(struct images *images, int fd, const char *mapped)
{
	char *path = strndup(mapped, str_len_without(mapped, " (deleted)")), hex[ELF_BUILD_ID_TEXT];
	struct image im = { .fd = fd }, *place;
	struct strbuf file = STRBUF_INIT;
	int err;

	errno = ENOMEM;
	im.elf = path ? elf_file_open(fd, path) : NULL;
	err = im.elf || errno == ENOMEM ? -ENOMEM : 0;
	if (im.elf) {
		elf_build_id(im.elf, hex, sizeof(hex));
		strbuf_addf(&file, "%s %s", *hex ? hex : "-", path);
		im.file = strbuf_detach(&file);
	}
	free(path);
	place = im.file ? VEC_PUSH(&images->all) : NULL;
	if (!place) {
		free_image(&im);
		return err;
	}
	*place = im;
	return (int)images->all.n;
}

/* While an image is open its inode number belongs to no other file. */
int images_find(struct images *images, const struct target_mapping *m)
{
	bool vdso = !m->ino && !strcmp(m->path, "[vdso]"), is_new;
	struct map_slot *slot;
	int number = 0, fd;

	if (!m->ino && !vdso)
		return 0;
	slot = map_put(&images->by_key, map_hash(map_hash(m->dev) ^ m->ino), &is_new);
	if (!slot)
		return -ENOMEM;
	if (!is_new)
		return (int)slot->value;
	fd = images->all.n >= IMAGES_MAX ? -1 : vdso ? open_vdso() : target_mapping_open(m);
	if (fd >= 0)
		number = add_image(images, fd, m->path);
	if (number > 0)
		slot->value = (uint64_t)number;
	return number;
}

/* By a page that is loaded as a whole, or without one. */
int images_read(struct images *images, unsigned int image, uint64_t vaddr, void *buf, size_t len)
{
	const struct elf_file *ef = images_at(images, image)->elf;
	uint64_t number = vaddr / PAGE;
	struct image_page *p;

	if (!images->pages)
		images->pages = calloc(PAGES, sizeof(*images->pages));
	if (!images->pages || vaddr % PAGE + len > PAGE)
		return elf_read_loaded(ef, vaddr, buf, len);
	p = &images->pages[map_hash(number ^ (uint64_t)image << 52) % PAGES];
	if (p->image != image || p->number != number + 1) {
		p->image = 0;
		if (elf_read_loaded(ef, number * PAGE, p->data, PAGE))
			return elf_read_loaded(ef, vaddr, buf, len);
		p->image = image;
		p->number = number + 1;
	}
	memcpy(buf, p->data + vaddr % PAGE, len);
	return 0;
}
