# SPDX-License-Identifier: BSD-3-Clause
# Programs that tests profile. They use the real CUDA libraries; scripts/cuda finds those, and is
# asked only when one of the targets is.

T       := $(BUILD)/targets
T_LIB   := $(T)/target.o $(T)/truth.o
T_PROGS := $(addprefix $(T)/,cudart-dyn cudart-static cudart-static-stripped cudart-dl burst nccl \
	     triple triple-static)
CUDA     = $(eval CUDA := $$(shell scripts/cuda))$(or $(CUDA),$(error scripts/cuda found no CUDA))
T_FLAGS  = -std=gnu11 -D_GNU_SOURCE -g -O2 $(WARN) -Itests/targets -isystem $(CUDA)/include -pthread
T_SO     = -L$(CUDA)/lib -Wl,-rpath,$(CUDA)/lib
# nvcc's own expansion of <<<>>> warns; the host compiler's warnings are for our C.
T_NVCC   = $(CUDA)/bin/nvcc -O2 -std=c++17 -Wno-deprecated-gpu-targets -arch=sm_75 -Itests/targets

targets: $(T_PROGS) ## build the programs that the tests profile

$(T)/%.o: tests/targets/%.c tests/targets/target.h
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(T_FLAGS) -c $< -o $@

$(T)/cudart-dl.o: tests/targets/cudart.c tests/targets/target.h
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(T_FLAGS) -DTARGET_DLOPEN -c $< -o $@

$(T)/cudart-dyn: $(T)/cudart.o $(T_LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) -pthread -o $@ $^ $(T_SO) -lcudart

$(T)/cudart-dl: $(T)/cudart-dl.o $(T_LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) -pthread -o $@ $^ -Wl,-rpath,$(CUDA)/lib -ldl

$(T)/cudart-static: $(T)/cudart.o $(T_LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) -pthread -o $@ $^ $(CUDA)/lib/libcudart_static.a -ldl -lrt

$(T)/cudart-static-stripped: $(T)/cudart-static
	$(call say,STRIP,$@)
	$(Q)strip -o $@ $<

$(T)/burst: $(T)/burst.o $(T_LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) -pthread -o $@ $^ $(T_SO) -lcudart

$(T)/nccl: $(T)/nccl.o $(T_LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) -pthread -o $@ $^ $(T_SO) -lnccl

$(T)/triple: tests/targets/triple.cu $(T_LIB)
	$(call say,NVCC,$@)
	$(Q)$(T_NVCC) -cudart shared -Xlinker -rpath,$(CUDA)/lib -o $@ $^

$(T)/triple-static: tests/targets/triple.cu $(T_LIB)
	$(call say,NVCC,$@)
	$(Q)$(T_NVCC) -cudart static -o $@ $^

.PHONY: targets
