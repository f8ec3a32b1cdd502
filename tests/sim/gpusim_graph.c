// SPDX-License-Identifier: BSD-3-Clause
/*
 * Graphs, minimal: the works that a stream was given while it captured, run again in that order by
 * each launch.
 */
#include "gpusim_trace_internal.h"

#include <stdlib.h>
#include <string.h>

struct gpusim_graph {
	struct gpusim_slot slot;
	size_t count, room;
	struct gpusim_work *works;
	uint64_t *nodes; /* their numbers */
	uint64_t capture; /* what fills it; 0: that has ended */
};

struct gpusim_graph_exec {
	struct gpusim_slot slot;
	uint32_t id;
	uint64_t first_node; /* its nodes are clones: numbers of their own */
	size_t count;
	struct gpusim_work *works;
};

static struct gpusim_graph graphs[1024];
static struct gpusim_graph_exec execs[1024];
static struct gpusim_pool graph_pool = GPUSIM_POOL(graphs);
static struct gpusim_pool exec_pool = GPUSIM_POOL(execs);
static uint32_t execs_made;
static uint64_t nodes_made;
static uint64_t captures_made;

static uint64_t make_node(uint64_t original)
{
	const struct gpusim_tracer *tracer = gpusim_trace_listener();
	struct gpusim_trace_node node = { .node = ++nodes_made };

	/* As CUPTI does: a clone is made, and then said to be one. */
	if (tracer)
		tracer->node(&node);
	node.original = original;
	if (tracer && original)
		tracer->node(&node);
	return node.node;
}

int gpusim_graph_append(struct gpusim_graph *graph, const struct gpusim_work *work)
{
	size_t room = graph->room ? 2 * graph->room : 16;
	struct gpusim_work *works;
	uint64_t *nodes;

	if (graph->count == graph->room) {
		works = realloc(graph->works, room * sizeof(*works));
		if (works)
			graph->works = works;
		nodes = works ? realloc(graph->nodes, room * sizeof(*nodes)) : NULL;
		if (!nodes)
			return GPUSIM_OUT_OF_MEMORY;
		graph->nodes = nodes;
		graph->room = room;
	}
	graph->nodes[graph->count] = make_node(0);
	graph->works[graph->count++] = *work;
	return GPUSIM_OK;
}

int gpusim_capture_begin(struct gpusim_stream *handle)
{
	struct gpusim_stream *stream;
	int result = GPUSIM_INVALID_HANDLE;

	gpusim_lock();
	stream = gpusim_stream_find(handle);
	if (stream && stream->capture) {
		result = GPUSIM_ILLEGAL_STATE;
	} else if (stream && stream == stream->context->legacy) {
		result = GPUSIM_CAPTURE_UNSUPPORTED;
	} else if (stream) {
		stream->capture = gpusim_pool_take(&graph_pool);
		result = stream->capture ? GPUSIM_OK : GPUSIM_OUT_OF_MEMORY;
		if (stream->capture)
			stream->capture->capture = ++captures_made;
	}
	gpusim_unlock();
	return result;
}

int gpusim_capture_end(struct gpusim_stream *handle, struct gpusim_graph **out)
{
	struct gpusim_stream *stream;
	int result = GPUSIM_INVALID_HANDLE;

	if (!out)
		return GPUSIM_INVALID_VALUE;
	gpusim_lock();
	stream = gpusim_stream_find(handle);
	if (stream) {
		result = stream->capture && !stream->joined ? GPUSIM_OK : GPUSIM_ILLEGAL_STATE;
		*out = result ? NULL : stream->capture;
	}
	if (!result) {
		(*out)->capture = 0;
		gpusim_captures_leave(*out);
	}
	gpusim_unlock();
	return result;
}

bool gpusim_graph_captures(const struct gpusim_graph *graph, uint64_t capture)
{
	return gpusim_pool_has(&graph_pool, graph) && graph->capture == capture;
}

uint64_t gpusim_graph_capture(const struct gpusim_graph *graph)
{
	return graph->capture;
}

