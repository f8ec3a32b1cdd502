// SPDX-License-Identifier: BSD-3-Clause
/*
 * A function that the kernel refuses to probe unexpectedly fails the link of its whole
 * file: it is found, counted and named, and all others are attached once. What cannot be attached for
 * want of descriptors is tried again. The loader is a fake one.
 */
#include "unit/elf_object.h"

#include <errno.h>
#include <sys/stat.h>

#include "lib/test.h"
#include "probe/attach.h"
#include "catalog/catalog.h"
#include "probe/loader_read.h"
#include "probe/plan.h"
#include "unit/row_of.h"

#if defined(__aarch64__)
#define REFUSED EINVAL
#else
#define REFUSED 524
#endif

static const char library[] =
	"#define F(name) int name(void) { return 0; }\n"
	"F(cudaLaunchKernel) F(cudaMemcpy) F(cudaMemcpyAsync) F(cudaFree) F(cudaMalloc)\n"
	"F(cudaDeviceSynchronize) F(cudaStreamSynchronize)\n";

struct loader {
	uint64_t refused[2];		/* rows */
	int err;			/* what the kernel says to them */
	unsigned int attached[GP_ROWS_MAX], group[GP_ROWS_MAX];
	pid_t last_pid;			/* the filter of the last link */
	size_t max;
	unsigned int fails;		/* so often, before it does what it is asked to */
	unsigned int succeeds;		/* so often, before that */
};

/* ---- in the place of probe/loader.h ----------------------------------------------------------- */

int loader_attach(struct loader *l, const struct loader_probes *p)
{
	if (!l->succeeds && l->fails && l->fails--)
		return -EMFILE;
	l->succeeds -= !!l->succeeds;
	for (size_t i = 0; i < p->n; i++)
		if (p->rows[i] == l->refused[0] || p->rows[i] == l->refused[1])
			return -l->err;
	for (size_t i = 0; i < p->n; i++) {
		l->attached[p->rows[i]]++;
		l->group[p->rows[i]] = p->group;
		l->last_pid = p->pid;
	}
	return 0;
}

void loader_detach_group(struct loader *l, unsigned int group)
{
	for (unsigned int row = 1; row < GP_ROWS_MAX; row++)
		l->attached[row] *= l->group[row] != group;
}

struct loader_facts loader_facts(const struct loader *l)
{
	return (struct loader_facts){ .probes_max = l->max, .step_cost_ns = 1,
				      .returns = GP_RETURNS_ALL };
}

unsigned int loader_layout(struct loader *l, const struct gp_layout *layout)
{
	(void)l;
	(void)layout;
	return 0;
}

bool loader_follows(const struct loader *l, pid_t pid)
{
	(void)l;
	(void)pid;
	return true;
}

void loader_hand_over(struct loader *l)
{
	(void)l;
}

int loader_open_mappings(const struct loader *l, pid_t pid)
{
	(void)l;
	(void)pid;
	return -ENOTSUP;
}

/* ---- tests ------------------------------------------------------------------------------------ */

static struct target_file file_of(const struct object *o)
{
	struct target_file file = { .path = "/x/libcudart.so.13" };
	struct stat st;

