// SPDX-License-Identifier: BSD-3-Clause
/*
 * Open ELF files with a cache of their pages and of the names that were asked for. The vdso is
 * ours: the kernel maps the same one into every process of this machine's kind.
 */
#include "stack/image.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "elf/demangle.h"
#include "elf/elf.h"

#define PAGE 4096u
#define PAGES 1024u		/* 4 MiB */
#define VDSO_MAX (64u << 10)
#define DELETED " (deleted)"

struct image {
	int fd;
	char *path;
	char *file;		/* build id and path */
	struct elf_file *elf;
	struct map names;	/* vaddr -> name, 0: none */
};

struct page {
	uint64_t number;	/* page of the image, from 1 */
	unsigned int image;
	char data[PAGE];
};

struct images {
	VEC(struct image *) all;
	struct map by_key;	/* hash of device and inode -> number; 0: no ELF file */
	struct strpool *names;
	struct page *pages;	/* by hash; the newest stays */
};

struct images *images_new(void)
{
	struct images *is = calloc(1, sizeof(*is));

	if (!is)
		return NULL;
	is->names = strpool_new();
	is->pages = calloc(PAGES, sizeof(*is->pages));
	if (is->names && is->pages)
		return is;
	images_free(is);
	errno = ENOMEM;
	return NULL;
}

static void free_image(struct image *im)
{
	elf_file_close(im->elf);
	if (im->fd >= 0)
		close(im->fd);
	map_free(&im->names);
	free(im->path);
	free(im->file);
	free(im);
}

void images_free(struct images *is)
{
	if (!is)
		return;
	for (size_t i = 0; i < is->all.n; i++)
		free_image(is->all.v[i]);
	VEC_FREE(&is->all);
	map_free(&is->by_key);
	strpool_free(is->names);
	free(is->pages);
	free(is);
}

/* ---- opening ------------------------------------------------------------------------------ */

static int open_vdso(void)
{
	const char *vdso = (const char *)getauxval(AT_SYSINFO_EHDR);
	int fd = vdso ? memfd_create("gpuprof-vdso", MFD_CLOEXEC) : -1;

	/* It is mapped page by page; what is behind it ends the copy. */
	for (size_t at = 0; fd >= 0 && at < VDSO_MAX; at += PAGE)
		if (pwrite(fd, vdso + at, PAGE, (off_t)at) != PAGE)
			break;
	return fd;
}

static char *clean_path(const char *path)
{
	size_t len = strlen(path), tail = strlen(DELETED);

	return strndup(path, len > tail && !strcmp(path + len - tail, DELETED) ? len - tail : len);
}

static char *describe(struct elf_file *ef, const char *path)
{
	char hex[ELF_BUILD_ID_TEXT];
	struct strbuf sb = STRBUF_INIT;

	elf_build_id(ef, hex, sizeof(hex));
	strbuf_addf(&sb, "%s %s", *hex ? hex : "-", path);
	return strbuf_detach(&sb);
}

/* The new image's number, 0 or -ENOMEM. fd is taken. */
static int add_image(struct images *is, int fd, const char *path)
{
	struct image *im = calloc(1, sizeof(*im)), **place;
	int err = -ENOMEM;

	if (!im) {
		close(fd);
		return -ENOMEM;
	}
	im->fd = fd;
	im->path = clean_path(path);
	errno = ENOMEM;
	im->elf = im->path ? elf_file_open(fd, im->path) : NULL;
	if (!im->elf && errno != ENOMEM)
		err = 0;
	im->file = im->elf ? describe(im->elf, im->path) : NULL;
	place = im->file ? VEC_PUSH(&is->all) : NULL;
	if (!place) {
		free_image(im);
		return err;
	}
	*place = im;
	return (int)is->all.n;
}

/* While an image is open its inode number belongs to no other file. */
int images_find(struct images *is, const struct target_mapping *m)
{
	bool vdso = !m->ino && !strcmp(m->path, "[vdso]"), is_new;
	struct map_slot *slot;
	int number = 0, fd;

	if (!m->ino && !vdso)
		return 0;
	slot = map_put(&is->by_key, map_hash(map_hash(m->dev) ^ m->ino), &is_new);
	if (!slot)
		return -ENOMEM;
	if (!is_new)
		return (int)slot->value;
	fd = is->all.n >= IMAGES_MAX ? -1 : vdso ? open_vdso() : target_mapping_open(m);
	if (fd >= 0)
		number = add_image(is, fd, m->path);
	if (number > 0)
		slot->value = (uint64_t)number;
	return number;
}

