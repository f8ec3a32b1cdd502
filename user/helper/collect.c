// SPDX-License-Identifier: BSD-3-Clause
/*
 * CUPTI completes a buffer on a thread of its own or on whichever thread flushes; a lock keeps two
 * such apart. No thread of the application waits for it but where CUPTI lets it complete a buffer
 * itself.
 */
#include "helper/collect.h"

#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "gpuprof/ring.h"
#include "gpuprof/work.h"
#include "helper/buffers.h"
#include "helper/calls_wanted.h"
#include "helper/clock.h"
#include "helper/cupti.h"
#include "helper/names.h"

#define CLOCK_TRIES 20
#define KEPT_NS 10000000000ull	/* longer than kernels mostly take, which withhold a buffer */
#define KEPT_EVERY_NS 1000000000ull
#define QUIET_NS 1000000000ull		/* without a buffer: does CUPTI still call us? */
#define QUIET_MAX_NS 64000000000ull
/* So long works have to end before their kinds are disabled, and before the process exits. */
#define IN_FLIGHT_NS 200000000ull
#define IN_FLIGHT_END_NS 600000000ull
#define IN_FLIGHT_LOOK_US 2000
#define KEPT_LOOKS 200		/* of 1 ms each; ends after so many that saw nothing new: */
#define KEPT_STILL 10
#define CLOCK_FOREIGN_NS 1000000000ull	/* so far from CLOCK_REALTIME */
/* Longer than windows of profilers mostly are: after that one is over. */
#define WINDOW_MAX_NS 60000000000ull
#define PER_THREAD_USUALLY 130000u	/* 13.0's number */
#define REFUSABLE 27u	/* 12.9's number: from then on a request for a buffer may be refused */
#define CUPTI_13_2_DRIVER 13000	/* CUDA's version of the oldest driver that 13.2 works with */
#define OTHER_CBIDS 64	/* looked at above the highest number that is known */
#define CBIDS_MAX 1024
#define GRAPH_NODES_MAX 20000000ull	/* less than CUPTI's 250 buffers of 100,000 */

/* ---- which calls ---------------------------------------------------------------------------- */

/*
 * Both APIs, less single functions where CUPTI can choose (12.5), since the whole of an API is
 * mostly chatter. The other way round, single functions without their API, CUPTI before 13.3 gives
 * no record at all once the process has a context. A library refuses numbers that are newer than
 * itself, so single refusals mean nothing; one that refuses all of them cannot choose.
 */
#define NUMBER(n) n,
static const uint16_t runtime[] = { CALLS_WANTED_RUNTIME(NUMBER) };
static const uint16_t driver[] = { CALLS_WANTED_DRIVER(NUMBER) };
static const uint16_t runtime_others[] = { CALLS_OTHERS_RUNTIME(NUMBER) };
static const uint16_t driver_others[] = { CALLS_OTHERS_DRIVER(NUMBER) };

#define N(list) (sizeof(list) / sizeof((list)[0]))

struct api {
	int domain;
	uint32_t kind;
	const uint16_t *wanted, *others;
	size_t n_wanted, n_others;
};

static const struct api apis[] = {
	{ CUPTI_DOMAIN_RUNTIME, CUPTI_RUNTIME, runtime, runtime_others, N(runtime),
	  N(runtime_others) },
	{ CUPTI_DOMAIN_DRIVER, CUPTI_DRIVER, driver, driver_others, N(driver), N(driver_others) },
};

static bool launches_by_name(const char *name)
{
	static const char *const begin[] = { "Launch", "GraphLaunch", "Memcpy", "Memset", "Malloc",
					     "MemAlloc", "Free", "MemFree" };
	size_t prefix = !strncmp(name, "cuda", 4) ? 4 : !strncmp(name, "cu", 2) ? 2 : strlen(name);

	for (size_t i = 0; i < N(begin); i++)
		if (!strncmp(name + prefix, begin[i], strlen(begin[i])))
			return true;
	return false;
}

/* The list's bits in a set; returns the highest number. */
static uint32_t add(uint64_t set[], const uint16_t *cbids, size_t n)
{
	uint32_t highest = 0;

	for (size_t i = 0; i < n && cbids[i] < CBIDS_MAX - OTHER_CBIDS; i++) {
		set[cbids[i] / 64] |= 1ull << cbids[i] % 64;
		highest = cbids[i] > highest ? cbids[i] : highest;
	}
	return highest;
}

/* Functions that are newer than our lists are chosen by what CUPTI calls them. Returns how many it
 * took. */
static size_t choose(const struct cupti *c, const struct api *a, bool all)
{
	int (*one)(uint32_t cbid, uint8_t enable) =
		a->kind == CUPTI_RUNTIME ? c->enable_runtime_api : c->enable_driver_api;
	uint64_t wanted[CBIDS_MAX / 64] = { 0 }, others[CBIDS_MAX / 64] = { 0 };
	uint32_t last_wanted = add(wanted, a->wanted, a->n_wanted);
	uint32_t last_other = add(others, a->others, a->n_others);
	uint32_t last = last_wanted > last_other ? last_wanted : last_other;
	const char *name = NULL;
	size_t taken = 0;

	for (uint32_t cbid = 1; one && cbid <= last + OTHER_CBIDS; cbid++) {
		uint64_t set = wanted[cbid / 64] | (all ? others[cbid / 64] : 0);
		bool on = set >> cbid % 64 & 1;

		if (cbid > last && c->callback_name && !c->callback_name(a->domain, cbid, &name))
			on = name && launches_by_name(name);
		taken += one(cbid, on) == CUPTI_OK;
	}
	return taken;
}

