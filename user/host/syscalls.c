// SPDX-License-Identifier: BSD-3-Clause
/* The table: calls that may block, and frequent ones. Others are known by number. */
#include "host/syscalls.h"

#include <stddef.h>
#include <sys/syscall.h>

#define ROW(call, what, why) [SYS_##call] = { #call, SYSCALL_##what, SYSCALL_FOR_##why }

static const struct syscall_row rows[] = {
	ROW(read, FD, IO), ROW(write, FD, IO), ROW(readv, FD, IO), ROW(writev, FD, IO),
	ROW(pread64, FD, IO), ROW(pwrite64, FD, IO), ROW(preadv, FD, IO), ROW(pwritev, FD, IO),
	ROW(preadv2, FD, IO), ROW(pwritev2, FD, IO), ROW(ioctl, FD, OTHER), ROW(fsync, FD, IO),
	ROW(fdatasync, FD, IO), ROW(flock, FD, LOCK), ROW(fcntl, FD, OTHER),
	ROW(getdents64, FD, IO), ROW(fallocate, FD, IO), ROW(ftruncate, FD, IO),
	ROW(sync_file_range, FD, IO), ROW(accept, FD, IO), ROW(accept4, FD, IO),
	ROW(connect, FD, IO), ROW(recvfrom, FD, IO), ROW(recvmsg, FD, IO), ROW(recvmmsg, FD, IO),
	ROW(sendto, FD, IO), ROW(sendmsg, FD, IO), ROW(sendmmsg, FD, IO), ROW(splice, FD, IO),
	ROW(copy_file_range, OTHER, IO), ROW(sendfile, FD, IO), ROW(epoll_pwait, FD, IO),
	ROW(fstat, FD, OTHER), ROW(io_uring_enter, FD, IO), ROW(lseek, FD, OTHER),
	ROW(close, FD, OTHER), ROW(ppoll, POLL, IO), ROW(pselect6, OTHER, IO),
	ROW(futex, OTHER, LOCK), ROW(nanosleep, OTHER, SLEEP), ROW(clock_nanosleep, OTHER, SLEEP),
	ROW(wait4, OTHER, OTHER), ROW(waitid, OTHER, OTHER), ROW(rt_sigtimedwait, OTHER, SLEEP),
	ROW(rt_sigsuspend, OTHER, SLEEP), ROW(rt_sigreturn, OTHER, OTHER),
	ROW(restart_syscall, OTHER, OTHER), ROW(openat, OTHER, IO), ROW(newfstatat, OTHER, OTHER),
	ROW(mmap, OTHER, OTHER), ROW(munmap, OTHER, OTHER), ROW(mprotect, OTHER, OTHER),
	ROW(madvise, OTHER, OTHER), ROW(brk, OTHER, OTHER), ROW(mremap, OTHER, OTHER),
	ROW(msync, OTHER, IO), ROW(mlock, OTHER, OTHER), ROW(execve, OTHER, OTHER),
	ROW(clone, OTHER, OTHER), ROW(clone3, OTHER, OTHER), ROW(exit, OTHER, OTHER),
	ROW(exit_group, OTHER, OTHER), ROW(sched_yield, OTHER, OTHER), ROW(semop, OTHER, LOCK),
	ROW(semtimedop, OTHER, LOCK), ROW(msgrcv, OTHER, OTHER), ROW(msgsnd, OTHER, OTHER),
	ROW(mq_timedreceive, FD, OTHER), ROW(mq_timedsend, FD, OTHER),
	ROW(io_getevents, OTHER, IO), ROW(membarrier, OTHER, OTHER), ROW(sync, OTHER, IO),
	ROW(process_vm_readv, OTHER, OTHER), ROW(ptrace, OTHER, OTHER),
	ROW(unlinkat, OTHER, OTHER), ROW(renameat, OTHER, OTHER), ROW(getrandom, OTHER, OTHER),
#ifdef SYS_epoll_wait		/* not on arm64 */
	ROW(epoll_wait, FD, IO), ROW(poll, POLL, IO), ROW(select, OTHER, IO),
	ROW(pause, OTHER, SLEEP), ROW(open, OTHER, IO), ROW(fork, OTHER, OTHER),
	ROW(vfork, OTHER, OTHER), ROW(stat, OTHER, OTHER),
#endif
#ifdef SYS_epoll_pwait2
	ROW(epoll_pwait2, FD, IO),
#endif
#ifdef SYS_futex_waitv
	ROW(futex_waitv, OTHER, LOCK),
#endif
};

const struct syscall_row *syscall_find(long number)
{
	if (number < 0 || (size_t)number >= sizeof(rows) / sizeof(rows[0]) || !rows[number].name)
		return NULL;
	return &rows[number];
}