/* ---- reading ------------------------------------------------------------------------------ */

static struct image *at(const struct images *is, unsigned int image)
{
	return image && image <= is->all.n ? is->all.v[image - 1] : NULL;
}

/* A page of what is loaded; NULL: not all of it is. */
static const char *find_page(struct images *is, unsigned int image, uint64_t number)
{
	struct page *p = &is->pages[map_hash(number ^ (uint64_t)image << 52) % PAGES];

	if (p->image == image && p->number == number + 1)
		return p->data;
	p->image = 0;
	if (elf_read_loaded(at(is, image)->elf, number * PAGE, p->data, PAGE))
		return NULL;
	p->image = image;
	p->number = number + 1;
	return p->data;
}

int images_read(struct images *is, unsigned int image, uint64_t vaddr, void *buf, size_t len)
{
	const struct image *im = at(is, image);
	const char *page;

	if (!im)
		return -EFAULT;
	if (vaddr % PAGE + len <= PAGE) {
		page = find_page(is, image, vaddr / PAGE);
		if (page) {
			memcpy(buf, page + vaddr % PAGE, len);
			return 0;
		}
	}
	return elf_read_loaded(im->elf, vaddr, buf, len);
}

void images_each_loaded(const struct images *is, unsigned int image,
			void (*fn)(void *ctx, uint64_t vaddr, uint64_t len), void *ctx)
{
	const struct image *im = at(is, image);

	if (im)
		elf_each_loaded(im->elf, fn, ctx);
}

const char *images_file(const struct images *is, unsigned int image)
{
	const struct image *im = at(is, image);

	return im ? im->file : NULL;
}

/* ---- names -------------------------------------------------------------------------------- */

struct asked {
	uint64_t vaddr, offset;
};

static int compare_asked(const void *a, const void *b)
{
	const struct asked *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

static int keep_name(struct images *is, struct image *im, uint64_t vaddr, const char *symbol)
{
	struct map_slot *slot = map_put(&im->names, vaddr, NULL);

	if (slot && symbol)
		slot->value = (uintptr_t)elf_demangle_kept(is->names, symbol);
	return slot && (!symbol || slot->value) ? 0 : -ENOMEM;
}

/* asked and a are in the same order: elf_name_addresses sorts by offset. */
static int name_asked(struct images *is, struct image *im, const struct asked *asked,
		      struct elf_address *a, size_t n)
{
	int err;

	for (size_t i = 0; i < n; i++)
		a[i].offset = asked[i].offset;
	err = elf_name_addresses(im->elf, a, n);
	err = err == -ENOMEM ? err : 0;
	for (size_t i = 0; i < n; i++) {
		if (!err)
			err = keep_name(is, im, asked[i].vaddr, a[i].name);
		free(a[i].name);
	}
	return err;
}

int images_name(struct images *is, unsigned int image, const uint64_t *vaddrs, size_t n)
{
	struct image *im = at(is, image);
	struct asked *asked = im && n ? calloc(n, sizeof(*asked)) : NULL;
	struct elf_address *a = asked ? calloc(n, sizeof(*a)) : NULL;
	size_t k = 0;
	int err = -ENOMEM;

	if (!im || !n)
		return 0;
	if (a) {
		for (size_t i = 0; i < n; i++) {
			asked[k].vaddr = vaddrs[i];
			if (!map_find(&im->names, vaddrs[i]) &&
			    !elf_find_offset(im->elf, vaddrs[i], &asked[k].offset))
				k++;
		}
		qsort(asked, k, sizeof(*asked), compare_asked);
		err = k ? name_asked(is, im, asked, a, k) : 0;
	}
	free(asked);
	free(a);
	return err;
}

const char *images_function(const struct images *is, unsigned int image, uint64_t vaddr)
{
	const struct image *im = at(is, image);
	const struct map_slot *slot = im ? map_find(&im->names, vaddr) : NULL;

	return slot ? (const char *)(uintptr_t)slot->value : NULL;
}
