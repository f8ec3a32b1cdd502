# SPDX-License-Identifier: BSD-3-Clause
#
# Real PyTorch on the simulated GPU, a fragment of the top Makefile, after sim.mk: a virtual environment with it
# (scripts/framework), and in $(BUILD)/torch stand-ins of the vendor's libraries that it is linked to. A program runs with
# LD_LIBRARY_PATH=$(BUILD)/torch:$(SIM_OUT).

TORCH := tests/torch
TORCH_OUT := $(BUILD)/torch

# Others from PyPI, of which operators and shapes are tested on the CPU alone: with stubs that fail.
TORCH_OLDER := 2.1.2 2.4.1 2.6.0 2.9.1

.PHONY: torch torch-debian torch-older
torch: sim $(TORCH_OUT)/made ## fetch PyTorch, 830 MB, and build what it needs to run on the simulated GPU

torch-older: $(TORCH_OLDER:%=$(BUILD)/torch-%/stubs/made) ## fetch four older ones, 3.1 GB

$(BUILD)/torch-%/stubs/made: scripts/framework $(TORCH)/stubs.py
	$(call say,TORCH,$*)
	$(Q)venv=$$(scripts/framework torch-$*) && $(TORCH)/stubs.py "$$venv"/lib/python3*/site-packages/torch/lib $(@D)
	$(Q)touch $@

torch-debian: ## fetch Debian's PyTorch, 140 MB, of 2022
	$(Q)scripts/framework torch-debian >/dev/null

$(TORCH_OUT)/made: scripts/framework $(wildcard $(TORCH)/*.[ch]) $(TORCH)/stand_ins.py $(SIM)/cudart_api.h | $(SIM_OUT)/libcudart.so.13
	$(call say,TORCH,$(TORCH_OUT))
	$(Q)venv=$$(scripts/framework torch) && $(TORCH)/stand_ins.py "$$venv"/lib/python3*/site-packages/torch/lib $(SIM_OUT) $(TORCH_OUT)
	$(Q)touch $@
