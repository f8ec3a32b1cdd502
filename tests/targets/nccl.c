// SPDX-License-Identifier: BSD-3-Clause
/*
 * A program that calls the real libnccl where no GPU is needed: unique ids (some through the
 * profiling alias pncclGetUniqueId, one function under two names), empty groups, and collectives
 * without a communicator, which are refused.
 */
#include <nccl.h>

#include "target.h"

static const char *result_name(int code)
{
	static const char *const names[] = {
		"ncclSuccess", "ncclUnhandledCudaError", "ncclSystemError", "ncclInternalError",
		"ncclInvalidArgument", "ncclInvalidUsage", "ncclRemoteError", "ncclInProgress",
	};

	return code >= 0 && code < (int)(sizeof(names) / sizeof(names[0])) ? names[code] : "?";
}

static void unique_id(struct truth *t, ncclResult_t (*get)(ncclUniqueId *id))
{
	ncclUniqueId id;
	uint64_t start_ns = truth_now_ns();

	truth_call(t, "ncclGetUniqueId", start_ns, (int)get(&id));
}

static void group(struct truth *t)
{
	uint64_t start_ns = truth_now_ns();

	truth_call(t, "ncclGroupStart", start_ns, (int)ncclGroupStart());
	start_ns = truth_now_ns();
	truth_call(t, "ncclGroupEnd", start_ns, (int)ncclGroupEnd());
}

#define REFUSED(t, known_bytes, name, ...)                                                      \
	do {                                                                                    \
		uint64_t start_ns = truth_now_ns();                                             \
		int result = (int)name(__VA_ARGS__);                                            \
		truth_call(t, #name, start_ns, result)->bytes += (known_bytes);                 \
	} while (0)

static void collectives(struct truth *t, size_t n)
{
	static char from[64], to[64];

	REFUSED(t, n * 4, ncclAllReduce, from, to, n, ncclFloat32, ncclSum, NULL, NULL);
	REFUSED(t, n * 2, ncclReduceScatter, from, to, n, ncclBfloat16, ncclSum, NULL, NULL);
	REFUSED(t, n * 8, ncclReduce, from, to, n, ncclFloat64, ncclSum, 0, NULL, NULL);
	REFUSED(t, n, ncclBroadcast, from, to, n, ncclInt8, 0, NULL, NULL);
	REFUSED(t, n * 8, ncclBcast, to, n, ncclInt64, 0, NULL, NULL);
	REFUSED(t, n * 2, ncclAllGather, from, to, n, ncclFloat16, NULL, NULL);
	REFUSED(t, n * 4, ncclSend, from, n, ncclUint32, 0, NULL, NULL);
	REFUSED(t, n * 4, ncclRecv, to, n, ncclInt32, 0, NULL, NULL);
}

int main(int argc, char **argv)
{
	static struct truth truth;
	unsigned long ids = 0, aliases = 0, groups = 0, refused = 0;
	const struct target_option options[] = {
		{ "ids", &ids, NULL, "ncclGetUniqueId" },
		{ "aliases", &aliases, NULL, "pncclGetUniqueId, the same function" },
		{ "groups", &groups, NULL, "ncclGroupStart and ncclGroupEnd" },
		{ "refused", &refused, NULL, "each collective" },
		{ NULL, NULL, NULL, NULL },
	};
	struct target_control control;

	target_begin(argc, argv, options, &control);
	for (unsigned long i = 0; i < ids; i++)
		unique_id(&truth, ncclGetUniqueId);
	for (unsigned long i = 0; i < aliases; i++)
		unique_id(&truth, pncclGetUniqueId);
	for (unsigned long i = 0; i < groups; i++)
		group(&truth);
	for (unsigned long i = 0; i < refused; i++)
		collectives(&truth, 1000 + i);
	return target_end(&control, truth_write(control.truth, &truth, 1, result_name));
}
