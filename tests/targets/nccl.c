// SPDX-License-Identifier: BSD-3-Clause
/*
 * A program that calls the real libnccl where no GPU is needed: unique ids (some through the
 * profiling alias pncclGetUniqueId, one function under two names) and empty groups.
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

int main(int argc, char **argv)
{
	static struct truth truth;
	unsigned long ids = 0, aliases = 0, groups = 0;
	const struct target_option options[] = {
		{ "ids", &ids, NULL, "ncclGetUniqueId" },
		{ "aliases", &aliases, NULL, "pncclGetUniqueId, the same function" },
		{ "groups", &groups, NULL, "ncclGroupStart and ncclGroupEnd" },
		{ NULL, NULL, NULL, NULL },
	};
	struct target_control control;
	int err;

	target_options(argc, argv, options, &control);
	target_begin(&control);
	for (unsigned long i = 0; i < ids; i++)
		unique_id(&truth, ncclGetUniqueId);
	for (unsigned long i = 0; i < aliases; i++)
		unique_id(&truth, pncclGetUniqueId);
	for (unsigned long i = 0; i < groups; i++)
		group(&truth);
	err = truth_write(control.truth, &truth, 1, result_name);
	target_end(&control);
	return err ? 1 : 0;
}
