// SPDX-License-Identifier: BSD-3-Clause
/*
 *   process 1234
 *   ok   variable   CUDA_INJECTION64_PATH=/usr/lib/gpuprof/libgpuprof.so
 *   no   file       /usr/lib/gpuprof/libgpuprof.so: No such file or directory; ...
 *   -    loaded     not yet: it has not loaded CUDA
 */
#include "cli/env_check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/io.h"
#include "base/log.h"
#include "base/str.h"
#include "host/environment.h"
#include "host/proc.h"
#include "inject/install.h"
#include "view/output.h"

enum level { WELL, NOTE, WRONG };

struct check {
	struct strbuf out;
	const char *start;	/* how to start something that loads the helper */
	int root;		/* where paths begin; AT_FDCWD: our own */
	bool is_loaded;		/* then it does not matter what the environment says */
	int rc;			/* EXIT_OK, or of what is wrong */
};

__attribute__((format(printf, 4, 5)))
static void say(struct check *c, enum level level, const char *about, const char *fmt, ...)
{
	static const char *const marks[] = { [WELL] = "ok", [NOTE] = "-", [WRONG] = "no" };
	struct strbuf text = STRBUF_INIT;
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	str_copy_line(line, sizeof(line), text.s, text.len);	/* paths can hold anything */
	strbuf_addf(&c->out, "%-4s %-10s %s\n", marks[level], about, line);
	c->out.failed |= text.failed;
	if (level == WRONG)
		c->rc = EXIT_FAIL;
	strbuf_free(&text);
}

static void check_file(struct check *c, const char *path)
{
	int fd = io_open_regular(c->root, path, c->root != AT_FDCWD);
	int state = fd < 0 ? fd : install_look(fd);
	const enum level bad = c->is_loaded ? NOTE : WRONG;

	if (fd < 0)
		say(c, bad, "file",
		    "%s: %s; install it there with `gpuprof env --dir`, or mount it as `gpuprof "
		    "env --for docker|cdi|k8s` does",
		    path, strerror(-state));
	else if (state < 0)
		say(c, bad, "file",
		    "%s cannot be loaded: %s; choose a directory where programs may be executed "
		    "with `gpuprof env --dir`",
		    path, strerror(-state));
	else if (state)
		say(c, bad, "file",
		    "%s is of another version; replace it with `gpuprof env --dir` of this one",
		    path);
	else
		say(c, WELL, "file", "%s is of this version and can be loaded", path);
	io_close(&fd);
}

static void check_variables(struct check *c, const char *cuda, const char *nvtx)
{
	const enum level bad = c->is_loaded ? NOTE : WRONG;

	if (!cuda || !*cuda)
		say(c, bad, "variable", INJECT_CUDA " is not set; %s", c->start);
	else if (!inject_is_helper(cuda))
		say(c, bad, "variable",
		    INJECT_CUDA "=%s is not the helper; %s (it is then loaded after the helper)",
		    cuda, c->start);
	else
		say(c, WELL, "variable", INJECT_CUDA "=%s", cuda);
	if (!nvtx || !*nvtx)
		say(c, bad, "variable", INJECT_NVTX " is not set: ranges are not seen; %s",
		    c->start);
	else if (!inject_is_helper(nvtx))
		say(c, NOTE, "variable",
		    INJECT_NVTX "=%s is not the helper: ranges are not seen", nvtx);
	else
		say(c, WELL, "variable", INJECT_NVTX "=%s", nvtx);
	if (cuda && inject_is_helper(cuda))
		check_file(c, cuda);
	if (nvtx && inject_is_helper(nvtx) && (!cuda || strcmp(nvtx, cuda)))
		check_file(c, nvtx);
}

static void check_loaded(struct check *c, pid_t pid)
{
	static const char *const cuda[] = { "/libcuda.so" };

	if (c->is_loaded)
		say(c, WELL, "loaded", "it is mapped; its state: gpuprof doctor -p %d", pid);
	else if (proc_maps_any(pid, cuda, 1))
		say(c, WRONG, "loaded", "CUDA is mapped without it; start the process anew with "
		    "the variables, or bring it in: sudo gpuprof stat --inject -d 10s -p %d", pid);
	else
		say(c, NOTE, "loaded", "not yet: the process has not loaded CUDA");
}

/* 0 or -errno: it is gone, or may not be read. */
static int check_process(struct check *c, pid_t pid)
{
	static const char *const helper[] = { "/" INJECT_FILE, IMAGE_MEMORY };
	struct environment env;
	struct proc p;
	int err = proc_open(&p, pid);

	if (!err) {
		env = environment_read(&p);
		err = env.block ? 0 : -errno;
	}
	if (!err) {
		c->root = openat(p.dir, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
		err = c->root < 0 ? -errno : 0;
	}
	if (!err) {
		c->is_loaded = proc_maps_any(pid, helper, 2);
		strbuf_addf(&c->out, "process %d\n", pid);
		check_variables(c, environment_find(&env, INJECT_CUDA),
				environment_find(&env, INJECT_NVTX));
		check_loaded(c, pid);
	}
	io_close(&c->root);
	proc_close(&p);
	return err;
}

static void check_pid(struct check *c, pid_t pid)
{
	int err;

	c->start = "start it anew with the variables of `gpuprof env`";
	c->root = -1;
	err = check_process(c, pid);
	if (err)
		c->rc = err == -EACCES || err == -EPERM ? EXIT_PERMISSION : EXIT_FAIL;
	if (err == -ESRCH || err == -ENOENT)
		log_error("cannot look at process %d: there is no such process; give the pid of a "
			  "running one", pid);
	else if (err)
		log_error("cannot look at process %d: %s; run gpuprof as root or with sudo", pid,
			  strerror(-err));
}

int env_check(const struct session_options *o)
{
	struct check c = { .out = STRBUF_INIT, .root = AT_FDCWD,
			   .start = "type: eval \"$(gpuprof env)\"" };
	int rc;

	for (size_t i = 0; i < o->n_pids; i++)
		check_pid(&c, (pid_t)o->pids[i]);
	if (!o->n_pids)
		check_variables(&c, getenv(INJECT_CUDA), getenv(INJECT_NVTX));
	rc = output_write(NULL, &c.out);
	strbuf_free(&c.out);
	return rc ? rc : c.rc;
}
