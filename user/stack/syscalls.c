// SPDX-License-Identifier: BSD-3-Clause
/* The table: what may block, and what is often seen. Others are shown by number. */
#include "stack/syscalls.h"

#include <stddef.h>
#include <sys/syscall.h>

#define ROW(call, what) [SYS_##call] = { #call, SYSCALL_##what }

static const struct syscall_row rows[] = {
	ROW(read, FD), ROW(write, FD), ROW(readv, FD), ROW(writev, FD), ROW(pread64, FD),
	ROW(pwrite64, FD), ROW(preadv, FD), ROW(pwritev, FD), ROW(preadv2, FD), ROW(pwritev2, FD),
	ROW(ioctl, FD), ROW(fsync, FD), ROW(fdatasync, FD), ROW(flock, FD), ROW(fcntl, FD),
	ROW(getdents64, FD), ROW(fallocate, FD), ROW(ftruncate, FD), ROW(sync_file_range, FD),
	ROW(accept, FD), ROW(accept4, FD), ROW(connect, FD), ROW(recvfrom, FD), ROW(recvmsg, FD),
	ROW(recvmmsg, FD), ROW(sendto, FD), ROW(sendmsg, FD), ROW(sendmmsg, FD), ROW(splice, FD),
	ROW(copy_file_range, OTHER), ROW(sendfile, FD), ROW(epoll_pwait, FD), ROW(fstat, FD),
	ROW(io_uring_enter, FD), ROW(lseek, FD), ROW(close, FD),
#ifdef SYS_epoll_wait		/* not on arm64 */
	ROW(epoll_wait, FD), ROW(poll, POLL), ROW(select, OTHER), ROW(pause, OTHER),
	ROW(open, OTHER), ROW(fork, OTHER), ROW(vfork, OTHER), ROW(stat, OTHER),
#endif
#ifdef SYS_epoll_pwait2
	ROW(epoll_pwait2, FD),
#endif
	ROW(ppoll, POLL), ROW(pselect6, OTHER),
	ROW(futex, OTHER), ROW(nanosleep, OTHER), ROW(clock_nanosleep, OTHER), ROW(wait4, OTHER),
	ROW(waitid, OTHER), ROW(rt_sigtimedwait, OTHER), ROW(rt_sigsuspend, OTHER),
	ROW(rt_sigreturn, OTHER), ROW(restart_syscall, OTHER), ROW(openat, OTHER),
	ROW(newfstatat, OTHER), ROW(mmap, OTHER), ROW(munmap, OTHER), ROW(mprotect, OTHER),
	ROW(madvise, OTHER), ROW(brk, OTHER), ROW(mremap, OTHER), ROW(msync, OTHER),
	ROW(mlock, OTHER), ROW(execve, OTHER), ROW(clone, OTHER), ROW(clone3, OTHER),
	ROW(exit, OTHER), ROW(exit_group, OTHER), ROW(sched_yield, OTHER), ROW(semop, OTHER),
	ROW(semtimedop, OTHER), ROW(msgrcv, OTHER), ROW(msgsnd, OTHER), ROW(mq_timedreceive, FD),
	ROW(mq_timedsend, FD), ROW(io_getevents, OTHER), ROW(membarrier, OTHER), ROW(sync, OTHER),
	ROW(process_vm_readv, OTHER), ROW(ptrace, OTHER), ROW(unlinkat, OTHER),
	ROW(renameat, OTHER), ROW(getrandom, OTHER),
};

const struct syscall_row *syscall_find(long number)
{
	if (number < 0 || (size_t)number >= sizeof(rows) / sizeof(rows[0]) || !rows[number].name)
		return NULL;
	return &rows[number];
}
