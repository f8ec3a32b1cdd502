// SPDX-License-Identifier: BSD-3-Clause
/*
 * Events: a record notes when the stream will have done what it was given so far.
 */
#include "gpusim_internal.h"

struct gpusim_event {
	struct gpusim_slot slot;
	bool recorded;
	struct gpusim_time time;
	struct gpusim_graph *graph; /* recorded while a stream captured into this */
	uint64_t capture; /* which capture that was; 0: none */
};

static struct gpusim_event events[1 << 16];
static struct gpusim_pool pool = GPUSIM_POOL(events);

int gpusim_event_create(struct gpusim_event **out)
{
	if (!out)
		return GPUSIM_INVALID_VALUE;
	if (gpusim_init())
		return GPUSIM_NOT_INITIALIZED;
	gpusim_lock();
	*out = gpusim_pool_take(&pool);
	gpusim_unlock();
	return *out ? GPUSIM_OK : GPUSIM_OUT_OF_MEMORY;
}

int gpusim_event_destroy(struct gpusim_event *event)
{
	bool known;

	gpusim_lock();
	known = gpusim_pool_has(&pool, event);
	if (known)
		gpusim_pool_give(event);
	gpusim_unlock();
	return known ? GPUSIM_OK : GPUSIM_INVALID_HANDLE;
}

int gpusim_event_record(struct gpusim_event *event, struct gpusim_stream *handle)
{
	struct gpusim_stream *stream;
	int result = GPUSIM_INVALID_HANDLE;

	gpusim_lock();
	stream = gpusim_stream_find(handle);
	if (stream && gpusim_pool_has(&pool, event)) {
		event->recorded = true;
		event->time = gpusim_time_at(gpusim_now_ns());
		gpusim_time_join(&event->time, &stream->busy_until);
		event->graph = stream->capture;
		event->capture = stream->capture ? gpusim_graph_capture(stream->capture) : 0;
		result = GPUSIM_OK;
	}
	gpusim_unlock();
	return result;
}

/* When an event completes; one that was never recorded counts as complete, as in CUDA. */
static int event_time(struct gpusim_event *event, struct gpusim_time *time, bool *recorded)
{
	bool known;

	gpusim_lock();
	known = gpusim_pool_has(&pool, event);
	if (known) {
		*recorded = event->recorded;
		*time = event->time;
	}
	gpusim_unlock();
	return known ? GPUSIM_OK : GPUSIM_INVALID_HANDLE;
}

int gpusim_event_query(struct gpusim_event *event)
{
	struct gpusim_time time;
	bool recorded;
	int result = event_time(event, &time, &recorded);

	if (result)
		return result;
	return gpusim_time_past(&time) ? GPUSIM_OK : GPUSIM_NOT_READY;
}

int gpusim_event_sync(struct gpusim_event *event)
{
	uint64_t time_ns = 0;
	bool known;

	gpusim_lock();
	known = gpusim_pool_has(&pool, event);
	if (known)
		time_ns = gpusim_time_wait(&event->time);
	gpusim_unlock();
	gpusim_sleep_until(time_ns);
	return known ? GPUSIM_OK : GPUSIM_INVALID_HANDLE;
}

int gpusim_event_elapsed(float *milliseconds, struct gpusim_event *from, struct gpusim_event *to)
{
	struct gpusim_time first, last;
	bool from_recorded, to_recorded;

	if (!milliseconds)
		return GPUSIM_INVALID_VALUE;
	if (event_time(from, &first, &from_recorded) || event_time(to, &last, &to_recorded))
		return GPUSIM_INVALID_HANDLE;
	if (!from_recorded || !to_recorded)
		return GPUSIM_INVALID_HANDLE;
	if (!gpusim_time_past(&first) || !gpusim_time_past(&last))
		return GPUSIM_NOT_READY;
	*milliseconds = (float)(int64_t)(last.at_ns - first.at_ns) / 1e6f;
	return GPUSIM_OK;
}

/* As in CUDA: a stream that waits for an event of a capture is part of that from then on. */
static bool join_capture(struct gpusim_stream *stream, const struct gpusim_event *event)
{
	if (!event->capture || !gpusim_graph_captures(event->graph, event->capture))
		return false;
	if (!stream->capture) {
		stream->capture = event->graph;
		stream->joined = true;
	}
	return true;
}

int gpusim_stream_wait_event(struct gpusim_stream *handle, struct gpusim_event *event)
{
	struct gpusim_stream *stream;
	int result = GPUSIM_INVALID_HANDLE;

	gpusim_lock();
	stream = gpusim_stream_find(handle);
	if (stream && gpusim_pool_has(&pool, event)) {
		if (!join_capture(stream, event))
			gpusim_time_join(&stream->busy_until, &event->time);
		result = GPUSIM_OK;
	}
	gpusim_unlock();
	return result;
}

void gpusim_events_settle(const struct gpusim_gate *gate, uint64_t end_ns)
{
	size_t i;

	for (i = 0; i < pool.used; i++)
		gpusim_time_settle(&events[i].time, gate, end_ns);
}
