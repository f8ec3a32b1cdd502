// SPDX-License-Identifier: BSD-3-Clause
/* What target discovery promises of processes that run: their files, threads and names. */
#include "target_child.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>

#include "lib/test.h"
#include "base/time.h"
#include "target/target.h"

#define FILES_MAX 256

struct seen {
	size_t n;
	struct target_file file[FILES_MAX];
	char path[FILES_MAX][256];
	char first[FILES_MAX];	/* byte of each file */
	int stop;		/* what the callback returns */
};

static int note(void *ctx, const struct target_file *f)
{
	struct seen *s = ctx;
	struct stat st;

	assert_true(s->n < FILES_MAX);
	assert_int_equal(fstat(f->fd, &st), 0);
	assert_true(st.st_dev == f->dev && st.st_ino == f->ino);
	assert_int_equal(pread(f->fd, &s->first[s->n], 1, 0), 1);
	snprintf(s->path[s->n], sizeof(s->path[0]), "%s", f->path);
	s->file[s->n++] = *f;
	return s->stop;
}

static size_t times_seen(const struct seen *s, const char *path)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += !strcmp(s->path[i], path);
	return n;
}

static bool saw_inode(const struct seen *s, ino_t ino)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->file[i].ino == ino)
			return true;
	return false;
}

/* ---- files -------------------------------------------------------------------------------- */

static int map_and_wait(struct child *me, void *arg)
{
	for (int i = 0; i < 2; i++)	/* twice: it is reported once */
		if (map_code(arg) == MAP_FAILED)
			return 1;
	return !child_signal(me) || child_await(me);
}

TEST(reports_each_mapped_file_once)
{
	struct seen s = { 0 };

	assert_int_equal(target_each_file(getpid(), note, &s), 0);
	assert_true(s.n >= 3);	/* this program, libc, the linker */
	for (size_t i = 0; i < s.n; i++) {
		assert_int_equal(s.file[i].pid, getpid());
		assert_int_equal(times_seen(&s, s.path[i]), 1);
		for (size_t k = 0; k < i; k++)
			assert_false(s.file[i].dev == s.file[k].dev &&
				     s.file[i].ino == s.file[k].ino);
	}
}

TEST(a_callback_that_returns_a_value_ends_the_walk_with_it)
{
	struct seen s = { .stop = 42 };

	assert_int_equal(target_each_file(getpid(), note, &s), 42);
	assert_int_equal(s.n, 1);
}

static const char *const strange_names[] = {
	"plain.so", "two words.so", "new\nline.so", "not gone (deleted)", " lead",
	"back\\012slash.so",
};

struct named {
	struct scratch scratch;
	const char *name;
	bool no_map_files;	/* look without the right to open map_files */
	bool gone;		/* delete the file first */
	bool fifo;		/* and put a FIFO where it was */
};

/* In a process of its own: privileges can be dropped. 0: seen, 1: not seen, 2: failed. */
static int look_at_named(void *arg)
{
	struct named *n = arg;
	struct seen s = { 0 };
	struct stat st;
	char path[512];
	struct child c;

	write_page(scratch_path(&n->scratch, n->name, path));
	if (stat(path, &st))
		return 2;
	c = child_start(map_and_wait, path);
	if (!child_await(&c))
		return 2;
	if (n->gone)
		unlink(path);
	if (n->fifo)
		mkfifo(path, 0666);
	if (n->no_map_files) {
		drop_capability(CAP_CHECKPOINT_RESTORE);
		drop_capability(CAP_SYS_ADMIN);
	}
	if (target_each_file(c.pid, note, &s))
		return 2;
	kill(c.pid, SIGKILL);
	if (!saw_inode(&s, st.st_ino))
		return 1;
	/* maps does not distinguish \012 from a newline: a file with it is found, but its name a guess. */
	return !strchr(n->name, '\\') && times_seen(&s, path) != 1;
}

static int look_at(struct named n)
{
	char err[4096];
	int rc;

	scratch_make(&n.scratch);
	rc = run_apart(look_at_named, &n, err, sizeof(err));
	scratch_remove(&n.scratch);
	if (n.gone && n.no_map_files)
		assert_non_null(strstr(err, "CAP_CHECKPOINT_RESTORE"));
	else
		assert_string_equal(err, "");
	return rc;
}

TEST(unusual_names_are_read_verbatim)
{
	needs_real_machine("maps of other processes");
	for (size_t i = 0; i < sizeof(strange_names) / sizeof(strange_names[0]); i++) {
		struct named n = { .name = strange_names[i] };

		assert_int_equal(look_at(n), 0);
		n.no_map_files = true;
		assert_int_equal(look_at(n), 0);
	}
}

