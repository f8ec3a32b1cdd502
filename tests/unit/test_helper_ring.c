// SPDX-License-Identifier: BSD-3-Clause
/*
 * The ring between the helper and gpuprof: what is sent is read, once and in order, by as many
 * readers as there are slots; what has no room is counted; whatever the other side writes, nothing
 * outside of the file is touched and a broken ring ends in one error.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/time.h"
#include "event/helper_source.h"
#include "helper/ring.h"

#define RING 65536u
#define ALL 0xffffffffu

static struct helper_source *reader(struct helper_ring *r, uint32_t kinds)
{
	struct helper_source *s = helper_source_open(dup(r->fd), getpid(), kinds, 0);

	if (s)
		assert_int_equal(helper_source_renew(s, time_now_ns()), 0);
	return s;
}

static uint32_t look(struct helper_ring *r)
{
	uint32_t fresh;

	helper_ring_look(r, time_now_ns(), &fresh);
	helper_ring_admit(r);
	return fresh;
}

struct got {
	uint64_t n, bytes, last;
	bool in_order;
};

/* Payloads of these tests begin with a number that grows. */
static int take(void *ctx, uint16_t kind, const void *payload, size_t len)
{
	struct got *got = ctx;
	uint64_t number;

	(void)kind;
	memcpy(&number, payload, sizeof(number));
	got->in_order &= !got->n || number > got->last;
	got->last = number;
	got->n++;
	got->bytes += len;
	return 0;
}

static void send_numbers(struct helper_ring *r, uint64_t from, uint64_t n)
{
	uint64_t payload[40] = { 0 };

	for (uint64_t i = from; i < from + n; i++) {
		payload[0] = i;
		helper_ring_send(r, GP_RING_KERNEL, payload, 8 + i % 300);
	}
}

static void what_is_sent_is_read_once_in_order(void **state)
{
	struct got got = { .in_order = true };
	struct helper_source *s;
	struct helper_ring r;
	uint64_t sent = 0;

	(void)state;
	assert_int_equal(helper_ring_open(&r, RING, 1), 0);
	s = reader(&r, ALL);
	assert_non_null(s);
	assert_int_equal(look(&r), 1);
	for (int lap = 0; lap < 500; lap++) {
		send_numbers(&r, sent, 100);
		sent += 100;
		assert_int_equal(helper_source_read(s, take, &got), 1);
		assert_int_equal(got.n, sent);
	}
	assert_true(got.in_order);
	assert_int_equal(helper_source_lost(s, 1u << GP_RING_KERNEL), 0);
	helper_source_close(s);
	helper_ring_close(&r);
}

static void without_room_it_is_counted_and_nothing_is_overwritten(void **state)
{
	struct got got = { .in_order = true };
	struct helper_source *s;
	struct helper_ring r;

	(void)state;
	assert_int_equal(helper_ring_open(&r, RING, 1), 0);
	s = reader(&r, ALL);
	look(&r);
	send_numbers(&r, 0, 10000);
	assert_int_equal(helper_source_read(s, take, &got), 1);
	assert_true(got.n > 100 && got.in_order);
	assert_int_equal(got.n + helper_source_lost(s, 1u << GP_RING_KERNEL), 10000);
	send_numbers(&r, 10000, 10);
	assert_int_equal(helper_source_read(s, take, &got), 1);
	assert_int_equal(got.last, 10009);
	helper_source_close(s);
	helper_ring_close(&r);
}

/* As when four of them were killed, and the helper has slept since. */
static void a_reader_long_gone_loses_its_slot(void **state)
{
	struct helper_source *s[GP_RING_SLOTS], *late;
	uint64_t now = time_now_ns();
	struct helper_ring r;

	(void)state;
	assert_int_equal(helper_ring_open(&r, RING, 1), 0);
	for (int i = 0; i < GP_RING_SLOTS; i++) {
		s[i] = reader(&r, ALL);
		assert_int_equal(helper_source_renew(s[i], now), 0);
	}
	now += GP_RING_LEASE_NS + GP_RING_ABANDONED_NS;
	assert_null(helper_source_open(dup(r.fd), getpid(), ALL, now));
	assert_int_equal(errno, EUSERS);
	late = helper_source_open(dup(r.fd), getpid(), ALL, now + 1);
	assert_non_null(late);
	assert_int_equal(helper_source_renew(late, now + 1), 0);
	assert_int_equal(helper_source_renew(s[0], now + 1), -ESTALE);
	for (int i = 0; i < GP_RING_SLOTS; i++)
		helper_source_close(s[i]);
	assert_int_equal(helper_source_renew(late, now + 2), 0);
	helper_source_close(late);
	helper_ring_close(&r);
}

