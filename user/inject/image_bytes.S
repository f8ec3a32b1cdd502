/* SPDX-License-Identifier: BSD-3-Clause */
/* The helper, as it was built, inside gpuprof: HELPER_SO is given by the Makefile. */
	.section .rodata
	.balign 16
	.globl inject_image_begin
	.globl inject_image_end
inject_image_begin:
	.incbin HELPER_SO
inject_image_end:
	.section .note.GNU-stack, "", %progbits