TEST(a_deleted_file_is_opened_through_map_files)
{
	needs_real_machine("maps of other processes");
	if (!is_root()) {
		print_message("needs:root to open map_files\n");
		skip();
	}
	for (size_t i = 0; i < 4; i++) {
		struct named n = { .name = strange_names[i], .gone = true };

		assert_int_equal(look_at(n), 0);
	}
}

TEST(a_deleted_file_is_named_when_it_cannot_be_opened)
{
	needs_real_machine("maps of other processes");
	assert_int_equal(look_at((struct named){ .name = "x", .gone = true, .no_map_files = true }),
			 1);
}

TEST(a_file_that_replaced_another_is_not_opened)
{
	needs_real_machine("maps of other processes");
	alarm(10);	/* a FIFO would block for ever */
	assert_int_equal(look_at((struct named){
		.name = "x", .gone = true, .fifo = true, .no_map_files = true }), 1);
	alarm(0);
}

/* A mount namespace of its own, or a root of its own, with a file only it can name. */
static int enter_private_root(struct child *me, void *arg)
{
	const char *dir = arg;
	char path[512];

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", dir, "tmpfs", 0, NULL))
		return 77;
	snprintf(path, sizeof(path), "%s/private.so", dir);
	write_page(path);
	return map_and_wait(me, path);
}

static int enter_chroot(struct child *me, void *arg)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/private.so", (const char *)arg);
	write_page(path);
	if (chroot(arg))
		return 77;
	return map_and_wait(me, "/private.so");
}

struct private {
	int (*enter)(struct child *me, void *arg);
	struct scratch scratch;
	bool no_map_files;
};

static int look_inside(void *arg)
{
	struct private *p = arg;
	struct child c = child_start(p->enter, p->scratch.dir);
	struct seen s = { 0 };
	char path[512];

	if (!child_await(&c))
		return child_end(&c);
	if (p->no_map_files) {
		drop_capability(CAP_CHECKPOINT_RESTORE);
		drop_capability(CAP_SYS_ADMIN);
	}
	if (target_each_file(c.pid, note, &s))
		return 2;
	kill(c.pid, SIGKILL);
	return times_seen(&s, scratch_path(&p->scratch, "private.so", path)) != 1;
}

TEST(files_of_other_roots_are_found)
{
	int (*const enter[])(struct child *, void *) = { enter_private_root, enter_chroot };
	char err[4096];

	needs_real_machine("maps of other processes");
	if (!is_root()) {
		print_message("needs:root to make namespaces\n");
		skip();
	}
	for (int i = 0; i < 4; i++) {
		struct private p = { .enter = enter[i / 2], .no_map_files = i % 2 };
		int rc;

		scratch_make(&p.scratch);
		rc = run_apart(look_inside, &p, err, sizeof(err));
		scratch_remove(&p.scratch);
		if (rc == 77) {
			print_message("namespaces are not permitted here\n");
			skip();
		}
		assert_int_equal(rc, 0);
	}
}

TEST(a_process_that_is_gone_is_ESRCH)
{
	struct target_process process;
	struct seen s = { 0 };
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(target_each_file(pid, note, &s), -ESRCH);
	assert_int_equal(target_each_file(0, note, &s), -ESRCH);
	assert_int_equal(target_each_file(-1, note, &s), -ESRCH);
	assert_int_equal(target_mapped_file(pid, 4096, 4096, "/x", note, &s), -ESRCH);
	assert_int_equal(target_process_read(pid, &process), -ESRCH);
	assert_int_equal(target_process_read(-1, &process), -ESRCH);
}

static int look_at_init(void *arg)
{
	struct seen s = { 0 };

	(void)arg;
	if (is_root() && !become_unprivileged())
		return 99;
	return -target_each_file(1, note, &s);
}

TEST(a_process_of_another_user_is_denied)
{
	char err[4096];

	assert_int_equal(run_apart(look_at_init, NULL, err, sizeof(err)), EACCES);
	assert_string_equal(err, "");	/* the caller says it: once for a whole host */
}

/* As of a process that has ended. */
TEST(the_file_of_a_mapping_that_is_gone_is_found_by_path_and_inode)
{
	struct scratch scratch;
	struct seen s = { 0 };
	struct stat st;
	char path[512];

	needs_real_machine("openat2, which the emulator does not have");
	scratch_make(&scratch);
	write_page(scratch_path(&scratch, "gone", path));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(target_unmapped_file(1 << 30, st.st_ino, path, note, &s), 0);
	assert_int_equal(times_seen(&s, path), 1);
	assert_int_equal(s.file[0].pid, 1 << 30);
	assert_int_equal(target_unmapped_file(1 << 30, st.st_ino + 1, path, note, &s), -ENOENT);
	s.stop = 7;
	assert_int_equal(target_unmapped_file(1 << 30, st.st_ino, path, note, &s), 7);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(target_unmapped_file(1 << 30, st.st_ino, path, note, &s), -ENOENT);
	scratch_remove(&scratch);
}

