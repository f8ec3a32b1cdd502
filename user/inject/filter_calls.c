// SPDX-License-Identifier: BSD-3-Clause
/*
 * System calls that are made for the helper. The first part was seen when it was brought in, woken and left
 * (tests/unit/test_gpusim_helper_filter.c sees to it that nothing is missing); with what other versions
 * of the C library use in their place. What a real CUPTI calls was not seen: its own imports (11.8 to
 * 13.0) are the last part, and all of it may fail.
 */
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "inject/filter.h"

#define ANY 0x3f
#define ALL_BUT(...) (uint8_t)(ANY & ~(__VA_ARGS__))
#define MUST(call) { #call, SYS_##call, .any = ANY }
#define MAY(call) { #call, SYS_##call, .any = ANY, .may_fail = true }
/* Of a mapping and a protection: the third, or the third and fourth argument. */
#define MAPS(prot, flags) { "mmap", SYS_mmap, .any = ALL_BUT(4 | 8), .arg = { 0, 0, (prot), (flags) } }
#define PROTECTS(prot) { "mprotect", SYS_mprotect, .any = ALL_BUT(4), .arg = { 0, 0, (prot) } }

#define PRIVATE MAP_PRIVATE
#define OF_NOTHING (MAP_PRIVATE | MAP_ANONYMOUS)
#define OF_LIBRARY (MAP_PRIVATE | MAP_DENYWRITE)
#define RW (PROT_READ | PROT_WRITE)
#define RX (PROT_READ | PROT_EXEC)
#define MEMFD(flags) { "memfd_create", SYS_memfd_create, .any = ALL_BUT(2), .arg = { 0, (flags) } }
#define THREAD_FLAGS 0x3d0f00	/* of the C library's clone */

const struct filter_call filter_calls[] = {
	/* The thread that is asked, and the one it starts. */
	MUST(getpid), MUST(restart_syscall), MUST(rt_sigreturn), MUST(rt_sigprocmask), MUST(munmap), MUST(close),
	MAPS(RW, OF_NOTHING), MAPS(RX, PRIVATE), MAPS(PROT_NONE, OF_NOTHING | MAP_STACK),
	MAPS(PROT_NONE, OF_NOTHING | MAP_NORESERVE), MAPS(RW, OF_NOTHING | MAP_STACK),
	MAPS(RW, OF_NOTHING | MAP_NORESERVE),
	PROTECTS(RW), PROTECTS(PROT_READ), PROTECTS(PROT_NONE), MEMFD(3), MEMFD(0x13),
	{ "clone", SYS_clone, .any = ALL_BUT(1), .arg = { THREAD_FLAGS } },
	MAY(clone3), MAY(set_robust_list), MAY(rseq), MAY(madvise), MAY(brk), MAY(mremap), MAY(getrandom),
	MUST(futex), MUST(exit), MUST(gettid),
	/* The dynamic linker. */
	{ "openat", SYS_openat, .any = ALL_BUT(4), .arg = { 0, 0, 02000000 } },
	MAY(openat), MUST(read), MUST(pread64), MUST(newfstatat), MUST(fstat), MAY(readlinkat), MAY(getcwd), MAY(faccessat),
	MAPS(PROT_NONE, OF_NOTHING), MAPS(PROT_READ, PRIVATE), MAPS(PROT_READ, OF_LIBRARY), MAPS(RX, OF_LIBRARY),
	MAPS(RX, OF_LIBRARY | MAP_FIXED), MAPS(PROT_READ, OF_LIBRARY | MAP_FIXED),
	MAPS(RW, OF_LIBRARY | MAP_FIXED), MAPS(RW, OF_NOTHING | MAP_FIXED),
	/* The helper. */
	{ "fcntl", SYS_fcntl, .any = ALL_BUT(2), .arg = { 0, 1033 } },	/* F_ADD_SEALS */
	MAPS(RW, MAP_SHARED), MUST(ftruncate), MUST(write), MUST(clock_nanosleep), MAY(nanosleep),
	MAY(clock_gettime), MAY(sched_yield), MAY(uname), MAY(rt_sigtimedwait),
	{ "prctl", SYS_prctl, .any = ALL_BUT(1), .arg = { PR_SET_NAME }, .may_fail = true },
#if defined(__x86_64__)
	MAY(open), MAY(stat), MAY(lstat), MAY(access), MAY(readlink), MAY(poll), MAY(pipe), MAY(unlink),
	MAY(arch_prctl), MAY(time),
#elif defined(__aarch64__)
	{ "mprotect", SYS_mprotect, .any = ALL_BUT(4), .arg = { 0, 0, RX | 0x10 }, .may_fail = true },	/* BTI */
#endif
	/* CUPTI. */
	MAY(ioctl), MAY(fcntl), MAY(lseek), MAY(writev), MAY(pwrite64), MAY(pipe2), MAY(ppoll), MAY(sysinfo),
	MAY(sched_getaffinity), MAY(statfs), MAY(fstatfs), MAY(getdents64), MAY(geteuid), MAY(getuid),
	MAY(getegid), MAY(gettimeofday), MAY(dup), MAY(statx), MAY(unlinkat), MAY(prlimit64), MAY(mlock),
	MAY(munlock), MAY(shmget), MAY(shmat), MAY(shmctl), MAY(shmdt), MAY(eventfd2), MAY(tgkill),
	MAY(rt_sigaction), MAY(sched_setaffinity), MAY(sched_getparam), MAY(sched_getscheduler),
	{ .name = NULL },
};