/* It was killed before it renewed its lease for the first time. */
static void a_reader_that_only_claimed_a_slot_loses_it(void **state)
{
	struct helper_source *s[GP_RING_SLOTS], *late;
	uint64_t now = time_now_ns();
	struct helper_ring r;
	uint32_t seen;

	(void)state;
	assert_int_equal(helper_ring_open(&r, RING, 1), 0);
	for (int i = 0; i < GP_RING_SLOTS; i++)
		assert_non_null(s[i] = helper_source_open(dup(r.fd), getpid(), ALL, now));
	assert_int_equal(look(&r), 0);		/* which asks for no records */
	now += GP_RING_ABANDONED_NS;
	assert_null(helper_source_open(dup(r.fd), getpid(), ALL, now));
	late = helper_source_open(dup(r.fd), getpid(), ALL, now + 1);
	assert_non_null(late);
	seen = r.head->wake;
	assert_int_equal(helper_source_renew(late, now + 1), 0);
	assert_int_equal(r.head->wake, seen + 1);
	assert_int_equal(helper_source_renew(late, now + 2), 0);
	assert_int_equal(r.head->wake, seen + 1);
	assert_int_equal(helper_source_renew(late, now + 2 + GP_RING_LEASE_NS), 0);
	assert_int_equal(r.head->wake, seen + 2);	/* we were late: it may have fallen asleep */
	for (int i = 0; i < GP_RING_SLOTS; i++)
		helper_source_close(s[i]);
	helper_source_close(late);
	helper_ring_close(&r);
}

static void each_reader_has_its_own_and_only_what_it_wants(void **state)
{
	struct helper_source *s[GP_RING_SLOTS];
	struct helper_ring r;
	uint64_t number = 1;
	uint32_t fresh;

	(void)state;
	assert_int_equal(helper_ring_open(&r, RING, 1), 0);
	for (int i = 0; i < GP_RING_SLOTS; i++)
		s[i] = reader(&r, i % 2 ? 1u << GP_RING_API : 1u << GP_RING_KERNEL);
	assert_null(reader(&r, ALL));
	assert_int_equal(errno, EUSERS);
	assert_int_equal(helper_ring_look(&r, time_now_ns(), &fresh),
			 1u << GP_RING_API | 1u << GP_RING_KERNEL);
	helper_ring_admit(&r);
	assert_int_equal(fresh, 15);
	helper_ring_send(&r, GP_RING_API, &number, sizeof(number));
	for (int i = 0; i < GP_RING_SLOTS; i++) {
		struct got got = { .in_order = true };

		assert_int_equal(helper_source_read(s[i], take, &got), 1);
		assert_int_equal(got.n, i % 2);
	}
	assert_int_equal(look(&r), 0);
	helper_source_close(s[2]);
	assert_non_null(s[2] = reader(&r, ALL));
	look(&r);
	for (int i = 0; i < GP_RING_SLOTS; i++)
		helper_source_close(s[i]);
	helper_ring_close(&r);
}

