// SPDX-License-Identifier: BSD-3-Clause
/*
 * NVTX's interface to tools, of which we declare what we use. Handles that the application gets
 * from us (domains, registered strings) are the numbers of their names, so that using them costs
 * nothing.
 */
#include "helper/nvtx.h"

#include <pthread.h>
#include <stdbool.h>
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

#define MESSAGE_NONE 0
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
	const void *message;	/* char, wchar_t, or the handle of a registered string */
};

_Static_assert(offsetof(struct attributes, message_type) == 32, "ABI of nvtxEventAttributes_t");
_Static_assert(sizeof(struct attributes) == 48, "ABI of nvtxEventAttributes_t");

static struct {
	struct helper_ring *ring;
	struct names *names;
	uint64_t ranges;	/* started; the last one's id */
	pthread_key_t key;	/* of threads that begin ranges */
	bool has_key;
} nvtx;

/* Each thread of glibc has room for the values of so many keys; for others it would allocate. */
#define KEYS_IN_THREAD 32

/* ---- what all do ---------------------------------------------------------------------------- */

static size_t put_utf8(char *out, uint32_t c)
{
	static const uint8_t lead[] = { 0, 0xc0, 0xe0, 0xf0 }, bits[] = { 0x7f, 0x1f, 0xf, 7 };
	size_t more = (size_t)(c >= 0x80) + (c >= 0x800) + (c >= 0x10000);

	out[0] = (char)(lead[more] | (c >> 6 * more & bits[more]));
	for (size_t i = more; i; i--, c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	return more + 1;
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

static uint32_t name_of(int32_t type, const void *message)
{
	switch (type) {
	case MESSAGE_ASCII:
		return names_of(nvtx.names, nvtx.ring, message);
	case MESSAGE_WIDE:
		return name_wide(message);
	case MESSAGE_REGISTERED:
		return (uint32_t)(uintptr_t)message;
	default:
		return 0;
	}
}

/* Next to nothing while no reader wants ranges. */
static void send_range(uint32_t what, const void *domain, int32_t type, const void *message,
		       uint64_t id)
{
	struct gp_ring_range range = { .id = id, .domain = (uint32_t)(uintptr_t)domain,
				       .what = what };

	if (!__atomic_load_n(&nvtx.ring->wanted[GP_RING_RANGE], __ATOMIC_RELAXED))
		return;
	range.name = name_of(type, message);
	range.time_ns = clock_now_ns();
	range.tid = (uint32_t)syscall(SYS_gettid);	/* of a forked child, it is another */
	helper_ring_send(nvtx.ring, GP_RING_RANGE, &range, sizeof(range));
	if ((what == GP_RANGE_PUSH || what == GP_RANGE_START) && nvtx.has_key)
		pthread_setspecific(nvtx.key, &nvtx);
}

/* On a thread that ends before its process does. */
static void on_thread_end(void *unused)
{
	(void)unused;
	send_range(GP_RANGE_LEAVE, NULL, MESSAGE_NONE, NULL, 0);
}

static void send_attributes(uint32_t what, const void *domain, const struct attributes *a,
			    uint64_t id)
{
	bool known = a && a->bytes >= sizeof(*a);

	send_range(what, domain, known ? a->message_type : MESSAGE_NONE,
		   known ? a->message : NULL, id);
}

static uint64_t next_id(void)
{
	return __atomic_add_fetch(&nvtx.ranges, 1, __ATOMIC_RELAXED);
}

/* ---- the handlers, of a domain -------------------------------------------------------------- */

static void domain_mark(const void *domain, const struct attributes *a)
{
	send_attributes(GP_RANGE_MARK, domain, a, 0);
}

static uint64_t domain_start(const void *domain, const struct attributes *a)
{
	uint64_t id = next_id();

	send_attributes(GP_RANGE_START, domain, a, id);
	return id;
}

static void domain_end(const void *domain, uint64_t id)
{
	send_range(GP_RANGE_END, domain, MESSAGE_NONE, NULL, id);
}

static int domain_push(const void *domain, const struct attributes *a)
{
	send_attributes(GP_RANGE_PUSH, domain, a, 0);
	return NO_LEVEL;
}

static int domain_pop(const void *domain)
{
	send_range(GP_RANGE_POP, domain, MESSAGE_NONE, NULL, 0);
	return NO_LEVEL;
}

static const void *create_ascii(const char *name)
{
	return (const void *)(uintptr_t)name_of(MESSAGE_ASCII, name);
}

static const void *create_wide(const wchar_t *name)
{
	return (const void *)(uintptr_t)name_of(MESSAGE_WIDE, name);
}

static const void *register_ascii(const void *domain, const char *text)
{
	(void)domain;
	return create_ascii(text);
}

static const void *register_wide(const void *domain, const wchar_t *text)
{
	(void)domain;
	return create_wide(text);
}

/* ---- of the default domain ------------------------------------------------------------------ */

static void mark(const struct attributes *a)
{
	domain_mark(NULL, a);
}

static void mark_ascii(const char *text)
{
	send_range(GP_RANGE_MARK, NULL, MESSAGE_ASCII, text, 0);
}

static void mark_wide(const wchar_t *text)
{
	send_range(GP_RANGE_MARK, NULL, MESSAGE_WIDE, text, 0);
}

static uint64_t start(const struct attributes *a)
{
	return domain_start(NULL, a);
}

static uint64_t start_ascii(const char *text)
{
	uint64_t id = next_id();

	send_range(GP_RANGE_START, NULL, MESSAGE_ASCII, text, id);
	return id;
}

static uint64_t start_wide(const wchar_t *text)
{
	uint64_t id = next_id();

	send_range(GP_RANGE_START, NULL, MESSAGE_WIDE, text, id);
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
	send_range(GP_RANGE_PUSH, NULL, MESSAGE_ASCII, text, 0);
	return NO_LEVEL;
}

static int push_wide(const wchar_t *text)
{
	send_range(GP_RANGE_PUSH, NULL, MESSAGE_WIDE, text, 0);
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
	if (!nvtx.has_key)
		nvtx.has_key = !pthread_key_create(&nvtx.key, on_thread_end) &&
			       nvtx.key < KEYS_IN_THREAD;
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
