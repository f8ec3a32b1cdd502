// SPDX-License-Identifier: BSD-3-Clause
/*
 * A stand-in of libcudnn.so.9: XLA compiles nothing for a device without a handle of cuDNN's. What else
 * it would ask for it does not find.
 */
#include <stddef.h>

enum { SUCCESS, BAD_PARAMETER = 2000, MAJOR = 9, MINOR = 19 };

size_t cudnnGetVersion(void);
int cudnnGetProperty(int which, int *value);
int cudnnCreate(void **handle);
int cudnnDestroy(void *handle);
int cudnnSetStream(void *handle, void *stream);

size_t cudnnGetVersion(void)
{
	return MAJOR * 10000 + MINOR * 100;
}

int cudnnGetProperty(int which, int *value)
{
	if (!value)
		return BAD_PARAMETER;
	*value = which == 0 ? MAJOR : which == 1 ? MINOR : 0;
	return SUCCESS;
}

int cudnnCreate(void **handle)
{
	static char one;

	if (!handle)
		return BAD_PARAMETER;
	*handle = &one;
	return SUCCESS;
}

int cudnnDestroy(void *handle)
{
	return handle ? SUCCESS : BAD_PARAMETER;
}

int cudnnSetStream(void *handle, void *stream)
{
	(void)stream;
	return handle ? SUCCESS : BAD_PARAMETER;
}
