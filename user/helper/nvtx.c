// SPDX-License-Identifier: BSD-3-Clause
/*
 * NVTX's interface to tools, of which we declare what we use. Handles that the application gets
 * from us (domains, registered strings) are the numbers of their names, so that using them costs
 * nothing.
 */
#include "helper/nvtx.h"

#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <wchar.h>

#include "gpuprof/work.h"
#include "helper/clock.h"

#define CALLBACKS 1		/* the export table with the functions' places */
#define CORE 1			/* its modules */
#define CORE2 5
#define NO_LEVEL (-2)		/* push and pop may return no depth */
#define WIDE_MAX 1024

#define MESSAGE_ASCII 1
#define MESSAGE_WIDE 2
#define MESSAGE_REGISTERED 3

typedef void (*handler_fn)(void);

struct callbacks {
	size_t bytes;
	int (*places)(int module, handler_fn ***places, unsigned int *n);
};

struct attributes {
	uint16_t version, bytes;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	union {
		const char *ascii;
		const wchar_t *wide;
		const void *registered;
	} message;
};

_Static_assert(offsetof(struct attributes, message_type) == 32, "ABI of nvtxEventAttributes_t");
_Static_assert(sizeof(struct attributes) == 48, "ABI of nvtxEventAttributes_t");

static struct {
	struct helper_ring *ring;
	struct names *names;
	uint64_t ranges;	/* started; the last one's id */
} nvtx;

/* ---- what all do ---------------------------------------------------------------------------- */

static bool is_wanted(void)
{
	return __atomic_load_n(&nvtx.ring->wanted[GP_RING_RANGE], __ATOMIC_RELAXED) != 0;
}

static void send_range(uint32_t what, const void *domain, uint32_t name, uint64_t id)
{
	struct gp_ring_range range = { .id = id, .domain = (uint32_t)(uintptr_t)domain,
				       .name = name, .what = what };

	range.time_ns = clock_now_ns();
	range.tid = (uint32_t)syscall(SYS_gettid);	/* of a forked child, it is another */
	helper_ring_send(nvtx.ring, GP_RING_RANGE, &range, sizeof(range));
}

static size_t put_utf8(char *out, uint32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c >= 0x10000) {
		out[0] = (char)(0xf0 | (c >> 18 & 7));
		out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	} else {
		out[0] = (char)(0xe0 | c >> 12);
	}
	out[c >= 0x10000 ? 2 : 1] = (char)(0x80 | (c >> 6 & 0x3f));
	out[c >= 0x10000 ? 3 : 2] = (char)(0x80 | (c & 0x3f));
	return c >= 0x10000 ? 4 : 3;
}

static uint32_t name_ascii(const char *text)
{
	return names_of(nvtx.names, nvtx.ring, text);
}

static uint32_t name_wide(const wchar_t *text)
{
	char buffer[WIDE_MAX];
	size_t n = 0;

	for (; text && *text && n < sizeof(buffer) - 4; text++)
		n += put_utf8(buffer + n, (uint32_t)*text);
	buffer[n] = '\0';
	return text ? names_of(nvtx.names, nvtx.ring, buffer) : 0;
}

static uint32_t name_in(const struct attributes *a)
{
	if (!a || a->bytes < sizeof(*a))
		return 0;
	switch (a->message_type) {
	case MESSAGE_ASCII:
		return name_ascii(a->message.ascii);
	case MESSAGE_WIDE:
		return name_wide(a->message.wide);
	case MESSAGE_REGISTERED:
		return (uint32_t)(uintptr_t)a->message.registered;
	default:
		return 0;
	}
}

/* ---- the handlers, of a domain -------------------------------------------------------------- */

static void domain_mark(const void *domain, const struct attributes *a)
{
	if (is_wanted())
		send_range(GP_RANGE_MARK, domain, name_in(a), 0);
}

static uint64_t domain_start(const void *domain, const struct attributes *a)
{
	uint64_t id = __atomic_add_fetch(&nvtx.ranges, 1, __ATOMIC_RELAXED);

	if (is_wanted())
		send_range(GP_RANGE_START, domain, name_in(a), id);
	return id;
}

static void domain_end(const void *domain, uint64_t id)
{
	if (is_wanted())
		send_range(GP_RANGE_END, domain, 0, id);
}

static int domain_push(const void *domain, const struct attributes *a)
{
	if (is_wanted())
		send_range(GP_RANGE_PUSH, domain, name_in(a), 0);
	return NO_LEVEL;
}

