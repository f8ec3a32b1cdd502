// SPDX-License-Identifier: BSD-3-Clause
/*
 * The ring between the helper and gpuprof where the other side is no friend: whatever it writes, nothing
 * outside of the file is touched and a broken ring ends in one error.
 */
#include "helper_ring_room.h"
#include "lib/random.h"
#include "lib/test.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>

static int refuses(int fd)
{
	struct ring_reader *s = ring_reader_open(fd, getpid(), ALL, 0);
	int err = errno;

	assert_null(s);
	return err;
}

TEST(an_unsealed_ring_is_refused)
{
	struct helper_ring r;
	int fd, fifo[2];

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

TEST(a_file_that_only_has_the_name_of_a_ring_is_not_opened)
{
	int decoy = open_decoy(), huge = memfd_create(GP_RING_NAME, MFD_HUGETLB);

	assert_int_equal(ring_reader_find(getpid()), -ENOENT);
	close(huge);
	close(decoy);
	if (decoy < 0 || huge < 0)
		skip();
}

static void set_lost(struct helper_ring *r, uint64_t lost)
{
	for (int i = 0; i < GP_RING_SLOTS; i++)
		r->head->slot[i].lost[GP_RING_KERNEL] = lost;
}

TEST(a_count_of_lost_records_that_goes_back_is_no_loss)
{
	struct ring_reader *s;
	struct helper_ring r;

	assert_int_equal(helper_ring_open(&r, RING, 1), 0);
	set_lost(&r, 5);
	s = ring_reader_open(dup(r.fd), getpid(), ALL, 0);
	assert_non_null(s);
	set_lost(&r, 7);
	assert_int_equal(ring_reader_lost(s, 1u << GP_RING_KERNEL), 2);
	set_lost(&r, 4);
	assert_int_equal(ring_reader_lost(s, 1u << GP_RING_KERNEL), 0);
	ring_reader_close(s);
	helper_ring_close(&r);
}

static uint64_t bytes_held(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

/* What a reader touches first is counted as its own. */
TEST(memory_that_a_ring_does_not_use_is_not_touched)
{
	struct got got = { .in_order = true };
	struct gp_ring_record *rec;
	struct ring_reader *s;
	struct helper_ring r;

	assert_int_equal(helper_ring_open(&r, 2 * GP_RING_BYTES_MAX, 1), -EINVAL);
	assert_int_equal(helper_ring_open(&r, GP_RING_BYTES_MAX, 1), 0);
	s = reader(&r, ALL);
	assert_non_null(s);
	assert_true(bytes_held(r.fd) < RING);
	rec = (void *)((char *)r.head + r.data_offset);
	*rec = (struct gp_ring_record){ .kind = GP_RING_PAD, .stamp = gp_ring_stamp(0) };
	r.head->slot[0].written = GP_RING_BYTES_MAX;
	assert_int_equal(ring_reader_read(s, take, &got), -EBADMSG);
	assert_true(bytes_held(r.fd) < RING);
	ring_reader_close(s);
	helper_ring_close(&r);
}

/* The reader before was killed, and what it did not read is there still. */
TEST(unread_records_of_an_earlier_reader_are_gone)
{
	struct got got = { .in_order = true };
	struct ring_reader *s;
	struct helper_ring r;

	s = open_read(&r);
	send_numbers(&r, 1, 100);
	ring_reader_close(s);
	s = reader(&r, ALL);
	assert_non_null(s);
	for (const char *at = (char *)r.head + r.data_offset; at < (char *)r.head + r.data_offset + RING; at++)
		assert_int_equal(*at, 0);
	assert_int_equal(ring_reader_read(s, take, &got), 1);
	assert_int_equal(got.n, 0);
	ring_reader_close(s);
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
TEST(any_content_is_read_safely)
{
	uint64_t sum = 0;

	for (int round = 0; round < random_rounds(2000); round++) {
		struct helper_ring r;
		struct ring_reader *s;
		char *bytes;

		assert_int_equal(helper_ring_open(&r, GP_RING_BYTES_MIN, 1), 0);
		s = reader(&r, ALL);
		look(&r);
		send_numbers(&r, 1, 20);
		bytes = (char *)r.head;
		for (int i = 0; i < 1 + round % 40; i++)
			bytes[below(r.data_offset + 600)] = (char)random_next();
		for (int i = 0; i < 4; i++) {
			r.head->slot[0].written = below(9000) & ~(uint64_t)(round % 8);
			ring_reader_read(s, take_any, &sum);
			send_numbers(&r, 1, 20);	/* nor may a reader harm the target */
		}
		ring_reader_close(s);
		helper_ring_close(&r);
	}
}

TEST(a_record_beyond_the_written_bytes_breaks_the_ring)
{
	struct gp_ring_record *rec;
	struct got got = { .in_order = true };
	struct ring_reader *s;
	struct helper_ring r;

	s = open_read(&r);
	send_numbers(&r, 1, 1);
	rec = (void *)((char *)r.head + r.data_offset);
	rec->units = 100;
	assert_int_equal(ring_reader_read(s, take, &got), -EBADMSG);
	rec->units = 3;
	assert_int_equal(ring_reader_read(s, take, &got), -EBADMSG);
	assert_int_equal(got.n, 0);
	ring_reader_close(s);
	helper_ring_close(&r);
}

TEST(a_lease_without_end_is_none)
{
	struct helper_ring r;
	struct ring_reader *s = open_read(&r);
	uint64_t now_ns = time_now_ns();
	uint32_t fresh;

	r.head->slot[0].lease_ns = now_ns + GP_RING_ABANDONED_NS;
	assert_int_equal(helper_ring_look(&r, now_ns, &fresh), ALL);
	r.head->slot[0].lease_ns = UINT64_MAX;
	assert_int_equal(helper_ring_look(&r, now_ns, &fresh), 0);
	assert_int_equal(r.head->slot[0].owner, 0);
	ring_reader_close(s);
	helper_ring_close(&r);
}

TEST_GROUP(random_seed, NULL);
