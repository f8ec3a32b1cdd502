// SPDX-License-Identifier: BSD-3-Clause
/*
 * guest LIBRARY [HELPER]: a program of an older C library. It maps LIBRARY ("-": none), calls HELPER as CUDA's
 * driver does, says which C library it has, and then waits on two threads, for ever.
 */
#include <stddef.h>

#define RTLD_NOW 2
#define PROT_READ_EXEC 5
#define MAP_PRIVATE 2

typedef unsigned long thread_id;

void *dlopen(const char *path, int flags);
void *dlsym(void *library, const char *name);
char *dlerror(void);
int pthread_create(thread_id *thread, const void *attr, void *(*run)(void *), void *arg);
const char *gnu_get_libc_version(void);
int puts(const char *text);
int open(const char *path, int flags, ...);
void *mmap(void *at, size_t len, int prot, int flags, int fd, long offset);
unsigned int sleep(unsigned int seconds);
int fflush(void *stream);
void exit(int status) __attribute__((noreturn));

void run(long *stack);

#if defined(__x86_64__)
__asm__(".globl _start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall run\nhlt\n");
#elif defined(__aarch64__)
__asm__(".globl _start\n_start: mov x0, sp\nbl run\nbrk #1\n");
#endif

static void *rest(void *unused)
{
	for (;;)
		sleep(1000);
	return unused;
}

static int bring(const char *helper)
{
	void *library = dlopen(helper, RTLD_NOW);
	int (*initialize)(void) = library ? (int (*)(void))dlsym(library, "InitializeInjection") : NULL;

	if (initialize && initialize() == 1)
		return 0;
	puts(dlerror());
	return 1;
}

void run(long *stack)
{
	char **argv = (char **)(stack + 1);
	thread_id thread;

	if (*stack > 1 && argv[1][0] != '-' &&
	    mmap(NULL, 4096, PROT_READ_EXEC, MAP_PRIVATE, open(argv[1], 0), 0) == (void *)-1)
		exit(2);
	if (*stack > 2 && bring(argv[2]))
		exit(1);
	if (pthread_create(&thread, NULL, rest, NULL))
		exit(3);
	puts(gnu_get_libc_version());
	fflush(NULL);
	rest(NULL);
}
