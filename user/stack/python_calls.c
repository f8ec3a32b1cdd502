// SPDX-License-Identifier: BSD-3-Clause
#include "stack/python_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FUNCTIONS (1u << 17)
#define MAX_ALL_LINES (64u << 20)	/* bytes of line tables */
#define MAX_STATE_BYTES 1024u

/* *out stays NULL when there is no text. 0 or -ENOMEM. */
static int keep_text(struct strpool *names, const char *raw, size_t bytes, unsigned int kind,
		     const char **out)
{
	struct strbuf text = STRBUF_INIT;
	int err = kind ? python_add_text(&text, raw, bytes / kind, kind) : -EFAULT;

	if (!err) {
		*out = strpool_add(names, text.s);
		err = *out ? 0 : -ENOMEM;
	}
	strbuf_free(&text);
	return err == -ENOMEM ? err : 0;
}

static int keep_lines(struct python_functions *f, const struct gp_python_code *rec,
		      struct python_lines *out)
{
	out->first = rec->first_line;
	out->are = rec->lines_are;
	if (!rec->lines_bytes || f->line_bytes + rec->lines_bytes > MAX_ALL_LINES)
		return 0;
	out->table = malloc(rec->lines_bytes);
	if (!out->table)
		return -ENOMEM;
	memcpy(out->table, rec + 1, rec->lines_bytes);
	out->n = rec->lines_bytes;
	f->line_bytes += out->n;
	return 0;
}

static int fill(struct python_functions *f, const struct gp_python_code *rec,
		struct strpool *names, struct python_function *out)
{
	int err = keep_text(names, rec->file, rec->file_bytes, rec->file_kind, &out->file);

	if (!err)
		err = keep_text(names, rec->name, rec->name_bytes, rec->name_kind, &out->name);
	return err ? err : keep_lines(f, rec, &out->lines);
}

int python_functions_take(struct python_functions *f, const struct gp_python_code *rec, size_t len,
			  struct strpool *names)
{
	struct python_function one = { 0 }, *place;
	struct map_slot *slot;
	bool is_new;
	int err;

	if (len < sizeof(*rec) || rec->lines_bytes > len - sizeof(*rec) ||
	    rec->file_bytes > sizeof(rec->file) || rec->name_bytes > sizeof(rec->name))
		return -EINVAL;
	if (map_find(&f->by_id, rec->id) || f->all.n >= MAX_FUNCTIONS)
		return 0;
	slot = map_put(&f->by_id, rec->id, &is_new);
	place = slot ? VEC_PUSH(&f->all) : NULL;
	if (!place)
		return -ENOMEM;
	err = fill(f, rec, names, &one);
	*place = one;
	slot->value = f->all.n;
	return err;
}

/* The part of a thread's state that has its id and leads to its frames. False: it is too large. */
static bool describe_state(const uint32_t *at, struct gp_python *out)
{
	const uint32_t id = at[THREAD_PTHREAD] ? at[THREAD_PTHREAD] : at[THREAD_NATIVE_ID];
	const uint32_t frames = at[THREAD_CFRAME] ? at[THREAD_CFRAME] : at[FRAME_CURRENT];

	out->thread_id = id;
	out->state_from = id < frames ? id : frames;
	out->state_bytes = (id < frames ? frames : id) - out->state_from +
			   (uint32_t)sizeof(uint64_t);
	return id % 8 == 0 && frames % 8 == 0 && out->state_bytes <= MAX_STATE_BYTES;
}

/* BPF reads these words of a copy of the frame. */
static bool is_in_frame(uint32_t at)
{
	return at % sizeof(uint64_t) == 0 && at + sizeof(uint64_t) <= GP_PYTHON_FRAME_BYTES;
}

bool python_describe(const struct python_runtime *rt, struct gp_python *out)
{
	const struct python_layout *l = &rt->layout;
	const uint32_t *at = l->at;
	struct gp_python state;
	const size_t bytes = (python_frame_bytes(l) + 7) & ~(size_t)7;

	if (bytes > GP_PYTHON_FRAME_BYTES || !is_in_frame(at[FRAME_PREVIOUS]) ||
	    !is_in_frame(at[FRAME_CODE]) || !is_in_frame(at[FRAME_INSTRUCTION]) ||
	    at[CODE_LINES] != at[CODE_NAME] + sizeof(uint64_t) || !describe_state(at, &state))
		return false;
	*out = (struct gp_python){
		.thread_id = state.thread_id,
		.state_from = state.state_from,
		.state_bytes = state.state_bytes,
		.interpreters = rt->at + at[RUNTIME_INTERPRETERS],
		.runtime = rt->at,
		.runtime_bytes = rt->bytes,
		.interpreter_next = at[INTERPRETER_NEXT],
		.interpreter_threads = at[INTERPRETER_THREADS],
		.thread_next = at[THREAD_NEXT],
		.pthread_id = at[THREAD_PTHREAD] ? PYTHON_PTHREAD_TID : 0,
		.thread_cframe = at[THREAD_CFRAME],
		.frame_current = at[FRAME_CURRENT],
		.frame_bytes = (uint32_t)bytes,
		.frame_previous = at[FRAME_PREVIOUS],
		.frame_code = at[FRAME_CODE],
		.frame_instruction = at[FRAME_INSTRUCTION],
		.frame_owner = at[FRAME_OWNER],
		.shim_owner = l->shim_owner,
		.code_file = at[CODE_FILE],
		.code_name = at[CODE_NAME],
		.code_first_line = at[CODE_FIRST_LINE],
		.code_instructions = at[CODE_INSTRUCTIONS],
		.code_unit = python_unit(l),
		.lines_are = python_lines_are(l),
		.text_length = at[TEXT_LENGTH],
		.text_state = at[TEXT_STATE],
		.text_ascii = at[TEXT_ASCII],
		.text_wide = l->wide_extra,
		.kind_shift = (uint32_t)__builtin_ctz(l->kind_bits),
		.compact_bits = l->compact_bits,
		.ascii_bits = l->ascii_bits,
		.bytes_size = at[BYTES_SIZE],
		.bytes_data = at[BYTES_DATA],
	};
	return true;
}
