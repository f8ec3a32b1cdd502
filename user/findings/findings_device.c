// SPDX-License-Identifier: BSD-3-Clause
/* Rules of failures and of sharing a device: faults, clocks, strangers, and calls after which all
 * fail. */
#include "findings/findings_rules.h"

#include <string.h>

#include "base/num.h"
#include "base/time.h"
#include "base/units.h"
#include "catalog/results.h"
#include "event/device_number.h"

/* ---- faults ---------------------------------------------------------------------------------- */

enum weight { NOTED, NOTABLE, SEVERE };

/* The numbers of NVIDIA's driver. A fault that harms one process alone may be any process's: if
 * that is a watched one, its calls show it. */
static const struct xid {
	uint64_t number;
	enum weight weight;
	const char *what;
} xids[] = {
	{ 13, NOTABLE,
	  "an exception in the GPU, mostly of a kernel that accesses what it must not" },
	{ 31, NOTABLE,
	  "a page fault of the GPU, mostly of a kernel that accesses what it must not" },
	{ 43, NOTABLE, "a process's work was stopped after a fault" },
	{ 45, NOTABLE, "a process's work was removed, mostly after another fault" },
	{ 48, SEVERE, "memory had an error that could not be corrected" },
	{ 61, SEVERE, "the GPU's own controller failed" },
	{ 62, SEVERE, "the GPU's own controller stopped" },
	{ 63, NOTABLE, "a bad part of memory will be replaced at the next reset" },
	{ 64, SEVERE, "a bad part of memory could not be replaced" },
	{ 69, NOTABLE, "an exception in the GPU, mostly of a kernel" },
	{ 74, SEVERE, "NVLink failed" },
	{ 79, SEVERE, "the GPU has fallen off the bus" },
	{ 92, NOTABLE, "memory has many errors that are corrected" },
	{ 94, NOTABLE, "memory had an error that only the process that used it is harmed by" },
	{ 95, SEVERE, "memory had an error that any process may be harmed by" },
	{ 119, SEVERE, "the GPU's system processor does not answer" },
	{ 120, SEVERE, "the GPU's system processor failed" },
};

static const struct {
	enum weight weight;
	const char *what;
} faults[FAULT_WHAT_END] = {
	[FAULT_XID] = { NOTABLE, "a fault that the driver numbers" },
	[FAULT_ECC_CORRECTED] = { NOTED, "an error of memory was corrected" },
	[FAULT_ECC_UNCORRECTED] = { SEVERE, "an error of memory could not be corrected" },
	[FAULT_ECC_STORM] = { NOTABLE, "memory has many errors that are corrected" },
	[FAULT_RETIRED] = { NOTABLE, "a bad part of memory is not used any more" },
	[FAULT_RETIRE_FAILED] = { SEVERE, "a bad part of memory could not be taken out of use" },
	[FAULT_POISON] = { NOTABLE, "bad data was held back" },
	[FAULT_POISON_FATAL] = { SEVERE, "bad data was used" },
	[FAULT_UNAVAILABLE] = { SEVERE, "it cannot be used" },
	[FAULT_RECOVERY] = { NOTABLE, "it needs a reset, a reboot or the like to recover" },
	[FAULT_LOST] = { SEVERE, "NVML cannot reach it any more" },
	[FAULT_BACK] = { NOTED, "NVML can reach it again" },
};

static const struct xid *find_xid(const struct sample_fault *f)
{
	for (size_t i = 0; f->what == FAULT_XID && i < sizeof(xids) / sizeof(xids[0]); i++)
		if (xids[i].number == f->number)
			return &xids[i];
	return NULL;
}

static enum weight weight_of(const struct sample_fault *f)
{
	const struct xid *xid = find_xid(f);

	return xid ? xid->weight : faults[f->what].weight;
}

static uint64_t times_of(const struct sampled_device *d, enum fault_what what)
{
	uint64_t times = 0;

	for (size_t i = 0; i < d->faults.n; i++)
		times += d->faults.v[i].what == what ? d->faults.v[i].times : 0;
	return times;
}

