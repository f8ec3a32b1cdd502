# SPDX-License-Identifier: BSD-3-Clause
# gcc builds user space, clang the BPF objects, bpftool the skeleton; everything lands in build/.

HOST     := $(shell uname -m | sed 's/x86_64/x86/; s/aarch64/arm64/')
ARCH     ?= $(HOST)
MACHINE  := $(patsubst arm64,aarch64,$(ARCH:x86=x86_64))
# Libraries that are not installed system-wide: make SYSROOT=/where/they/were/unpacked
SYSROOT  ?=
# Another architecture than this machine's, in a folder of its own: scripts/sysroot unpacks the
# libraries there, and tests are emulated.
ifneq ($(ARCH),$(HOST))
BUILD    ?= build/$(ARCH)
ifeq ($(SYSROOT),)
SYSROOT  := $(BUILD)/sysroot
endif
ifeq ($(origin CC),default)
CC       := $(MACHINE)-linux-gnu-gcc
endif
AR       := $(MACHINE)-linux-gnu-ar
OBJDUMP  := $(MACHINE)-linux-gnu-objdump
EMULATOR := GPUPROF_EMULATED=1 CC=$(CC) qemu-$(MACHINE)-static -L /usr/$(MACHINE)-linux-gnu
UNPACKED := $(SYSROOT)/complete
endif

BUILD    ?= build
CC       ?= gcc
CLANG    ?= $(firstword $(shell command -v clang-14 clang clang-16 clang-19))
BPFTOOL  ?= bpftool
OBJDUMP  ?= objdump
DESTDIR  ?=
PREFIX   ?= /usr/local
SANITIZE ?=
STATIC   ?=
V        ?= 0

VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

WARN     := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wformat=2 \
	    -Wvla -Werror
# Else gcc clears structs as large as an event by `rep stos` on x86, 10 ns each; others have no such option.
CLEAR    := -mmemset-strategy=vector_loop:256:noalign,libcall:-1:noalign
CLEAR    := $(shell $(CC) $(CLEAR) -E -x c /dev/null >/dev/null 2>&1 && echo '$(CLEAR)')
OPT      ?= -O2 $(CLEAR)
CPPFLAGS += -D_GNU_SOURCE -Iinclude -Iuser -I$(BUILD) $(SYSROOT:%=-isystem %/usr/include)
CFLAGS   += -std=gnu11 -g $(OPT) $(WARN) -fno-strict-aliasing -pthread
LIBS     := $(SYSROOT:%=%/usr/lib/$(MACHINE)-linux-gnu)
# Source lines and inlined functions (--lines) need libdw; without it the report says they are missing.
LIBDW    := $(if $(SYSROOT),$(wildcard $(LIBS)/libdw.a),$(filter /%,$(shell $(CC) -print-file-name=libdw.a)))
ifneq ($(LIBDW),)
CPPFLAGS += -DGPUPROF_LIBDW
endif
LDLIBS    = $(LIBS:%=-L%) -l:libbpf.a -Wl,-Bstatic $(if $(LIBDW),-ldw) -lelf -lzstd -lxxhash -lz -liberty -lncursesw -ltinfo $(if $(STATIC),,-Wl,-Bdynamic) -lm
ifneq ($(SANITIZE),)
CFLAGS   += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
LDFLAGS  += -fsanitize=$(SANITIZE)
endif
ifneq ($(STATIC),)
LDFLAGS  += -static
CPPFLAGS += -DGPUPROF_STATIC
endif
LDFLAGS  += -pthread

ifeq ($(V),0)
Q := @
say = @printf '  %-8s %s\n' '$(1)' '$(2)'
endif