static void a_lease_that_ran_out_ends_the_records_and_later_the_slot(void **state)
{
	uint64_t now = time_now_ns(), number = 1;
	struct got got = { .in_order = true };
	struct helper_source *s;
	struct helper_ring r;
	uint32_t fresh;

	(void)state;
	assert_int_equal(helper_ring_open(&r, RING, 1), 0);
	s = reader(&r, ALL);
	assert_int_equal(helper_ring_look(&r, now, &fresh), ALL);
	assert_int_equal(helper_ring_look(&r, now + 2 * GP_RING_LEASE_NS, &fresh), 0);
	helper_ring_send(&r, GP_RING_API, &number, sizeof(number));
	assert_int_equal(helper_source_read(s, take, &got), 1);
	assert_int_equal(got.n, 0);
	assert_int_equal(helper_source_renew(s, now + 2 * GP_RING_LEASE_NS), 0);
	assert_int_equal(helper_ring_look(&r, now + 2 * GP_RING_LEASE_NS, &fresh), ALL);
	assert_int_equal(fresh, 1);
	assert_int_equal(helper_ring_look(&r, now + 20 * GP_RING_LEASE_NS, &fresh), 0);
	assert_int_equal(helper_source_renew(s, now + 20 * GP_RING_LEASE_NS), -ESTALE);
	helper_source_close(s);
	helper_ring_close(&r);
}

/* ---- many at once --------------------------------------------------------------------------- */

#define WRITERS 4
#define EACH 200000u

struct writer {
	struct helper_ring *ring;
	uint64_t id;
};

static void *write_many(void *ctx)
{
	const struct writer *w = ctx;

	for (uint64_t i = 1; i <= EACH; i++) {
		uint64_t payload[3] = { w->id, i, w->id ^ i };

		helper_ring_send(w->ring, GP_RING_API, payload, sizeof(payload));
	}
	return NULL;
}

struct mixed {
	uint64_t last[WRITERS], n;
	bool good;
};

static int take_mixed(void *ctx, uint16_t kind, const void *payload, size_t len)
{
	struct mixed *m = ctx;
	const uint64_t *p = payload;

	m->good &= kind == GP_RING_API && len == 24 && p[0] < WRITERS && p[2] == (p[0] ^ p[1]) &&
		   p[1] > m->last[p[0]];
	if (p[0] < WRITERS)
		m->last[p[0]] = p[1];
	m->n++;
	return 0;
}

static void threads_that_write_at_once_never_mix(void **state)
{
	struct mixed mixed = { .good = true };
	struct writer writers[WRITERS];
	pthread_t threads[WRITERS];
	struct helper_source *s;
	struct helper_ring r;

	(void)state;
	assert_int_equal(helper_ring_open(&r, RING, 1), 0);
	s = reader(&r, ALL);
	look(&r);
	for (uint64_t i = 0; i < WRITERS; i++) {
		writers[i] = (struct writer){ &r, i };
		assert_int_equal(pthread_create(&threads[i], NULL, write_many, &writers[i]), 0);
	}
	for (int i = 0; i < WRITERS;) {
		assert_true(helper_source_read(s, take_mixed, &mixed) >= 0);
		if (!pthread_tryjoin_np(threads[i], NULL))
			i++;
	}
	assert_int_equal(helper_source_read(s, take_mixed, &mixed), 1);
	assert_true(mixed.good);
	assert_int_equal(mixed.n + helper_source_lost(s, 1u << GP_RING_API), (uint64_t)WRITERS * EACH);
	helper_source_close(s);
	helper_ring_close(&r);
}

/* ---- finding it in another process ------------------------------------------------------------ */

static void it_is_found_in_another_process_and_gone_with_it(void **state)
{
	struct got got = { .in_order = true };
	int go[2], fd, status;
	struct helper_source *s;
	char word;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(go), 0);
	pid = fork();
	if (!pid) {
		struct helper_ring r;
		uint32_t fresh;

		if (helper_ring_open(&r, RING, 1) || write(go[1], "x", 1) != 1)
			_exit(1);
		while (helper_ring_look(&r, time_now_ns(), &fresh), !fresh)
			usleep(1000);
		helper_ring_admit(&r);
		send_numbers(&r, 1, 5);
		pause();
	}
	assert_int_equal(read(go[0], &word, 1), 1);
	fd = helper_source_find(pid);
	assert_true(fd >= 0);
	s = helper_source_open(fd, pid, ALL, 0);
	assert_non_null(s);
	helper_source_renew(s, time_now_ns());
	for (int i = 0; i < 1000 && got.n < 5; i++, usleep(1000))
		assert_true(helper_source_read(s, take, &got) >= 0);
	assert_int_equal(got.n, 5);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	assert_int_equal(helper_source_read(s, take, &got), 1);	/* what it wrote outlives it */
	assert_int_equal(helper_source_find(pid), -ESRCH);
	helper_source_close(s);
	assert_int_equal(helper_source_find(getpid()), -ENOENT);
	close(go[0]);
	close(go[1]);
}

