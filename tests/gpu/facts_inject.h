/* SPDX-License-Identifier: BSD-3-Clause */
/* What gpu_facts.so exports: to the driver, and to gpu_facts by dlsym. */
#ifndef GPU_FACTS_INJECT_H
#define GPU_FACTS_INJECT_H

int InitializeInjection(void);
void facts_injected_answer(void);

#endif