TEST(the_file_of_a_mapping_event_is_found)
{
	struct scratch scratch;
	struct seen s = { 0 };
	char path[512];
	char *at;

	scratch_make(&scratch);
	write_page(scratch_path(&scratch, "mapped", path));
	assert_int_equal(truncate(path, 4 * 4096), 0);
	at = mmap(NULL, 4 * 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE,
		  open(path, O_RDONLY | O_CLOEXEC), 0);
	assert_ptr_not_equal(at, MAP_FAILED);
	assert_int_equal(target_mapped_file(getpid(), (uintptr_t)at, 4 * 4096, path, note, &s), 0);
	/* The linker maps a whole file, then changes parts of it. */
	assert_int_equal(mprotect(at + 2 * 4096, 4096, PROT_READ), 0);
	assert_int_equal(target_mapped_file(getpid(), (uintptr_t)at, 4 * 4096, path, note, &s), 0);
	assert_int_equal(times_seen(&s, path), 2);
	munmap(at, 4 * 4096);
	assert_int_equal(target_mapped_file(getpid(), (uintptr_t)at, 4 * 4096, path, note, &s),
			 -ENOENT);
	scratch_remove(&scratch);
}

/* ---- processes ---------------------------------------------------------------------------- */

static int hostile_name(struct child *me, void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "a) Z 1 (\n) 9");
	return !child_signal(me) || child_await(me);
}

TEST(a_process_is_described_with_any_name)
{
	uint64_t before_ns = time_now_ns(), after_ns;
	struct child c = child_start(hostile_name, NULL);
	struct target_process p;

	needs_real_machine("threads of other processes");
	after_ns = time_now_ns();
	assert_true(child_await(&c));
	assert_int_equal(target_process_read(c.pid, &p), 0);
	assert_string_equal(p.comm, "a) Z 1 (\n) 9");
	assert_int_equal(p.pid, c.pid);
	assert_int_equal(p.ppid, getpid());
	assert_int_equal(p.uid, getuid());
	assert_int_equal(p.threads, 1);
	assert_non_null(strstr(p.cmdline, "test_target"));
	assert_in_range(p.start_ns, before_ns - 25 * NS_PER_MS, after_ns + NS_PER_MS);
	child_end(&c);
}

TEST(arguments_are_joined_by_spaces)
{
	char *const argv[] = { "sh", "-c", "read x # 0123456789012345678901234567890123456789"
		"01234567890123456789012345678901234567890123456789012345678901234567890123456789"
		"01234567890123456789012345678901234567890123456789012345678901234567890123456789"
		"01234567890123456789012345678901234567890123456789012345678901234567890123456789",
		NULL };
	struct target_process p = { 0 };
	int wait_pipe[2];
	pid_t pid;

	assert_int_equal(pipe2(wait_pipe, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		dup2(wait_pipe[0], STDIN_FILENO);
		execv("/bin/sh", argv);
		_exit(127);
	}
	while (strncmp(p.cmdline, "sh -c", 5))
		assert_int_equal(target_process_read(pid, &p), 0);
	assert_int_equal(strlen(p.cmdline), sizeof(p.cmdline) - 1);
	close(wait_pipe[1]);
	waitpid(pid, NULL, 0);
}

static void *wait_at(void *arg)
{
	pthread_setname_np(pthread_self(), "worker");
	pthread_barrier_wait(arg);
	pthread_barrier_wait(arg);
	return NULL;
}

struct threads {
	size_t n, workers;
	pid_t other;
	uint64_t since_ns;
};

static int note_thread(void *ctx, pid_t tid, uint64_t start_ns, const char *comm)
{
	struct threads *t = ctx;

	t->n++;
	if (strcmp(comm, "worker"))
		return 0;
	t->workers++;
	t->other = tid;
	assert_in_range(start_ns, t->since_ns - 25 * NS_PER_MS, time_now_ns());
	return 0;
}

TEST(every_thread_is_listed_and_none_is_a_process)
{
	struct threads t = { .since_ns = time_now_ns() };
	struct target_process p;
	pthread_barrier_t barrier;
	pthread_t thread[3];

	pthread_barrier_init(&barrier, NULL, 4);
	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, wait_at, &barrier);
	pthread_barrier_wait(&barrier);
	assert_int_equal(target_each_thread(getpid(), note_thread, &t), 0);
	assert_true(t.n >= 4);
	assert_int_equal(t.workers, 3);
	assert_int_equal(target_process_read(t.other, &p), -ESRCH);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&barrier);
}

static int note_pid(void *ctx, pid_t pid)
{
	*(int *)ctx += pid == getpid() || pid == 1;
	return 0;
}

TEST(every_process_is_listed)
{
	int found = 0;

	assert_int_equal(target_each_pid(note_pid, &found), 0);
	assert_int_equal(found, 2);
}
