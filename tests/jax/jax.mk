# SPDX-License-Identifier: BSD-3-Clause
#
# Real JAX on the simulated GPU, a fragment of the top Makefile, after sim.mk: a virtual environment with it
# (scripts/framework), and in $(BUILD)/jax a stand-in of cuDNN. A program runs with
# LD_LIBRARY_PATH=$(BUILD)/jax:$(SIM_OUT):$(SIM_OUT)/nvml.

JAX_OUT := $(BUILD)/jax

.PHONY: jax
jax: sim $(JAX_OUT)/made ## fetch JAX, 950 MB, and build what it needs to run on the simulated GPU

$(JAX_OUT)/libcudnn.so.9: tests/jax/cudnn.c
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -std=gnu11 -O1 -g -fPIC $(SIM_WARN) -shared -Wl,-soname,$(@F) -o $@ $<

$(JAX_OUT)/made: scripts/framework $(JAX_OUT)/libcudnn.so.9
	$(call say,JAX,$(JAX_OUT))
	$(Q)scripts/framework jax >/dev/null
	$(Q)touch $@
