/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Calls of PyTorch's modules: of CPython's slot_tp_call, by which objects of Python's classes are
 * called, those whose class has one named Module among its bases. A module is known by the names of
 * the classes of those around it and its own, which are sent once.
 */
#ifndef GPUPROF_MODULE_BPF_H
#define GPUPROF_MODULE_BPF_H

#include "op_enter.bpf.h"

/* Of CPython's objects and types, in all 64-bit versions with a global interpreter lock. */
#define OBJECT_TYPE 8
#define TYPE_NAME 24
#define TYPE_BASE 256
#define BASES_MAX 24

struct type_key {
	__u32 pid, pad;
	__u64 type;
};

struct types_t {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct type_key);
	__type(value, __u64);	/* a hash of its name; 0: it is no module */
};
extern struct types_t types SEC(".maps");

static __always_inline __u64 read_type_word(__u64 type, __u32 at)
{
	__u64 word = 0;

	bpf_probe_read_user(&word, sizeof(word), (void *)(type + at));
	return word;
}

static __noinline int is_module(__u64 type)
{
	for (__u32 i = 0; i < BASES_MAX && type; i++) {
		char name[8] = {};
		__u64 at = read_type_word(type, TYPE_NAME);

		bpf_probe_read_user(name, sizeof(name) - 1, (void *)at);
		if (*(__u64 *)name == 0x656c75646f4dull)	/* "Module" */
			return 1;
		type = read_type_word(type, TYPE_BASE);
	}
	return 0;
}

/* A record with the name of the type; it has to be submitted or discarded. NULL: the ring is
 * full. */
static __always_inline struct gp_module *name_type(__u64 type)
{
	struct gp_module *rec = bpf_ringbuf_reserve(&calls, sizeof(*rec), 0);

	if (!rec)
		return NULL;
	__builtin_memset(rec, 0, sizeof(*rec));
	bpf_probe_read_user_str(rec->name, sizeof(rec->name),
				(void *)read_type_word(type, TYPE_NAME));
	return rec;
}

static __noinline __u64 hash_name(const struct gp_module *rec)
{
	__u64 h = 0;

	for (__u32 i = 0; i < GP_MODULE_NAME / 8; i++)
		h = mix(h, ((const __u64 *)rec->name)[i]);
	return h | !h;
}

/* The type is looked at for the first time. A hash of its name; 0: it is no module, or (and
 * then it is looked at again) the ring is full. */
static __noinline __u64 look_at_type(struct type_key *key)
{
	struct gp_module *rec;
	__u64 hash = 0;

	if (is_module(key->type)) {
		rec = name_type(key->type);
		if (!rec)
			return 0;
		hash = hash_name(rec);
		bpf_ringbuf_discard(rec, 0);
	}
	bpf_map_update_elem(&types, key, &hash, BPF_ANY);
	return hash;
}

static __noinline __u64 module_of(__u64 object)
{
	struct type_key key = {};
	__u64 *known;

	key.pid = bpf_get_current_pid_tgid() >> 32;
	key.type = read_type_word(object, OBJECT_TYPE);
	known = bpf_map_lookup_elem(&types, &key);
	return known ? *known : look_at_type(&key);
}

/* The name of a module's class, and the module around it; the first time. */
static __noinline int send_module(__u64 object, __u64 module, __u64 outer)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct gp_module *rec;
	__u8 yes = 1;

	if (bpf_map_lookup_elem(&named, &module))
		return 0;
	count(hits[GP_MODULE]);
	rec = name_type(read_type_word(object, OBJECT_TYPE));
	if (!rec) {
		count(lost[GP_MODULE]);
		return 0;
	}
	rec->kind = GP_MODULE;
	rec->start_ns = bpf_ktime_get_ns();
	rec->id = module;
	rec->outer = outer;
	rec->pid = id >> 32;
	rec->tid = (__u32)id;
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	bpf_map_update_elem(&named, &module, &yes, BPF_ANY);
	return 0;
}

/* False: it is no module. */
static __noinline int module_enter(struct pt_regs *ctx)
{
	__u64 object = PT_REGS_PARM1(ctx), sp = PT_REGS_SP(ctx), hash, outer, module;
	const struct op_frame *around;
	struct thread_ops *t = ops_of_thread();

	if (!t)
		return 0;
	hash = module_of(object);
	if (!hash)
		return 0;
	leave_returned(&t->ops, sp, bpf_ktime_get_ns());
	around = op_at(&t->modules, innermost_op(&t->modules, sp));
	outer = around ? around->plain : 0;
	module = mix(outer, hash) | GP_OPS_FIRST;
	send_module(object, module, outer);
	return enter_op(&t->modules, sp, module, module, 0);
}

static __noinline int module_return(struct pt_regs *ctx)
{
	struct thread_ops *t;

	if (!follow_ops)
		return 0;
	t = bpf_task_storage_get(&ops, bpf_get_current_task_btf(), 0, 0);
	if (!t)
		return 0;
	leave_returned(&t->ops, PT_REGS_SP(ctx), bpf_ktime_get_ns());
	return return_op(&t->modules, PT_REGS_SP(ctx) - RET_POPS);
}

#endif