/* ---- the collector -------------------------------------------------------------------------- */

/*
 * Our subscription to CUPTI, while a reader wants it: then the nodes of graphs are sent as they
 * are made. CUPTI has one subscriber, and a profiler that is refused once may stay without
 * events for good: so we do not subscribe where another client may come (cupti_client_expected),
 * and unsubscribe when such a library is loaded. The ring's head has the reason why a reader's
 * wish was refused. The callback runs on the application's threads, inside the calls that make
 * graphs: no lock, no allocation, one record.
 */
struct subscription {
	void *subscriber;
	bool held;
	bool wanted;		/* the latest request */
	bool without;		/* it is wanted and not to be had */
};

static struct collector {
	pthread_mutex_t lock;
	struct helper_ring *ring;
	struct names *names;
	struct cupti cupti;
	bool has_cupti;
	bool has_worked;		/* a function of CUPTI has succeeded */
	struct buffers buffers;
	bool client_expected;		/* at the last look */
	uint64_t kinds_seen;		/* bits: those that CUPTI had enabled after we did */
	bool clock_was_foreign;		/* at arming */
	uint64_t foreign_ns;		/* a window may be open since then; 0: none is */
	uint64_t window_max_ns;
	bool shows_end;			/* the end of the next window will show (see is_over) */
	bool set_per_thread;		/* so that it does */
	struct subscription subscription;
	uint64_t refused;		/* of buffers.refused, already sent */
	uint64_t enabled;		/* bits of CUPTI's kinds */
	uint32_t calls;			/* GP_CALLS_*; 0: none */
	bool all_calls;			/* if any: also those that launch nothing */
	bool leaves;			/* works that still run are neither lost nor awaited */
	uint64_t arrivals;		/* buffers that CUPTI requested or returned */
	uint64_t walking;		/* threads of CUPTI that return one */
	uint64_t quiet_at, quiet_since_ns, quiet_ns;	/* see has_lost_cupti */
	uint64_t flushed_at;		/* see may_bring_records */
	/* records of nodes since all was enabled; before it is renewed */
	uint64_t nodes, nodes_max;
	uint64_t nodes_lost;		/* of them without times */
	bool renewed, futile;		/* it was; that did not help */
	uint64_t flushed_ns;		/* began: records lost now are later than that */
	uint64_t kept_at_ns;		/* when CUPTI's unreturned buffers were checked */
	bool forgotten;			/* in a forked child */
} collector = { .lock = PTHREAD_MUTEX_INITIALIZER };

static uint64_t given(const char *variable, uint64_t usual)
{
	const char *text = getenv(variable);
	uint64_t n = text ? strtoull(text, NULL, 10) : 0;

	return n ? n : usual;
}

int collect_open(struct helper_ring *r, struct names *names)
{
	collector.nodes_max = given("GPUPROF_GRAPH_NODES", GRAPH_NODES_MAX);
	collector.window_max_ns = given("GPUPROF_WINDOW_NS", WINDOW_MAX_NS);
	collector.ring = r;
	collector.names = names;
	collector.subscription = (struct subscription){ .held = false };
	return collector.buffers.memory ? 0 : buffers_open(&collector.buffers);
}

/* CUPTI's own words for its code; "": it has none. */
static const char *result_text(int code)
{
	const struct cupti *c = &collector.cupti;
	const char *text = NULL;

	/* 13.2 initialises in it, and ends the process where it cannot. */
	if ((c->overflows && !collector.has_worked) || !c->result_string ||
	    c->result_string(code, &text))
		return "";
	return text ? text : "";
}

/*
 * ---- other clients of CUPTI in this process ----------------------------------------------------
 *
 * A guess by the loaded libraries: CUPTI itself names no client before 13.0, and then only to
 * permanent subscribers.
 */

/* The first that is loaded, the likeliest first: a tool's own library before a framework's. */
static const struct {
	const char *library;	/* how its file's name begins */
	const char *name;
} clients[] = {
	{ "libToolsInjection", "probably Nsight Systems" },
	{ "libcuda-injection", "probably Nsight Compute" },
	{ "libhpcrun", "probably HPCToolkit" },
	{ "libparcagpu", "probably parcagpu" },
	{ "libtorch_cpu.so", "probably torch.profiler" },
	{ "xla_cuda_plugin", "probably JAX's profiler" },
	{ "libtensorflow", "probably TensorFlow's profiler" },
};
#define N_CLIENTS N(clients)
#define LIBCUPTI "libcupti.so"

static int find_client(struct dl_phdr_info *info, size_t size, void *ctx)
{
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	size_t *best = ctx;

	(void)size;
	for (size_t i = 0; slash && i < *best; i++)
		if (!strncmp(slash + 1, clients[i].library, strlen(clients[i].library)))
			*best = i;
	return 0;
}

static const char *client_name(void)
{
	size_t best = N_CLIENTS;

	dl_iterate_phdr(find_client, &best);
	return best < N_CLIENTS ? clients[best].name : "another CUPTI client";
}

struct visit {
	unsigned long long loads;	/* of objects, ever */
	size_t best;
	bool linked;
};

/* Relocated where the loader does that. */
static const char *strings_of(const struct dl_phdr_info *info, const ElfW(Dyn) *dynamic)
{
	for (; dynamic->d_tag != DT_NULL; dynamic++)
		if (dynamic->d_tag == DT_STRTAB)
			return (const char *)(dynamic->d_un.d_ptr < info->dlpi_addr ?
					      dynamic->d_un.d_ptr + info->dlpi_addr :
					      dynamic->d_un.d_ptr);
	return NULL;
}

