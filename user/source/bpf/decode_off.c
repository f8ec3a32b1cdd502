// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the scheduler tells of a thread -> EVENT_OFF: why it was off the CPU is decided here, from the
 * kernel's flags and the system call that it was in.
 */
#include <stdio.h>
#include <string.h>

#include "source/bpf/decode.h"
#include "host/syscalls.h"

static const char *const files[] = {
	[1] = "pipe", [2] = "device", [4] = "directory", [6] = "disk", [8] = "file", [12] = "socket",
	[GP_FILE_ANONYMOUS] = "event",
};

static const uint8_t reasons[] = {
	[SYSCALL_FOR_OTHER] = OFF_OTHER, [SYSCALL_FOR_IO] = OFF_IO, [SYSCALL_FOR_LOCK] = OFF_LOCK,
	[SYSCALL_FOR_SLEEP] = OFF_SLEEP,
};

static uint8_t reason_of(const struct gp_off *rec, const struct syscall_row *call)
{
	if (rec->flags & GP_OFF_RUNNABLE)
		return OFF_RUNQUEUE;
	if (rec->flags & GP_OFF_IOWAIT)
		return OFF_DISK;
	if (rec->state & GP_OFF_STOPPED)
		return OFF_STOPPED;
	if (rec->syscall == GP_OFF_NO_SYSCALL)
		return OFF_PAGE_FAULT;
	return call ? reasons[call->why] : OFF_OTHER;
}

/* "read pipe", "futex", "syscall 999"; NULL: in none. */
static const char *what_of(const struct gp_off *rec, const struct syscall_row *call,
			   struct decode_off_texts *t)
{
	bool has_file = call && call->waits == SYSCALL_FD && rec->file < sizeof(files) / sizeof(files[0]);
	const char *file = has_file ? files[rec->file] : NULL;

	if (rec->syscall == GP_OFF_NO_SYSCALL)
		return NULL;
	if (call)
		snprintf(t->what, sizeof(t->what), "%s%s%s", call->name, file ? " " : "",
			 file ? file : "");
	else
		snprintf(t->what, sizeof(t->what), "syscall %d", rec->syscall);
	return t->what;
}

/* Of a sleep or a disk's answer the end is an interrupt: whose time that took is no waker. */
static bool is_bystander(const struct gp_off *rec, uint8_t reason)
{
	return rec->flags & GP_OFF_MAYBE && (reason == OFF_SLEEP || reason == OFF_DISK);
}

static void decode_waker(const struct gp_off *rec, struct decode_off_texts *t, struct event *out)
{
	if (rec->flags & GP_OFF_INTERRUPT)
		out->off.waker_name = "interrupt";
	if (!rec->waker_tid || out->off.waker_name || is_bystander(rec, out->off.reason))
		return;
	out->off.waker = (uint64_t)rec->waker_pid << 32 | rec->waker_tid;
	memcpy(t->waker, rec->waker_comm, GP_COMM_LEN);
	t->waker[GP_COMM_LEN] = '\0';
	if (rec->flags & GP_OFF_MAYBE)
		strcat(t->waker, "?");
	out->off.waker_name = t->waker;
}

enum decode_status decode_off(const void *data, size_t len, struct event *out,
			      struct decode_off_texts *texts)
{
	const struct gp_off *rec = data;
	const struct syscall_row *call;
	uint64_t dur_ns;

	if (len < sizeof(*rec) || !rec->pid || !rec->tid)
		return DECODE_INVALID;
	dur_ns = (uint64_t)rec->dur_hi << 32 | rec->dur_lo_ns;
	*out = (struct event){ .kind = EVENT_OFF, .pid = rec->pid, .tid = rec->tid, .seq = rec->seq,
			       .start_ns = rec->start_ns, .off.stack = rec->stack,
			       .has = rec->flags & GP_OFF_STILL ? 0 : HAS_END };
	if (__builtin_add_overflow(rec->start_ns, dur_ns, &out->end_ns))
		return DECODE_INVALID;
	if (rec->flags & GP_OFF_IN_CALL) {
		out->has = 0;
		out->off.reason = OFF_CALL;
		out->off.blocked_ns = dur_ns;
		return DECODE_OK;
	}
	if (rec->flags & GP_OFF_UNTOLD) {
		out->has = HAS_END;
		out->off.reason = OFF_UNTOLD;
		return DECODE_OK;
	}
	call = syscall_find(rec->syscall);
	out->off.reason = reason_of(rec, call);
	out->off.syscall = what_of(rec, call, texts);
	if (rec->woken_ns > rec->start_ns && rec->woken_ns < out->end_ns && out->off.reason != OFF_RUNQUEUE)
		out->off.woken_ns = out->end_ns - rec->woken_ns;
	decode_waker(rec, texts, out);
	return DECODE_OK;
}
