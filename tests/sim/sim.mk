# SPDX-License-Identifier: BSD-3-Clause
#
# The simulated GPU, a fragment of the top Makefile, which sets BUILD and CC. `make sim` builds all of it into
# $(BUILD)/sim; $(BUILD)/sim/endbr has two shims with functions that begin with endbr64, $(BUILD)/sim/cuda12 the runtime
# of that version, $(BUILD)/sim/nvml the simulated NVML: apart, so that only who asks for it finds it. simcalls-static has the runtime within and no symbols; simcalls-inside has them, as local ones.

SIM := tests/sim
SIM_OUT := $(BUILD)/sim
SIM_WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wformat=2 -Wvla -Werror
SIM_CFLAGS := -std=gnu11 -D_GNU_SOURCE -g -MMD -MP $(SIM_WARN) -I$(SIM) -Iinclude -pthread
SIM_CORE_CFLAGS := -O2 -fPIC

# The exported functions begin like those of the real libcudart: push %rbp, also where a compiler would delay it.
SIM_SHIM_CFLAGS := -O1 -fPIC -fno-omit-frame-pointer -fno-shrink-wrap -fno-optimize-sibling-calls
ifeq ($(ARCH),x86)
SIM_PLAIN_CFLAGS := -fcf-protection=none
SIM_ENDBR_CFLAGS := -fcf-protection=branch
else
SIM_PLAIN_CFLAGS := -mbranch-protection=none
SIM_ENDBR_CFLAGS := -mbranch-protection=bti
endif

SIM_CORE := gpusim gpusim_context gpusim_stream gpusim_time gpusim_gate gpusim_duration gpusim_event gpusim_memory gpusim_memory_log gpusim_graph gpusim_host gpusim_trace gpusim_error \
	gpusim_log gpusim_log_sums gpusim_board gpusim_turns gpusim_scar truth truth_write
SIM_CUDA := libcuda_launch libcuda_memory libcuda_device libcuda_module libcuda_query libcuda_address libcuda_virtual libcuda_twins
SIM_CUDART := libcudart_state libcudart_launch libcudart_stream libcudart_memory libcudart_module libcudart_device
SIM_NCCL := libnccl_shared libnccl_submit libnccl_group libnccl_comm libnccl_collectives libnccl_unsupported
SIM_CUPTI := libcupti_activity libcupti_external libcupti_buffers libcupti_callback libcupti_record libcupti_version
SIM_NVML := libnvml libnvml_facts libnvml_board libnvml_device libnvml_state libnvml_event libnvml_gpm
SIM_CALLS := simcalls simcalls_calls simcalls_prepare
SIM_PRETRAIN := pretrain pretrain_loader pretrain_marks pretrain_step
SIM_PROGRAMS := train caged dice plant simcalls simcalls-dl simcalls-static simcalls-inside ddp held lives client hardy mix hoard pretrain scribe many

# NVTX is headers of CUDA, from scripts/cuda alone, which `make targets` asks: a toolkit that lies somewhere else hides
# nothing. Before it was asked mix has no ranges, and there is no other program with NVTX.
SIM_NVTX := $(if $(filter targets,$(MAKECMDGOALS)),$(shell scripts/cuda),$(BUILD)/cuda)/include
SIM_NVTX := $(patsubst %/nvtx3/nvToolsExt.h,%,$(wildcard $(SIM_NVTX)/nvtx3/nvToolsExt.h))
ifneq ($(SIM_NVTX),)
SIM_PROGRAMS += ranges ranges_truth
endif

SIM_LIBS := $(addprefix $(SIM_OUT)/,libgpusim.so libcuda.so.1 libcudart.so.13 libnccl.so.2 libcupti.so.13 cupti13.2/libcupti.so.13 cupti13.3/libcupti.so.13 libchained.so cuda12/libcudart.so.12)
SIM_NVML_LIBS := $(SIM_OUT)/nvml/libnvidia-ml.so.1
SIM_ENDBR_LIBS := $(addprefix $(SIM_OUT)/endbr/,libcuda.so.1 libcudart.so.13)

SIM_GUEST := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/test_gpusim_helper*.c))
SIM_UNIT := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/test_gpusim*.c))

.PHONY: sim check-sim
sim: $(SIM_LIBS) $(SIM_NVML_LIBS) $(SIM_ENDBR_LIBS) $(addprefix $(SIM_OUT)/,$(SIM_PROGRAMS)) ## build the simulated GPU of the tests

check-sim: sim $(SIM_UNIT) ## test the simulated GPU itself
	@for t in $(SIM_UNIT); do $$t || exit 1; done
	$(SIM)/check-sim.sh $(SIM_OUT)

# name of a shim's objects: $(call SIM_OBJECTS,folder,files)
SIM_OBJECTS = $(foreach file,$(2),$(SIM_OUT)/$(1)/$(file).o)

