// SPDX-License-Identifier: BSD-3-Clause
/* What target discovery promises of a command before it runs: the files it is going to load. */
#include "target_child.h"

#include "lib/test.h"
#include "target/target.h"

#define FILES_MAX 512
#define MAIN "int f(void); int main(void) { return f(); }"

struct seen {
	size_t n;
	char path[FILES_MAX][256];	/* canonical */
	struct stat st[FILES_MAX];
};

static int note(void *ctx, const struct target_file *f)
{
	struct seen *s = ctx;
	char *real = realpath(f->path, NULL);

	assert_true(s->n < FILES_MAX);
	assert_non_null(real);
	assert_int_equal(f->pid, 0);
	assert_int_equal(fstat(f->fd, &s->st[s->n]), 0);
	assert_true(s->st[s->n].st_ino == f->ino);
	snprintf(s->path[s->n++], sizeof(s->path[0]), "%s", real);
	free(real);
	return 0;
}

static bool wants_cuda(const char *name)
{
	return !strncmp(name, "libwanted", 9);
}

static bool saw(const struct seen *s, const char *path)
{
	char *real = realpath(path, NULL);
	bool found = false;

	for (size_t i = 0; i < s->n && real; i++)
		found |= !strcmp(s->path[i], real);
	free(real);
	return found;
}

static bool saw_named(const struct seen *s, const char *base)
{
	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(strrchr(s->path[i], '/') + 1, base))
			return true;
	return false;
}

/* words: a command as typed, split at spaces. */
static int expect(const char *words, char *const env[], struct seen *s)
{
	char line[2048], *argv[32], *rest = NULL;
	size_t n = 0;

	snprintf(line, sizeof(line), "%s", words);
	for (char *w = strtok_r(line, " ", &rest); w && n < 31; w = strtok_r(NULL, " ", &rest))
		argv[n++] = w;
	argv[n] = NULL;
	*s = (struct seen){ 0 };
	return target_expect(argv, env, wants_cuda, note, s);
}

static char *const plain_env[] = { "PATH=/usr/bin:/bin", NULL };

/* ---- the linker's search ------------------------------------------------------------------ */

/*
 * bin/prog needs a/liba.so, that needs b/libb.so; other/libb.so is another of that name.
 * flags are the linker's for prog and for liba.
 */
static void build(struct scratch *s, const char *prog_flags, const char *liba_flags)
{
	scratch_make(s);
	assert_int_equal(run_shell(
		"cd %s && mkdir bin a b other && "
		"echo 'int g(void) { return 0; }' > b.c && ${CC:-gcc} -shared -fPIC -o b/libb.so b.c && "
		"cp b/libb.so other/libb.so && "
		"echo 'int g(void); int f(void) { return g(); }' > a.c && "
		"${CC:-gcc} -shared -fPIC -o a/liba.so a.c -Lb -lb %s && echo '" MAIN "' > m.c && "
		"${CC:-gcc} -o bin/prog m.c -La -la -Wl,-rpath-link,b %s",
		s->dir, liba_flags, prog_flags), 0);
}

static bool saw_in(const struct seen *s, const struct scratch *scratch, const char *name)
{
	char path[512];

	return saw(s, scratch_path(scratch, name, path));
}

static int expect_prog(const struct scratch *scratch, char *const env[], struct seen *s)
{
	char path[512];

	return expect(scratch_path(scratch, "bin/prog", path), env, s);
}

TEST(runpath_with_origin_leads_to_transitive_needs)
{
	struct scratch scratch;
	struct seen s;

	build(&scratch, "-Wl,--enable-new-dtags,-rpath,\\$ORIGIN/../a",
	      "-Wl,--enable-new-dtags,-rpath,\\${ORIGIN}/../b");
	assert_int_equal(expect_prog(&scratch, plain_env, &s), 0);
	assert_true(saw_in(&s, &scratch, "bin/prog"));
	assert_true(saw_in(&s, &scratch, "a/liba.so"));
	assert_true(saw_in(&s, &scratch, "b/libb.so"));
	assert_true(saw_named(&s, "libc.so.6"));
	scratch_remove(&scratch);
}

TEST(library_path_comes_before_runpath)
{
	struct scratch scratch;
	char list[600], wanted[512];
	char *env[] = { list, NULL };
	struct seen s;

	build(&scratch, "-Wl,--enable-new-dtags,-rpath,\\$ORIGIN/../a",
	      "-Wl,--enable-new-dtags,-rpath,\\$ORIGIN/../b");
	snprintf(list, sizeof(list), "LD_LIBRARY_PATH=/nowhere:%s/other", scratch.dir);
	write_text(scratch_path(&scratch, "other/libwanted.so", wanted), "any", 0644);
	assert_int_equal(expect_prog(&scratch, env, &s), 0);
	assert_true(saw_in(&s, &scratch, "other/libb.so"));
	assert_false(saw_in(&s, &scratch, "b/libb.so"));
	assert_true(saw(&s, wanted));	/* dlopen finds it there */

	/* A program with more rights than its user does not listen to LD_*. */
	assert_int_equal(run_shell("chmod u+s %s/bin/prog", scratch.dir), 0);
	assert_int_equal(expect_prog(&scratch, env, &s), 0);
	assert_false(saw_in(&s, &scratch, "other/libb.so"));
	assert_false(saw(&s, wanted));
	scratch_remove(&scratch);
}

