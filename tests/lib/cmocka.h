/* SPDX-License-Identifier: BSD-3-Clause */
/* cmocka and the headers that have to come before it. */
#ifndef LIB_CMOCKA_H
#define LIB_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#endif
