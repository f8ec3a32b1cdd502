# SPDX-License-Identifier: BSD-3-Clause
# Every tests/fuzz/fuzz_NAME.c becomes build/fuzz/NAME. Seeds are the files in
# tests/fuzz/corpus/NAME/ and what the script tests/fuzz/seed_NAME, if there is one, writes into
# the directory it is given; what libFuzzer finds grows in build/fuzz/corpus/NAME/.

FUZZ_SECONDS ?= 30
FUZZ_NAMES   := $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))

FUZZ_CFLAGS  := -std=gnu11 -g -O1 $(filter-out -Werror,$(WARN)) -fno-strict-aliasing -pthread \
		-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FUZZ_OUT     := $(BUILD)/fuzz

FUZZ_OBJ     := $(USER_SRC:user/%.c=$(FUZZ_OUT)/obj/%.o) $(BUILD)/user/inject/image_bytes.o $(BUILD)/user/cli/agents.o $(BUILD)/user/view/html/page.o

$(FUZZ_OUT)/obj/%.o: user/%.c | $(SKEL)
	@mkdir -p $(@D)
	$(call say,FUZZCC,$@)
	$(Q)$(CLANG) $(CPPFLAGS) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link \
		-MMD -MP -c $< -o $@

# An archive, so that only what a fuzzer calls is linked.
$(FUZZ_OUT)/user.a: $(FUZZ_OBJ)
	$(Q)rm -f $@ && ar rcs $@ $^

$(FUZZ_NAMES:%=$(FUZZ_OUT)/%): $(FUZZ_OUT)/%: tests/fuzz/fuzz_%.c $(FUZZ_OUT)/user.a
	$(call say,FUZZ,$@)
	$(Q)$(CLANG) $(CPPFLAGS) -Itests $(FUZZ_CFLAGS) -fsanitize=fuzzer -MMD -MP -o $@ \
		$< $(FUZZ_OUT)/user.a $(LDLIBS)

fuzz-build: $(FUZZ_NAMES:%=$(FUZZ_OUT)/%) ## build the fuzzers

FUZZ_RUN := $(or $(F),$(FUZZ_NAMES))
fuzz: $(FUZZ_RUN:%=fuzz-run-%) ## run each fuzzer for FUZZ_SECONDS; F=elf runs one

# What fails is kept as build/fuzz/crash-NAME-*, with the log of the run beside it.
$(FUZZ_NAMES:%=fuzz-run-%): fuzz-run-%: $(FUZZ_OUT)/%
	@corpus=$(FUZZ_OUT)/corpus/$*; seeds=$(FUZZ_OUT)/seeds/$*; log=$(FUZZ_OUT)/$*.log; \
	mkdir -p $$corpus $$seeds; \
	if [ -x tests/fuzz/seed_$* ]; then CC='$(CC)' tests/fuzz/seed_$* $$seeds || exit 1; fi; \
	if $(FUZZ_OUT)/$* -max_total_time=$(FUZZ_SECONDS) -timeout=60 -rss_limit_mb=2048 \
		-artifact_prefix=$(FUZZ_OUT)/crash-$*- \
		$$corpus $$seeds $(wildcard tests/fuzz/corpus/$*) >$$log 2>&1; \
	then printf '  %-8s %s: %s\n' PASS '$*' "$$(grep -a '^Done' $$log)"; \
	else tail -n 30 $$log; printf '  %-8s %s: see %s\n' FAIL '$*' $$log; exit 1; fi

.PHONY: fuzz fuzz-build $(FUZZ_NAMES:%=fuzz-run-%)
