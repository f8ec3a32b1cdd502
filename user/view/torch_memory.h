/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of PyTorch's caching allocator as PyTorch's own viewer reads it (pytorch.org/memory_viz,
 * torch.cuda._memory_viz): report --format torch-memory, of a capture with --torch-memory. A pickle
 * as torch.cuda.memory._snapshot() gives it:
 *
 *   segments		what the allocator has of the driver, and in each the blocks that it gave
 *			out; at the first allocation for which there was no memory, else at the end
 *   device_traces	of each device, every allocation and free, of either, with its stack
 *
 * A block's size is what was asked for, rounded up to 512 bytes, as the allocator does by default.
 * Not known, and 0: streams. A block in memory that was taken before the session, or mapped
 * (expandable segments), has a segment of its own.
 */
#ifndef VIEW_TORCH_MEMORY_H
#define VIEW_TORCH_MEMORY_H

#include "facts/consumer.h"
#include "model/snapshot.h"

/* Before the first event: model_use_consumers. */
extern const struct consumer torch_memory_consumer;

/* How many allocations and frees of its own the allocator made; out->failed: out of memory. */
size_t torch_memory_add(struct strbuf *out, const struct snapshot *snap);

#endif
