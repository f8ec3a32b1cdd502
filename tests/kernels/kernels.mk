# SPDX-License-Identifier: BSD-3-Clause
# The core test on Debian's kernels, each in an emulated machine of its own: no privileges, no KVM.
# What is fetched stays in build/kernels; logs are build/kernels/log/VERSION.txt.
#   make check-kernels KERNELS="6.12 7.3"   only these
#   make check-kernels ARCH=arm64           another machine's, in build/arm64/kernels

KERNELS     ?= 5.10 6.1 6.12 6.16 6.18 7.3
KERNELS_DIR := $(BUILD)/kernels
BUSYBOX     := $(if $(SYSROOT),$(SYSROOT)/bin/busybox,$(shell command -v busybox || echo busybox))

# The runtime's functions begin as compilers make them begin: with a frame, or a signed return address.
KERNELS_FLAGS_x86   := -fno-omit-frame-pointer
KERNELS_FLAGS_arm64 := -fno-omit-frame-pointer -mbranch-protection=standard

$(KERNELS_DIR)/target: tests/kernels/target.c | $(UNPACKED)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) -D_GNU_SOURCE -std=gnu11 -g -O1 $(KERNELS_FLAGS_$(ARCH)) $(WARN) -static -pthread \
		-o $@ $<

$(KERNELS_DIR)/waits: tests/targets/waits.c | $(UNPACKED)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) -D_GNU_SOURCE -std=gnu11 -g -O1 $(KERNELS_FLAGS_$(ARCH)) $(WARN) -static -pthread \
		-o $@ $<

# What is built as always: the tests of what comes into running programs, which need a real kernel.
KERNELS_TESTS := $(addprefix $(BUILD)/unit/test_,remote cbpf gpusim_helper_inject gpusim_helper_filter)
KERNELS_SIM   := $(addprefix $(BUILD)/,$(addprefix sim/,hardy caged libcudart.so.13 libcuda.so.1 libgpusim.so \
		 libchained.so libcupti.so.13) libgpuprof.so)	# the helper is carried inside; it needs libraries
KERNELS_LIBS_x86   := /lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu
KERNELS_LIBS_arm64 := /lib/aarch64-linux-gnu:/usr/aarch64-linux-gnu/lib:$(SYSROOT)/usr/lib/aarch64-linux-gnu

$(KERNELS_DIR)/tree/build: tests/kernels/tree $(KERNELS_TESTS) $(KERNELS_SIM)
	$(Q)tests/kernels/tree $(@D) $(BUILD) $(KERNELS_LIBS_$(ARCH)) $(KERNELS_TESTS) $(KERNELS_SIM)

check-kernels: $(KERNELS_DIR)/target $(KERNELS_DIR)/waits | $(KERNELS_DIR)/tree/build ## run the core test on Debian's kernels in emulation
	$(Q)$(MAKE) -s --no-print-directory STATIC=1 BUILD=$(BUILD)/static SYSROOT=$(SYSROOT)
	$(Q)tests/kernels/check $(KERNELS_DIR) $(ARCH) $(BUSYBOX) $(BUILD)/static/gpuprof $^ $(KERNELS)

.PHONY: check-kernels