# objects of a kind: $(call sim_objects,folder,flags,end of the name)
define sim_objects
$(SIM_OUT)/$(1)/%$(3).o: $(SIM)/%.c
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)
	$$(Q)$$(CC) $$(SIM_CFLAGS) $(2) -c $$< -o $$@

endef
SIM_PLAIN := $(SIM_SHIM_CFLAGS) $(SIM_PLAIN_CFLAGS)
SIM_ENDBR := $(SIM_SHIM_CFLAGS) $(SIM_ENDBR_CFLAGS)
$(eval $(call sim_objects,core,$(SIM_CORE_CFLAGS)))
$(eval $(call sim_objects,plain,$(SIM_PLAIN)))
$(eval $(call sim_objects,plain,$(SIM_PLAIN) -DGPUSIM_PRIVATE_TWIN,.private))
$(eval $(call sim_objects,endbr-objects,$(SIM_ENDBR)))
$(eval $(call sim_objects,endbr-objects,$(SIM_ENDBR) -DGPUSIM_PRIVATE_TWIN,.private))
$(eval $(call sim_objects,cuda12-objects,$(SIM_PLAIN) -DRUNTIME_VERSION=12080))
$(eval $(call sim_objects,programs,-O1 -fno-omit-frame-pointer $$(SIM_PIC) $$(SIM_RANGES)))
$(SIM_OUT)/programs/ranges_part.o: SIM_PIC := -fPIC
$(call SIM_OBJECTS,programs,ranges ranges_part ranges_truth mix_ranges): SIM_RANGES := $(addprefix -isystem ,$(SIM_NVTX))

SIM_CUDA_FILES := $(SIM_CUDA) $(addsuffix .private,$(SIM_CUDA))

# A shim finds libgpusim.so (and the runtime its driver) beside itself; the endbr ones find it one folder up.
SIM_LINK = $(CC) -shared -pthread -Wl,-soname,$(@F) -Wl,-Bsymbolic -Wl,-z,defs -Wl,--enable-new-dtags \
	-Wl,-rpath,'$$ORIGIN:$$ORIGIN/..'

# a shim: $(call sim_shim,file,objects,map,libraries it needs)
define sim_shim
$(SIM_OUT)/$(1): $(2) $(SIM)/$(3).map $(addprefix $(SIM_OUT)/,$(4))
	@mkdir -p $$(@D)
	$$(call say,LINK,$$@)
	$$(Q)$$(SIM_LINK) -Wl,--version-script=$(SIM)/$(3).map -o $$@ $$(filter %.o %.so,$$^) -ldl

endef
SIM_OF = $(call SIM_OBJECTS,$(1),$(SIM_$(2)))
$(eval $(call sim_shim,libgpusim.so,$(call SIM_OF,core,CORE),libgpusim))
$(eval $(call sim_shim,libcuda.so.1,$(call SIM_OF,plain,CUDA_FILES),libcuda,libgpusim.so))
$(eval $(call sim_shim,libcudart.so.13,$(call SIM_OF,plain,CUDART),libcudart,libgpusim.so))
$(eval $(call sim_shim,cuda12/libcudart.so.12,$(call SIM_OF,cuda12-objects,CUDART),libcudart12,libgpusim.so))
$(eval $(call sim_shim,endbr/libcuda.so.1,$(call SIM_OF,endbr-objects,CUDA_FILES),libcuda,libgpusim.so))
$(eval $(call sim_shim,endbr/libcudart.so.13,$(call SIM_OF,endbr-objects,CUDART),libcudart,libgpusim.so))
$(eval $(call sim_shim,libnccl.so.2,$(call SIM_OF,plain,NCCL),libnccl,libgpusim.so))
$(eval $(call sim_shim,libcupti.so.13,$(call SIM_OF,core,CUPTI),libcupti,libgpusim.so))
$(eval $(call sim_shim,cupti13.2/libcupti.so.13,$(call SIM_OF,core,CUPTI),libcupti13.2,libgpusim.so))
$(eval $(call sim_shim,cupti13.3/libcupti.so.13,$(call SIM_OF,core,CUPTI),libcupti13.3,libgpusim.so))
$(eval $(call sim_shim,nvml/libnvidia-ml.so.1,$(call SIM_OF,core,NVML),libnvml))

$(SIM_OUT)/libcudart_static.a: $(call SIM_OBJECTS,plain,$(SIM_CUDART))
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

# The programs know the runtime's public functions alone; a real libcudart.so.13 would do.
SIM_RUN_LINK := -Wl,--enable-new-dtags -Wl,-rpath,'$$ORIGIN' -pthread

# a program: $(call sim_program,name,objects,libraries of $(SIM_OUT),others)
define sim_program
$(SIM_OUT)/$(1): $(call SIM_OBJECTS,programs,$(2)) $(addprefix $(SIM_OUT)/,$(3))
	$$(call say,LINK,$$@)
	$$(Q)$$(CC) -o $$@ $$(filter %.o,$$^) $$(SIM_RUN_LINK) -L$(SIM_OUT) $(addprefix -l:,$(3)) $(4) \
		-Wl,-rpath-link,$(SIM_OUT)