	file.fd = open(o->path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(fstat(file.fd, &st), 0);
	file.dev = st.st_dev;
	file.ino = st.st_ino;
	return file;
}

static void check(int err, size_t max)
{
	struct object o = object_build(library, "-shared -fPIC -O1");
	struct target_file file = file_of(&o);
	struct loader l = { .refused = { row_of("cudaFree"), row_of("cudaMemcpy") }, .err = err,
			    .max = max };
	struct attach *a = attach_new(&l, &(struct plan_rules){ 0 });
	struct attach_result result;

	assert_non_null(a);
	assert_int_equal(attach_file(a, &file, 0, &result), 0);
	assert_int_equal(attach_begin(a), 0);
	result = attach_get(a, 0)->result;
	assert_int_equal(result.probes, 5);
	assert_int_equal(result.refused, 2);
	for (unsigned int row = 1; row < catalog_n_rows(); row++) {
		bool refused = row == l.refused[0] || row == l.refused[1];

		assert_int_equal(attach_outcome(a, row) & PLAN_REFUSED, refused ? PLAN_REFUSED : 0);
		assert_in_range(l.attached[row], 0, 1);
	}
	assert_int_equal(l.attached[row_of("cudaLaunchKernel")], 1);
	assert_int_equal(l.attached[row_of("cudaStreamSynchronize")], 1);
	attach_free(a);
	close(file.fd);
	object_remove(&o);
}

TEST(refused_are_found)
{
	check(REFUSED, 0);
}

TEST(an_undecodable_instruction_is_found)
{
	check(ENOEXEC, 0);
}

TEST(refused_are_found_one_by_one)
{
	check(REFUSED, 32);
}

/* As long as descriptors are missing nothing is attached, which is said once; then all is, once. */
TEST(a_failed_attach_is_retried)
{
	struct object o = object_build(library, "-shared -fPIC -O1");
	struct loader l = { .fails = 4 };	/* two links each time */
	struct attach *a = attach_new(&l, &(struct plan_rules){ 0 });
	struct target_file file = file_of(&o);
	struct attach_result result;

	assert_int_equal(attach_file(a, &file, 0, &result), -EMFILE);
	assert_int_equal(attach_file(a, &file, 0, &result), -EMFILE);
	assert_true(attach_outcome(a, row_of("cudaLaunchKernel")) & PLAN_FAILED);
	assert_int_equal(attach_outcome(a, row_of("cuLaunchKernel")), 0);
	assert_int_equal(attach_file(a, &file, 0, &result), 0);
	assert_false(attach_outcome(a, row_of("cudaLaunchKernel")) & PLAN_FAILED);
	assert_int_equal(result.probes, 7);
	assert_int_equal(attach_file(a, &file, 0, &result), 0);
	assert_int_equal(result.probes, 0);
	assert_int_equal(l.attached[row_of("cudaLaunchKernel")], 1);
	attach_free(a);
	close(file.fd);
	object_remove(&o);
}

/* Of the two processes each has its filter, again. */
TEST(launches_are_taken_off_and_made_again)
{
	struct object o = object_build(library, "-shared -fPIC -O1");
	const unsigned int launch = row_of("cudaLaunchKernel"), copy = row_of("cudaMemcpy");
	struct loader l = { .max = 0 };
	struct attach *a = attach_new(&l, &(struct plan_rules){ .launch = LAUNCH_AUTO });
	struct target_file file = file_of(&o);
	struct attach_result result;

	assert_int_equal(attach_file(a, &file, 11, &result), 0);
	assert_int_equal(attach_file(a, &file, 12, &result), 0);
	assert_int_equal(l.attached[launch], 2);
	attach_set_launches(a, PLAN_RUNTIME_LAUNCHES, false);
	assert_int_equal(l.attached[launch], 0);
	assert_int_equal(l.attached[copy], 2);
	attach_set_launches(a, PLAN_PARTS, false);
	assert_int_equal(l.attached[launch], 2);
	assert_int_equal(l.attached[copy], 2);
	assert_int_equal(attach_launches(a).returns, 0);

	/* Those of all come back with a process; then one link stands for all. */
	attach_set_launches(a, PLAN_RUNTIME_LAUNCHES, false);
	assert_int_equal(attach_hand_over(a), 0);
	assert_int_equal(l.attached[launch], 0);
	assert_int_equal(attach_file(a, &file, 13, &result), 0);
	assert_int_equal(attach_launches(a).returns, 1);
	assert_int_equal(attach_launches(a).until, PLAN_PARTS);
	assert_int_equal(l.attached[launch], 1);
	assert_int_equal(l.last_pid, 0);
	attach_free(a);
	close(file.fd);
	object_remove(&o);
}

/* Its launches wait, as those of the others do. */
TEST(launches_that_stay_off_do_so_when_a_process_comes)
{
	struct object o = object_build(library, "-shared -fPIC -O1");
	const unsigned int launch = row_of("cudaLaunchKernel"), copy = row_of("cudaMemcpy");
	struct loader l = { .max = 0 };
	struct attach *a = attach_new(&l, &(struct plan_rules){ .launch = LAUNCH_AUTO });
	struct target_file file = file_of(&o);
	struct attach_result result;

	attach_set_launches(a, PLAN_RUNTIME_LAUNCHES, true);
	assert_int_equal(attach_file(a, &file, 11, &result), 0);
	assert_int_equal(attach_file(a, &file, 12, &result), 0);
	assert_int_equal(l.attached[launch], 0);
	assert_int_equal(l.attached[copy], 2);
	assert_int_equal(attach_launches(a).returns, 0);
	attach_set_launches(a, PLAN_DRIVER_LAUNCHES, false);
	assert_int_equal(l.attached[launch], 2);
	attach_set_launches(a, PLAN_RUNTIME_LAUNCHES, true);
	assert_int_equal(attach_hand_over(a), 0);
	assert_int_equal(attach_file(a, &file, 13, &result), 0);
	assert_int_equal(l.attached[launch], 0);
	attach_set_launches(a, PLAN_PARTS, false);
	assert_int_equal(l.attached[launch], 1);
	assert_int_equal(l.last_pid, 0);
	attach_free(a);
	close(file.fd);
	object_remove(&o);
}

/* Else their calls would count twice. */
TEST(a_partly_attached_file_gets_no_second_links)
{
	struct object o = object_build(library, "-shared -fPIC -O1");
	struct loader l = { .refused = { row_of("cudaFree") }, .err = REFUSED, .succeeds = 3,
			    .fails = 1 };
	struct attach *a = attach_new(&l, &(struct plan_rules){ 0 });
	struct target_file file = file_of(&o);
	struct attach_result result;

	attach_file(a, &file, 0, &result);
	attach_file(a, &file, 0, &result);
	for (unsigned int row = 1; row < catalog_n_rows(); row++)
		assert_in_range(l.attached[row], 0, 1);
	attach_free(a);
	close(file.fd);
	object_remove(&o);
}
