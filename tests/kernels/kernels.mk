# SPDX-License-Identifier: BSD-3-Clause
# The core test on Debian's kernels, each in an emulated machine of its own: no privileges, no KVM.
# What is fetched stays in build/kernels; logs are build/kernels/log/VERSION.txt.
#   make check-kernels KERNELS="6.12 7.3"   only these

KERNELS     ?= 5.10 6.1 6.12 6.16 6.18 7.3
KERNELS_DIR := $(BUILD)/kernels

$(KERNELS_DIR)/target: tests/kernels/target.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) -D_GNU_SOURCE -std=gnu11 -g -O1 -fno-omit-frame-pointer $(WARN) -static -pthread \
		-o $@ $<

check-kernels: $(KERNELS_DIR)/target ## run the core test on Debian's kernels in emulation
	$(Q)$(MAKE) -s --no-print-directory STATIC=1 BUILD=$(BUILD)/static
	$(Q)tests/kernels/check $(KERNELS_DIR) $(BUILD)/static/gpuprof $< $(KERNELS)

.PHONY: check-kernels
