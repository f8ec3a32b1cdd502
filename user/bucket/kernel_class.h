/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The class of a kernel's work, by its name alone: a list of parts of names, the first match
 * decides. Names may be mangled or not. Knows nothing of devices or times.
 */
#ifndef BUCKET_KERNEL_CLASS_H
#define BUCKET_KERNEL_CLASS_H

/* They leave the process in tables, by name. */
enum kernel_class {
	KERNEL_OTHER = 0,
	KERNEL_GEMM,
	KERNEL_ATTENTION,
	KERNEL_CONV,
	KERNEL_NORM,
	KERNEL_ELEMENTWISE,
	KERNEL_REDUCE,
	KERNEL_OPTIMIZER,
	KERNEL_COMM,
	KERNEL_CLASSES
};

enum kernel_class kernel_class_of(const char *name);	/* NULL: other */
/* "gemm", ..., "?" */
static inline const char *kernel_class_name(unsigned int class)
{
	static const char *const names[KERNEL_CLASSES] = {
		[KERNEL_OTHER] = "other", [KERNEL_GEMM] = "gemm",
		[KERNEL_ATTENTION] = "attention", [KERNEL_CONV] = "conv",
		[KERNEL_NORM] = "norm", [KERNEL_ELEMENTWISE] = "elementwise",
		[KERNEL_REDUCE] = "reduce", [KERNEL_OPTIMIZER] = "optimizer",
		[KERNEL_COMM] = "comm",
	};

	return class < KERNEL_CLASSES ? names[class] : "?";
}

#endif