/* ---- hostile ---------------------------------------------------------------------------------- */

static int refuses(int fd)
{
	struct helper_source *s = helper_source_open(fd, getpid(), ALL, 0);
	int err = errno;

	assert_null(s);
	return err;
}

static void what_is_no_sealed_ring_is_refused(void **state)
{
	struct helper_ring r;
	int fd, fifo[2];

	(void)state;
	assert_int_equal(pipe(fifo), 0);
	assert_int_equal(refuses(fifo[0]), EBADMSG);
	close(fifo[1]);
	assert_int_equal(refuses(open("/dev/zero", O_RDWR)), EBADMSG);
	assert_int_equal(refuses(open("/proc/self/exe", O_RDONLY)), EBADMSG);
	fd = memfd_create(GP_RING_NAME, MFD_ALLOW_SEALING);
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	assert_int_equal(refuses(dup(fd)), EBADMSG);	/* may shrink under us */
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	assert_int_equal(refuses(fd), EBADMSG);		/* is empty */
	assert_int_equal(helper_ring_open(&r, RING, 1), 0);
	r.head->version = 99;
	assert_int_equal(refuses(dup(r.fd)), EPROTO);
	r.head->version = GP_RING_VERSION;
	r.head->ring_bytes = 3 * RING;
	assert_int_equal(refuses(dup(r.fd)), EBADMSG);
	r.head->ring_bytes = 2 * RING;			/* more than the file has */
	assert_int_equal(refuses(dup(r.fd)), EBADMSG);
	r.head->ring_bytes = RING;
	r.head->data_offset = 4095;
	assert_int_equal(refuses(dup(r.fd)), EBADMSG);
	r.head->data_offset = r.data_offset;
	r.head->pid = 1;
	assert_int_equal(refuses(dup(r.fd)), ESRCH);
	helper_ring_close(&r);
}