USER_SRC := $(sort $(filter-out user/helper/%,$(shell find user -mindepth 2 -name '*.c')))
USER_OBJ := $(USER_SRC:user/%.c=$(BUILD)/user/%.o) $(BUILD)/user/inject/image_bytes.o $(BUILD)/user/cli/agents.o $(BUILD)/user/view/html/page.o
BPF_SRC  := $(sort $(wildcard bpf/*.bpf.c))
BPF_OBJ  := $(BPF_SRC:bpf/%.bpf.c=$(BUILD)/bpf/%.bpf.o)
SKEL     := $(BUILD)/gpuprof.skel.h
LIB      := $(BUILD)/user.a
# The newest C library whose symbols gpuprof and the helper need: scripts/check-symbols.
GLIBC        := 2.34
HELPER_GLIBC := 2.17
# The helper depends on include/ alone; tests link it as an archive.
HELPER_SRC := $(sort $(wildcard user/helper/*.c))
HELPER_OBJ := $(HELPER_SRC:user/%.c=$(BUILD)/pic/%.o)
HELPER_LIB := $(BUILD)/helper.a
UNIT     := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(filter-out tests/unit/test_gpusim%.c,$(sort $(wildcard tests/unit/test_*.c))))

all: $(BUILD)/gpuprof $(BUILD)/libgpuprof.so ## build gpuprof (the default)

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

ifneq ($(UNPACKED),)
$(UNPACKED): scripts/sysroot
	$(call say,UNPACK,$(@D))
	$(Q)scripts/sysroot $(@D) $(ARCH)
endif

# -- BPF ------------------------------------------------------------------------------------
# From Linux 6.13 on, a probe program whose frame takes more than 48 bytes gets a per-CPU stack; and
# probe programs can be preempted: two threads on one CPU would overwrite each other's locals.
BPF_FRAME := -Wframe-larger-than=48

$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c | $(UNPACKED)
	@mkdir -p $(@D)
	$(call say,BPF,$@)
	$(Q)$(CLANG) -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_$(ARCH) -Wall -Werror $(BPF_FRAME) -MMD -MP \
		-Iinclude -Ibpf -Ivmlinux/$(ARCH) $(SYSROOT:%=-isystem %/usr/include) -c $< -o $@

$(BUILD)/gpuprof.bpf.o: $(BPF_OBJ)
	$(call say,LINK,$@)
	$(Q)$(BPFTOOL) gen object $@ $^

$(SKEL): $(BUILD)/gpuprof.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name gpuprof_bpf > $@.tmp && mv $@.tmp $@

# -- user space -----------------------------------------------------------------------------
# The skeleton comes first: no dependency file says yet who includes it.
$(BUILD)/user/%.o: user/%.c | $(SKEL) $(UNPACKED)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

# One file is compiled again when the version changes: $(BUILD)/version is written only then.
VERSION_SRC := $(filter %/version.c,$(USER_SRC))
VERSION_OBJ := $(VERSION_SRC:%.c=$(BUILD)/%.o) $(VERSION_SRC:user/%.c=$(BUILD)/fuzz/obj/%.o)
ifneq ($(VERSION),$(file <$(BUILD)/version))
$(shell mkdir -p $(BUILD) && echo '$(VERSION)' >$(BUILD)/version)
endif
$(VERSION_OBJ): $(BUILD)/version
$(VERSION_OBJ): private CPPFLAGS += -DGPUPROF_VERSION='"$(VERSION)"'

$(LIB): $(USER_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/gpuprof: $(BUILD)/user/main.o $(LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)
ifeq ($(SANITIZE)$(STATIC),)
	$(Q)OBJDUMP=$(OBJDUMP) scripts/check-symbols $@ $(GLIBC) || echo 'built here, it runs only where the C library is as new' >&2
endif

# -- the helper: what goes into targets --------------------------------------------------------
$(BUILD)/pic/%.o: user/%.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) $(filter-out -fsanitize% -fno-sanitize%,$(CFLAGS)) -fPIC -fvisibility=hidden -include user/helper/symver.h -MMD -MP -c $< -o $@

# The helper loads wherever CUDA does: old versions of symbols, and no library that a target lacks. It
# stays until the process ends, whoever closes it: its thread and CUPTI have its addresses.
$(BUILD)/libgpuprof.so: $(HELPER_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -Wl,-soname,libgpuprof.so -Wl,-z,defs -Wl,-z,nodelete -Wl,--no-as-needed -o $@ $^ \
		-l:libpthread.so.0 -l:libdl.so.2
	$(Q)OBJDUMP=$(OBJDUMP) scripts/check-symbols $@ $(HELPER_GLIBC)
	$(Q)! $(OBJDUMP) -r $(BUILD)/pic/helper/load.o | grep -A 9 '\[.text' | grep R_ # it runs before relocation

$(BUILD)/user/inject/image_bytes.o: user/inject/image_bytes.S $(BUILD)/libgpuprof.so
	@mkdir -p $(@D)
	$(call say,AS,$@)
	$(Q)$(CC) -DHELPER_SO='"$(BUILD)/libgpuprof.so"' -c $< -o $@

$(BUILD)/user/cli/agents.o: user/cli/agents.S user/doc/agents.md
	@mkdir -p $(@D)
	$(call say,AS,$@)
	$(Q)$(CC) -c $< -o $@

# The page names the only style and the only script that a browser may use in it, by their hashes.
PAGE := user/view/html/page
sha256 = $$(sha256sum $(1) | cut -c 1-64 | tr a-f A-F | basenc --base16 -d | base64)

$(BUILD)/user/view/html/page.o: $(PAGE).S $(PAGE).css $(PAGE).js
	@mkdir -p $(@D)
	$(call say,AS,$@)
	$(Q)$(CC) -DCSS_HASH="\"$(call sha256,$(PAGE).css)\"" -DJS_HASH="\"$(call sha256,$(PAGE).js)\"" \
		-c $< -o $@

$(HELPER_LIB): $(HELPER_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

# -- man pages and completions: gpuprof writes them from its table of options -----------------
DOC   := $(BUILD)/doc
SHARE := $(DESTDIR)$(PREFIX)/share
SCHEMA := $(SHARE)/doc/gpuprof/report.schema.json
COMPLETIONS := bash-completion/completions/gpuprof zsh/site-functions/_gpuprof \
	       fish/vendor_completions.d/gpuprof.fish

$(DOC)/man/man1/gpuprof.1: $(BUILD)/gpuprof
	@rm -rf $(DOC)/man && mkdir -p $(@D)
	$(call say,MAN,$(@D))
	$(Q)for v in $$($< help --as verbs); do $< help $$v --as man >$(@D)/gpuprof-$$v.1 || exit; done
	$(Q)mkdir -p $(DOC)/man/man7
	$(Q)for p in words tables; do $< help $$p --as man >$(DOC)/man/man7/gpuprof-$$p.7 || exit; done
	$(Q)$< help --as man >$@

# The shell's name is where its folder's begins.
$(COMPLETIONS:%=$(DOC)/%): $(DOC)/%: $(BUILD)/gpuprof
	@mkdir -p $(@D)
	$(call say,DOC,$@)
	$(Q)$< help --as $(firstword $(subst -, ,$(firstword $(subst /, ,$*)))) >$@

man: $(DOC)/man/man1/gpuprof.1 ## man pages, in build/doc
completions: $(COMPLETIONS:%=$(DOC)/%) ## completions for bash, zsh and fish, in build/doc

install: $(BUILD)/gpuprof man completions ## install under DESTDIR and PREFIX
	install -D -m 0755 $(BUILD)/gpuprof $(DESTDIR)$(PREFIX)/bin/gpuprof
	install -d $(SHARE)/man/man1 $(SHARE)/man/man7
	install -m 0644 $(DOC)/man/man1/*.1 $(SHARE)/man/man1
	install -m 0644 $(DOC)/man/man7/*.7 $(SHARE)/man/man7
	for f in $(COMPLETIONS); do install -D -m 0644 $(DOC)/$$f $(SHARE)/$$f || exit; done
	install -D -m 0644 user/doc/report.schema.json $(SCHEMA)

deb: all ## a Debian package of it, in build/dist
	$(Q)scripts/package deb

wheel: all ## a Python wheel that holds the binary, in build/dist
	$(Q)scripts/package wheel

static: ## a binary that needs no library (and so cannot load NVML): build/static/gpuprof
	$(Q)$(MAKE) BUILD=$(BUILD)/static STATIC=1 $(BUILD)/static/gpuprof

uninstall: ## remove what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/gpuprof $(SHARE)/man/man1/gpuprof.1 \
		$(SHARE)/man/man1/gpuprof-*.1 $(SHARE)/man/man7/gpuprof-*.7 $(COMPLETIONS:%=$(SHARE)/%) \
		$(SCHEMA)

# -- tests ----------------------------------------------------------------------------------
# What several tests share (specifications, helpers) is in tests/lib, compiled once.
TEST_LIB     := $(BUILD)/libtest.a
TEST_LIB_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard tests/lib/*.c)))

$(BUILD)/tests/%.o: tests/%.c | $(SKEL) $(UNPACKED)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) -Itests $(CFLAGS) -MMD -MP -c $< -o $@

$(TEST_LIB): $(TEST_LIB_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

UNIT_LINK = $(CC) -o $@ $(filter %.o %.a,$^) $(LDFLAGS) $(LDLIBS) -lcmocka

$(UNIT): $(BUILD)/unit/%: $(BUILD)/tests/unit/%.o $(TEST_LIB) $(LIB) $(HELPER_LIB)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(UNIT_LINK) $(LIBS:%=-Wl,-rpath,$(abspath $(LIBS)))

unit: $(UNIT) ## build and run the unit tests; T=test_elf runs one
	@fail=0; for t in $(if $(T),$(BUILD)/unit/$(T),$(UNIT)); do $(EMULATOR) $$t || fail=1; done; exit $$fail

check-captures: $(BUILD)/gpuprof ## hold reports of the stored captures against the stored ones
	$(Q)tests/captures/check $<

check-arm64: ## build for arm64 and run its unit tests, emulated where that is not this machine
	$(Q)$(MAKE) --no-print-directory ARCH=arm64 unit

emulator:
	@echo $(if $(EMULATOR),env $(EMULATOR))

clean: ## remove build/
	rm -rf $(BUILD)

-include tests/sim/sim.mk tests/torch/torch.mk tests/jax/jax.mk tests/gpu/gpu.mk tests/targets/targets.mk tests/rows/rows.mk tests/fuzz/fuzz.mk tests/bench/bench.mk tests/kernels/kernels.mk

.PHONY: all help man completions install uninstall deb wheel static unit check-captures check-arm64 emulator clean
.DELETE_ON_ERROR:
-include $(shell find $(BUILD) -type f -name '*.d' 2>/dev/null)
