# SPDX-License-Identifier: BSD-3-Clause
#
# Real PyTorch on the simulated GPU, a fragment of the top Makefile, after sim.mk: a virtual environment with it
# (scripts/framework), and in $(BUILD)/torch stand-ins of the vendor's libraries that it is linked to. A program runs with
# LD_LIBRARY_PATH=$(BUILD)/torch:$(SIM_OUT).

TORCH := tests/torch
TORCH_OUT := $(BUILD)/torch

# Others from PyPI, of which operators and shapes are tested on the CPU alone: with stubs that fail.
TORCH_OLDER := 2.1.2 2.4.1 2.6.0 2.9.1
# The vendor's library, which needs no GPU to say what it was asked for: of CUDA 11.8, 12.1, 12.9 and 13.4.
CUBLAS := 11.11.3.6 12.1.3.1 12.9.1.4 13.10.0.20

.PHONY: torch torch-debian torch-older
torch: sim $(TORCH_OUT)/made ## fetch PyTorch, 830 MB, and build what it needs to run on the simulated GPU

torch-older: $(TORCH_OLDER:%=$(BUILD)/torch-%/stubs/made) $(CUBLAS:%=$(BUILD)/cublas-%/wheels) ## fetch four older ones, 3.1 GB, and four of cuBLAS, 2.2 GB

$(BUILD)/cublas-%/wheels: scripts/framework
	$(call say,CUBLAS,$*)
	$(Q)scripts/framework cublas-$* >/dev/null && touch $@

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
