// SPDX-License-Identifier: BSD-3-Clause
/*
 * Device memory: addresses of a reserved, inaccessible range, so that no host pointer looks like
 * one. With GPUSIM_BACKED=1 a second range, as far from the first for all addresses, has the bytes:
 * copies and sets work there, and a program that follows a device pointer still faults.
 * Sizes are rounded up to powers of two for the address only; the accounting has what was
 * asked for. A freed block is handed out again. Page-locked host memory is pages with their
 * address noted, the simulation's own or, registered, the caller's.
 */
#include "gpusim_board.h"
#include "gpusim_internal.h"
#include "gpusim_memory.h"
#include "gpusim_trace_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HASH_SIZE = 4096, SMALLEST_CLASS = 9, CLASSES = 64 };

static const uint64_t RANGE_BYTES = 4ULL << 40;

struct block {
	struct block *next; /* in its hash chain while in use, else in its free list */
	uint64_t address;
	uint64_t bytes;
	int class;
	int device; /* page-locked host memory: the current one */
	enum gpusim_memory kind;
	uint32_t context;
	bool registered; /* the caller's memory */
	struct block *next_host; /* of all page-locked memory */
};

static struct block *in_use[HASH_SIZE];
static struct block *free_list[CLASSES];
static struct block *host_blocks;
static uint64_t range_start, range_used;
static char *backing; /* the bytes of range_start and on; NULL: there are none */

static struct block **chain_of(uint64_t address)
{
	return &in_use[(address >> SMALLEST_CLASS ^ address >> 21) % HASH_SIZE];
}

