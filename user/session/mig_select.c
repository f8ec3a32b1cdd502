// SPDX-License-Identifier: BSD-3-Clause
/*
 * MIG instances that --gpu names, by what NVML says of them: asked before anything else, and waited
 * for a few seconds at most. Without NVML it is by number alone, as far as the driver's files go.
 */
#include "session/mig_select.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/exit.h"
#include "session/nvml_ask.h"
#include "event/device_number.h"
#include "host/gpus.h"

static void copy_instance(struct gpu_instance *to, const struct nvml_instance *from)
{
	*to = (struct gpu_instance){ .gpu = device_number_gpu(from->number),
				     .place = device_number_place(from->number),
				     .gi = from->gpu_instance,
				     .ci = from->compute_instance,
				     .cap = -1 };
	snprintf(to->uuid, sizeof(to->uuid), "%s", from->uuid);
}

/* How many there are; why: NVML cannot say. */
static size_t ask(struct gpu_instance *told, char *why, size_t why_bytes)
{
	struct nvml *n = nvml_start(nvml_load);
	struct nvml_instance all[GPUS_INSTANCES_MAX];
	struct nvml_status st;
	size_t count;

	if (!n) {
		snprintf(why, why_bytes, "%s", strerror(errno));
		return 0;
	}
	nvml_ask(n, &st);
	if (st.state == NVML_STARTING)
		snprintf(why, why_bytes, "it does not answer while %s", st.doing);
	else
		snprintf(why, why_bytes, "%s", st.why);
	count = nvml_instances(n, all, GPUS_INSTANCES_MAX);
	for (size_t i = 0; i < count; i++)
		copy_instance(&told[i], &all[i]);
	nvml_ask_end(n);
	return count;
}

static void say_missing(struct selector *selector, const char *missing, const char *why)
{
	struct strbuf there = STRBUF_INIT;

	selector_print_instances(selector, &there);
	if (there.len)
		log_error("option '--gpu': this host has no MIG instance '%s', but %s", missing,
			  there.s);
	else if (*why)
		log_error("option '--gpu': MIG instance '%s' is not known; NVML would tell it: %s",
			  missing, why);
	else
		log_error("option '--gpu': this host has no MIG instance '%s', nor any other",
			  missing);
	strbuf_free(&there);
}

int mig_select(struct selector *selector)
{
	struct gpu_instance told[GPUS_INSTANCES_MAX];
	const char *missing;
	char why[192] = "";
	size_t n;

	if (!selector || !selector_names_instances(selector))
		return EXIT_OK;
	n = ask(told, why, sizeof(why));
	missing = selector_tell_instances(selector, told, n);
	if (missing)
		say_missing(selector, missing, why);
	return missing ? EXIT_USAGE : EXIT_OK;
}
