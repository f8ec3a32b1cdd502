// SPDX-License-Identifier: BSD-3-Clause
/*
 * Streams are FIFO lanes: a work begins when its lane, the legacy lane (unless the stream is
 * non-blocking) and its copy engine are free, and not before it was submitted. Kernels of different
 * streams overlap without limit. Behind a collective that not all ranks have entered these times
 * are not numbers yet.
 */
#include "gpusim_board.h"
#include "gpusim_trace_internal.h"
#include "gpusim_turns.h"

static struct gpusim_stream streams[4096];
static struct gpusim_pool pool = GPUSIM_POOL(streams);

/* The per-thread default stream of the contexts that this thread used, direct-mapped. */
static __thread struct gpusim_stream *per_thread[8];

static const enum gpusim_engine engine_of[GPUSIM_WORK_KINDS] = {
	[GPUSIM_COPY_HTOD] = ENGINE_HTOD,
	[GPUSIM_COPY_DTOH] = ENGINE_DTOH,
};

struct gpusim_stream *gpusim_stream_new(struct gpusim_context *context, unsigned int flags)
{
	struct gpusim_stream *stream = gpusim_pool_take(&pool);

	if (!stream)
		return NULL;
	stream->context = context;
	stream->id = context->streams_made++;
	stream->non_blocking = flags & GPUSIM_STREAM_NON_BLOCKING;
	return stream;
}

static struct gpusim_stream *find_per_thread(struct gpusim_context *context)
{
	struct gpusim_stream **mine =
		&per_thread[(uintptr_t)context / sizeof(*context) % GPUSIM_COUNT(per_thread)];

	if (!*mine || (*mine)->context != context)
		*mine = gpusim_stream_new(context, 0);
	return *mine;
}

struct gpusim_stream *gpusim_stream_find(struct gpusim_stream *handle)
{
	struct gpusim_context *context = gpusim_context_current();

	if (!context)
		return NULL;
	if (!handle || handle == GPUSIM_STREAM_LEGACY)
		return context->legacy;
	if (handle == GPUSIM_STREAM_PER_THREAD)
		return find_per_thread(context);
	return gpusim_pool_has(&pool, handle) ? handle : NULL;
}

/* Why gpusim_stream_find found nothing. */
static int not_found(void)
{
	return gpusim_context_current() ? GPUSIM_INVALID_HANDLE : GPUSIM_INVALID_CONTEXT;
}

int gpusim_stream_create(unsigned int flags, struct gpusim_stream **out)
{
	struct gpusim_context *context = gpusim_context_current();

	if (!out || flags & ~(unsigned int)GPUSIM_STREAM_NON_BLOCKING)
		return GPUSIM_INVALID_VALUE;
	if (!context)
		return GPUSIM_INVALID_CONTEXT;
	gpusim_lock();
	*out = gpusim_stream_new(context, flags);
	gpusim_unlock();
	return *out ? GPUSIM_OK : GPUSIM_OUT_OF_MEMORY;
}

int gpusim_stream_destroy(struct gpusim_stream *handle)
{
	int result = GPUSIM_INVALID_HANDLE;

	gpusim_lock();
	if (gpusim_pool_has(&pool, handle) && handle->id != 0) {
		gpusim_pool_give(handle);
		result = GPUSIM_OK;
	}
	gpusim_unlock();
	return result;
}

int gpusim_stream_set_priority(struct gpusim_stream *handle, int priority)
{
	struct gpusim_stream *stream;

	gpusim_lock();
	stream = gpusim_stream_find(handle);
	if (stream)
		stream->priority = priority > 0 ? 0 :
				   priority < GPUSIM_PRIORITY_GREATEST ? GPUSIM_PRIORITY_GREATEST :
									 priority;
	gpusim_unlock();
	return stream ? GPUSIM_OK : not_found();
}

int gpusim_stream_priority(struct gpusim_stream *handle, int *priority)
{
	struct gpusim_stream *stream;

	if (!priority)
		return GPUSIM_INVALID_VALUE;
	gpusim_lock();
	stream = gpusim_stream_find(handle);
	if (stream)
		*priority = stream->priority;
	gpusim_unlock();
	return stream ? GPUSIM_OK : not_found();
}

/* The stream that may be asked for its end, with the lock held; the result. */
static int find_to_ask(struct gpusim_stream *handle, struct gpusim_stream **out)
{
	*out = gpusim_stream_find(handle);
	if (!*out)
		return not_found();
	if (gpusim_world.devices[(*out)->context->device].vanished)
		return GPUSIM_UNKNOWN;
	return (*out)->capture ? GPUSIM_CAPTURE_UNSUPPORTED : GPUSIM_OK;
}

int gpusim_stream_sync(struct gpusim_stream *handle)
{
	struct gpusim_stream *stream;
	uint64_t until = 0;
	int result;

	gpusim_lock();
	result = find_to_ask(handle, &stream);
	if (!result)
		until = gpusim_time_wait(&stream->busy_until);
	gpusim_unlock();
	gpusim_sleep_until(until);
	return result;
}

int gpusim_stream_query(struct gpusim_stream *handle)
{
	struct gpusim_stream *stream;
	int result;

	gpusim_lock();
	result = find_to_ask(handle, &stream);
	if (!result && !gpusim_time_past(&stream->busy_until))
		result = GPUSIM_NOT_READY;
	gpusim_unlock();
	return result;
}

int gpusim_stream_hang(struct gpusim_stream *handle)
{
	struct gpusim_stream *stream;

	gpusim_lock();
	stream = gpusim_stream_find(handle);
	if (stream)
		stream->hung = true;
	gpusim_unlock();
	return stream ? GPUSIM_OK : not_found();
}