void finding_add_fault(struct strbuf *out, const struct sampled_device *d,
		       const struct sample_fault *f)
{
	const struct xid *xid = find_xid(f);
	const char *what = xid ? xid->what : faults[f->what].what;

	if (f->what == FAULT_LOST && times_of(d, FAULT_BACK) >= times_of(d, FAULT_LOST))
		what = "it was lost, and came back";
	strbuf_addf(out, "GPU %s: ", device_text(d->number).s);
	if (f->what == FAULT_XID)
		strbuf_addf(out, "XID %llu, ", (unsigned long long)f->number);
	strbuf_addstr(out, what);
}

/* "by NVML: XID 79 at 1.2 s, 3 times; GPU 0 it cannot be used at 2.0 s" */
static void add_faults(struct strbuf *out, const struct finding_book *b,
		       const struct sampled_device *d)
{
	for (size_t i = 0; i < d->faults.n; i++) {
		const struct sample_fault *f = &d->faults.v[i];

		strbuf_addstr(out, out->len ? "; " : "by NVML: ");
		if (d == b->gpu)
			strbuf_addf(out, "GPU %s ", device_text(d->number).s);
		if (f->what == FAULT_XID)
			strbuf_addf(out, "XID %llu", (unsigned long long)f->number);
		else
			strbuf_addstr(out, faults[f->what].what);
		strbuf_addf(out, " at %.1f s",
			    (double)num_sub(f->first_ns, b->session_ns) / NS_PER_SEC);
		if (f->times > 1)
			strbuf_addf(out, ", %llu times", (unsigned long long)f->times);
	}
	if (d->more_faults)
		strbuf_addf(out, "; %llu more", (unsigned long long)d->more_faults);
}

/* A GPU's faults are those of all its MIG instances. */
static bool judge_device_fault(const struct finding_book *b, struct finding *f)
{
	const struct sampled_device *const both[] = { b->sampled, b->gpu }, *of = NULL;
	const struct sample_fault *worst = NULL;

	for (size_t k = 0; k < 2 && both[k]; k++) {
		for (size_t i = 0; i < both[k]->faults.n; i++) {
			const struct sample_fault *fault = &both[k]->faults.v[i];

			if (worst && weight_of(fault) <= weight_of(worst))
				continue;
			worst = fault;
			of = both[k];
		}
		add_faults(&f->evidence, b, both[k]);
	}
	if (!worst)
		return false;
	f->is_severe = weight_of(worst) == SEVERE;
	f->is_notable = weight_of(worst) == NOTABLE;
	f->headline = "A device failed";
	finding_add_fault(&f->cause, of, worst);
	strbuf_addstr(&f->next, "dmesg | grep -i xid");
	return true;
}

/* ---- clocks ---------------------------------------------------------------------------------- */

#define POWER_CAP_SHARE 0.05	/* less is usual under full load */

static const struct {
	uint64_t bit;
	double least;		/* share of the time; less is not reported. Worse ones first */
	bool is_notable;
	const char *why;
} reasons[] = {
	{ CLOCK_THERMAL_HARDWARE, FINDING_SHARE_MIN, true, "heat, by the hardware" },
	{ CLOCK_POWER_BRAKE, FINDING_SHARE_MIN, true, "the power supply, by the hardware" },
	{ CLOCK_THERMAL, FINDING_SHARE_MIN, true, "heat" },
	{ CLOCK_POWER_CAP, POWER_CAP_SHARE, false, "its power limit" },
	{ CLOCK_SYNC_BOOST, POWER_CAP_SHARE, false, "another GPU of its sync boost group" },
};

static double share_of(const struct sampled_device *d, uint64_t bit)
{
	return (double)d->reason_ns[__builtin_ctzll(bit)] / (double)d->reasons_ns;
}

