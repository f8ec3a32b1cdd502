# SPDX-License-Identifier: BSD-3-Clause
# Programs that tests profile. They use the real CUDA libraries; scripts/cuda finds those, and is
# asked only when one of the targets is.

TARGETS_DIR       := $(BUILD)/targets
T_LIB   := $(TARGETS_DIR)/target.o $(TARGETS_DIR)/truth.o
T_PROGS := $(addprefix $(TARGETS_DIR)/,cudart-dyn cudart-static cudart-static-stripped cudart-dl burst confined nccl \
	     rows rows-twins successor tids triple triple-static waits)
CUDA     = $(eval CUDA := $$(shell scripts/cuda))$(or $(CUDA),$(error scripts/cuda found no CUDA))
T_FLAGS  = -std=gnu11 -D_GNU_SOURCE -g -O2 $(WARN) -Itests/targets -isystem $(CUDA)/include -pthread
T_SO     = -L$(CUDA)/lib -Wl,-rpath,$(CUDA)/lib
# nvcc's own expansion of <<<>>> warns; the host compiler's warnings are for our C.
T_NVCC   = $(CUDA)/bin/nvcc -O2 -std=c++17 -Wno-deprecated-gpu-targets -arch=sm_75 -Itests/targets

targets: $(T_PROGS) ## build the programs that the tests profile

$(TARGETS_DIR)/%.o: tests/targets/%.c tests/targets/target.h
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(T_FLAGS) -c $< -o $@

$(TARGETS_DIR)/cudart-dl.o: tests/targets/cudart.c tests/targets/target.h
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(T_FLAGS) -DTARGET_DLOPEN -c $< -o $@

$(TARGETS_DIR)/cudart-dyn: $(TARGETS_DIR)/cudart.o $(T_LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) -pthread -o $@ $^ $(T_SO) -lcudart

$(TARGETS_DIR)/cudart-dl: $(TARGETS_DIR)/cudart-dl.o $(T_LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) -pthread -o $@ $^ -Wl,-rpath,$(CUDA)/lib -ldl

$(TARGETS_DIR)/cudart-static: $(TARGETS_DIR)/cudart.o $(T_LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) -pthread -o $@ $^ $(CUDA)/lib/libcudart_static.a -ldl -lrt

$(TARGETS_DIR)/cudart-static-stripped: $(TARGETS_DIR)/cudart-static
	$(call say,STRIP,$@)
	$(Q)strip -o $@ $<

$(TARGETS_DIR)/burst: $(TARGETS_DIR)/burst.o $(T_LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) -pthread -o $@ $^ $(T_SO) -lcudart

$(TARGETS_DIR)/tids: $(TARGETS_DIR)/tids.o $(T_LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) -pthread -o $@ $^ $(T_SO) -lcudart

$(TARGETS_DIR)/confined: $(TARGETS_DIR)/confined.o $(T_LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) -pthread -o $@ $^ $(T_SO) -lcudart

$(TARGETS_DIR)/rows: $(TARGETS_DIR)/rows.o $(T_LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) -pthread -o $@ $^ $(T_SO) -lcudart

$(TARGETS_DIR)/successor: $(TARGETS_DIR)/successor.o
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $^

# As tests/kernels has it: no CUDA, and functions that begin as compilers make them begin.
$(TARGETS_DIR)/waits: tests/targets/waits.c | $(UNPACKED)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) -D_GNU_SOURCE -std=gnu11 -g -O1 $(KERNELS_FLAGS_$(ARCH)) $(WARN) -static -pthread -o $@ $<

$(TARGETS_DIR)/rows-twins.o: tests/targets/rows.c tests/targets/target.h
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(T_FLAGS) -DCUDA_API_PER_THREAD_DEFAULT_STREAM -c $< -o $@

$(TARGETS_DIR)/rows-twins: $(TARGETS_DIR)/rows-twins.o $(T_LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) -pthread -o $@ $^ $(T_SO) -lcudart

$(TARGETS_DIR)/nccl: $(TARGETS_DIR)/nccl.o $(T_LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) -pthread -o $@ $^ $(T_SO) -lnccl

$(TARGETS_DIR)/triple: tests/targets/triple.cu $(T_LIB)
	$(call say,NVCC,$@)
	$(Q)$(T_NVCC) -cudart shared -Xlinker -rpath,$(CUDA)/lib -o $@ $^

$(TARGETS_DIR)/triple-static: tests/targets/triple.cu $(T_LIB)
	$(call say,NVCC,$@)
	$(Q)$(T_NVCC) -cudart static -o $@ $^

# The PTX compiler: in a program, its functions global, and in a library that exports them and makes
# what they call local.
T_PTX     = $(BUILD)/cuda-ptx/lib/libnvptxcompiler_static.a
T_PTX_END = $(T_PTX) -lm -ldl

targets-ptx: $(TARGETS_DIR)/ptx $(TARGETS_DIR)/ptx-shared ## fetch the PTX compiler, 22 MB, for the tests of it

$(T_PTX):
	$(Q)GPUPROF_CUDA_PTX_DIR=$(abspath $(BUILD)/cuda-ptx) scripts/cuda-ptx

$(TARGETS_DIR)/ptx.o: tests/targets/ptx.c tests/targets/target.h $(T_PTX)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(T_FLAGS) -isystem $(BUILD)/cuda-ptx/include -c $< -o $@

$(TARGETS_DIR)/ptx: $(TARGETS_DIR)/ptx.o $(T_LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) -pthread -o $@ $^ $(T_PTX_END)

$(TARGETS_DIR)/libptx.so: tests/targets/ptx.c tests/targets/target.c tests/targets/truth.c $(T_PTX)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)echo '{ global: nvPTXCompiler*; ptx_main; local: *; };' >$@.map
	$(Q)$(CC) $(T_FLAGS) -isystem $(BUILD)/cuda-ptx/include -DTARGET_SHARED -fPIC -shared \
		-Wl,--version-script,$@.map -o $@ $(filter %.c,$^) $(T_PTX_END)

$(TARGETS_DIR)/ptx-shared: tests/targets/ptx_shared.c $(TARGETS_DIR)/libptx.so
	$(call say,LINK,$@)
	$(Q)$(CC) $(T_FLAGS) -o $@ $< -L$(TARGETS_DIR) -lptx -Wl,-rpath,'$$ORIGIN'

targets-all: ## fetch the compilers, cuBLAS and cuDNN, 1 GB, where no toolkit has them
	$(Q)scripts/cuda --all >/dev/null

.PHONY: targets targets-all targets-ptx
