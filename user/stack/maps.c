// SPDX-License-Identifier: BSD-3-Clause
/*
 * Where code is mapped, and where its unwind tables are: they are loaded with it, so they are
 * read from memory, where deleted files and the vdso have them as well. Only where no program
 * header has them (static programs), the file's section headers are used.
 */
#include "stack/maps.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/map.h"
#include "base/sorted.h"
#include "base/str.h"
#include "base/time.h"
#include "base/vec.h"
#include "elf/demangle.h"
#include "elf/elf.h"

/*
 * Open ELF files with a cache of their pages and of the names looked up. The vdso is ours: the
 * kernel maps the same one into every process of this machine's kind.
 */

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

	/* It is mapped page by page; an unmapped page ends the copy. */
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
static int images_find(struct images *is, const struct target_mapping *m)
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

/* A page of the loaded file; NULL: not all of it is loaded. */
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

static void images_each_loaded(const struct images *is, unsigned int image,
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

/* ---- maps ------------------------------------------------------------------------------------ */

/* ---- modules ------------------------------------------------------------------------------- */



#define DELETED " (deleted)"
#define MAX_PHDRS 128u

static char *mapped_path(const struct target_mapping *m)
{
	size_t len = strlen(m->path);

	if (!len)
		return strdup("[anon]");
	if (m->ino && len > strlen(DELETED) && !strcmp(m->path + len - strlen(DELETED), DELETED))
		len -= strlen(DELETED);
	return strndup(m->path, len);
}

static bool is_same(const struct stack_file *f, const struct target_mapping *m)
{
	return f->dev == m->dev && f->ino == m->ino && !strncmp(m->path, f->path, strlen(f->path));
}

static int add_file(struct stack_modules *ms, const struct target_mapping *m)
{
	struct stack_file *f = VEC_PUSH(&ms->file);

	if (!f)
		return -ENOMEM;
	*f = (struct stack_file){ .dev = m->dev, .ino = m->ino, .path = mapped_path(m) };
	if (!m->offset && (m->ino || !strcmp(m->path, "[vdso]")))
		f->base = m->start;
	if (f->path)
		return 0;
	ms->file.n--;
	return -ENOMEM;
}

static bool is_header(const Elf64_Ehdr *eh)
{
	return !memcmp(eh->e_ident, ELFMAG, SELFMAG) && eh->e_ident[EI_CLASS] == ELFCLASS64 &&
	       eh->e_phentsize == sizeof(Elf64_Phdr) && eh->e_phnum && eh->e_phnum <= MAX_PHDRS;
}

/* The offset to addresses of the file; false: no segment holds the mapping. */
static bool find_bias(const Elf64_Phdr *ph, size_t n, const struct stack_module *m, uint64_t *bias)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);	/* 4, 16 or 64 KiB on arm64 */

	for (size_t i = 0; i < n; i++) {
		uint64_t first = ph[i].p_offset & ~(page - 1);

		if (ph[i].p_type != PT_LOAD || !(ph[i].p_flags & PF_X) || m->offset < first ||
		    m->offset - first >= ph[i].p_filesz + (ph[i].p_offset - first))
			continue;
		*bias = m->start - m->offset + ph[i].p_offset - ph[i].p_vaddr;
		return true;
	}
	return false;
}

struct reading {
	struct stack_modules *ms;
	struct stack_memory *memory;
};

static void find_tables(struct stack_module *m, uint64_t base, struct stack_memory *memory)
{
	Elf64_Phdr ph[MAX_PHDRS];
	Elf64_Ehdr eh;
	uint64_t bias;

	if (!base || stack_memory_read(memory, base, &eh, sizeof(eh)) || !is_header(&eh) ||
	    stack_memory_read(memory, base + eh.e_phoff, ph, eh.e_phnum * sizeof(ph[0])) ||
	    !find_bias(ph, eh.e_phnum, m, &bias))
		return;
	m->bias = bias;
	m->bias_known = true;
	for (size_t i = 0; i < eh.e_phnum; i++) {
		if (ph[i].p_type != PT_GNU_EH_FRAME)
			continue;
		m->eh_hdr = bias + ph[i].p_vaddr;
		m->eh_hdr_len = ph[i].p_memsz;
	}
}

static void find_section(struct stack_module *module, const struct target_mapping *m)
{
	int fd = target_mapping_open(m);
	struct elf_file *ef = fd < 0 ? NULL : elf_file_open(fd, m->path);
	uint64_t at = ef ? elf_section_address(ef, ".eh_frame") : 0;

	if (at)
		module->eh_frame = module->bias + at;
	elf_file_close(ef);
	if (fd >= 0)
		close(fd);
}

/* Takes all mappings: the ELF header is usually not in the executable one, but before it. */
static int visit(void *ctx, const struct target_mapping *m)
{
	struct reading *r = ctx;
	struct stack_modules *ms = r->ms;
	struct stack_module *module;
	int err;

	if (!m->code && (!m->ino || m->offset))
		return 0;
	if (!ms->file.n || !is_same(&ms->file.v[ms->file.n - 1], m) || (!m->offset && !m->code)) {
		err = add_file(ms, m);
		if (err)
			return err;
	}
	if (!m->code)
		return 0;
	module = VEC_PUSH(&ms->module);
	if (!module)
		return -ENOMEM;
	*module = (struct stack_module){ .start = m->start, .end = m->end, .offset = m->offset,
					 .file = ms->file.n - 1 };
	find_tables(module, ms->file.v[module->file].base, r->memory);
	if (!module->eh_hdr && m->ino)
		find_section(module, m);
	return 0;
}

