// SPDX-License-Identifier: BSD-3-Clause
/* The lists of the header as loads from constant places. Knows no CUPTI header. */
#include "helper/records.h"

#include <string.h>

#define RECORD_MAX 512	/* larger than any record that is known */

/* A library's record cannot be trusted to be aligned as we would like. */
#define LOAD(to, theirs, at, type) \
	{ \
		type value_; \
		memcpy(&value_, (const char *)rec + (at), sizeof(value_)); \
		out->to = (__typeof__(out->to))value_; \
	}

/*
 * How far the library itself steps over a record. 12.x and 13.0 do so without a driver, later ones
 * only once CUDA is up.
 */
static uint16_t measure(record_next_fn next, uint32_t kind)
{
	_Alignas(8) uint8_t buffer[2 * RECORD_MAX];
	void *first = NULL, *second = NULL;
	ptrdiff_t step;

	memset(buffer, 0, sizeof(buffer));
	for (size_t at = 0; at + sizeof(kind) <= sizeof(buffer); at += 8)
		memcpy(buffer + at, &kind, sizeof(kind));
	if (next(buffer, sizeof(buffer), &first) || first != buffer)
		return 0;
	second = first;
	if (next(buffer, sizeof(buffer), &second))
		return 0;
	step = (uint8_t *)second - buffer;
	return step > 0 && step <= RECORD_MAX ? (uint16_t)step : 0;
}

void records_measure(record_next_fn next, struct record_sizes *out)
{
	static const uint8_t kinds[] = { CUPTI_MEMCPY, CUPTI_MEMSET, CUPTI_DRIVER, CUPTI_RUNTIME,
					 CUPTI_KERNEL, CUPTI_MEMCPY_PEER, CUPTI_GRAPH_TRACE,
					 CUPTI_MEMORY2 };

	*out = (struct record_sizes){ .bytes = { 0 } };
	for (size_t i = 0; i < sizeof(kinds); i++)
		out->bytes[kinds[i]] = measure(next, kinds[i]);
}

static bool read_kernel(const void *rec, size_t bytes, struct gp_ring_kernel *out)
{
	*out = (struct gp_ring_kernel){ .has = 0 };
	if (bytes < 144)
		return false;
	RECORD_KERNEL_144(LOAD)
	if (bytes >= 160) {
		RECORD_KERNEL_160(LOAD)
		out->has |= GP_KERNEL_HAS_GRAPH;
	}
	if (bytes >= 200) {
		RECORD_KERNEL_200(LOAD)
		out->has |= GP_KERNEL_HAS_CLUSTER;
	}
	if (bytes >= 208) {
		RECORD_KERNEL_208(LOAD)
		out->has |= GP_KERNEL_HAS_MAX_CLUSTERS;
	}
	if (out->submitted)
		out->has |= GP_KERNEL_HAS_SUBMITTED;
	return true;
}

static bool read_copy(const void *rec, size_t bytes, struct gp_ring_copy *out)
{
	*out = (struct gp_ring_copy){ .is_peer = 0 };
	if (bytes < 64)
		return false;
	RECORD_COPY_64(LOAD)
	if (bytes >= 72)
		RECORD_COPY_72(LOAD)
	if (bytes >= 80)
		RECORD_COPY_80(LOAD)
	return true;
}

static bool read_peer(const void *rec, size_t bytes, struct gp_ring_copy *out)
{
	*out = (struct gp_ring_copy){ .is_peer = 1 };
	if (bytes < 72)
		return false;
	RECORD_PEER_72(LOAD)
	if (bytes >= 80)
		RECORD_PEER_80(LOAD)
	if (bytes >= 88)
		RECORD_PEER_88(LOAD)
	return true;
}

static bool read_set(const void *rec, size_t bytes, struct gp_ring_copy *out)
{
	*out = (struct gp_ring_copy){ .is_peer = 0 };
	if (bytes < 56)
		return false;
	RECORD_SET_56(LOAD)
	if (bytes >= 72)
		RECORD_SET_72(LOAD)
	if (bytes >= 80)
		RECORD_SET_80(LOAD)
	return true;
}

static bool read_api(const void *rec, size_t bytes, struct gp_ring_api *out)
{
	uint32_t kind;

	*out = (struct gp_ring_api){ .cbid = 0 };
	if (bytes < 40)
		return false;
	RECORD_API_40(LOAD)
	memcpy(&kind, rec, sizeof(kind));
	out->domain = kind;
	return true;
}

static bool read_graph(const void *rec, size_t bytes, struct gp_ring_graph *out)
{
	*out = (struct gp_ring_graph){ .graph = 0 };
	if (bytes < 48)
		return false;
	RECORD_GRAPH_48(LOAD)
	return true;
}

static bool read_memory(const void *rec, size_t bytes, struct gp_ring_memory *out)
{
	*out = (struct gp_ring_memory){ .what = 0 };
	if (bytes < 120)
		return false;
	RECORD_MEMORY_120(LOAD)
	return true;
}

bool record_read(uint32_t kind, const void *rec, size_t bytes, union record *out)
{
	switch (kind) {
	case CUPTI_KERNEL:
		return read_kernel(rec, bytes, &out->kernel);
	case CUPTI_MEMCPY:
		return read_copy(rec, bytes, &out->copy);
	case CUPTI_MEMCPY_PEER:
		return read_peer(rec, bytes, &out->copy);
	case CUPTI_MEMSET:
		return read_set(rec, bytes, &out->copy);
	case CUPTI_GRAPH_TRACE:
		return read_graph(rec, bytes, &out->graph);
	case CUPTI_MEMORY2:
		return read_memory(rec, bytes, &out->memory);
	case CUPTI_RUNTIME:
	case CUPTI_DRIVER:
		return read_api(rec, bytes, &out->api);
	default:
		return false;
	}
}

const char *record_kernel_name(const void *rec, size_t bytes)
{
	const char *name = NULL;

	if (bytes >= 144)
		memcpy(&name, (const char *)rec + RECORD_KERNEL_NAME_AT, sizeof(name));
	return name;
}
