/* SPDX-License-Identifier: BSD-3-Clause */
/* `gpuprof help agents` is user/doc/agents.md, byte for byte. */
	.section .rodata
	.globl agents_text
agents_text:
	.incbin "user/doc/agents.md"
	.byte 0
	.section .note.GNU-stack, "", %progbits