int stack_modules_read(struct stack_modules *ms, pid_t pid, struct stack_memory *memory)
{
	struct reading r = { ms, memory };

	return target_each_mapping(pid, visit, &r);
}

void stack_modules_free(struct stack_modules *ms)
{
	for (size_t i = 0; i < ms->file.n; i++)
		free(ms->file.v[i].path);
	VEC_FREE(&ms->file);
	VEC_FREE(&ms->module);
}

/* ---- history ------------------------------------------------------------------------------- */

/* See the header. Files are opened while the process maps them: later may be too late. */

#define ADDRESS_END (1ull << 47)	/* vsyscall and the like lie above */

struct adding {
	struct history_reading *r;
	struct images *images;
	struct map seen;	/* images by number and bias */
	struct history_span of;	/* image and bias of the parts to come */
	bool failed;
};

static void add_span(void *ctx, uint64_t vaddr, uint64_t len)
{
	struct adding *a = ctx;
	struct history_span *s = VEC_PUSH(&a->r->spans);

	a->failed |= !s;
	if (!s)
		return;
	*s = a->of;
	s->start = a->of.bias + vaddr;
	s->end = s->start + len;
}

static const struct stack_module *module_at(const struct stack_modules *ms, uint64_t start)
{
	struct stack_space space = { .modules = ms->module.v, .n_modules = ms->module.n };

	return stack_find_module(&space, start);
}

static int add_mapping(void *ctx, const struct target_mapping *m)
{
	struct adding *a = ctx;
	const struct stack_module *module = m->code ? module_at(&a->r->modules, m->start) : NULL;
	int image = module && module->bias_known ? images_find(a->images, m) : 0;
	bool is_new;

	if (image <= 0)
		return image;
	a->of = (struct history_span){ .bias = module->bias, .image = (unsigned int)image };
	if (!map_put(&a->seen, map_hash(module->bias) ^ (uint64_t)image, &is_new))
		return -ENOMEM;
	if (is_new)
		images_each_loaded(a->images, (unsigned int)image, add_span, a);
	return a->failed ? -ENOMEM : 0;
}

static int compare_spans(const void *a, const void *b)
{
	const struct history_span *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* All code is in two ranges: on either side of the widest gap. */
static void describe_code(const struct stack_modules *ms, struct gp_code *code)
{
	uint64_t start[2] = { 0 }, end[2] = { 0 }, widest = 0, last = 0;

	for (size_t i = 0; i < ms->module.n && ms->module.v[i].end <= ADDRESS_END; i++) {
		const struct stack_module *m = &ms->module.v[i];

		if (!i)
			start[0] = m->start;
		if (i && m->start - last > widest) {
			widest = m->start - last;
			end[0] = last;
			start[1] = m->start;
		}
		end[widest ? 1 : 0] = last = m->end;
	}
	for (int i = 0; i < 2; i++) {
		code->start[i] = start[i];
		code->len[i] = end[i] - start[i];
	}
}

static void free_reading(struct history_reading *r)
{
	stack_modules_free(&r->modules);
	VEC_FREE(&r->spans);
}

static int read_maps(struct history *h, struct images *images, struct history_reading *r)
{
	struct stack_memory *memory = stack_memory_new(h->pid);
	struct adding a = { .r = r, .images = images };
	uint64_t start_ns = time_now_ns();	/* mappings made meanwhile may be missed */
	int err = memory ? stack_modules_read(&r->modules, h->pid, memory) : -ENOMEM;

	stack_memory_free(memory);
	if (!err)
		err = target_each_mapping(h->pid, add_mapping, &a);
	map_free(&a.seen);
	r->time_ns = start_ns;
	if (r->spans.n)
		qsort(r->spans.v, r->spans.n, sizeof(*r->spans.v), compare_spans);
	return !err && !r->modules.module.n ? -ESRCH : err;
}

int history_read(struct history *h, struct images *images, struct gp_code *code)
{
	struct history_reading r = { 0 }, *place;
	int err = read_maps(h, images, &r);

	if (!err && h->readings.n == HISTORY_READINGS) {
		free_reading(&h->readings.v[0]);
		VEC_DROP_FIRST(&h->readings, 1);
	}
	place = err ? NULL : VEC_PUSH(&h->readings);
	if (!place) {
		free_reading(&r);
		return err ? err : -ENOMEM;
	}
	*place = r;
	describe_code(&r.modules, code);
	code->epoch = ++h->epoch;
	return 0;
}

const struct history_reading *history_at(const struct history *h, uint64_t time_ns)
{
	const struct history_reading *found = NULL;

	for (size_t i = 0; i < h->readings.n; i++) {
		const struct history_reading *r = &h->readings.v[i];

		if ((r->time_ns < h->exec_ns) != (time_ns < h->exec_ns))
			continue;
		found = r;
		if (r->time_ns >= time_ns)
			break;
	}
	return found;
}

const struct history_span *history_span(const struct history_reading *r, uint64_t address)
{
	const size_t n = SORTED_UP_TO(r->spans.v, r->spans.n, start, address);

	return n && address < r->spans.v[n - 1].end ? &r->spans.v[n - 1] : NULL;
}

void history_free(struct history *h)
{
	for (size_t i = 0; i < h->readings.n; i++)
		free_reading(&h->readings.v[i]);
	VEC_FREE(&h->readings);
}
