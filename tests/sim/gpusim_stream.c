// SPDX-License-Identifier: BSD-3-Clause
/*
 * Streams are FIFO lanes: a work begins when its lane, the legacy lane (unless the stream is
 * non-blocking) and its copy engine are free, and not before it was submitted. Kernels of different
 * streams overlap without limit.
 */
#include "gpusim_internal.h"

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

/* When all that the stream was given will have ended: the result, and the time in *until. */
static int stream_end(struct gpusim_stream *handle, uint64_t *until)
{
	struct gpusim_stream *stream;
	int result = GPUSIM_OK;

	gpusim_lock();
	stream = gpusim_stream_find(handle);
	if (!stream)
		result = not_found();
	else if (stream->capture)
		result = GPUSIM_CAPTURE_UNSUPPORTED;
	else
		*until = stream->busy_until;
	gpusim_unlock();
	return result;
}

int gpusim_stream_sync(struct gpusim_stream *handle)
{
	uint64_t until;
	int result = stream_end(handle, &until);

	if (!result)
		gpusim_sleep_until(until);
	return result;
}

int gpusim_stream_query(struct gpusim_stream *handle)
{
	uint64_t until;
	int result = stream_end(handle, &until);

	if (result)
		return result;
	return gpusim_now_ns() >= until ? GPUSIM_OK : GPUSIM_NOT_READY;
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

static uint64_t earliest_start(const struct gpusim_stream *stream, enum gpusim_engine engine,
			       uint64_t now_ns)
{
	const struct gpusim_context *context = stream->context;
	uint64_t start = gpusim_max(now_ns, stream->busy_until);

	if (stream == context->legacy)
		start = gpusim_max(start, context->blocking_busy_until);
	else if (!stream->non_blocking)
		start = gpusim_max(start, context->legacy->busy_until);
	if (engine)
		start = gpusim_max(start,
				   gpusim_world.devices[context->device].engine_busy_until[engine]);
	return start;
}

void gpusim_submit_locked(struct gpusim_stream *stream, struct gpusim_work *work, uint64_t now_ns)
{
	struct gpusim_context *context = stream->context;
	enum gpusim_engine engine = engine_of[work->kind];

	work->start_ns = earliest_start(stream, engine, now_ns);
	work->end_ns = gpusim_later(work->start_ns, gpusim_work_duration(stream, work));
	if (work->kind == GPUSIM_KERNEL &&
	    ++gpusim_world.kernels == gpusim_world.config.hang_kernel)
		work->end_ns = GPUSIM_FOREVER;
	stream->works++;
	stream->busy_until = work->end_ns;
	context->busy_until = gpusim_max(context->busy_until, work->end_ns);
	if (!stream->non_blocking)
		context->blocking_busy_until =
			gpusim_max(context->blocking_busy_until, work->end_ns);
	if (engine)
		gpusim_world.devices[context->device].engine_busy_until[engine] = work->end_ns;
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

int gpusim_submit(struct gpusim_stream *handle, struct gpusim_work *work)
{
	struct gpusim_stream *stream;
	int result = GPUSIM_OK;

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
	if (!stream)
		result = not_found();
	else if (stream->capture)
		result = gpusim_graph_append(stream->capture, work);
	else
		gpusim_submit_locked(stream, work, gpusim_now_ns());
	gpusim_unlock();
	return result;
}

int gpusim_wait(const struct gpusim_work *work)
{
	gpusim_sleep_until(work->end_ns);
	return GPUSIM_OK;
}
