/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host's number of a device: a GPU's index (0), or a MIG instance's GPU and its own index there
 * (0:1), both as in nvidia-smi ("GPU" and "MIG Dev") and in the options of containers. One word, in
 * events as in tables; a GPU's is its index.
 */
#ifndef EVENT_DEVICE_NUMBER_H
#define EVENT_DEVICE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

static inline uint32_t device_number_instance(uint32_t gpu, uint32_t instance)
{
	return (gpu & 0xffff) | ((instance & 0x7fff) + 1) << 16;
}

static inline bool device_number_is_instance(uint32_t number)
{
	return number >> 16;
}

/* The next GPU's, or the next instance's of the same one. */
static inline uint32_t device_number_next(uint32_t number)
{
	return number + (device_number_is_instance(number) ? 1u << 16 : 1);
}

static inline uint32_t device_number_gpu(uint32_t number)
{
	return number & 0xffff;
}

static inline uint32_t device_number_place(uint32_t number)	/* of an instance, on its GPU */
{
	return (number >> 16) - 1;
}

/* "0", "0:1": by value, for printf */
struct device_text {
	char s[16];
};
static inline struct device_text device_text(uint32_t number)
{
	struct device_text text;

	if (device_number_is_instance(number))
		snprintf(text.s, sizeof(text.s), "%u:%u", device_number_gpu(number),
			 device_number_place(number));
	else
		snprintf(text.s, sizeof(text.s), "%u", device_number_gpu(number));
	return text;
}

#endif