static bool needs_cupti(const struct dl_phdr_info *info)
{
	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Dyn) *d = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
		const char *strings = info->dlpi_phdr[i].p_type == PT_DYNAMIC ?
				      strings_of(info, d) : NULL;

		for (; strings && d->d_tag != DT_NULL; d++)
			if (d->d_tag == DT_NEEDED &&
			    !strncmp(strings + d->d_un.d_val, LIBCUPTI, strlen(LIBCUPTI)))
				return true;
	}
	return false;
}

static int on_visit(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct visit *v = ctx;

	if (info->dlpi_adds == v->loads)
		return 1;	/* nothing was loaded since the last time */
	v->linked |= needs_cupti(info);
	return find_client(info, size, &v->best);
}

static int on_loads(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size;
	*(unsigned long long *)ctx = info->dlpi_adds;
	return 1;
}

const char *cupti_client_expected(void)
{
	static struct visit last = { .best = N_CLIENTS };
	unsigned long long loads = 0;

	/* Before, so that a library loaded meanwhile is found the next time. */
	dl_iterate_phdr(on_loads, &loads);
	dl_iterate_phdr(on_visit, &last);
	last.loads = loads;
	return last.best < N_CLIENTS ? clients[last.best].name :
	       last.linked ? "what is linked with libcupti" : NULL;
}
/* ---- our subscription ----------------------------------------------------------------------- */

static void on_graph_node(void *ctx, int domain, uint32_t cbid, const void *data)
{
	const struct cupti_resource *resource = data;
	struct gp_ring_node node = { .time_ns = clock_now_ns() };
	const struct cupti *c = &collector.cupti;

	(void)ctx;
	if (collector.forgotten || domain != CUPTI_DOMAIN_RESOURCE || !resource ||
	    !resource->graph || c->node_id(resource->graph->node, &node.node))
		return;
	if (cbid == CUPTI_NODE_CLONED &&
	    (c->node_id(resource->graph->original, &node.original) || !node.original))
		return;
	node.tid = (uint32_t)syscall(SYS_gettid);
	helper_ring_send(collector.ring, GP_RING_NODE, &node, sizeof(node));
}

/* Why it is not to be had, for people. */
static void set_reason(const char *what, const char *why)
{
	struct gp_ring_head *head = collector.ring->head;

	snprintf(head->unsubscribed, sizeof(head->unsubscribed), "%s%s%s", what, *why ? ": " : "",
		 why);
}

static void release_subscription(void)
{
	if (collector.subscription.held)
		collector.cupti.unsubscribe(collector.subscription.subscriber);
	collector.subscription.held = false;
	__atomic_store_n(&collector.ring->head->subscribed_ns, 0, __ATOMIC_RELAXED);
}

/* Without all the callbacks it needs the subscription is not kept. */
static void take_subscription(void)
{
	static const uint32_t wanted[] = { CUPTI_NODE_CREATED, CUPTI_NODE_CLONED };
	struct subscription *s = &collector.subscription;
	const struct cupti *c = &collector.cupti;
	int code;

	if (!c->subscribe || !c->unsubscribe || !c->enable_callback || !c->node_id) {
		set_reason("this CUPTI has no callbacks for graphs", "");
		return;
	}
	code = c->subscribe(&s->subscriber, on_graph_node, NULL);
	if (code) {
		set_reason("cuptiSubscribe failed", result_text(code));
		return;
	}
	s->held = true;
	for (size_t i = 0; i < N(wanted) && !code; i++)
		code = c->enable_callback(1, s->subscriber, CUPTI_DOMAIN_RESOURCE, wanted[i]);
	if (code) {
		set_reason("cuptiEnableCallback failed", result_text(code));
		release_subscription();
		return;
	}
	*collector.ring->head->unsubscribed = '\0';
	__atomic_store_n(&collector.ring->head->subscribed_ns, clock_now_ns(), __ATOMIC_RELAXED);
}

/* Subscribes, keeps the subscription or gives it up; to be called again while it is wanted.
 * After giving it up, or failing to get it, the helper does not try again as long as the wish
 * lasts. */
static void subscribe_follow(bool wanted)
{
	struct subscription *s = &collector.subscription;
	const char *who = NULL;

	if (wanted && !s->without) {
		who = cupti_client_expected();
		if (!who && collector.cupti.was_mapped)
			who = "what has loaded libcupti";
	}
	if (wanted && !s->wanted)
		*collector.ring->head->unsubscribed = '\0';
	s->wanted = wanted;
	if (!wanted || who)
		release_subscription();
	if (who)
		set_reason("CUPTI is left free for another client", who);
	else if (wanted && !s->held && !s->without)
		take_subscription();
	s->without = wanted && !s->held;
}

/* ---- records -------------------------------------------------------------------------------- */

/* How records of CUPTI's kinds are sent. */
static const struct {
	uint16_t kind, bytes;	/* ours */
} sent_as[CUPTI_KINDS] = {
	[CUPTI_KERNEL] = { GP_RING_KERNEL, sizeof(struct gp_ring_kernel) },
	[CUPTI_MEMCPY] = { GP_RING_COPY, sizeof(struct gp_ring_copy) },
	[CUPTI_MEMCPY_PEER] = { GP_RING_COPY, sizeof(struct gp_ring_copy) },
	[CUPTI_MEMSET] = { GP_RING_SET, sizeof(struct gp_ring_copy) },
	[CUPTI_GRAPH_TRACE] = { GP_RING_GRAPH, sizeof(struct gp_ring_graph) },
	[CUPTI_MEMORY2] = { GP_RING_MEMORY, sizeof(struct gp_ring_memory) },
	[CUPTI_RUNTIME] = { GP_RING_API, sizeof(struct gp_ring_api) },
	[CUPTI_DRIVER] = { GP_RING_API, sizeof(struct gp_ring_api) },
};

