/* SPDX-License-Identifier: BSD-3-Clause */
/* What a function does to CUDA graphs, told by its class and name. Pure. */
#ifndef JOIN_GRAPH_ROLE_H
#define JOIN_GRAPH_ROLE_H

#include "catalog/func.h"

enum graph_role {
	ROLE_NONE,
	ROLE_KERNEL,		/* gives a stream a kernel; one that captures gets a node */
	ROLE_COPY, ROLE_SET,
	ROLE_ROUTINE,		/* a library's: gives streams that it does not name kernels, say one */
	ROLE_BEGIN,		/* a stream captures from now on */
	ROLE_END,		/* ... and has made a graph */
	ROLE_SPOIL,		/* nodes that are no calls come into what the stream captures */
	ROLE_CLONE,		/* a graph of a graph */
	ROLE_MAKE,		/* an executable graph of a graph */
	ROLE_UPDATE,		/* an executable graph is like another graph from now on */
	ROLE_LAUNCH,		/* runs an executable graph; in a stream that captures it spoils */
	ROLE_FORGET,		/* a graph is no more */
	ROLE_FORGET_EXEC,
	ROLE_RECORD,		/* an event is where a stream is */
	ROLE_WAIT,		/* a stream waits for an event: it captures too if that was captured */
	ROLE_END_OF_ROLES
};

enum graph_role graph_role_of(const struct func *fn);

#endif