TEST(libraries_found_by_rpath_are_inherited)
{
	struct scratch scratch;
	struct seen s;

	build(&scratch, "-Wl,--disable-new-dtags,-rpath,\\$ORIGIN/../a:\\$ORIGIN/../b", "");
	assert_int_equal(expect_prog(&scratch, plain_env, &s), 0);
	assert_true(saw_in(&s, &scratch, "b/libb.so"));
	scratch_remove(&scratch);
}

TEST(preloaded_files_are_listed)
{
	struct scratch scratch;
	char list[600];
	char *env[] = { list, NULL };
	struct seen s;

	build(&scratch, "-Wl,-rpath,\\$ORIGIN/../a", "-Wl,-rpath,\\$ORIGIN/../b");
	snprintf(list, sizeof(list), "LD_PRELOAD=/no/such.so:%s/other/libb.so libm.so.6",
		 scratch.dir);
	assert_int_equal(expect_prog(&scratch, env, &s), 0);
	assert_true(saw_in(&s, &scratch, "other/libb.so"));
	assert_true(saw_named(&s, "libm.so.6"));
	scratch_remove(&scratch);
}

/* The paths of `ldd file`, which asks the linker itself. */
static size_t each_ldd_path(const char *file, void (*fn)(const char *path, void *ctx), void *ctx)
{
	char command[600], line[1024], path[512];
	size_t n = 0;
	FILE *f;

	snprintf(command, sizeof(command), "LD_LIBRARY_PATH= ldd '%s' 2>/dev/null", file);
	f = popen(command, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		const char *slash = strchr(line, '/');

		if (!slash || sscanf(slash, "%511s", path) != 1)
			continue;
		fn(path, ctx);
		n++;
	}
	pclose(f);
	return n;
}

struct compare {
	struct seen expected;
	size_t missing;
};

static void compare_path(const char *path, void *ctx)
{
	struct compare *c = ctx;

	if (saw(&c->expected, path))
		return;
	print_message("only ldd: %s\n", path);
	c->missing++;
}

TEST(equals_ldd_on_programs_of_this_host)
{
	static const char *const programs[] = {
		"/usr/bin/python3", "/bin/ls", "/bin/bash", "/usr/bin/git", "/usr/bin/ssh",
		"/usr/bin/perl", "/usr/bin/curl", "/usr/bin/gdb", "/bin/su", "/usr/bin/find",
		"/usr/bin/clang", "/usr/bin/vim", "/usr/bin/perf", "/usr/bin/qemu-system-x86_64",
	};
	static struct compare c;
	size_t compared = 0;

	needs_real_machine("programs of this machine");
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		char *real = realpath(programs[i], NULL), *argv[] = { real, NULL };
		size_t n;

		if (!real)
			continue;
		c = (struct compare){ 0 };
		if (!target_expect(argv, plain_env, NULL, note, &c.expected) &&
		    (n = each_ldd_path(real, compare_path, &c))) {
			compared++;
			assert_int_equal(c.missing, 0);
			assert_int_equal(c.expected.n, n + 1);	/* and the program itself */
		}
		free(real);
	}
	assert_true(compared >= 3);
}

TEST(a_static_program_loads_itself_only)
{
	struct scratch scratch;
	struct seen s;

	scratch_make(&scratch);
	assert_int_equal(run_shell("cd %s && mkdir bin && echo 'void _start(void) { for (;;); }' "
				   "> m.c && ${CC:-gcc} -static -nostdlib -o bin/prog m.c", scratch.dir),
			 0);
	assert_int_equal(expect_prog(&scratch, plain_env, &s), 0);
	assert_true(s.n == 1 && saw_in(&s, &scratch, "bin/prog"));
	scratch_remove(&scratch);
}

/* ---- commands ----------------------------------------------------------------------------- */

TEST(a_command_that_is_not_there_is_ENOENT)
{
	char *const none[] = { NULL };
	struct seen s;

	assert_int_equal(expect("no-such-command-here", plain_env, &s), -ENOENT);
	assert_int_equal(expect("/no/such/command", plain_env, &s), -ENOENT);
	assert_int_equal(expect("/", plain_env, &s), -ENOENT);
	assert_int_equal(target_expect(none, plain_env, NULL, note, &s), -ENOENT);
}

TEST(a_command_that_is_no_program_is_ENOEXEC)
{
	struct scratch scratch;
	char path[512];
	struct seen s;

	scratch_make(&scratch);
	write_text(scratch_path(&scratch, "text", path), "echo hello\n", 0755);
	assert_int_equal(expect(path, plain_env, &s), -ENOEXEC);
	write_text(path, "", 0755);
	assert_int_equal(expect(path, plain_env, &s), -ENOEXEC);
	write_text(path, "\177ELF and then lies that go on for a while, a while, a while", 0755);
	assert_true(expect(path, plain_env, &s) < 0);
	scratch_remove(&scratch);
}

