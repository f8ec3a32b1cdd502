// SPDX-License-Identifier: BSD-3-Clause
/*
 * Clients of CUPTI's activity API: each has callbacks of its own and knows which buffers it gave away, so
 * that a buffer which reaches another client is seen. Record sizes are the distances in real buffers.
 */
#include "facts.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gpuprof/cbids.h"

enum { BUFFER_BYTES = 512 << 10, BUFFERS = 4096, RECORDS = 1 << 21, THREADS = 512 };

struct client {
	unsigned int asked, got, foreign, out;
	size_t records;
	uint64_t bytes;
};

static struct {
	uint8_t *at;		/* NULL: free */
	int client;
} buffers[BUFFERS];
static struct client clients[FACTS_CLIENTS];
static bool registered[FACTS_CLIENTS];	/* ever */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int threads[THREADS];
static unsigned int n_threads;
static bool keep = true;

struct facts_record *facts_records;
size_t facts_n;

/* With the lock. */
static void note_thread(void)
{
	int tid = (int)syscall(SYS_gettid);

	for (unsigned int i = 0; i < n_threads; i++)
		if (threads[i] == tid)
			return;
	if (n_threads < THREADS)
		threads[n_threads++] = tid;
}

static void request(int client, uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	pthread_mutex_lock(&lock);
	note_thread();
	clients[client].asked++;
	*buffer = aligned_alloc(4096, BUFFER_BYTES);
	if (!*buffer)
		abort();
	memset(*buffer, 0, BUFFER_BYTES);
	*bytes = BUFFER_BYTES;
	*max_records = 0;
	for (size_t i = 0; i < BUFFERS; i++)
		if (!buffers[i].at) {
			buffers[i].at = *buffer;
			buffers[i].client = client;
			clients[client].out++;
			break;
		}
	pthread_mutex_unlock(&lock);
}

/* With the lock. */
static void take(int client, const void *rec, uint32_t bytes)
{
	struct facts_record *r = &facts_records[facts_n];
	const char *name;

	clients[client].records++;
	if (!keep || !facts_records || facts_n == RECORDS)
		return;
	*r = (struct facts_record){ .client = client, .bytes = bytes };
	memcpy(&r->kind, rec, sizeof(r->kind));
	if (!record_read(r->kind, rec, bytes, &r->is))
		memset(&r->is, 0, sizeof(r->is));
	name = r->kind == CUPTI_KERNEL ? record_kernel_name(rec, bytes) : NULL;
	snprintf(r->name, sizeof(r->name), "%s", name ? name : "");
	facts_n++;
}

/* With the lock: the buffer is whose? */
static void give_back(int client, const uint8_t *buffer)
{
	for (size_t i = 0; i < BUFFERS; i++)
		if (buffers[i].at == buffer) {
			buffers[i].at = NULL;
			clients[buffers[i].client].out--;
			clients[client].foreign += buffers[i].client != client;
			break;
		}
}

static void complete(int client, uint8_t *buffer, size_t valid_bytes)
{
	void *rec = NULL;
	uint8_t *before = NULL;

	pthread_mutex_lock(&lock);
	note_thread();
	clients[client].got++;
	clients[client].bytes += valid_bytes;
	give_back(client, buffer);
	while (valid_bytes && !facts_cupti.next(buffer, valid_bytes, &rec)) {
		if (before)
			take(client, before, (uint32_t)((uint8_t *)rec - before));
		before = rec;
	}
	if (before)
		take(client, before, (uint32_t)(buffer + valid_bytes - before));
	pthread_mutex_unlock(&lock);
	free(buffer);
}

static void request_a(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	request(FACTS_A, buffer, bytes, max_records);
}

static void request_b(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	request(FACTS_B, buffer, bytes, max_records);
}

static void complete_a(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes)
{
	(void)context, (void)stream, (void)bytes;
	complete(FACTS_A, buffer, valid_bytes);
}

static void complete_b(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes)
{
	(void)context, (void)stream, (void)bytes;
	complete(FACTS_B, buffer, valid_bytes);
}

int facts_register(int client)
{
	if (!facts_records)
		facts_records = calloc(RECORDS, sizeof(*facts_records));
	registered[client] = true;
	return client == FACTS_A ? facts_cupti.register_callbacks(request_a, complete_a) :
				   facts_cupti.register_callbacks(request_b, complete_b);
}

void facts_keep(bool yes)
{
	keep = yes;
}

/* Buffers that are out stay so. */
void facts_forget(void)
{
	pthread_mutex_lock(&lock);
	facts_n = 0;
	for (int i = 0; i < FACTS_CLIENTS; i++)
		clients[i] = (struct client){ .out = clients[i].out };
	pthread_mutex_unlock(&lock);
}

size_t facts_count(uint32_t kind)
{
	size_t n = 0;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < facts_n; i++)
		n += facts_records[i].kind == kind;
	pthread_mutex_unlock(&lock);
	return n;
}

void facts_settle(bool forced)
{
	facts_cu.synchronize();
	facts_cupti.flush(0);
	facts_sleep_ms(20);
	facts_cupti.flush(forced);
	facts_sleep_ms(20);
}

void facts_answer_buffers(const char *when)
{
	struct client now[FACTS_CLIENTS];

	pthread_mutex_lock(&lock);
	memcpy(now, clients, sizeof(now));
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < FACTS_CLIENTS; i++) {
		const struct client *c = &now[i];

		if (registered[i])
			facts_answer(when, "client %c: %u asked, %u completed, %u of others, %u out, %zu "
				     "records, %.1f KB", 'A' + i, c->asked, c->got, c->foreign, c->out,
				     c->records, (double)c->bytes / 1e3);
	}
}

unsigned int facts_threads(void)
{
	return n_threads;
}

/* ---- functions in API records ------------------------------------------------------------------- */

static const struct function {
	uint32_t kind, cbid;
	const char *name;
} functions[] = {
#define OF_RUNTIME(cbid, name) { CUPTI_RUNTIME, cbid, #name },
#define OF_DRIVER(cbid, name) { CUPTI_DRIVER, cbid, #name },
	GP_RUNTIME_CBIDS(OF_RUNTIME) GP_DRIVER_CBIDS(OF_DRIVER)
};
enum { N_FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

const char *facts_function(uint32_t kind, uint32_t cbid)
{
	for (size_t i = 0; i < N_FUNCTIONS; i++)
		if (functions[i].kind == kind && functions[i].cbid == cbid)
			return functions[i].name;
	return "?";
}

/* The newest number: of functions whose prototype has changed, that of today's. */
uint32_t facts_cbid(uint32_t kind, const char *name)
{
	for (size_t i = N_FUNCTIONS; i-- > 0;)
		if (functions[i].kind == kind && !strcmp(functions[i].name, name))
			return functions[i].cbid;
	return 0;
}