int gpusim_capture_query(struct gpusim_stream *handle, uint64_t *id, struct gpusim_graph **graph)
{
	struct gpusim_stream *stream;

	gpusim_lock();
	stream = gpusim_stream_find(handle);
	*graph = stream ? stream->capture : NULL;
	*id = *graph ? (*graph)->capture : 0;
	gpusim_unlock();
	return stream ? GPUSIM_OK : GPUSIM_INVALID_HANDLE;
}

int gpusim_graph_nodes(struct gpusim_graph *graph, size_t *count)
{
	bool known;

	gpusim_lock();
	known = gpusim_pool_has(&graph_pool, graph);
	if (known)
		*count = graph->count;
	gpusim_unlock();
	return known ? GPUSIM_OK : GPUSIM_INVALID_VALUE;
}

int gpusim_graph_destroy(struct gpusim_graph *graph)
{
	bool known;

	gpusim_lock();
	known = gpusim_pool_has(&graph_pool, graph);
	if (known) {
		free(graph->works);
		free(graph->nodes);
		gpusim_pool_give(graph);
	}
	gpusim_unlock();
	return known ? GPUSIM_OK : GPUSIM_INVALID_VALUE;
}

static int instantiate_locked(const struct gpusim_graph *graph, struct gpusim_graph_exec **out)
{
	struct gpusim_graph_exec *exec = gpusim_pool_take(&exec_pool);

	if (!exec)
		return GPUSIM_OUT_OF_MEMORY;
	exec->works = calloc(graph->count + 1, sizeof(*exec->works));
	if (!exec->works) {
		gpusim_pool_give(exec);
		return GPUSIM_OUT_OF_MEMORY;
	}
	if (graph->count)
		memcpy(exec->works, graph->works, graph->count * sizeof(*exec->works));
	exec->count = graph->count;
	exec->id = ++execs_made;
	exec->first_node = nodes_made + 1;
	for (size_t i = 0; i < graph->count; i++)
		make_node(graph->nodes[i]);
	*out = exec;
	return GPUSIM_OK;
}

uint32_t gpusim_graphs_made(void)
{
	return __atomic_load_n(&execs_made, __ATOMIC_RELAXED);
}

int gpusim_graph_instantiate(struct gpusim_graph *graph, struct gpusim_graph_exec **out)
{
	int result = GPUSIM_INVALID_VALUE;

	gpusim_lock();
	if (out && gpusim_pool_has(&graph_pool, graph))
		result = instantiate_locked(graph, out);
	gpusim_unlock();
	return result;
}

int gpusim_graph_exec_destroy(struct gpusim_graph_exec *exec)
{
	bool known;

	gpusim_lock();
	known = gpusim_pool_has(&exec_pool, exec);
	if (known) {
		free(exec->works);
		gpusim_pool_give(exec);
	}
	gpusim_unlock();
	return known ? GPUSIM_OK : GPUSIM_INVALID_VALUE;
}

int gpusim_graph_launch(struct gpusim_graph_exec *exec, struct gpusim_stream *handle)
{
	struct gpusim_stream *stream;
	int result = GPUSIM_INVALID_HANDLE;
	uint64_t now_ns;
	size_t i;

	gpusim_lock();
	stream = gpusim_stream_find(handle);
	if (stream && stream->capture) {
		result = GPUSIM_CAPTURE_UNSUPPORTED;
	} else if (stream && gpusim_pool_has(&exec_pool, exec)) {
		now_ns = gpusim_now_ns();
		for (i = 0; i < exec->count; i++) {
			gpusim_submit_node(stream, &exec->works[i], now_ns, &(struct gpusim_trace_work){
					.graph = exec->id,
					.graph_node = exec->first_node + i,
					.graph_index = (uint32_t)i,
					.graph_count = (uint32_t)exec->count,
				});
			gpusim_memory_carry_out(&exec->works[i]);
		}
		result = GPUSIM_OK;
	}
	gpusim_unlock();
	return result;
}
