// SPDX-License-Identifier: BSD-3-Clause
/* A program that claims to be a seccomp filter: which arguments are known, their values, the program. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "inject/filter.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void ignore(void *ctx, uint32_t value, bool known)
{
	*(uint32_t *)ctx += value + known;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct sock_filter code[BPF_MAXINSNS + 1];
	struct cbpf_input in = { .any_ip = true };
	uint32_t sum = 0;
	size_t n;
	int err;

	if (len < 1 + sizeof(in.data))
		return 0;
	in.any = *data;
	memcpy(&in.data, data + 1, sizeof(in.data));
	n = (len - 1 - sizeof(in.data)) / sizeof(code[0]);
	if (n > sizeof(code) / sizeof(code[0]))
		n = sizeof(code) / sizeof(code[0]);
	memcpy(code, data + 1 + sizeof(in.data), n * sizeof(code[0]));
	err = cbpf_run(code, n, &in, ignore, &sum);
	if (err > 0)
		abort();
	return 0;
}
