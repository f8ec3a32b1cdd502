// SPDX-License-Identifier: BSD-3-Clause
/*
 * Results after which CUDA's documentation has a process ended and started again: whatever it asks of
 * its context or device from then on fails; and those that say that there is no device for it, which is
 * what some processes want. Knows results' numbers, which the runtime and the driver share, and nothing of
 * times.
 */
#include "findings/findings_errors.h"

#include <string.h>

#include "base/units.h"
#include "catalog/results.h"

#define DEVICE_FAILED "the device or the driver failed"
#define KERNEL_FAILED "a kernel broke it"
#define SHOW_DEVICE "dmesg | grep -i xid"
#define SHOW_KERNEL "compute-sanitizer COMMAND"

#define SHOW_DRIVER "nvidia-smi"

static const struct fatal {
	int32_t result;
	const char *why, *next;
	bool never;			/* there never was a device for it: else there is none any more */
} fatals[] = {
	{ 35, "the driver is too old for this CUDA", SHOW_DRIVER, true },
	{ 100, "there is no device for it: none in the host, in its container or in CUDA_VISIBLE_DEVICES",
	  "nvidia-smi -L; echo $CUDA_VISIBLE_DEVICES", true },
	{ 802, "the system is not ready, as while its fabric manager does not run", SHOW_DRIVER, true },
	{ 803, "the driver's library and its kernel module are of two versions", SHOW_DRIVER, true },
	{ 804, "the CUDA compatibility libraries do not support this device", SHOW_DRIVER, true },
	{ 214, DEVICE_FAILED, SHOW_DEVICE, false },	/* uncorrectable ECC error */
	{ 700, KERNEL_FAILED, SHOW_KERNEL, false },	/* illegal address */
	{ 702, "a kernel ran too long", SHOW_DEVICE, false },
	{ 709, "it was destroyed", SHOW_KERNEL, false },
	{ 710, "an assertion of a kernel failed", SHOW_KERNEL, false },
	{ 714, DEVICE_FAILED, SHOW_DEVICE, false },	/* hardware stack */
	{ 715, KERNEL_FAILED, SHOW_KERNEL, false },	/* illegal instruction */
	{ 716, KERNEL_FAILED, SHOW_KERNEL, false },	/* misaligned address */
	{ 717, KERNEL_FAILED, SHOW_KERNEL, false },	/* invalid address space */
	{ 718, KERNEL_FAILED, SHOW_KERNEL, false },	/* invalid program counter */
	{ 719, KERNEL_FAILED, SHOW_KERNEL, false },	/* launch failure */
	{ 999, DEVICE_FAILED, SHOW_DEVICE, false },	/* unknown: so does a device that is gone */
};

static const struct fatal *find_fatal(int32_t result)
{
	for (size_t i = 0; i < sizeof(fatals) / sizeof(fatals[0]); i++)
		if (fatals[i].result == result)
			return &fatals[i];
	return NULL;
}

static bool is_cuda(const struct func *fn)
{
	return fn->library && (!strcmp(fn->library, "cuda") || !strcmp(fn->library, "cudart"));
}

void errors_read(struct finding_book *b, const struct funcs *funcs, const struct model_process *p)
{
	const struct fatal *now, *before = NULL;
	uint64_t most = 0;

	for (size_t i = 0; p && i < call_stats_count(&p->calls); i++) {
		const struct call_stat *t = call_stats_at(&p->calls, i);

		now = find_fatal(t->key.result);
		if (!t->errors || !t->key.has_result || t->key.func >= funcs->n ||
		    !is_cuda(&funcs->v[t->key.func]) || !now)
			continue;
		if (before && before->never != now->never) {
			if (now->never)
				continue;
			b->fatal_calls = most = 0;	/* what had a device and lost it is worse */
		}
		before = now;
		b->fatal_calls += t->errors;
		if (t->errors <= most)
			continue;
		most = t->errors;
		b->fatal_result = t->key.result;
		b->fatal_function = &funcs->v[t->key.func];
	}
}

bool errors_judge(const struct finding_book *b, struct finding *f)
{
	const struct func *fn = b->fatal_function;
	const struct fatal *fatal = fn ? find_fatal(b->fatal_result) : NULL;
	const char *name = fatal ? result_name(fn->library, fatal->result) : NULL;

	if (!fatal)
		return false;
	f->is_severe = !fatal->never;
	f->is_notable = fatal->never;
	f->headline = fatal->never ? "CUDA cannot be used" : "CUDA failed for good";
	strbuf_addf(&f->cause, "%s gave %s (%d): %s%s", fn->name, name ? name : "an error", fatal->result,
		    fatal->why, fatal->never ? "" :
		    ", and the process can do nothing more with its context");
	format_count(&f->evidence, b->fatal_calls);
	strbuf_addstr(&f->evidence, b->fatal_calls == 1 ? " call failed so" : " calls failed so");
	strbuf_addstr(&f->next, fatal->next);
	return true;
}