static void reserve_range(void)
{
	void *range = mmap(NULL, RANGE_BYTES, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	uint64_t start = (uint64_t)(uintptr_t)range;

	if (gpusim_world.config.backed) {
		backing = mmap(NULL, RANGE_BYTES, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (backing == MAP_FAILED)
			backing = NULL;
	}
	/* Under a tight RLIMIT_AS the addresses are only unlikely ones. */
	if (range == MAP_FAILED)
		start = 0x200000000000;
	__atomic_store_n(&range_start, start, __ATOMIC_RELAXED);
}

static int class_of(uint64_t bytes)
{
	int class = SMALLEST_CLASS;

	while (1ULL << class < bytes)
		class ++;
	return class;
}

static struct block *block_of_class(int class)
{
	struct block *block = free_list[class];

	if (block) {
		free_list[class] = block->next;
		return block;
	}
	if (!range_start)
		reserve_range();
	if ((1ULL << class) > RANGE_BYTES - range_used)
		return NULL;
	block = calloc(1, sizeof(*block));
	if (!block)
		return NULL;
	block->address = range_start + range_used;
	block->class = class;
	range_used += 1ULL << class;
	return block;
}

static void block_insert(struct block *block)
{
	struct block **chain = chain_of(block->address);

	block->next = *chain;
	*chain = block;
}

static struct block *block_remove(uint64_t address, bool host)
{
	struct block **link;
	struct block *block;

	for (link = chain_of(address); (block = *link); link = &block->next)
		if (block->address == address &&
		    (block->kind == GPUSIM_PINNED_MEMORY) == host) {
			*link = block->next;
			return block;
		}
	return NULL;
}

static void report(const struct block *block, bool is_free)
{
	gpusim_memory_report(&(struct gpusim_trace_memory){
		.at_ns = gpusim_now_ns(), .address = block->address, .bytes = block->bytes,
		.kind = block->kind, .device = block->device, .context = block->context,
		.correlation = gpusim_correlation(), .is_free = is_free });
}

static int alloc_locked(struct gpusim_context *context, enum gpusim_memory kind, uint64_t bytes,
			uint64_t *address)
{
	struct gpusim_device *on = &gpusim_world.devices[context->device];
	struct block *block;

	if (bytes > gpusim_world.config.memory_bytes - on->memory_used)
		return GPUSIM_OUT_OF_MEMORY;
	block = block_of_class(class_of(bytes));
	if (!block)
		return GPUSIM_OUT_OF_MEMORY;
	block->bytes = bytes;
	block->device = context->device;
	block->kind = kind;
	block->context = gpusim_context_id(context);
	block_insert(block);
	report(block, false);
	on->memory_used += bytes;
	gpusim_board_memory(context->device, on->memory_used);
	*address = block->address;
	return GPUSIM_OK;
}

static int alloc(enum gpusim_memory kind, uint64_t bytes, uint64_t *address)
{
	struct gpusim_context *context = gpusim_context_current();
	int result;

	if (!address || !bytes)
		return GPUSIM_INVALID_VALUE;
	if (!context)
		return GPUSIM_INVALID_CONTEXT;
	gpusim_lock();
	result = alloc_locked(context, kind, bytes, address);
	if (result)
		gpusim_memory_failed(kind, context->device);
	gpusim_unlock();
	return result;
}

int gpusim_memory_alloc(uint64_t bytes, uint64_t *address)
{
	return alloc(GPUSIM_DEVICE_MEMORY, bytes, address);
}

int gpusim_pool_alloc(uint64_t bytes, uint64_t *address)
{
	return alloc(GPUSIM_POOL_MEMORY, bytes, address);
}

int gpusim_memory_free(uint64_t address)
{
	struct block *block;

	gpusim_lock();
	block = block_remove(address, false);
	if (block) {
		report(block, true);
		gpusim_world.devices[block->device].memory_used -= block->bytes;
		gpusim_board_memory(block->device, gpusim_world.devices[block->device].memory_used);
		block->next = free_list[block->class];
		free_list[block->class] = block;
	}
	gpusim_unlock();
	return block ? GPUSIM_OK : GPUSIM_INVALID_VALUE;
}

int gpusim_range_reserve(uint64_t bytes, uint64_t *address)
{
	struct gpusim_context *context = gpusim_context_current();
	struct block *block;

	if (!address || !bytes)
		return GPUSIM_INVALID_VALUE;
	gpusim_lock();
	block = block_of_class(class_of(bytes));
	if (block) {
		block->bytes = bytes;
		block->device = context ? context->device : 0;
		block->kind = GPUSIM_DEVICE_MEMORY;
		block_insert(block);
		*address = block->address;
	}
	gpusim_unlock();
	return block ? GPUSIM_OK : GPUSIM_OUT_OF_MEMORY;
}

int gpusim_range_free(uint64_t address)
{
	struct block *block;

	gpusim_lock();
	block = block_remove(address, false);
	if (block) {
		block->next = free_list[block->class];
		free_list[block->class] = block;
	}
	gpusim_unlock();
	return block ? GPUSIM_OK : GPUSIM_INVALID_VALUE;
}

struct gpusim_physical {
	uint64_t bytes;
	int device;
};

static void use(int device, int64_t bytes)
{
	struct gpusim_device *on = &gpusim_world.devices[device];

	on->memory_used += (uint64_t)bytes;
	gpusim_board_memory(device, on->memory_used);
}

int gpusim_physical_alloc(uint64_t bytes, struct gpusim_physical **out)
{
	struct gpusim_context *context = gpusim_context_current();
	bool fits;

	if (!out || !bytes)
		return GPUSIM_INVALID_VALUE;
	*out = context ? calloc(1, sizeof(**out)) : NULL;
	if (!*out)
		return context ? GPUSIM_OUT_OF_MEMORY : GPUSIM_INVALID_CONTEXT;
	**out = (struct gpusim_physical){ bytes, context->device };
	gpusim_lock();
	fits = bytes <= gpusim_world.config.memory_bytes -
				gpusim_world.devices[context->device].memory_used;
	if (fits)
		use(context->device, (int64_t)bytes);
	gpusim_unlock();
	if (fits)
		return GPUSIM_OK;
	free(*out);
	*out = NULL;
	return GPUSIM_OUT_OF_MEMORY;
}

int gpusim_physical_free(struct gpusim_physical *memory)
{
	if (!memory)
		return GPUSIM_INVALID_VALUE;
	gpusim_lock();
	use(memory->device, -(int64_t)memory->bytes);
	gpusim_unlock();
	free(memory);
	return GPUSIM_OK;
}

bool gpusim_memory_is_device(uint64_t address)
{
	uint64_t start = __atomic_load_n(&range_start, __ATOMIC_RELAXED);

	return start && address >= start && address - start < RANGE_BYTES;
}

/* The host's memory is page-locked from now on; a registration is no allocation. */
static int host_note(void *memory, uint64_t bytes, bool registered)
{
	struct gpusim_context *context = gpusim_context_current();
	struct block *block = calloc(1, sizeof(*block));

	if (!block)
		return GPUSIM_OUT_OF_MEMORY;
	block->address = (uint64_t)(uintptr_t)memory;
	block->bytes = bytes;
	block->kind = GPUSIM_PINNED_MEMORY;
	block->device = context ? context->device : 0;
	block->context = context ? gpusim_context_id(context) : 0;
	block->registered = registered;
	gpusim_lock();
	block_insert(block);
	if (!registered)
		report(block, false);
	block->next_host = host_blocks;
	host_blocks = block;
	gpusim_unlock();
	return GPUSIM_OK;
}

/* The caller frees what it gets; NULL: there is no such memory. */
static struct block *host_forget(void *memory, bool registered)
{
	struct block *block, **link;

	gpusim_lock();
	block = block_remove((uint64_t)(uintptr_t)memory, true);
	if (block && block->registered != registered) {
		block_insert(block);
		block = NULL;
	}
	for (link = &host_blocks; block && *link != block; link = &(*link)->next_host)
		;
	if (block)
		*link = block->next_host;
	if (block && !registered)
		report(block, true);
	gpusim_unlock();
	return block;
}

int gpusim_host_alloc(uint64_t bytes, void **out)
{
	int result;

	if (!out)
		return GPUSIM_INVALID_VALUE;
	*out = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (*out == MAP_FAILED) {
		*out = NULL;
		return GPUSIM_OUT_OF_MEMORY;
	}
	result = host_note(*out, bytes, false);
	if (result)
		munmap(*out, bytes ? bytes : 1);
	return result;
}

int gpusim_host_free(void *memory)
{
	struct block *block = host_forget(memory, false);

	if (!block)
		return GPUSIM_INVALID_VALUE;
	munmap(memory, block->bytes ? block->bytes : 1);
	free(block);
	return GPUSIM_OK;
}

int gpusim_host_register(void *memory, uint64_t bytes)
{
	return memory && bytes ? host_note(memory, bytes, true) : GPUSIM_INVALID_VALUE;
}

int gpusim_host_unregister(void *memory)
{
	struct block *block = host_forget(memory, true);

	free(block);
	return block ? GPUSIM_OK : GPUSIM_INVALID_VALUE;
}

static bool holds(const struct block *block, uint64_t address)
{
	return address >= block->address && address - block->address < block->bytes;
}

/* With the lock held. */
static const struct block *find_host(uint64_t address)
{
	const struct block *block = host_blocks;

	while (block && !holds(block, address))
		block = block->next_host;
	return block;
}

/* The same: rarely asked for, so it looks at every block. */
static const struct block *find_device(uint64_t address)
{
	const struct block *block;
	size_t i;

	for (i = 0; i < HASH_SIZE; i++)
		for (block = in_use[i]; block; block = block->next)
			if (block->kind != GPUSIM_PINNED_MEMORY && holds(block, address))
				return block;
	return NULL;
}

bool gpusim_host_is_pinned(uint64_t address)
{
	const struct block *block;

	gpusim_lock();
	block = find_host(address);
	gpusim_unlock();
	return block != NULL;
}

bool gpusim_memory_find(uint64_t address, struct gpusim_allocation *out)
{
	const struct block *block;

	gpusim_lock();
	block = gpusim_memory_is_device(address) ? find_device(address) : find_host(address);
	if (block)
		*out = (struct gpusim_allocation){ .address = block->address,
			.bytes = block->bytes, .kind = block->kind, .device = block->device };
	gpusim_unlock();
	return block != NULL;
}

static char *bytes_at(uint64_t address)
{
	if (gpusim_memory_is_device(address))
		return backing + (address - range_start);
	return (char *)(uintptr_t)address;
}

void gpusim_memory_carry_out(const struct gpusim_work *work)
{
	uint64_t i;
	char *to;

	if (!backing || !work->to)
		return;
	to = bytes_at(work->to);
	if (work->from)
		memmove(to, bytes_at(work->from), work->bytes);
	else if (work->value_bytes == 1)
		memset(to, (int)work->value, work->bytes);
	else
		for (i = 0; i + sizeof(work->value) <= work->bytes; i += sizeof(work->value))
			memcpy(to + i, &work->value, sizeof(work->value));
}