static void send_loss(uint32_t cause, uint64_t count, uint32_t kinds, uint64_t since_ns)
{
	struct gp_ring_loss loss = { .cause = cause, .count = count, .kinds = kinds,
				     .since_ns = since_ns, .until_ns = clock_now_ns() };

	if (count)
		helper_ring_send(collector.ring, GP_RING_LOSS, &loss, sizeof(loss));
}

static uint32_t count_node(uint32_t graph, bool has_time)
{
	collector.nodes += graph != 0;
	collector.nodes_lost += graph && !has_time;
	return has_time ? 0 : GP_LOSS_NO_TIME;
}

/* A flush that is forced gives what runs, or waits to, without an end, and never again. */
static bool runs_still(uint32_t kind, const union record *rec)
{
	if (kind == CUPTI_KERNEL)
		return !rec->kernel.end;
	if (kind == CUPTI_MEMCPY || kind == CUPTI_MEMCPY_PEER || kind == CUPTI_MEMSET)
		return !rec->copy.end;
	return kind == CUPTI_GRAPH_TRACE && !rec->graph.end;
}

/* Sends one record, of so many bytes. Returns the reason it was lost, or 0. */
static uint32_t on_record(const void *rec, uint32_t kind, size_t bytes)
{
	uint32_t cause = 0;
	union record out;

	if (!record_read(kind, rec, bytes, &out))
		return GP_LOSS_UNKNOWN;
	if (__atomic_load_n(&collector.leaves, __ATOMIC_RELAXED) && runs_still(kind, &out))
		return 0;
	if (kind == CUPTI_KERNEL)
		cause = count_node(out.kernel.graph, out.kernel.start || out.kernel.end);
	else if (kind == CUPTI_MEMCPY || kind == CUPTI_MEMCPY_PEER || kind == CUPTI_MEMSET)
		cause = count_node(out.copy.graph, out.copy.start || out.copy.end);
	if (cause)
		return cause;
	if (kind == CUPTI_KERNEL)
		out.kernel.name = names_of(collector.names, collector.ring,
					   record_kernel_name(rec, bytes));
	helper_ring_send(collector.ring, sent_as[kind].kind, &out, sent_as[kind].bytes);
	return 0;
}

static bool can_refuse(void)
{
	uint32_t version = collector.ring->head->cupti_version;

	return !version || version >= REFUSABLE;	/* 0: 13.3 or later */
}

static void on_request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	const size_t size = __atomic_load_n(&collector.client_expected, __ATOMIC_RELAXED) ?
				    BUFFER_PART_BYTES : BUFFER_BYTES;

	__atomic_fetch_add(&collector.arrivals, 1, __ATOMIC_RELAXED);
	*buffer = buffers_take(&collector.buffers, size, can_refuse(),
			       __atomic_load_n(&collector.flushed_ns, __ATOMIC_RELAXED));
	*bytes = *buffer ? size : 0;
	*max_records = 0;	/* as many as fit */
}

struct lost {
	uint64_t of[GP_LOSS_UNKNOWN + 1];
	uint32_t unread;	/* kinds whose records are too short to be read */
};

static void take_record(const uint8_t *rec, size_t bytes, struct lost *lost)
{
	uint32_t kind, cause;

	memcpy(&kind, rec, sizeof(kind));
	/* is_ours asked for devices' records; others are of kinds that another client enabled. */
	if (kind >= CUPTI_KINDS || !sent_as[kind].kind)
		return;
	if (kind == CUPTI_KERNEL)
		collector.ring->head->kernel_bytes = (uint32_t)bytes;
	cause = on_record(rec, kind, bytes);
	if (cause == GP_LOSS_UNKNOWN)
		lost->unread |= 1u << sent_as[kind].kind;
	lost->of[cause]++;
}

/* A record ends where the next begins: how long those of a version are, only its library knows.
 * All are from later than since_ns: one that is incomplete withholds its buffer for any time. */
static void walk(uint8_t *buffer, size_t valid_bytes, uint64_t since_ns)
{
	const uint8_t *before = NULL, *end = buffer + valid_bytes;
	struct lost lost = { .unread = 0 };
	void *rec = NULL;

	while (!collector.cupti.next(buffer, valid_bytes, &rec)) {
		if ((uint8_t *)rec >= end || (before && (uint8_t *)rec <= before))
			break;
		if (before)
			take_record(before, (size_t)((uint8_t *)rec - before), &lost);
		before = rec;
	}
	if (before)
		take_record(before, (size_t)(end - before), &lost);
	send_loss(GP_LOSS_NO_TIME, lost.of[GP_LOSS_NO_TIME], 0, since_ns);
	send_loss(GP_LOSS_UNKNOWN, lost.of[GP_LOSS_UNKNOWN], lost.unread, since_ns);
}

static void on_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
			size_t valid_bytes)
{
	(void)context;
	(void)stream;
	(void)bytes;
	__atomic_fetch_add(&collector.arrivals, 1, __ATOMIC_RELAXED);
	if (!buffer || collector.forgotten || !buffers_have(&collector.buffers, buffer))
		return;		/* counted when it was given out, or another client's */
	__atomic_fetch_add(&collector.walking, 1, __ATOMIC_RELAXED);
	pthread_mutex_lock(&collector.lock);
	if (valid_bytes && valid_bytes <= BUFFER_BYTES)
		walk(buffer, valid_bytes, buffers_since(&collector.buffers, buffer));
	pthread_mutex_unlock(&collector.lock);
	buffers_give(&collector.buffers, buffer, valid_bytes);
	__atomic_fetch_sub(&collector.walking, 1, __ATOMIC_RELEASE);
}

