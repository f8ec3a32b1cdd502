# SPDX-License-Identifier: BSD-3-Clause
# What scripts/gpu-check needs on a machine with a GPU, in one folder that can be carried there. Nothing
# of it needs a CUDA toolkit, neither here nor there.

KIT := $(BUILD)/gpu-check

gpu-check-kit: $(addprefix $(KIT)/,gpu-check gpuprof libgpuprof.so gpu_target gpu_reader torch_check.py) ## what scripts/gpu-check carries to a machine with a GPU, in build/gpu-check

$(KIT)/gpuprof $(KIT)/libgpuprof.so: $(KIT)/%: $(BUILD)/%
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(KIT)/gpu-check: scripts/gpu-check
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(KIT)/torch_check.py: tests/gpu/torch_check.py
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(KIT)/gpu_target: tests/gpu/gpu_target.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -o $@ $< $(LDFLAGS) -ldl

$(KIT)/gpu_reader: tests/gpu/gpu_reader.c $(LIB)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -o $@ $< $(LIB) $(LDFLAGS) $(LDLIBS)

.PHONY: gpu-check-kit