/* A file of that name in the root of a file system that is mounted nowhere; or -1. */
static int open_decoy(void)
{
	int fs = fsopen("tmpfs", FSOPEN_CLOEXEC), root = -1, fd = -1;

	if (fs >= 0 && !fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		root = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	if (root >= 0)
		fd = openat(root, "memfd:" GP_RING_NAME, O_RDWR | O_CREAT | O_CLOEXEC, 0700);
	close(root);
	close(fs);
	return fd;
}

static void what_only_has_the_name_of_a_ring_is_not_opened(void **state)
{
	int decoy = open_decoy(), huge = memfd_create(GP_RING_NAME, MFD_HUGETLB);

	(void)state;
	assert_int_equal(helper_source_find(getpid()), -ENOENT);
	close(huge);
	close(decoy);
	if (decoy < 0 || huge < 0)
		skip();
}

static uint64_t bytes_held(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

/* What a reader touches first is counted as its own. */
static void memory_that_a_ring_does_not_use_is_not_touched(void **state)
{
	struct got got = { .in_order = true };
	struct gp_ring_record *rec;
	struct helper_source *s;
	struct helper_ring r;

	(void)state;
	assert_int_equal(helper_ring_open(&r, 2 * GP_RING_BYTES_MAX, 1), -EINVAL);
	assert_int_equal(helper_ring_open(&r, GP_RING_BYTES_MAX, 1), 0);
	s = reader(&r, ALL);
	assert_non_null(s);
	assert_true(bytes_held(r.fd) < RING);
	rec = (void *)((char *)r.head + r.data_offset);
	*rec = (struct gp_ring_record){ .kind = GP_RING_PAD, .stamp = gp_ring_stamp(0) };
	r.head->slot[0].written = GP_RING_BYTES_MAX;
	assert_int_equal(helper_source_read(s, take, &got), -EBADMSG);
	assert_true(bytes_held(r.fd) < RING);
	helper_source_close(s);
	helper_ring_close(&r);
}

/* The reader before was killed, and what it did not read is there still. */
static void nothing_is_left_of_what_another_did_not_read(void **state)
{
	struct got got = { .in_order = true };
	struct helper_source *s;
	struct helper_ring r;

	(void)state;
	assert_int_equal(helper_ring_open(&r, RING, 1), 0);
	s = reader(&r, ALL);
	look(&r);
	send_numbers(&r, 1, 100);
	helper_source_close(s);
	s = reader(&r, ALL);
	assert_non_null(s);
	for (const char *at = (char *)r.head + r.data_offset; at < (char *)r.head + r.data_offset + RING; at++)
		assert_int_equal(*at, 0);
	assert_int_equal(helper_source_read(s, take, &got), 1);
	assert_int_equal(got.n, 0);
	helper_source_close(s);
	helper_ring_close(&r);
}

static int take_any(void *ctx, uint16_t kind, const void *payload, size_t len)
{
	volatile const char *p = payload;

	(void)kind;
	for (size_t i = 0; i < len; i++)
		*(uint64_t *)ctx += (uint64_t)p[i];
	return 0;
}

/* The target writes anything anywhere in what is shared. */
static void whatever_is_written_there_reading_ends_well(void **state)
{
	uint64_t sum = 0;

	(void)state;
	srand48((long)time_now_ns());
	for (int round = 0; round < 2000; round++) {
		struct helper_ring r;
		struct helper_source *s;
		char *bytes;

		assert_int_equal(helper_ring_open(&r, GP_RING_BYTES_MIN, 1), 0);
		s = reader(&r, ALL);
		look(&r);
		send_numbers(&r, 1, 20);
		bytes = (char *)r.head;
		for (int i = 0; i < 1 + round % 40; i++)
			bytes[(size_t)lrand48() % (r.data_offset + 600)] = (char)lrand48();
		for (int i = 0; i < 4; i++) {
			r.head->slot[0].written = (uint64_t)lrand48() % 9000 & ~(uint64_t)(round % 8);
			helper_source_read(s, take_any, &sum);
			send_numbers(&r, 1, 20);	/* nor may a reader harm the target */
		}
		helper_source_close(s);
		helper_ring_close(&r);
	}
}

static void a_record_beyond_what_was_written_breaks_the_ring(void **state)
{
	struct gp_ring_record *rec;
	struct got got = { .in_order = true };
	struct helper_source *s;
	struct helper_ring r;

	(void)state;
	assert_int_equal(helper_ring_open(&r, RING, 1), 0);
	s = reader(&r, ALL);
	look(&r);
	send_numbers(&r, 1, 1);
	rec = (void *)((char *)r.head + r.data_offset);
	rec->units = 100;
	assert_int_equal(helper_source_read(s, take, &got), -EBADMSG);
	rec->units = 3;
	assert_int_equal(helper_source_read(s, take, &got), -EBADMSG);
	assert_int_equal(got.n, 0);
	helper_source_close(s);
	helper_ring_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_sent_is_read_once_in_order),
		cmocka_unit_test(without_room_it_is_counted_and_nothing_is_overwritten),
		cmocka_unit_test(a_reader_long_gone_loses_its_slot),
		cmocka_unit_test(a_reader_that_only_claimed_a_slot_loses_it),
		cmocka_unit_test(each_reader_has_its_own_and_only_what_it_wants),
		cmocka_unit_test(a_lease_that_ran_out_ends_the_records_and_later_the_slot),
		cmocka_unit_test(threads_that_write_at_once_never_mix),
		cmocka_unit_test(it_is_found_in_another_process_and_gone_with_it),
		cmocka_unit_test(what_is_no_sealed_ring_is_refused),
		cmocka_unit_test(what_only_has_the_name_of_a_ring_is_not_opened),
		cmocka_unit_test(memory_that_a_ring_does_not_use_is_not_touched),
		cmocka_unit_test(nothing_is_left_of_what_another_did_not_read),
		cmocka_unit_test(whatever_is_written_there_reading_ends_well),
		cmocka_unit_test(a_record_beyond_what_was_written_breaks_the_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