/* ---- arming and draining -------------------------------------------------------------------- */

static void on_callback(void *ctx, int domain, uint32_t cbid, const void *data)
{
	(void)ctx;
	(void)domain;
	(void)cbid;
	(void)data;
}

static void name_occupant(void)
{
	struct gp_ring_head *head = collector.ring->head;

	snprintf(head->occupant, sizeof(head->occupant), "%s", client_name());
}

/* 13.2 must be initialised before it is asked which kinds are enabled, also after another client's
 * cuptiFinalize: reading an attribute does that and changes nothing else. 0, or CUPTI's code. */
static int initialise(void)
{
	size_t value = 0, bytes = sizeof(value);
	const struct cupti *c = &collector.cupti;
	int code;

	if (!c->overflows)
		return 0;
	code = c->get_attribute ? c->get_attribute(CUPTI_DEVICE_BUFFER_BYTES, &bytes, &value) :
				  CUPTI_UNKNOWN;
	collector.has_worked |= !code;
	return code;
}

/* The kinds that any client has enabled, as bits. False: this CUPTI has no such function (before
 * 13.2). */
static bool read_kinds(uint64_t *bits)
{
	uint32_t kinds[64], bytes = sizeof(kinds), n = 0;

	*bits = 0;
	if (!collector.cupti.enabled_kinds || initialise() ||
	    collector.cupti.enabled_kinds(NULL, kinds, &bytes, &n))
		return false;
	for (uint32_t i = 0; i < n && i < N(kinds); i++)
		*bits |= kinds[i] < 64 ? 1ull << kinds[i] : 0;
	return true;
}

/* CUPTI's clock is CLOCK_REALTIME, until a client registers a function of its own, for good: kineto
 * does so at its first use, with the processor's counter. */
static bool clock_is_foreign(void)
{
	struct timespec real;
	uint64_t device_ns, real_ns;

	if (collector.cupti.timestamp(&device_ns))
		return false;
	clock_gettime(CLOCK_REALTIME, &real);
	real_ns = (uint64_t)real.tv_sec * 1000000000 + (uint64_t)real.tv_nsec;
	return (device_ns > real_ns ? device_ns - real_ns : real_ns - device_ns) > CLOCK_FOREIGN_NS;
}

/*
 * kineto does not subscribe, and its clock stays when it has ended: before 13.2 that shows that it
 * was there, not whether it records now. But at the end of a window it switches off what is on by
 * default from 13.0 on, a buffer for each thread: when that is off, the window is over, or one of
 * several. We switch it on when we arm, for the next end to show, and off again when we drain.
 */
static bool is_over(void)
{
	const struct cupti *c = &collector.cupti;
	uint8_t per_thread = 1;
	size_t bytes = sizeof(per_thread);

	return collector.ring->head->cupti_version >= PER_THREAD_USUALLY && c->set_attribute &&
	       c->get_attribute &&
	       !c->get_attribute(CUPTI_PER_THREAD_BUFFER, &bytes, &per_thread) && !per_thread;
}

static void set_per_thread(bool on)
{
	uint8_t value = on;
	size_t bytes = sizeof(value);

	collector.cupti.set_attribute(CUPTI_PER_THREAD_BUFFER, &bytes, &value);
	collector.set_per_thread = on;
}

/* May one who has set the clock be recording? */
static bool is_in_window(void)
{
	uint64_t now = clock_now_ns();

	if (!clock_is_foreign())
		return false;
	if (!collector.foreign_ns)
		collector.foreign_ns = now;
	return !is_over() && now - collector.foreign_ns < collector.window_max_ns;
}

/* What CUPTI says is enabled, as it counts functions that are enabled one by one. */
static void note_kinds(void)
{
	read_kinds(&collector.kinds_seen);
}

static void note_ours(uint64_t now_ns)
{
	collector.quiet_at = __atomic_load_n(&collector.arrivals, __ATOMIC_RELAXED);
	collector.quiet_since_ns = now_ns;
	collector.quiet_ns = QUIET_NS;
}

static bool is_subscribed(void)
{
	const struct cupti *c = &collector.cupti;
	void *subscriber;
	int code;

	if (!c->subscribe || !c->unsubscribe || collector.subscription.held)
		return false;
	code = c->subscribe(&subscriber, on_callback, NULL);
	if (!code)
		c->unsubscribe(subscriber);
	return code == CUPTI_BUSY;
}

/* Does another client record now, before we do? If so, the ring's head names it. */
static bool is_occupied(void)
{
	uint64_t kinds;
	bool occupied = read_kinds(&kinds) ? kinds : is_in_window();

	occupied = occupied || is_subscribed();
	if (occupied)
		name_occupant();
	return occupied;
}

/* Enabling the kind of devices makes CUPTI request a buffer for a record of each: of us, if the
 * callbacks are ours. */
static bool is_ours(void)
{
	uint64_t before = __atomic_load_n(&collector.arrivals, __ATOMIC_RELAXED);
	const struct cupti *c = &collector.cupti;

	if (!c->enable_and_dump || c->enable_and_dump(CUPTI_DEVICE))
		return true;	/* nothing shows the contrary */
	c->flush_all(0);
	c->disable(CUPTI_DEVICE);
	return __atomic_load_n(&collector.arrivals, __ATOMIC_RELAXED) != before;
}

