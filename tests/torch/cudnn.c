// SPDX-License-Identifier: BSD-3-Clause
/*
 * A stand-in of libcudnn.so.9: which version it is, as attention asks before it does without cuDNN.
 */
#include <stddef.h>

size_t cudnnGetVersion(void);

size_t cudnnGetVersion(void)
{
	return 92600;
}
