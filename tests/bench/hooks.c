// SPDX-License-Identifier: BSD-3-Clause
/*
 * What programs at the scheduler's hooks take, as the kernel itself measures it: gpuprof's, and beside
 * them two that do nothing, whose time is that of the kernel's clock and calls. Knows programs by name.
 *
 *   hooks        prints "ready"; for each line that it reads "switch NS idle NS waking NS idle NS" since
 *                the one before: ns a run, -1 for a program that did not run
 *   hooks idle   prints "ready"; the two that do nothing are there until its input ends, without the
 *                statistics, which cost more than they do
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PROGRAMS_MAX 1024

struct program {
	unsigned int id;
	double ns, runs;
	const char *prefix;	/* of its name */
};

struct reading {
	size_t n;
	struct program v[PROGRAMS_MAX];
};

static const char *const prefixes[] = { "off_switch", "idle_switch", "off_waking", "idle_waking" };

static int attach_idle(const char *name, const char *tracepoint)
{
	const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct bpf_prog_load_opts opts = { .sz = sizeof(opts),
					   .expected_attach_type = BPF_TRACE_RAW_TP };
	int id = libbpf_find_vmlinux_btf_id(tracepoint, BPF_TRACE_RAW_TP), fd;

	if (id < 0)
		return -1;
	opts.attach_btf_id = (unsigned int)id;
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, name, "GPL", code, sizeof(code) / sizeof(code[0]),
			   &opts);
	return fd < 0 ? fd : bpf_raw_tracepoint_open(NULL, fd);
}

static void add(struct reading *to, const struct bpf_prog_info *info)
{
	for (size_t i = 0; i < 4 && to->n < PROGRAMS_MAX; i++)
		if (!strncmp(info->name, prefixes[i], strlen(prefixes[i])))
			to->v[to->n++] = (struct program){ info->id, (double)info->run_time_ns,
							   (double)info->run_cnt, prefixes[i] };
}

static void read_all(struct reading *to)
{
	unsigned int id = 0;

	to->n = 0;
	while (!bpf_prog_get_next_id(id, &id)) {
		struct bpf_prog_info info = { 0 };
		unsigned int len = sizeof(info);
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &info, &len))
			add(to, &info);
		close(fd);
	}
}

/* Of the programs of that name that were there the whole time. */
static double cost(const struct reading *before, const struct reading *now, const char *prefix)
{
	double ns = 0, runs = 0;

	for (size_t i = 0; i < now->n; i++)
		for (size_t k = 0; k < before->n && now->v[i].prefix == prefix; k++) {
			if (before->v[k].id != now->v[i].id)
				continue;
			ns += now->v[i].ns - before->v[k].ns;
			runs += now->v[i].runs - before->v[k].runs;
		}
	return runs > 0 ? ns / runs : -1;
}

int main(int argc, char **argv)
{
	static struct reading before, now;
	bool idle = argc > 1 && !strcmp(argv[1], "idle");
	char line[16];

	if ((!idle && bpf_enable_stats(BPF_STATS_RUN_TIME) < 0) ||
	    attach_idle("idle_switch", "sched_switch") < 0 ||
	    attach_idle("idle_waking", "sched_waking") < 0) {
		perror("hooks");
		return 1;
	}
	read_all(&now);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (idle)
			continue;
		before = now;
		read_all(&now);
		printf("switch %.1f idle %.1f waking %.1f idle %.1f\n", cost(&before, &now, prefixes[0]),
		       cost(&before, &now, prefixes[1]), cost(&before, &now, prefixes[2]),
		       cost(&before, &now, prefixes[3]));
		fflush(stdout);
	}
	return 0;
}