/*
 * Has another client begun to record? CUPTI calls the callbacks registered last, of any client.
 * From 13.2 on the enabled kinds show it: one of ours is gone, or one is there that is not ours.
 * Before, kineto's first use shows in the clock, later ones when they are over. Else a period
 * without buffers may mean it, or a process that launches nothing: that is tried out, ever more
 * seldom.
 */
static bool has_lost_cupti(void)
{
	uint64_t arrivals = __atomic_load_n(&collector.arrivals, __ATOMIC_RELAXED);
	uint64_t now = clock_now_ns(), kinds;
	bool lost = false;

	if (read_kinds(&kinds)) {
		lost = kinds != collector.kinds_seen;
	} else if ((!collector.clock_was_foreign && clock_is_foreign()) ||
		   (collector.shows_end && is_over())) {
		lost = true;
	} else if (arrivals == collector.quiet_at) {
		if (now - collector.quiet_since_ns < collector.quiet_ns)
			return false;
		if (collector.quiet_ns < QUIET_MAX_NS)
			collector.quiet_ns *= 2;
		lost = !is_ours() || is_subscribed();
		collector.quiet_at = __atomic_load_n(&collector.arrivals, __ATOMIC_RELAXED);
		if (!lost)
			return false;
	}
	if (lost)
		name_occupant();
	else
		note_ours(now);
	return lost;
}

/* 0, or CUPTI's code. All calls: also functions that launch nothing and do not wait. */
static int enable_calls(bool all)
{
	const struct cupti *c = &collector.cupti;
	bool enabled = collector.calls;
	size_t chosen = 0;

	if (enabled && (collector.all_calls || !all))
		return 0;
	collector.calls = GP_CALLS_WHOLE;	/* to be disabled, also if one fails */
	for (size_t i = 0; i < N(apis); i++) {
		int code = enabled ? 0 : c->enable(apis[i].kind);

		if (code)
			return code;
		chosen += choose(c, &apis[i], all);
	}
	collector.calls = chosen ? GP_CALLS_SINGLE : GP_CALLS_WHOLE;
	collector.all_calls = all;
	__atomic_store_n(&collector.ring->head->calls, collector.calls, __ATOMIC_RELAXED);
	return 0;
}

static void disable_calls(void)
{
	for (size_t i = 0; collector.calls && i < N(apis); i++)
		collector.cupti.disable(apis[i].kind);
	collector.calls = 0;
}

static bool wants_whole(uint32_t kinds)
{
	return kinds >> GP_RING_GRAPH & 1 && !(kinds & GP_RING_WANT_NODES);
}

/*
 * Whole graphs, if all readers want them and the process cannot have made a graph yet: CUPTI before
 * 13.2 ends a process that launches an earlier one, 13.2 and later record nothing of it, and 13.5
 * records no node ever after.
 */
static void enable_whole_graphs(uint32_t kinds)
{
	if (wants_whole(kinds) && !collector.cupti.enable(CUPTI_GRAPH_TRACE))
		collector.enabled |= 1ull << CUPTI_GRAPH_TRACE;
}

/* For a reader of nodes, for good. */
static void disable_whole_graphs(uint32_t kinds)
{
	const uint64_t bit = 1ull << CUPTI_GRAPH_TRACE;

	if (!wants_whole(kinds) && collector.enabled & bit &&
	    !collector.cupti.disable(CUPTI_GRAPH_TRACE))
		collector.enabled &= ~bit;
}

/* The kinds that readers want and that are not enabled yet: works last, kernels at the very end:
 * enabling calls takes up to a millisecond, in which works would be recorded and yet reported as
 * unseen. 0, or CUPTI's code. */
static int enable(uint32_t kinds)
{
	static const struct {
		uint8_t kind;
		bool needed;	/* without it the others are not worth having */
	} works[] = { { CUPTI_MEMORY2, false }, { CUPTI_MEMSET, true }, { CUPTI_MEMCPY_PEER, true },
		      { CUPTI_MEMCPY, true }, { CUPTI_KERNEL, true } };
	int err = kinds >> GP_RING_API & 1 ? enable_calls(kinds & GP_RING_WANT_ALL_CALLS) : 0;

	subscribe_follow(kinds & GP_RING_WANT_SUBSCRIBED);
	disable_whole_graphs(kinds);
	for (size_t i = 0; i < N(works); i++) {
		uint64_t bit = 1ull << works[i].kind;
		int code;

		if (!(kinds >> sent_as[works[i].kind].kind & 1) || collector.enabled & bit)
			continue;
		code = collector.cupti.enable(works[i].kind);
		if (code && works[i].needed)
			return code;
		collector.enabled |= code ? 0 : bit;
	}
	return err;
}

/* what: the function that failed with CUPTI's code, or a reason of its own. */
static enum collect_result fail(const char *what, int code)
{
	struct gp_ring_head *head = collector.ring->head;
	const char *text = code ? result_text(code) : "";

	head->code = (uint32_t)code;
	if (!code || !cupti_describe_mismatch(head->reason, sizeof(head->reason), code,
					      head->cupti_version, collector.cupti.path))
		snprintf(head->reason, sizeof(head->reason), "%s%s%s", what, *text ? ": " : "",
			 text);
	return COLLECT_FAILED;
}

/* From 13.3 on CUPTI has no version before it is initialised. */
static void read_version(void)
{
	struct gp_ring_head *head = collector.ring->head;

	if (!head->cupti_version && collector.cupti.version(&head->cupti_version))
		head->cupti_version = 0;
}