TEST(scripts_and_wrappers_lead_to_the_program)
{
	static const char *const first_line[] = {
		"#!/usr/bin/perl", "#! /usr/bin/perl -w", "#!/usr/bin/env perl",
		"#!/usr/bin/env -S A=b perl -w", "#!/usr/bin/nice /usr/bin/perl",
	};
	struct scratch scratch;
	char path[512], words[600];
	struct seen s;

	needs_real_machine("programs of this machine");
	scratch_make(&scratch);
	for (size_t i = 0; i < sizeof(first_line) / sizeof(first_line[0]); i++) {
		write_text(scratch_path(&scratch, "script", path), first_line[i], 0755);
		assert_int_equal(expect(path, plain_env, &s), 0);
		assert_true(saw(&s, "/usr/bin/perl"));
		assert_false(saw(&s, path));	/* read, not mapped */
	}
	snprintf(words, sizeof(words), "env -u X nice -n 5 %s", path);
	assert_int_equal(expect(words, plain_env, &s), 0);
	assert_true(saw(&s, "/usr/bin/perl"));
	scratch_remove(&scratch);
}

TEST(a_script_that_is_its_own_interpreter_ends)
{
	struct scratch scratch;
	char path[512], line[600];
	struct seen s;

	scratch_make(&scratch);
	snprintf(line, sizeof(line), "#!%s", scratch_path(&scratch, "loop", path));
	write_text(path, line, 0755);
	assert_int_equal(expect(path, plain_env, &s), 0);
	assert_int_equal(s.n, 0);
	write_text(path, "#!", 0755);
	assert_int_equal(expect(path, plain_env, &s), 0);
	scratch_remove(&scratch);
}

/* ---- python ------------------------------------------------------------------------------- */

static void plant(const struct scratch *scratch, const char *dir)
{
	assert_int_equal(run_shell("cd %s && mkdir -p '%s' && touch '%s/libwanted.so.1' "
				   "'%s/libother.so'", scratch->dir, dir, dir, dir), 0);
}

/* A venv in s/[v] of an installation in s/base; both are the system's python by a link. */
static void build_python(struct scratch *s)
{
	char path[512], text[600];

	scratch_make(s);
	assert_int_equal(run_shell("cd %s && mkdir -p base/bin '[v]/bin' && "
				   "cp /usr/bin/python3 base/bin/python3.11 && "
				   "ln -s ../../base/bin/python3.11 '[v]/bin/python3'", s->dir), 0);
	snprintf(text, sizeof(text), "x = 1\nhome = %s/base/bin\r\nhomely = /\n", s->dir);
	write_text(scratch_path(s, "[v]/pyvenv.cfg", path), text, 0644);
	plant(s, "[v]/lib/python3.11/site-packages/nvidia/cu13/lib");
	plant(s, "[v]/lib/python3.11/site-packages/torch/lib");
	plant(s, "base/lib/python3.11/dist-packages/nvidia/nccl/lib");
	plant(s, "path/nvidia/cublas/lib");
	plant(s, "home/.local/lib/python3.11/site-packages/nvidia/x/lib");
	plant(s, "elsewhere/nvidia/x/lib");
}

TEST(wanted_libraries_of_a_python_environment_are_listed)
{
	struct scratch s;
	char words[600], python_path[600], home[600];
	char *env[] = { "PATH=/usr/bin", python_path, home, NULL };
	struct seen seen;

	needs_real_machine("programs of this machine");
	if (access("/usr/bin/python3", X_OK)) {
		print_message("needs /usr/bin/python3\n");
		skip();
	}
	build_python(&s);
	snprintf(words, sizeof(words), "%s/[v]/bin/python3 -c pass", s.dir);
	snprintf(python_path, sizeof(python_path), "PYTHONPATH=/nowhere:%s/path", s.dir);
	snprintf(home, sizeof(home), "HOME=%s/home", s.dir);
	assert_int_equal(expect(words, env, &seen), 0);
	assert_true(saw_in(&seen, &s, "base/bin/python3.11"));
	assert_true(saw_in(&seen, &s, "[v]/lib/python3.11/site-packages/nvidia/cu13/lib/"
			   "libwanted.so.1"));
	assert_true(saw_in(&seen, &s, "[v]/lib/python3.11/site-packages/torch/lib/libwanted.so.1"));
	assert_true(saw_in(&seen, &s, "base/lib/python3.11/dist-packages/nvidia/nccl/lib/"
			   "libwanted.so.1"));
	assert_true(saw_in(&seen, &s, "path/nvidia/cublas/lib/libwanted.so.1"));
	assert_true(saw_in(&seen, &s, "home/.local/lib/python3.11/site-packages/nvidia/x/lib/"
			   "libwanted.so.1"));
	assert_false(saw_in(&seen, &s, "elsewhere/nvidia/x/lib/libwanted.so.1"));
	assert_false(saw_named(&seen, "libother.so"));
	scratch_remove(&s);
}