struct gpusim_time gpusim_stream_begin(const struct gpusim_stream *stream, uint64_t now_ns)
{
	const struct gpusim_context *context = stream->context;
	struct gpusim_time begin = gpusim_time_at(now_ns);

	gpusim_time_join(&begin, &stream->busy_until);
	if (stream == context->legacy)
		gpusim_time_join(&begin, &context->blocking_busy_until);
	else if (!stream->non_blocking)
		gpusim_time_join(&begin, &context->legacy->busy_until);
	return begin;
}

void gpusim_stream_occupy(struct gpusim_stream *stream, struct gpusim_time end)
{
	struct gpusim_context *context = stream->context;

	stream->works++;
	stream->busy_until = end;
	gpusim_time_join(&context->busy_until, &end);
	if (!stream->non_blocking)
		gpusim_time_join(&context->blocking_busy_until, &end);
}

void gpusim_submit_locked(struct gpusim_stream *stream, struct gpusim_work *work, uint64_t now_ns)
{
	gpusim_submit_node(stream, work, now_ns, &(struct gpusim_trace_work){ .graph = 0 });
}

void gpusim_submit_node(struct gpusim_stream *stream, struct gpusim_work *work, uint64_t now_ns,
			const struct gpusim_trace_work *node)
{
	struct gpusim_trace_work traced = *node;
	struct gpusim_device *device = &gpusim_world.devices[stream->context->device];
	enum gpusim_engine engine = engine_of[work->kind];
	struct gpusim_time time = gpusim_stream_begin(stream, now_ns), begin;
	uint64_t ns;

	if (engine)
		gpusim_time_join(&time, &device->engine_busy_until[engine]);
	ns = gpusim_work_duration(stream, work);
	ns = ns == GPUSIM_FOREVER ? ns : ns / gpusim_world.config.speed;
	work->pending = !gpusim_time_known(&time);
	if (!work->pending)
		time.at_ns = gpusim_turn_take(stream->context->device, time.at_ns, ns);
	begin = time;
	work->start_ns = work->pending ? 0 : time.at_ns;
	gpusim_time_add(&time, ns);
	if (work->kind == GPUSIM_KERNEL && ++gpusim_world.kernels == gpusim_world.config.scar_kernel)
		gpusim_scar();
	if (work->kind == GPUSIM_KERNEL && gpusim_world.kernels == gpusim_world.config.hang_kernel)
		time = gpusim_time_at(GPUSIM_FOREVER);
	work->end_ns = work->pending ? 0 : time.at_ns;
	gpusim_stream_occupy(stream, time);
	if (engine)
		device->engine_busy_until[engine] = time;
	traced.work = *work;
	traced.correlation = gpusim_correlation();
	gpusim_trace_work(stream, &traced, &begin, &time);
}

static int check_shape(const struct gpusim_shape *shape)
{
	uint64_t threads = 1;
	int axis;

	for (axis = 0; axis < 3; axis++) {
		if (!shape->grid[axis] || !shape->block[axis] || shape->block[axis] > 1024)
			return GPUSIM_INVALID_VALUE;
		threads *= shape->block[axis];
	}
	return threads <= 1024 ? GPUSIM_OK : GPUSIM_INVALID_VALUE;
}

static bool vanishes(const struct gpusim_stream *stream, const struct gpusim_work *work)
{
	struct gpusim_device *device = &gpusim_world.devices[stream->context->device];

	if (gpusim_world.config.vanish_kernel && work->kind == GPUSIM_KERNEL &&
	    gpusim_world.kernels + 1 == gpusim_world.config.vanish_kernel) {
		device->vanished = true;
		gpusim_board_vanished(stream->context->device);
	}
	return device->vanished;
}

int gpusim_submit(struct gpusim_stream *handle, struct gpusim_work *work)
{
	struct gpusim_stream *stream;
	int result = GPUSIM_OK;
	bool captured;

	if (work->kind == GPUSIM_KERNEL) {
		if (!work->entity)
			return GPUSIM_INVALID_HANDLE;
		result = check_shape(&work->shape);
		if (result)
			return result;
	}
	work->start_ns = work->end_ns = 0;
	gpusim_lock();
	stream = gpusim_stream_find(handle);
	captured = stream && stream->capture;
	if (!stream)
		result = not_found();
	else if (vanishes(stream, work))
		result = GPUSIM_UNKNOWN;
	else if (stream->capture)
		result = gpusim_graph_append(stream->capture, work);
	else
		gpusim_submit_locked(stream, work, gpusim_now_ns());
	gpusim_unlock();
	if (!result && !captured)
		gpusim_memory_carry_out(work);
	return result;
}

int gpusim_wait(struct gpusim_stream *handle, const struct gpusim_work *work)
{
	if (work->pending)
		return gpusim_stream_sync(handle);
	gpusim_sleep_until(work->end_ns);
	return GPUSIM_OK;
}

void gpusim_captures_leave(const struct gpusim_graph *graph)
{
	size_t i;

	for (i = 0; i < pool.used; i++)
		if (streams[i].slot.alive && streams[i].capture == graph) {
			streams[i].capture = NULL;
			streams[i].joined = false;
		}
}

void gpusim_streams_settle(const struct gpusim_gate *gate, uint64_t end_ns)
{
	size_t i;

	for (i = 0; i < pool.used; i++)
		gpusim_time_settle(&streams[i].busy_until, gate, end_ns);
}
