// SPDX-License-Identifier: BSD-3-Clause
/* Classes for what gives work, a table of names, without their beginning and twins, for the rest. */
#include "join/graph_role.h"

#include <stddef.h>
#include <string.h>

/* The name begins so; the first that fits. */
static const struct {
	const char *name;
	enum graph_role role;
} named[] = {
	{ "StreamBeginCaptureToGraph", ROLE_SPOIL }, { "StreamBeginRecapture", ROLE_SPOIL },
	{ "StreamBeginCaptureToCig", ROLE_SPOIL }, { "StreamUpdateCapture", ROLE_SPOIL },
	{ "StreamBeginCapture", ROLE_BEGIN }, { "StreamEndCapture", ROLE_END },
	{ "StreamWaitEvent", ROLE_WAIT }, { "EventRecord", ROLE_RECORD },
	{ "GraphLaunch", ROLE_LAUNCH }, { "GraphClone", ROLE_CLONE },
	{ "GraphInstantiate", ROLE_MAKE }, { "GraphExecUpdate", ROLE_UPDATE },
	{ "GraphExecDestroy", ROLE_FORGET_EXEC }, { "GraphDestroy", ROLE_FORGET },
};

static enum graph_role role_of_name(const char *name)
{
	name += !strncmp(name, "cuda", 4) ? 4 : !strncmp(name, "cu", 2) ? 2 : 0;
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		if (!strncmp(name, named[i].name, strlen(named[i].name)) &&
		    strncmp(name, "GraphDestroyNode", 16) != 0)
			return named[i].role;
	return ROLE_NONE;
}

enum graph_role graph_role_of(const struct func *fn)
{
	enum graph_role role;

	switch (fn->class) {
	case CLASS_LAUNCH:
		role = role_of_name(fn->name);
		return role == ROLE_NONE ? ROLE_KERNEL : role;
	case CLASS_COLLECTIVE:
		return ROLE_KERNEL;
	case CLASS_COPY:
		return ROLE_COPY;
	case CLASS_SET:
		return ROLE_SET;
	case CLASS_LIBRARY:
		return ROLE_ROUTINE;
	case CLASS_GRAPH:
	case CLASS_EVENT:
	case CLASS_STREAM:
		return role_of_name(fn->name);
	default:
		return ROLE_NONE;
	}
}
