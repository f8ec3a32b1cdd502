# SPDX-License-Identifier: BSD-3-Clause
# What gpuprof costs, beside its peers (scripts/deps bench installs them). Not part of the tests: timings depend on
# the machine, so a bound that is missed is said and does not fail.

BENCH     := tests/bench
BENCH_OUT := $(BUILD)/bench
BENCH_PROBES  := $(addprefix $(BENCH_OUT)/,launcher libcudart.so.13)
BENCH_CAPTURE := $(addprefix $(BENCH_OUT)/,generate bench_capture bench_model bench_devices measure)
BENCH_HELPER  := $(addprefix $(BENCH_OUT)/,launcher bench_helper bench_reader libcupti_alone.so)
BENCH_SWITCHES := $(addprefix $(BENCH_OUT)/,switcher hooks)
BENCH_RUN      = python3 -B $(BENCH)/bench $(BUILD)

bench: $(BUILD)/gpuprof $(BENCH_PROBES) $(BENCH_CAPTURE) $(BENCH_HELPER) $(BENCH_OUT)/crowd $(BENCH_SWITCHES) sim ## compare gpuprof's cost with its peers' (root)
	$(Q)$(BENCH_RUN) probes attach hanging hosts live speaking capture replay heap model helper switches

bench-probes: $(BUILD)/gpuprof $(BENCH_PROBES) ## what a probe costs a call, beside ftrace and bpftrace (root)
	$(Q)$(BENCH_RUN) probes

bench-attach: $(BUILD)/gpuprof ## what attaching the whole catalogue takes, and detaching (root)
	$(Q)$(BENCH_RUN) attach

bench-hanging: $(BUILD)/gpuprof sim ## stacks of a job that hangs, and attaching to it (root)
	$(Q)$(BENCH_RUN) hanging

bench-hosts: $(BUILD)/gpuprof $(BENCH_PROBES) $(BENCH_OUT)/crowd ## thousands of processes; processes beside the target (root)
	$(Q)$(BENCH_RUN) hosts

bench-live: $(BUILD)/gpuprof $(BENCH_PROBES) $(BENCH_OUT)/crowd ## the live view: first figures, its CPU time, bytes (root)
	$(Q)$(BENCH_RUN) live

bench-speaking: $(BUILD)/gpuprof sim ## how soon it writes, and its first figures (root)
	$(Q)$(BENCH_RUN) speaking

bench-capture: $(BUILD)/gpuprof $(BENCH_CAPTURE) sim ## what an event costs in a capture: ns and bytes
	$(Q)$(BENCH_RUN) capture

bench-replay: $(BUILD)/gpuprof $(BENCH_CAPTURE) ## events a second that report reads, and a page of 10 M
	$(Q)$(BENCH_RUN) replay

bench-heap: $(BUILD)/gpuprof $(BENCH_CAPTURE) sim ## memory of report and stat for few and many events
	$(Q)$(BENCH_RUN) heap

bench-model: $(addprefix $(BENCH_OUT)/,bench_model bench_devices) ## what an event costs the join and the books
	$(Q)$(BENCH_RUN) model

bench-helper: $(BUILD)/libgpuprof.so $(BENCH_HELPER) sim ## what the helper costs a launch, asleep and awake
	$(Q)$(BENCH_RUN) helper

bench-switches: $(BUILD)/gpuprof $(BENCH_SWITCHES) ## what --off-cpu costs a switch, of watched threads and others (root)
	$(Q)$(BENCH_RUN) switches

bench-operators: $(BUILD)/gpuprof torch ## what --torch costs steps of PyTorch, beside torch.profiler (root)
	$(Q)$(BENCH_RUN) operators

$(BENCH_OUT)/switcher: $(BENCH)/switcher.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CFLAGS) -D_GNU_SOURCE -fno-omit-frame-pointer -o $@ $<

$(BENCH_OUT)/hooks: $(BENCH)/hooks.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -o $@ $< $(LDFLAGS) $(LDLIBS)

# Its function begins with a push, as that of the real libcudart.so.13.
$(BENCH_OUT)/libcudart.so.13: $(BENCH)/launchee.c
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -std=gnu11 -g -O2 $(WARN) -fPIC -fcf-protection=none -fno-omit-frame-pointer -fno-shrink-wrap \
		-shared -Wl,-soname,$(@F) -o $@ $<

$(BENCH_OUT)/launcher: $(BENCH)/launcher.c $(BENCH_OUT)/libcudart.so.13
	$(call say,CC,$@)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -g -O2 -pthread $(WARN) -o $@ $< -L$(BENCH_OUT) -l:libcudart.so.13 \
		-Wl,--enable-new-dtags -Wl,-rpath,'$$ORIGIN'

$(BENCH_OUT)/measure: $(BENCH)/measure.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -g -O2 $(WARN) -o $@ $<

$(BENCH_OUT)/crowd: $(BENCH)/crowd.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -g -O2 $(WARN) -static -o $@ $<

$(BENCH_OUT)/generate $(BENCH_OUT)/bench_capture: $(BENCH)/stream.c $(BENCH)/stream.h
$(BENCH_OUT)/generate $(BENCH_OUT)/bench_devices: $(BENCH)/work_stream.c $(BENCH)/work_stream.h
$(BENCH_OUT)/generate $(BENCH_OUT)/bench_capture $(BENCH_OUT)/bench_model $(BENCH_OUT)/bench_devices: $(BENCH_OUT)/%: $(BENCH)/%.c $(LIB)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) -Itests $(CFLAGS) -MMD -MP -MF $@.d -o $@ $(filter %.c,$^) $(LIB) $(LDFLAGS) $(LDLIBS)

$(BENCH_OUT)/bench_helper $(BENCH_OUT)/bench_reader: $(BENCH_OUT)/%: $(BENCH)/%.c $(LIB) $(HELPER_LIB)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -MF $@.d -o $@ $< $(LIB) $(HELPER_LIB) $(LDFLAGS) $(LDLIBS)

$(BENCH_OUT)/libcupti_alone.so: $(BENCH)/cupti_alone.c $(SIM_OUT)/libcupti.so.13
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) -Itests/sim $(CFLAGS) -fPIC -shared -o $@ $< -L$(SIM_OUT) -l:libcupti.so.13 \
		-Wl,-rpath,'$$ORIGIN/../sim' -Wl,-rpath-link,$(SIM_OUT)

.PHONY: bench bench-probes bench-attach bench-hanging bench-hosts bench-live bench-capture bench-replay bench-heap bench-model \
	bench-helper bench-switches
