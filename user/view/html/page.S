/* SPDX-License-Identifier: BSD-3-Clause */
/* The style and the script of a page, byte for byte, and the SHA-256 of each as a browser takes it. */
	.section .rodata
	.globl html_css
html_css:
	.incbin "user/view/html/page.css"
	.byte 0
	.globl html_js
html_js:
	.incbin "user/view/html/page.js"
	.byte 0
	.globl html_css_hash
html_css_hash:
	.asciz CSS_HASH
	.globl html_js_hash
html_js_hash:
	.asciz JS_HASH
	.section .note.GNU-stack, "", %progbits
