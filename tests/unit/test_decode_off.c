// SPDX-License-Identifier: BSD-3-Clause
/* Records of the scheduler to events: why a thread was off the CPU, and what it waited in. */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "lib/test.h"
#include "source/bpf/decode.h"
#include "unit/decode_room.h"

static struct decode_off_texts texts;

static struct gp_off off(int16_t call)
{
	return (struct gp_off){ .kind = GP_OFF, .syscall = call, .seq = 3, .start_ns = 1000,
				.dur_lo_ns = 500, .pid = 10, .tid = 11 };
}

/* Not a byte beyond the record may matter: sanitizers watch the copy. */
static struct event decoded(const struct gp_off *rec)
{
	void *copy = malloc(sizeof(*rec));
	struct event ev;

	assert_non_null(copy);
	memcpy(copy, rec, sizeof(*rec));
	assert_int_equal(decode_call(NULL, copy, sizeof(*rec), &ev, &texts), DECODE_OK);
	free(copy);
	return ev;
}

TEST(the_reason_follows_from_flags_and_system_call)
{
	static const struct {
		int16_t call;
		uint8_t flags, stopped, file, reason;
		const char *what;
	} cases[] = {
		{ SYS_futex, 0, 0, 0, OFF_LOCK, "futex" },
		{ SYS_read, 0, 0, 1, OFF_IO, "read pipe" },
		{ SYS_recvfrom, 0, 0, 12, OFF_IO, "recvfrom socket" },
		{ SYS_epoll_pwait, 0, 0, GP_FILE_ANONYMOUS, OFF_IO, "epoll_pwait event" },
		{ SYS_futex, 0, 0, GP_FILE_GIL, OFF_LOCK, "futex GIL" },
		{ SYS_read, 0, 0, GP_FILE_GIL, OFF_IO, "read" },
		{ SYS_read, 0, 0, 200, OFF_IO, "read" },
		{ SYS_ppoll, 0, 0, 8, OFF_IO, "ppoll" },	/* its first argument is no file */
		{ SYS_read, GP_OFF_IOWAIT, 0, 8, OFF_DISK, "read file" },
		{ SYS_clock_nanosleep, 0, 0, 0, OFF_SLEEP, "clock_nanosleep" },
		{ SYS_wait4, 0, 0, 0, OFF_OTHER, "wait4" },
		{ SYS_futex, GP_OFF_RUNNABLE, 0, 0, OFF_RUNQUEUE, "futex" },
		{ SYS_futex, 0, 4, 0, OFF_STOPPED, "futex" },
		{ GP_OFF_NO_SYSCALL, 0, 0, 0, OFF_PAGE_FAULT, NULL },
		{ GP_OFF_NO_SYSCALL, GP_OFF_IOWAIT, 0, 0, OFF_DISK, NULL },
		{ GP_OFF_NO_SYSCALL, GP_OFF_RUNNABLE, 0, 0, OFF_RUNQUEUE, NULL },
		{ 32000, 0, 0, 8, OFF_OTHER, "syscall 32000" },
		{ -7, 0, 0, 8, OFF_OTHER, "syscall -7" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gp_off rec = off(cases[i].call);
		struct event ev;

		rec.flags = cases[i].flags;
		rec.state = cases[i].stopped;
		rec.file = cases[i].file;
		ev = decoded(&rec);
		assert_int_equal(ev.kind, EVENT_OFF);
		assert_int_equal(ev.off.reason, cases[i].reason);
		assert_int_equal(ev.end_ns, 1500);
		assert_int_equal(ev.has, HAS_END);
		if (cases[i].what)
			assert_string_equal(ev.off.syscall, cases[i].what);
		else
			assert_null(ev.off.syscall);
	}
}

TEST(a_waker_and_its_time_are_decoded)
{
	struct gp_off rec = off(SYS_futex);
	struct event ev;

	memset(rec.waker_comm, 'x', sizeof(rec.waker_comm));
	rec.woken_ns = 1400;
	assert_null(decoded(&rec).off.waker_name);
	rec.waker_pid = 20;
	rec.waker_tid = 21;
	ev = decoded(&rec);
	assert_string_equal(ev.off.waker_name, "xxxxxxxxxxxxxxxx");
	assert_int_equal(ev.off.waker, 20ull << 32 | 21);
	assert_int_equal(ev.off.woken_ns, 100);
	rec.flags = GP_OFF_MAYBE;
	assert_string_equal(decoded(&rec).off.waker_name, "xxxxxxxxxxxxxxxx?");
	rec.syscall = SYS_nanosleep;	/* the timer's interrupt, in whosever time */
	assert_null(decoded(&rec).off.waker_name);
	rec.syscall = SYS_futex;
	rec.flags = GP_OFF_INTERRUPT;
	assert_string_equal(decoded(&rec).off.waker_name, "interrupt");
	for (uint64_t wrong = 999; wrong < 1600; wrong += 501) {	/* before it began, after its end */
		rec.woken_ns = wrong;
		ev = decoded(&rec);
		assert_int_equal(ev.off.woken_ns, 0);
	}
}

TEST(an_end_the_kernel_did_not_report_is_no_reason)
{
	struct gp_off rec = off(SYS_futex);
	struct event ev;

	rec.flags = GP_OFF_END_UNKNOWN;
	rec.woken_ns = 1400;
	rec.waker_tid = 9;
	ev = decoded(&rec);
	assert_int_equal(ev.off.reason, OFF_NO_END);
	assert_int_equal(ev.has, HAS_END);
	assert_int_equal(ev.start_ns, 1000);
	assert_int_equal(ev.end_ns, 1500);
	assert_int_equal(ev.off.woken_ns + ev.off.waker, 0);
	assert_true(!ev.off.waker_name && !ev.off.syscall);
}

TEST(a_reading_has_no_end)
{
	struct gp_off rec = off(SYS_futex);
	struct event ev;

	rec.flags = GP_OFF_STILL;
	assert_int_equal(decoded(&rec).has, 0);
	rec.flags = GP_OFF_STILL | GP_OFF_IN_CALL;
	ev = decoded(&rec);
	assert_int_equal(ev.has, 0);
	assert_int_equal(ev.off.reason, OFF_CALL);
	assert_int_equal(ev.off.blocked_ns, 500);
	rec.state = GP_OFF_STOPPED;
	assert_int_equal(decoded(&rec).off.reason, OFF_CALL_STOPPED);
	assert_int_equal(decoded(&rec).off.blocked_ns, 500);
}

TEST(impossible_events_are_invalid)
{
	struct gp_off rec = off(SYS_futex);
	struct event ev;

	for (size_t n = 0; n < sizeof(rec); n++)
		assert_int_equal(decode_call(NULL, &rec, n, &ev, &texts), DECODE_INVALID);
	rec.start_ns = UINT64_MAX - 10;
	assert_int_equal(decode_call(NULL, &rec, sizeof(rec), &ev, &texts), DECODE_INVALID);
	rec = off(SYS_futex);
	rec.tid = 0;
	assert_int_equal(decode_call(NULL, &rec, sizeof(rec), &ev, &texts), DECODE_INVALID);
}

/* Behind the row's words, and behind the id of a stack. */
TEST(a_call_has_its_blocked_time)
{
	struct { struct raw raw; uint64_t more[2]; } rec;
	size_t len = record(&rec.raw, "cudaStreamSynchronize"), at;

	at = (len - sizeof(rec.raw.head)) / 8;
	rec.raw.words[at] = 77;
	rec.raw.words[at + 1] = 88;
	rec.raw.head.flags = GP_CALL_BLOCKED;
	assert_int_equal(decode_len(state, &rec.raw, len + 8).call.blocked_ns, 77);
	assert_int_equal(decode_len(state, &rec.raw, len).call.blocked_ns, 0);
	rec.raw.head.flags = GP_CALL_BLOCKED | GP_CALL_STACK;
	assert_int_equal(decode_len(state, &rec.raw, len + 16).call.blocked_ns, 88);
	assert_int_equal(decode_len(state, &rec.raw, len + 16).call.stack, 77);
}

/* Behind how long it was blocked, if that is there. */
TEST(a_call_has_the_time_it_was_ready_without_a_cpu)
{
	struct raw rec;
	size_t len = record(&rec, "cudaStreamSynchronize"), at = (len - sizeof(rec.head)) / 8;
	struct event ev;

	rec.words[at] = 77;
	rec.words[at + 1] = 300000ull << 32 | 21;
	rec.head.flags = GP_CALL_BLOCKED | GP_CALL_LATE;
	ev = decode_len(state, &rec, len + 16);
	assert_true(ev.call.blocked_ns == 77 && ev.call.late_ns == 300000 &&
		    ev.call.after_late_ns == 21);
	ev = decode_len(state, &rec, len + 8);
	assert_true(ev.call.blocked_ns == 77 && !ev.call.late_ns && !ev.call.after_late_ns);
	rec.head.flags = GP_CALL_LATE | GP_CALL_STACK;
	ev = decode_len(state, &rec, len + 16);
	assert_true(!ev.call.blocked_ns && ev.call.stack == 77 && ev.call.late_ns == 300000);
	rec.head.flags |= GP_CALL_STOPPED;
	ev = decode_len(state, &rec, len + 16);
	assert_true(ev.call.late_ns == 300000ull << 10 && ev.call.late_why == OFF_STOPPED);
	rec.words[at + 1] = ~0ull;
	ev = decode_len(state, &rec, len + 16);
	assert_true(ev.call.late_ns == 0xffffffffull << 10 &&
		    ev.call.after_late_ns == ev.call.late_ns);
	rec.head.flags = GP_CALL_LATE | GP_CALL_STACK;
	rec.words[at + 1] = 21;		/* of no time there is no end */
	ev = decode_len(state, &rec, len + 16);
	assert_true(!ev.call.late_ns && !ev.call.after_late_ns && ev.call.late_why == OFF_RUNQUEUE);
	rec.words[at + 1] = 300000ull << 32 | 21;
	rec.head.kind = GP_OPEN;	/* nor of a call that has none */
	assert_int_equal(decode_len(state, &rec, len + 16).call.late_ns, 0);
}

TEST_GROUP(setup, teardown);
