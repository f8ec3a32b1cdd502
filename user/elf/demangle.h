/* SPDX-License-Identifier: BSD-3-Clause */
/* Symbol names as people write them. The only user of libiberty. */
#ifndef ELF_DEMANGLE_H
#define ELF_DEMANGLE_H

#include "base/str.h"

#define ELF_SHOWN_MAX 1024u

/*
 * Appends a symbol's display name: C++ (Itanium) and Rust (v0 and legacy) names demangled,
 * without parameters and hashes; all others as they are. At most ELF_SHOWN_MAX bytes; longer
 * ones end in "...". Symbols are hostile: time and memory are bounded whatever they hold.
 *
 *   _ZN2at6native9copy_implIfEEvv    at::native::copy_impl<float>
 *   _RNvCs1234_7mycrate3foo          mycrate::foo
 *   cudaLaunchKernel                 cudaLaunchKernel
 */
void elf_demangle(struct strbuf *out, const char *symbol);

/* The same, kept in names. NULL: out of memory. */
const char *elf_demangle_kept(struct strpool *names, const char *symbol);

#endif
