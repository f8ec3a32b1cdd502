// SPDX-License-Identifier: BSD-3-Clause
/* The lists of the header as loads from constant places. Knows no CUPTI header. */
#include "helper/records.h"

#include <string.h>

/* A library's record cannot be trusted to be aligned as we would like. */
#define LOAD(to, theirs, at, type) \
	{ \
		type value_; \
		memcpy(&value_, (const char *)rec + (at), sizeof(value_)); \
		out->to = (__typeof__(out->to))value_; \
	}

/* Bytes of the shortest record of each kind that is read. */
static const uint8_t least[CUPTI_KINDS] = {
	[CUPTI_KERNEL] = 144, [CUPTI_MEMCPY] = 64, [CUPTI_MEMCPY_PEER] = 72, [CUPTI_MEMSET] = 56,
	[CUPTI_GRAPH_TRACE] = 48, [CUPTI_MEMORY2] = 120, [CUPTI_RUNTIME] = 40, [CUPTI_DRIVER] = 40,
};

static void read_kernel(const void *rec, size_t bytes, struct gp_ring_kernel *out)
{
	*out = (struct gp_ring_kernel){ .has = 0 };
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
}

static void read_set(const void *rec, size_t bytes, struct gp_ring_copy *out)
{
	*out = (struct gp_ring_copy){ .is_peer = 0 };
	RECORD_SET_56(LOAD)
	if (bytes >= 72)
		RECORD_SET_72(LOAD)
	if (bytes >= 80)
		RECORD_SET_80(LOAD)
}

static void read_copy(const void *rec, size_t bytes, struct gp_ring_copy *out)
{
	read_set(rec, bytes, out);	/* all fields of a set are at the same places */
	RECORD_COPY_KINDS(LOAD)
}

static void read_peer(const void *rec, size_t bytes, struct gp_ring_copy *out)
{
	*out = (struct gp_ring_copy){ .is_peer = 1 };
	RECORD_PEER_72(LOAD)
	if (bytes >= 80)
		RECORD_PEER_80(LOAD)
	if (bytes >= 88)
		RECORD_PEER_88(LOAD)
}

static void read_api(uint32_t kind, const void *rec, struct gp_ring_api *out)
{
	*out = (struct gp_ring_api){ .cbid = 0 };
	RECORD_API_40(LOAD)
	out->domain = kind;
}

static void read_graph(const void *rec, struct gp_ring_graph *out)
{
	*out = (struct gp_ring_graph){ .graph = 0 };
	RECORD_GRAPH_48(LOAD)
}

static void read_memory(const void *rec, struct gp_ring_memory *out)
{
	*out = (struct gp_ring_memory){ .what = 0 };
	RECORD_MEMORY_120(LOAD)
}

bool record_read(uint32_t kind, const void *rec, size_t bytes, union record *out)
{
	if (kind >= CUPTI_KINDS || !least[kind] || bytes < least[kind])
		return false;
	switch (kind) {
	case CUPTI_KERNEL:
		read_kernel(rec, bytes, &out->kernel);
		break;
	case CUPTI_MEMCPY:
		read_copy(rec, bytes, &out->copy);
		break;
	case CUPTI_MEMCPY_PEER:
		read_peer(rec, bytes, &out->copy);
		break;
	case CUPTI_MEMSET:
		read_set(rec, bytes, &out->copy);
		break;
	case CUPTI_GRAPH_TRACE:
		read_graph(rec, &out->graph);
		break;
	case CUPTI_MEMORY2:
		read_memory(rec, &out->memory);
		break;
	default:
		read_api(kind, rec, &out->api);
	}
	return true;
}
