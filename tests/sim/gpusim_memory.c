// SPDX-License-Identifier: BSD-3-Clause
/*
 * Device memory: addresses of a reserved, inaccessible range, so that no host pointer looks like
 * one. Sizes are rounded up to powers of two for the address only; the accounting has what was
 * asked for. A freed block is handed out again. Page-locked host memory is plain memory with its
 * address noted.
 */
#include "gpusim_board.h"
#include "gpusim_internal.h"
#include "gpusim_memory.h"
#include "gpusim_trace_internal.h"

#include <stdlib.h>
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
	struct block *next_host; /* of all page-locked memory */
};

static struct block *in_use[HASH_SIZE];
static struct block *free_list[CLASSES];
static struct block *host_blocks;
static uint64_t range_start, range_used;

static struct block **chain_of(uint64_t address)
{
	return &in_use[(address >> SMALLEST_CLASS ^ address >> 21) % HASH_SIZE];
}

static void reserve_range(void)
{
	void *range = mmap(NULL, RANGE_BYTES, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	uint64_t start = (uint64_t)(uintptr_t)range;

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
		gpusim_board_memory(block->device,
				    gpusim_world.devices[block->device].memory_used);
		block->next = free_list[block->class];
		free_list[block->class] = block;
	}
	gpusim_unlock();
	return block ? GPUSIM_OK : GPUSIM_INVALID_VALUE;
}

bool gpusim_memory_is_device(uint64_t address)
{
	uint64_t start = __atomic_load_n(&range_start, __ATOMIC_RELAXED);

	return start && address >= start && address - start < RANGE_BYTES;
}

int gpusim_host_alloc(uint64_t bytes, void **out)
{
	struct gpusim_context *context = gpusim_context_current();
	struct block *block;

	if (!out)
		return GPUSIM_INVALID_VALUE;
	block = calloc(1, sizeof(*block));
	*out = calloc(1, bytes);
	if (!block || !*out) {
		free(block);
		free(*out);
		return GPUSIM_OUT_OF_MEMORY;
	}
	block->address = (uint64_t)(uintptr_t)*out;
	block->bytes = bytes;
	block->kind = GPUSIM_PINNED_MEMORY;
	block->device = context ? context->device : 0;
	block->context = context ? gpusim_context_id(context) : 0;
	gpusim_lock();
	block_insert(block);
	report(block, false);
	block->next_host = host_blocks;
	host_blocks = block;
	gpusim_unlock();
	return GPUSIM_OK;
}

int gpusim_host_free(void *memory)
{
	struct block *block, **link;

	gpusim_lock();
	block = block_remove((uint64_t)(uintptr_t)memory, true);
	for (link = &host_blocks; block && *link != block; link = &(*link)->next_host)
		;
	if (block)
		*link = block->next_host;
	if (block)
		report(block, true);
	gpusim_unlock();
	if (!block)
		return GPUSIM_INVALID_VALUE;
	free(block);
	free(memory);
	return GPUSIM_OK;
}

bool gpusim_host_is_pinned(uint64_t address)
{
	const struct block *block;

	gpusim_lock();
	for (block = host_blocks; block; block = block->next_host)
		if (address >= block->address && address - block->address < block->bytes)
			break;
	gpusim_unlock();
	return block != NULL;
}
