# SPDX-License-Identifier: BSD-3-Clause
# What the tests of the catalogue's rows need: a reader of captures, and a double of each library
# that exports all of its rows and does nothing but return a chosen value. The doubles are built
# like the simulation's shims (tests/sim/sim.mk, which comes before).

ROWS_DIR      := $(BUILD)/rows
ROWS_LIBRARIES := cudart cuda nccl nvrtc nvjitlink nvptxcompiler cublas cublaslt cudnn
ROWS_FILE_cudart := libcudart.so.13
ROWS_FILE_cuda := libcuda.so.1
ROWS_FILE_nccl := libnccl.so.2
ROWS_FILE_nvrtc := libnvrtc.so.13
ROWS_FILE_nvjitlink := libnvJitLink.so.13
ROWS_FILE_nvptxcompiler := libptx.so
ROWS_FILE_cublas := libcublas.so.13
ROWS_FILE_cublaslt := libcublasLt.so.13
ROWS_FILE_cudnn := libcudnn.so.9
ROWS_FLAGS_nccl := -DROWS_DOUBLE_ALIASES
ROWS_FLAGS_nvptxcompiler := -DROWS_DOUBLE_INNER=libnvptxcompiler_static_0
ROWS_DOUBLES  := $(foreach l,$(ROWS_LIBRARIES),$(ROWS_DIR)/$(ROWS_FILE_$(l)))

rows: $(ROWS_DIR)/events $(ROWS_DOUBLES) ## build what the tests of the catalogue's rows need

$(ROWS_DIR)/events: tests/rows/events.c $(LIB)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -MF $@.d -o $@ $< $(LIB) $(LDFLAGS) $(LDLIBS)

# The names of a library's functions in all its versions, each once.
$(ROWS_DIR)/%.functions: tests/rows/api.py $(wildcard tests/rows/functions/*.txt)
	@mkdir -p $(@D)
	$(Q)python3 $< $* | sed 's/.*/DOUBLE(&)/' >$@

# Functions begin as the vendor's do, and equal ones stay two.
define rows_double
$(ROWS_DIR)/$(ROWS_FILE_$(1)): tests/rows/double.c $(ROWS_DIR)/$(1).functions
	$$(call say,LINK,$$@)
	$$(Q)$$(CC) -std=gnu11 $$(WARN) $$(SIM_SHIM_CFLAGS) $$(SIM_PLAIN_CFLAGS) \
		-fno-ipa-icf -shared \
		-DROWS_DOUBLE_LIBRARY=$(1) -DROWS_DOUBLE_FUNCTIONS='"$$(abspath $(ROWS_DIR)/$(1).functions)"' \
		$(ROWS_FLAGS_$(1)) -Wl,-soname,$$(@F) -o $$@ $$<
endef
$(foreach l,$(ROWS_LIBRARIES),$(eval $(call rows_double,$(l))))

rows-older: $(BUILD)/cuda-older/libcudart.so.12 ## fetch the CUDA runtimes 11 and 12, 3 MB, for these tests

$(BUILD)/cuda-older/libcudart.so.12:
	$(Q)GPUPROF_CUDA_OLDER_DIR=$(abspath $(@D)) scripts/cuda-older

# Every library that is here; those of the toolkit beside its libcudart.
ROWS_REAL = $(realpath $(BUILD)/cuda/lib/libcudart.so.13)
rows-table: rows ## which rows the tests call on which library of this machine, as csv
	@GPUSIM_QUIET=1 tests/rows/table.py $(ROWS_DIR)/events \
		$(foreach l,$(ROWS_LIBRARIES),$(l)=$(ROWS_DIR)/$(ROWS_FILE_$(l))) \
		$(foreach v,12 11,cudart-$(v)=$(ROWS_DIR)/$(ROWS_FILE_cudart)) \
		$(foreach l,$(ROWS_LIBRARIES),$(addprefix $(l)=,$(wildcard $(dir $(ROWS_REAL))$(ROWS_FILE_$(l))))) \
		$(addprefix nvptxcompiler=,$(wildcard $(BUILD)/targets/libptx.so)) \
		$(addprefix cudart-12=,$(wildcard $(BUILD)/cuda-older/libcudart.so.12)) \
		$(addprefix cudart-11=,$(wildcard $(BUILD)/cuda-older/libcudart.so.11.0))

.PHONY: rows rows-older rows-table
.SECONDARY: $(ROWS_LIBRARIES:%=$(ROWS_DIR)/%.functions)