endef
SIM_RT := libcudart.so.13
# Two names: mix is linked anew when NVTX comes.
SIM_MIX_RANGES := mix_$(if $(SIM_NVTX),,no_)ranges
$(eval $(call sim_program,train,train,$(SIM_RT)))
$(eval $(call sim_program,hoard,hoard,$(SIM_RT)))
$(eval $(call sim_program,dice,dice,$(SIM_RT)))
$(eval $(call sim_program,plant,plant,$(SIM_RT)))
$(eval $(call sim_program,lives,lives,$(SIM_RT),-ldl))
$(eval $(call sim_program,hardy,hardy,$(SIM_RT),-lm -ldl))
$(eval $(call sim_program,caged,caged,$(SIM_RT)))
$(eval $(call sim_program,held,held,$(SIM_RT) libgpusim.so))
$(eval $(call sim_program,mix,mix $(SIM_MIX_RANGES),$(SIM_RT),-ldl))
$(eval $(call sim_program,client,client,$(SIM_RT) libtorch_cpu.so))
$(eval $(call sim_program,ranges,ranges,libranges_part.so $(SIM_RT),-ldl))
$(eval $(call sim_program,ranges_truth,ranges_truth,$(SIM_RT),-ldl))
$(eval $(call sim_program,ddp,ddp,$(SIM_RT) libnccl.so.2))
$(eval $(call sim_program,pretrain,$(SIM_PRETRAIN),$(SIM_RT) libnccl.so.2))
$(eval $(call sim_program,simcalls,$(SIM_CALLS) simcalls_linked,$(SIM_RT)))
$(eval $(call sim_program,simcalls-dl,$(SIM_CALLS) simcalls_dlopen,,-ldl))

# Write captures by gpuprof's own writer.
$(SIM_OUT)/scribe $(SIM_OUT)/many: $(SIM_OUT)/%: $(BUILD)/tests/sim/%.o $(LIB)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $^ $(LDFLAGS) $(LDLIBS)

$(SIM_OUT)/programs/mix_no_ranges.o: $(SIM)/mix_ranges.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(SIM_CFLAGS) -O1 -c $< -o $@

# Named as the library that has torch.profiler, by which the helper guesses who uses CUPTI.
$(SIM_OUT)/libtorch_cpu.so: $(call SIM_OBJECTS,core,client_profiler) $(SIM_OUT)/libcupti.so.13
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -o $@ $< -Wl,--enable-new-dtags -Wl,-rpath,'$$ORIGIN' -L$(SIM_OUT) -l:libcupti.so.13 \
		-Wl,-rpath-link,$(SIM_OUT)

$(SIM_OUT)/libchained.so: $(call SIM_OBJECTS,core,chained)
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -o $@ $<

$(SIM_OUT)/libranges_part.so: $(SIM_OUT)/programs/ranges_part.o
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -o $@ $< -ldl

$(SIM_OUT)/simcalls-static: $(call SIM_OBJECTS,programs,$(SIM_CALLS) simcalls_linked) $(SIM_OUT)/libcudart_static.a \
		$(SIM_OUT)/libgpusim.so
	$(call say,LINK,$@)
	$(Q)$(CC) -s -o $@ $(filter %.o,$^) $(SIM_OUT)/libcudart_static.a $(SIM_RUN_LINK) -L$(SIM_OUT) -lgpusim -ldl

$(SIM_OUT)/simcalls-inside: $(call SIM_OBJECTS,programs,$(SIM_CALLS) simcalls_linked) $(SIM_OUT)/libcudart_static.a \
		$(SIM_OUT)/libgpusim.so
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@.global $(filter %.o,$^) $(SIM_OUT)/libcudart_static.a $(SIM_RUN_LINK) -L$(SIM_OUT) -lgpusim -ldl
	$(Q)$(OBJDUMP:objdump=objcopy) -w --localize-symbol='*cuda*' $@.global $@ && rm $@.global

$(filter-out $(SIM_GUEST),$(SIM_UNIT)): $(BUILD)/unit/%: tests/unit/%.c $(SIM_OUT)/libgpusim.so $(SIM_OUT)/libnccl.so.2 \
		$(SIM_NVML_LIBS)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(SIM_CFLAGS) -Itests -O1 -o $@ $< -L$(SIM_OUT) -lgpusim -l:libnccl.so.2 -Wl,-rpath,'$$ORIGIN/../sim' -lcmocka -ldl

# The helper inside a process of the simulation, read as gpuprof does.
$(SIM_GUEST): $(BUILD)/unit/%: $(BUILD)/tests/unit/%.o $(TEST_LIB) $(LIB) $(HELPER_LIB) | $(BUILD)/libgpuprof.so \
		$(SIM_LIBS) $(addprefix $(SIM_OUT)/,$(SIM_PROGRAMS))
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(UNIT_LINK)

-include $(wildcard $(SIM_OUT)/*/*.d)