static bool judge_throttled(const struct finding_book *b, struct finding *f)
{
	/* an instance has none of its own */
	const struct sampled_device *d = b->gpu ? b->gpu : b->sampled;
	size_t most = 0, said = 0;

	if (!d || !d->reasons_ns)
		return false;
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		double share = share_of(d, reasons[i].bit);

		if (share < reasons[i].least)
			continue;
		if (!said || share > share_of(d, reasons[most].bit))
			most = i;
		f->is_notable |= reasons[i].is_notable;
		strbuf_addf(&f->evidence, "%s%.0f %% of the time by %s", said++ ? ", " : "",
			    100 * share, reasons[i].why);
	}
	if (!said)
		return false;
	strbuf_addstr(&f->evidence, "; sampled by NVML, about once a second");
	strbuf_addf(&f->cause, "GPU %s: its clocks were kept down by %s", device_text(d->number).s,
		    reasons[most].why);
	strbuf_addf(&f->next, "nvidia-smi -q -d PERFORMANCE,POWER,TEMPERATURE,CLOCK -i %u",
		    device_number_gpu(d->number));
	return true;
}

/* ---- strangers ------------------------------------------------------------------------------- */

#define STRANGERS_NAMED 3

/* NULL: its calls are not known, so it is not watched. */
static const struct snapshot_process *find_watched(const struct device_users *o, uint32_t process)
{
	const struct snapshot_process *p = o->snap ? snapshot_process(o->snap, process) : NULL;

	return p && call_stats_count(&p->calls) ? p : NULL;
}

/* Those that were seen there before the interval are gone. */
static bool is_user(const struct device_users *o, const struct sample_user *u)
{
	for (size_t i = 0; o->host && i < o->host->members.n; i++)
		if (o->host->members.v[i].process == u->process)
			return false;
	return !o->snap || u->seen_ns >= o->snap->since_ns;
}

size_t device_users_count(const struct device_users *o, const struct sampled_device *d,
			  bool watched)
{
	size_t n = 0;

	for (size_t i = 0; i < d->users.n; i++)
		if (is_user(o, &d->users.v[i]))
			n += watched == !!find_watched(o, d->users.v[i].process);
	return n;
}

bool device_users_are_watched(const struct device_users *o, const struct sampled_device *d)
{
	return device_users_count(o, d, true) && !device_users_count(o, d, false) && !d->nameless &&
	       !d->nameless_before;
}

/* "pid 12 (1.2 GiB of its memory), pid 13 (train, watched: no helper is in it)": at any sample. */
static void add_other(struct strbuf *out, const struct device_users *o, const struct sample_user *u)
{
	const struct snapshot_process *watched = find_watched(o, u->process);
	const char *why = watched ? snapshot_identity(watched, "helper_why") : NULL;

	strbuf_addf(out, "pid %u", u->pid);
	if (watched)
		strbuf_addf(out, " (%s%swatched: %s", watched->comm, *watched->comm ? ", " : "",
			    why ? why : "no helper told of them");
	if (u->has_bytes)
		strbuf_addf(out, "%s%s of its memory", watched ? "; " : " (",
			    bytes_text(u->used_bytes).s);
	if (watched || u->has_bytes)
		strbuf_addch(out, ')');
}

static void add_strangers(struct strbuf *out, const struct finding_book *b)
{
	size_t said = 0;

	for (size_t i = 0; i < b->sampled->users.n; i++) {
		const struct sample_user *u = &b->sampled->users.v[i];

		if (!is_user(&b->others, u) || said++ >= STRANGERS_NAMED)
			continue;
		strbuf_addstr(out, said > 1 ? ", " : "");
		add_other(out, &b->others, u);
	}
	if (said > STRANGERS_NAMED)
		strbuf_addf(out, " and %zu more", said - STRANGERS_NAMED);
	if (!said)
		strbuf_addstr(out, "processes whose number is not known here");
}

/* Processes whose works are not reported had the device. */
static bool judge_others(const struct finding_book *b, struct finding *f, bool all_watched)
{
	const char *who = " is used by others whose works are not known: ",
		   *none = "nothing that is known ran";

	if (!b->sampled || !b->shared_ns ||
	    (double)b->unwatched_ns < FINDING_SHARE_MIN * (double)b->shared_ns ||
	    device_users_are_watched(&b->others, b->sampled) != all_watched)
		return false;
	if (!all_watched) {
		who = device_users_count(&b->others, b->sampled, true) ?
			      " is used by others, of which not all are watched: " :
			      " is used by others that are not watched: ";
		none = "no watched process ran";
	}
	strbuf_addf(&f->cause, "GPU %s%s", device_text(b->sampled->number).s, who);
	add_strangers(&f->cause, b);
	strbuf_addf(&f->evidence, "%s (%.1f %%) in which %s and they may have; sampled by NVML, "
		    "about once a second", ns_text(b->unwatched_ns).s,
		    100 * (double)b->unwatched_ns / (double)b->shared_ns, none);
	next_add(&f->next, NEXT_DEVICE, &b->target, NULL);
	return true;
}