enum collect_result collect_prepare(bool waits)
{
	const char *why = collector.has_cupti ? NULL : cupti_load(&collector.cupti);
	enum cupti_driver found = CUPTI_DRIVER_UP;
	int code;

	if (why)
		return fail(why, 0);
	if (collector.cupti.overflows && !collector.has_worked)
		found = cupti_driver(CUPTI_13_2_DRIVER);
	if (found == CUPTI_DRIVER_STARTING && waits)
		return COLLECT_TOO_EARLY;
	if (found != CUPTI_DRIVER_UP)
		return fail("libcupti 13.2 would end a process without a driver of CUDA 13", 0);
	if (!collector.has_cupti)
		read_version();
	code = initialise();
	if (code)
		return fail("cuptiActivityGetAttribute", code);
	collector.has_cupti = true;
	return is_occupied() ? COLLECT_OCCUPIED : COLLECT_READY;
}

/*
 * Buffers are small where another client may come: it gets those that are out, and drops their
 * records (kineto's "unknown buffer"). CUPTI clears each on the launching thread. An attribute
 * would spare that (ZEROED_OUT_ACTIVITY_BUFFER), but would be the other client's, too, whose
 * buffers are not.
 */
static void look_for_clients(void)
{
	__atomic_store_n(&collector.client_expected, cupti_client_expected() != NULL,
			 __ATOMIC_RELAXED);
}

static void count_session(void)
{
	struct gp_ring_head *head = collector.ring->head;

	__atomic_store_n(&head->sessions, head->sessions + 1, __ATOMIC_RELAXED);
}

enum collect_result collect_arm(uint32_t kinds, bool starts, uint64_t *since_ns)
{
	const struct cupti *c = &collector.cupti;
	int code;

	buffers_renew(&collector.buffers);
	look_for_clients();
	collector.clock_was_foreign = clock_is_foreign();
	if (collector.clock_was_foreign && is_over())
		set_per_thread(true);
	collector.shows_end = !is_over();
	code = c->register_callbacks(on_request, on_complete);
	if (code == CUPTI_NOT_COMPATIBLE) {
		name_occupant();
		return COLLECT_OCCUPIED;
	}
	if (code)
		return fail("cuptiActivityRegisterCallbacks", code);
	collector.has_worked = true;
	collector.flushed_ns = clock_now_ns();
	if (c->set_thread_id_type)
		c->set_thread_id_type(CUPTI_THREAD_ID_SYSTEM);
	if (starts)
		enable_whole_graphs(kinds);
	code = enable(kinds);
	*since_ns = clock_now_ns();
	if (code) {
		note_kinds();
		collect_drain(false);
		return fail("cuptiActivityEnable", code);
	}
	read_version();
	count_session();
	note_kinds();
	note_ours(clock_now_ns());
	return COLLECT_READY;
}

static void send_lost_time(uint32_t cause, uint64_t since_ns, uint64_t until_ns)
{
	struct gp_ring_loss loss = { .cause = cause, .since_ns = since_ns, .until_ns = until_ns };

	helper_ring_send(collector.ring, GP_RING_LOSS, &loss, sizeof(loss));
}

void collect_unseen(uint64_t since_ns, uint64_t until_ns)
{
	send_lost_time(GP_LOSS_UNSEEN, since_ns, until_ns);
}

static struct buffers_kept note_kept(uint64_t before_ns)
{
	struct buffers_kept kept = buffers_kept(&collector.buffers, before_ns);
	struct gp_ring_head *head = collector.ring->head;

	__atomic_store_n(&head->kept_since_ns, kept.since_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&head->kept_bytes, kept.bytes, __ATOMIC_RELAXED);
	return kept;
}

void collect_note_kept(uint64_t before_ns)
{
	if (collector.buffers.memory && !collector.forgotten)
		note_kept(before_ns);
}

/* Delivers records that CUPTI has completed, and its counts of dropped records. */
static void flush(uint32_t flag)
{
	uint64_t refused = __atomic_load_n(&collector.buffers.refused, __ATOMIC_RELAXED);
	uint64_t now_ns = clock_now_ns();
	size_t dropped = 0;

	collector.cupti.flush_all(flag);
	if (collector.cupti.dropped(NULL, 0, &dropped))
		dropped = 0;
	pthread_mutex_lock(&collector.lock);
	/* Their times have been on the device, too. */
	collector.nodes += collector.nodes ? dropped : 0;
	send_loss(GP_LOSS_DROPPED, dropped, 0, collector.flushed_ns);
	send_loss(GP_LOSS_BUFFERS, refused - collector.refused, 0, collector.flushed_ns);
	collector.refused = refused;
	__atomic_store_n(&collector.flushed_ns, now_ns, __ATOMIC_RELAXED);
	collector.flushed_at = __atomic_load_n(&collector.arrivals, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&collector.lock);
	if (now_ns - collector.kept_at_ns < KEPT_EVERY_NS)
		return;
	collector.kept_at_ns = now_ns;
	collect_note_kept(now_ns - KEPT_NS);
}

/*
 * A flush beside another client's cuptiFinalize ends the process (kineto#686), and before 13.2
 * nothing shows at once that one has come; but CUPTI requests buffers of it from then on, and not
 * of us. So where one may come, and none was requested or returned since the last flush, the next
 * is QUIET_NS later, when has_lost_cupti() has looked; without a buffer that is out there is none.
 */
static bool may_bring_records(void)
{
	if (collector.cupti.enabled_kinds || !collector.client_expected ||
	    __atomic_load_n(&collector.arrivals, __ATOMIC_RELAXED) != collector.flushed_at)
		return true;
	return buffers_are_out(&collector.buffers) &&
	       clock_now_ns() - collector.flushed_ns >= QUIET_NS;
}

