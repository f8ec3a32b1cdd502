/* SPDX-License-Identifier: BSD-3-Clause */
/* The style and the script of a page, byte for byte, and the SHA-256 of each as a browser takes it. */
	.section .rodata
	.globl page_css
page_css:
	.incbin "user/view/html/page.css"
	.byte 0
	.globl page_js
page_js:
	.incbin "user/view/html/page.js"
	.byte 0
	.globl page_css_hash
page_css_hash:
	.asciz CSS_HASH
	.globl page_js_hash
page_js_hash:
	.asciz JS_HASH
	.section .note.GNU-stack, "", %progbits
