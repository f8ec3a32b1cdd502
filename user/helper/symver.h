/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Included first in every file of the helper: newer C libraries gave these functions new versions
 * without a change that matters to us. With the old ones the helper loads wherever CUDA does
 * (glibc 2.17); scripts/check-symbols holds it.
 */
#ifndef HELPER_SYMVER_H
#define HELPER_SYMVER_H

#if defined(__x86_64__)
#define SYMVER_BASE "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define SYMVER_BASE "GLIBC_2.17"
#endif

__asm__(".symver dlerror,dlerror@" SYMVER_BASE);
__asm__(".symver dlopen,dlopen@" SYMVER_BASE);
__asm__(".symver dlsym,dlsym@" SYMVER_BASE);
__asm__(".symver pthread_attr_getstacksize,pthread_attr_getstacksize@" SYMVER_BASE);
__asm__(".symver pthread_attr_setstacksize,pthread_attr_setstacksize@" SYMVER_BASE);
__asm__(".symver pthread_create,pthread_create@" SYMVER_BASE);
__asm__(".symver pthread_join,pthread_join@" SYMVER_BASE);
__asm__(".symver pthread_key_create,pthread_key_create@" SYMVER_BASE);
__asm__(".symver pthread_once,pthread_once@" SYMVER_BASE);
__asm__(".symver pthread_setspecific,pthread_setspecific@" SYMVER_BASE);
__asm__(".symver pthread_sigmask,pthread_sigmask@" SYMVER_BASE);

#endif