static int domain_pop(const void *domain)
{
	if (is_wanted())
		send_range(GP_RANGE_POP, domain, 0, 0);
	return NO_LEVEL;
}

static const void *handle(uint32_t id)
{
	return (const void *)(uintptr_t)id;
}

static const void *register_ascii(const void *domain, const char *text)
{
	(void)domain;
	return handle(name_ascii(text));
}

static const void *register_wide(const void *domain, const wchar_t *text)
{
	(void)domain;
	return handle(name_wide(text));
}

static const void *create_ascii(const char *name)
{
	return handle(name_ascii(name));
}

static const void *create_wide(const wchar_t *name)
{
	return handle(name_wide(name));
}

/* ---- of the default domain ------------------------------------------------------------------ */

static void mark(const struct attributes *a)
{
	domain_mark(NULL, a);
}

static void mark_ascii(const char *text)
{
	if (is_wanted())
		send_range(GP_RANGE_MARK, NULL, name_ascii(text), 0);
}

static void mark_wide(const wchar_t *text)
{
	if (is_wanted())
		send_range(GP_RANGE_MARK, NULL, name_wide(text), 0);
}

static uint64_t start(const struct attributes *a)
{
	return domain_start(NULL, a);
}

static uint64_t start_ascii(const char *text)
{
	uint64_t id = __atomic_add_fetch(&nvtx.ranges, 1, __ATOMIC_RELAXED);

	if (is_wanted())
		send_range(GP_RANGE_START, NULL, name_ascii(text), id);
	return id;
}

static uint64_t start_wide(const wchar_t *text)
{
	uint64_t id = __atomic_add_fetch(&nvtx.ranges, 1, __ATOMIC_RELAXED);

	if (is_wanted())
		send_range(GP_RANGE_START, NULL, name_wide(text), id);
	return id;
}

static void end(uint64_t id)
{
	domain_end(NULL, id);
}

static int push(const struct attributes *a)
{
	return domain_push(NULL, a);
}

static int push_ascii(const char *text)
{
	if (is_wanted())
		send_range(GP_RANGE_PUSH, NULL, name_ascii(text), 0);
	return NO_LEVEL;
}

static int push_wide(const wchar_t *text)
{
	if (is_wanted())
		send_range(GP_RANGE_PUSH, NULL, name_wide(text), 0);
	return NO_LEVEL;
}

static int pop(void)
{
	return domain_pop(NULL);
}

/* By NVTX's numbers of its functions. */
#define HANDLER(function) ((handler_fn)(function))
static const handler_fn core[] = {
	[1] = HANDLER(mark), [2] = HANDLER(mark_ascii), [3] = HANDLER(mark_wide),
	[4] = HANDLER(start), [5] = HANDLER(start_ascii), [6] = HANDLER(start_wide),
	[7] = HANDLER(end), [8] = HANDLER(push), [9] = HANDLER(push_ascii),
	[10] = HANDLER(push_wide), [11] = HANDLER(pop),
};
static const handler_fn core2[] = {
	[1] = HANDLER(domain_mark), [2] = HANDLER(domain_start), [3] = HANDLER(domain_end),
	[4] = HANDLER(domain_push), [5] = HANDLER(domain_pop), [10] = HANDLER(register_ascii),
	[11] = HANDLER(register_wide), [12] = HANDLER(create_ascii), [13] = HANDLER(create_wide),
};

/* ---- begin ---------------------------------------------------------------------------------- */

void nvtx_open(struct helper_ring *r, struct names *names)
{
	nvtx.ring = r;
	nvtx.names = names;
}

static void put(const struct callbacks *c, int module, const handler_fn *handlers,
		unsigned int count)
{
	handler_fn **places = NULL;
	unsigned int n = 0;

	if (!c->places(module, &places, &n) || !places)
		return;
	for (unsigned int i = 0; i < count && i < n; i++)
		if (handlers[i] && places[i])
			*places[i] = handlers[i];
}

void nvtx_attach(nvtx_export_fn export_table)
{
	const struct callbacks *c = export_table ? export_table(CALLBACKS) : NULL;

	if (!c || c->bytes < sizeof(*c) || !c->places || !nvtx.ring)
		return;
	put(c, CORE, core, sizeof(core) / sizeof(core[0]));
	put(c, CORE2, core2, sizeof(core2) / sizeof(core2[0]));
}