/* Until nothing is in flight, if that comes soon: CUPTI keeps a work that is when its kind is
 * disabled, and ends it when that is enabled again (kineto#1105). */
static void settle(uint64_t most_ns)
{
	uint64_t until_ns = clock_now_ns() + most_ns;

	for (;;) {
		flush(0);
		if (!buffers_are_out(&collector.buffers) || clock_now_ns() >= until_ns)
			return;
		usleep(IN_FLIGHT_LOOK_US);
	}
}

static void disable_works(void)
{
	for (uint32_t kind = 0; kind < CUPTI_KINDS; kind++)
		if (collector.enabled >> kind & 1)
			collector.cupti.disable(kind);
	collector.enabled = 0;
}

/* CUPTI keeps nodes of graphs in buffers on the device that it does not use again (after 25 million
 * records their times are 0). Before, all is disabled and enabled anew, and the time between sent
 * as unseen, by which readers know works that were in flight; where that did not help it is not
 * done for lost ones again. */
static void renew(uint32_t kinds)
{
	uint64_t since_ns;

	if ((!collector.nodes_lost || collector.futile) && collector.nodes < collector.nodes_max)
		return;
	collector.futile = collector.renewed && collector.nodes_lost &&
			   collector.nodes < collector.nodes_max / 2;
	if (!collector.nodes_lost)
		settle(IN_FLIGHT_NS);
	since_ns = clock_now_ns();
	disable_works();
	flush(0);
	count_session();	/* as it is one to CUPTI, which may number it wrongly */
	enable(kinds);
	note_kinds();
	send_lost_time(GP_LOSS_RENEWED, since_ns, clock_now_ns());
	collector.renewed = true;
	pthread_mutex_lock(&collector.lock);	/* a thread of CUPTI may count */
	collector.nodes = collector.nodes_lost = 0;
	pthread_mutex_unlock(&collector.lock);
}

/* Records in buffers that are out go to the other client, too. */
static uint64_t stand_down(void)
{
	struct buffers_kept out = buffers_kept(&collector.buffers, UINT64_MAX);

	collector.enabled = 0;
	collector.calls = 0;
	buffers_give_up(&collector.buffers);
	collector.foreign_ns = 0;
	collector.set_per_thread = false;
	return out.bytes && out.since_ns < collector.quiet_since_ns ? out.since_ns :
								      collector.quiet_since_ns;
}

uint64_t collect_step(uint32_t kinds)
{
	uint64_t before = collector.enabled;
	uint32_t calls = collector.calls;

	if (has_lost_cupti())
		return stand_down();
	look_for_clients();
	read_version();
	enable(kinds);
	if (collector.enabled != before || collector.calls != calls)
		note_kinds();
	if (may_bring_records())
		flush(0);
	renew(kinds);
	collect_clock();
	return 0;
}

/* By one who began just now: what is enabled is its own. */
static bool is_taken(void)
{
	uint64_t kinds;

	return collector.enabled &&
	       (read_kinds(&kinds) ? kinds != collector.kinds_seen : !is_ours());
}

/* At the end: a flush does not wait for the buffers that a thread of CUPTI has begun to return. */
static void send_kept(void)
{
	const uint64_t now_ns = clock_now_ns();
	struct buffers_kept kept;
	unsigned int still = 0;

	for (unsigned int i = 0; i < KEPT_LOOKS && still < KEPT_STILL; i++) {
		const uint64_t before = __atomic_load_n(&collector.arrivals, __ATOMIC_RELAXED);

		if (!buffers_are_out(&collector.buffers))
			break;
		usleep(1000);
		still++;
		if (__atomic_load_n(&collector.walking, __ATOMIC_ACQUIRE) ||
		    __atomic_load_n(&collector.arrivals, __ATOMIC_RELAXED) != before)
			still = 0;
	}
	kept = note_kept(now_ns);
	if (kept.bytes)
		send_lost_time(GP_LOSS_KEPT, kept.since_ns, now_ns);
}

/* Forced, since CUPTI keeps all records of a buffer back as long as a work of one runs. */
static void drain(bool is_end)
{
	settle(is_end ? IN_FLIGHT_END_NS : IN_FLIGHT_NS);
	disable_works();
	disable_calls();
	subscribe_follow(false);
	__atomic_store_n(&collector.leaves, !is_end, __ATOMIC_RELAXED);
	flush(CUPTI_FLUSH_FORCED);
	__atomic_store_n(&collector.leaves, false, __ATOMIC_RELAXED);
	if (collector.set_per_thread)
		set_per_thread(false);
	if (is_end)
		send_kept();
}

void collect_drain(bool is_end)
{
	if (!is_end && is_taken())
		stand_down();
	else
		drain(is_end);
}

void collect_forget(void)
{
	collector.subscription.held = false;
	collector.forgotten = true;	/* the lock may be held by a thread that is not here */
}

void collect_clock(void)
{
	struct gp_ring_clock best = { .host_after_ns = UINT64_MAX };

	for (int i = 0; i < CLOCK_TRIES; i++) {
		struct gp_ring_clock c = { .host_before_ns = clock_now_ns() };

		if (collector.cupti.timestamp(&c.device_ns))
			return;
		c.host_after_ns = clock_now_ns();
		if (c.host_after_ns - c.host_before_ns < best.host_after_ns - best.host_before_ns)
			best = c;
	}
	helper_ring_send(collector.ring, GP_RING_CLOCK, &best, sizeof(best));
}
