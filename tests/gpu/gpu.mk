# SPDX-License-Identifier: BSD-3-Clause
# What scripts/gpu-check and scripts/gpu-slot need on a machine with a GPU, in one folder that can be
# carried there. Nothing of it needs a CUDA toolkit, neither here nor there.

KIT := $(BUILD)/gpu-check
KIT_BUILT := gpuprof libgpuprof.so
KIT_SCRIPTS := gpu-check gpu-slot
KIT_PYTHON := torch_check.py torch_slot.py

# The part of gpu_facts that the driver also loads inside cuInit.
FACTS_SHARED := facts_api facts_records facts_arm
FACTS := $(FACTS_SHARED) facts_sessions facts_costs facts_calls gpu_facts

gpu-check-kit: $(addprefix $(KIT)/,$(KIT_BUILT) $(KIT_SCRIPTS) $(KIT_PYTHON) gpu_target gpu_reader gpu_facts gpu_facts.so) ## the folder build/gpu-check to carry to a machine with a GPU: gpu-check, gpu-slot and what they need

$(addprefix $(KIT)/,$(KIT_BUILT)): $(KIT)/%: $(BUILD)/%
	@mkdir -p $(@D)
	$(Q)cp -f --remove-destination --preserve=mode $< $@

$(addprefix $(KIT)/,$(KIT_SCRIPTS)): $(KIT)/%: scripts/%
	@mkdir -p $(@D)
	$(Q)cp -f --remove-destination --preserve=mode $< $@

$(addprefix $(KIT)/,$(KIT_PYTHON)): $(KIT)/%: tests/gpu/%
	@mkdir -p $(@D)
	$(Q)cp -f --remove-destination --preserve=mode $< $@

$(KIT)/gpu_target $(KIT)/gpu_reader: $(KIT)/%: $(BUILD)/tests/gpu/%.o $(LIB)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $^ $(LDFLAGS) $(LDLIBS) -ldl

$(KIT)/gpu_facts: $(FACTS:%=$(BUILD)/tests/gpu/%.o) $(HELPER_LIB) $(LIB)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $^ $(LDFLAGS) $(LDLIBS) -ldl

FACTS_SO := $(patsubst %,$(BUILD)/tests/gpu/%.pic.o,$(FACTS_SHARED) facts_inject)

$(FACTS_SO): $(BUILD)/tests/gpu/%.pic.o: tests/gpu/%.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -fvisibility=hidden -MMD -MP -c $< -o $@

$(KIT)/gpu_facts.so: $(FACTS_SO) $(HELPER_LIB)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -Wl,-z,defs -o $@ $^ $(LDFLAGS) -ldl

.PHONY: gpu-check-kit
