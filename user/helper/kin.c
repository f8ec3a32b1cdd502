// SPDX-License-Identifier: BSD-3-Clause
/* See the header. From /proc, which is read while CUPTI is made ready and when all else has ended. */
#include "helper/kin.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "helper/status.h"

/* Not to be blocked: SIGKILL, SIGSTOP; the C library's own, 32 and 33. */
#define EVERY_SIGNAL (~(1ull << 8 | 1ull << 18 | 3ull << 31))

size_t kin_list(int tids[KIN_THREADS])
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *entry;
	size_t n = 0;

	while (dir && (entry = readdir(dir))) {
		int tid = atoi(entry->d_name);

		if (tid > 0 && n == KIN_THREADS) {
			n = 0;
			break;
		}
		if (tid > 0)
			tids[n++] = tid;
	}
	if (dir)
		closedir(dir);
	return n;
}

static bool is_among(const int *tids, size_t n, int tid)
{
	for (size_t i = 0; i < n; i++)
		if (tids[i] == tid)
			return true;
	return false;
}

static bool is_deaf(int tid)
{
	char path[64];
	uint64_t blocked;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	return status_number(path, "\nSigBlk:", 16, &blocked) && (blocked & EVERY_SIGNAL) == EVERY_SIGNAL;
}

void kin_add(struct kin *kin, const int *before, size_t n_before)
{
	int now[KIN_THREADS];
	size_t n = n_before ? kin_list(now) : 0;

	for (size_t i = 0; i < n && kin->n < KIN_MAX; i++)
		if (!is_among(before, n_before, now[i]) && is_deaf(now[i]))
			kin->tid[kin->n++] = now[i];
}

size_t kin_count(const struct kin *kin)
{
	int now[KIN_THREADS], self = (int)syscall(SYS_gettid), main_tid = getpid();
	size_t n = kin_list(now), alive = 0;

	for (size_t i = 0; i < n; i++) {
		bool is_kin = is_among(kin->tid, kin->n, now[i]) && is_deaf(now[i]);

		if (now[i] != self && now[i] != main_tid && !is_kin)
			return 0;
		alive += now[i] != main_tid;
	}
	return alive;
}