static bool judge_unwatched_process(const struct finding_book *b, struct finding *f)
{
	return judge_others(b, f, false);
}

static bool judge_without_helper(const struct finding_book *b, struct finding *f)
{
	return judge_others(b, f, true);
}

/* ---- calls that failed for good -------------------------------------------------------------- */

/*
 * Results after which CUDA's documentation requires that a process be ended and started again:
 * all later calls on its context or device fail; and those for a missing device, which some
 * processes expect. Knows results' numbers, which the runtime and the driver share, and nothing
 * of times.
 */
#define DEVICE_FAILED "the device or the driver failed"
#define KERNEL_FAILED "a kernel broke it"
#define SHOW_DEVICE "dmesg | grep -i xid"
#define SHOW_KERNEL "compute-sanitizer COMMAND"

#define SHOW_DRIVER "nvidia-smi"

static const struct fatal {
	int32_t result;
	const char *why, *next;
	bool never;			/* there never was a device for it: else there is none
					 * any more */
} fatals[] = {
	{ 35, "there is no driver (libcuda.so.1) here, or it is too old for this CUDA", SHOW_DRIVER,
	  true },
	{ 100,
	  "there is no device for it: none in the host, in its container or in "
	  "CUDA_VISIBLE_DEVICES",
	  "nvidia-smi -L; echo $CUDA_VISIBLE_DEVICES", true },
	{ 802, "the system is not ready, as while its fabric manager does not run",
	  SHOW_DRIVER, true },
	{ 803, "the driver's library and its kernel module are of two versions",
	  SHOW_DRIVER, true },
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

void finding_read_errors(struct finding_book *b, const struct funcs *funcs,
			 const struct snapshot_process *p)
{
	const struct fatal *now, *before = NULL;
	uint64_t most = 0;

	for (size_t i = 0; p && i < call_stats_count(&p->calls); i++) {
		const struct call_stat *t = call_stats_at(&p->calls, i);
		const char *library = t->key.func < funcs->n ? funcs->v[t->key.func].library : NULL;

		now = find_fatal(t->key.result);
		if (!t->errors || !t->key.has_result || !now || !library ||
		    (strcmp(library, "cuda") && strcmp(library, "cudart")))
			continue;
		if (before && before->never != now->never) {
			if (now->never)
				continue;
			/* a process that had a device and lost it is worse */
			b->fatal_calls = most = 0;
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

static bool judge_cuda_error(const struct finding_book *b, struct finding *f)
{
	const struct func *fn = b->fatal_function;
	const struct fatal *fatal = fn ? find_fatal(b->fatal_result) : NULL;
	const char *name = fatal ? result_name(fn->library, fatal->result) : NULL;

	if (!fatal)
		return false;
	f->is_severe = !fatal->never;
	f->is_notable = fatal->never;
	f->headline = fatal->never ? "CUDA cannot be used" : "CUDA failed for good";
	strbuf_addf(&f->cause, "%s gave %s (%d): %s%s", fn->name, name ? name : "an error",
		    fatal->result, fatal->why,
		    fatal->never ? "" : ", and the process can do nothing more with its context");
	strbuf_addf(&f->evidence, "%s call%s failed so", count_text(b->fatal_calls).s,
		    b->fatal_calls == 1 ? "" : "s");
	strbuf_addstr(&f->next, fatal->next);
	return true;
}

const struct finding_rule finding_device_rules[] = {
	{ "cuda-error", judge_cuda_error },
	{ "device-fault", judge_device_fault },
	{ "throttled", judge_throttled },
	{ "unwatched-process", judge_unwatched_process },
	{ "untold-process", judge_without_helper },
};

const size_t finding_device_rules_n =
	sizeof(finding_device_rules) / sizeof(finding_device_rules[0]);
