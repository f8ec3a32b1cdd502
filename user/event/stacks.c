// SPDX-License-Identifier: BSD-3-Clause
/* See the header. A frame is only taken after its caller, so that no walk can go in a circle. */
#include "event/stacks.h"

#include <errno.h>
#include <inttypes.h>

static int keep_name(struct stacks *s, const char *text, const char **out)
{
	*out = NULL;
	if (!text)
		return 0;
	if (!s->names)
		s->names = strpool_new();
	*out = s->names ? strpool_add(s->names, text) : NULL;
	return *out ? 0 : -ENOMEM;
}

/* ---- Python ---------------------------------------------------------------------------------- */

/* Where a path goes on behind a directory of installed packages, or of Python's own. NULL: it is
 * none of these. */
static const char *in_packages(const char *file)
{
	static const char *const marks[] = {
		"/site-packages/", "/dist-packages/", "/lib/python3.",
	};

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		const char *mark = strstr(file, marks[i]);
		const char *rest = mark ? strchr(mark + strlen(marks[i]) - 1, '/') : NULL;

		if (rest)
			return rest + 1;
	}
	return NULL;
}

/* "Linear.forward (torch/nn/modules/linear.py:125)", "step (train.py:212)" */
static int name_python(struct stacks *s, struct stacks_frame *f)
{
	struct strbuf at = STRBUF_INIT, text = STRBUF_INIT;
	const char *file;
	int err;

	if (!f->function || !f->file)
		return 0;
	file = in_packages(f->file);
	strbuf_addstr(&at, file ? file : str_basename(f->file));
	if (f->offset)
		strbuf_addf(&at, ":%" PRIu64, f->offset);
	strbuf_addf(&text, "%s (%s)", f->function, at.s);
	strbuf_addf(&at, " in %s", f->function);
	err = text.failed || at.failed ? -ENOMEM : keep_name(s, text.s, &f->lines);
	if (!err)
		err = keep_name(s, at.s, &f->place);
	strbuf_free(&text);
	strbuf_free(&at);
	return err;
}

/* ---- taking ---------------------------------------------------------------------------------- */

static size_t length(const char *text)
{
	return text ? strlen(text) : 0;
}

static int take_frame(struct stacks *s, const struct event *ev)
{
	uint64_t bytes = length(ev->frame.function) + length(ev->frame.file);
	struct stacks_frame f = { .number = ev->frame.number, .caller = ev->frame.caller,
				  .offset = ev->frame.offset, .flags = ev->frame.flags };
	struct stacks_frame *place;
	struct map_slot *slot;

	if (!f.number || (f.caller && !stacks_frame(s, f.caller)))
		return -EINVAL;
	if (stacks_frame(s, f.number))
		return 0;
	if (f.flags & FRAME_PYTHON)
		bytes *= 3;		/* name_python's two texts */
	if (s->frames.n >= STACKS_FRAMES_MAX || bytes > STACKS_TEXT_MAX - s->text_bytes)
		return -ENOSPC;
	slot = map_put(&s->frame_index, f.number, NULL);
	if (!slot || keep_name(s, ev->frame.function, &f.function) ||
	    keep_name(s, ev->frame.file, &f.file) ||
	    (f.flags & FRAME_PYTHON && name_python(s, &f)))
		return -ENOMEM;
	if (!f.place)
		f.place = f.function;
	place = VEC_PUSH(&s->frames);
	if (!place)
		return -ENOMEM;
	*place = f;
	slot->value = s->frames.n;
	s->text_bytes += bytes;
	return 0;
}

int stacks_set_lines(struct stacks *s, uint64_t number, const char *text)
{
	const struct map_slot *slot = map_find(&s->frame_index, number);

	if (!slot || !slot->value)
		return -EINVAL;
	if (strlen(text) > STACKS_TEXT_MAX - s->text_bytes)
		return -ENOSPC;
	s->text_bytes += strlen(text);
	return keep_name(s, text, &s->frames.v[slot->value - 1].lines);
}

static int take_stack(struct stacks *s, const struct event *ev)
{
	struct stacks_stack *place;
	struct map_slot *slot;

	if (!ev->stack.id || ev->stack.known >= STACK_KNOWN_END ||
	    (ev->stack.frame && !stacks_frame(s, ev->stack.frame)))
		return -EINVAL;
	if (stacks_find(s, ev->stack.id))
		return 0;
	if (s->all.n >= STACKS_MAX)
		return -ENOSPC;
	slot = map_put(&s->index, ev->stack.id, NULL);
	place = slot ? VEC_PUSH(&s->all) : NULL;
	if (!place)
		return -ENOMEM;
	*place = (struct stacks_stack){ ev->stack.id, ev->stack.frame, ev->stack.known };
	slot->value = s->all.n;
	return 0;
}

int stacks_take(struct stacks *s, const struct event *ev)
{
	int err = ev->kind == EVENT_FRAME ? take_frame(s, ev) : take_stack(s, ev);

	s->refused += err == -ENOSPC;
	return err;
}

/* ---- the program's own code ------------------------------------------------------------------ */

/* How file names begin of what programs are written with; what follows is a version or a part:
 * "libc.so.6", "libtorch_cuda.so", "python3.11". */
static const char *const foreign_files[] = {
	"libcuda.", "libcuda-", "libcudart", "libnccl.", "libcublas", "libcudnn", "libcufft",
	"libcurand", "libcusolver", "libcusparse", "libcupti", "libnvrtc", "libnvJitLink",
	"libnvToolsExt", "libnvidia-", "libnvinfer", "libgpuprof",
	"libtorch.", "libtorch_", "libc10.", "libc10_", "libpython", "python", "libtensorflow",
	"libjax", "xla_", "pjrt_", "libtriton", "__triton_launcher", "libc.", "libc-",
	"libpthread", "ld-linux", "libm.",
	"libdl.", "librt.", "libstdc++", "libgcc_s", "libgomp", "libiomp", "libomp.", "libmpi.",
	"libucp.", "libffi.", "[vdso]",
};

/* Packages that others are written with. */
static const char *const frameworks[] = {
	"torch/", "triton/", "numpy/", "cupy/", "jax/", "jaxlib/", "tensorflow/", "nvidia/",
};

static bool begins_with(const char *text, const char *const *starts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strncmp(text, starts[i], strlen(starts[i])))
			return true;
	return false;
}

/* How far a frame is the program's own code. SCRIPT: what starts one that is installed as a
 * package (bin/vllm, "<string>" of a worker). */
enum own { OWN_NOT, OWN_SCRIPT, OWN_PACKAGE, OWN_CODE };

/* What torch.compile has written: ".../torchinductor_alice/to/ctoqv...lcr.py", or the same name in
 * the directory of TORCHINDUCTOR_CACHE_DIR: below the first letters of its hash. */
static bool is_compiled(const char *file)
{
	const char *name = str_basename(file);
	const size_t hash_len = 51;

	if (strstr(file, "/torchinductor_"))
		return true;
	return strlen(name) == 1 + hash_len + strlen(".py") && *name == 'c' && name - file >= 4 &&
	       name[-4] == '/' && !memcmp(name - 3, name + 1, 2);
}

static enum own own_of_python(const char *file)
{
	const char *package = file ? in_packages(file) : NULL;

	if (package && (!strstr(file, "-packages/") ||
			begins_with(package, frameworks,
				    sizeof(frameworks) / sizeof(frameworks[0]))))
		return OWN_NOT;
	if (package)
		return OWN_PACKAGE;
	if (!file || !strncmp(file, "<frozen ", 8) || is_compiled(file))
		return OWN_NOT;
	return str_ends_in(file, ".py") ? OWN_CODE : OWN_SCRIPT;
}

static enum own own_of(const struct stacks_frame *f)
{
	const char *blank = f->file ? strchr(f->file, ' ') : NULL;	/* behind the build id */

	if (!f->function || !strcmp(f->function, "_start"))
		return OWN_NOT;
	if (f->flags & FRAME_PYTHON)
		return own_of_python(f->file);
	if (blank && (in_packages(blank + 1) ||
		      begins_with(str_basename(blank + 1), foreign_files,
				  sizeof(foreign_files) / sizeof(foreign_files[0]))))
		return OWN_NOT;
	return OWN_CODE;
}

const struct stacks_frame *stacks_own_frame(const struct stacks *s, uint64_t number)
{
	const struct stacks_frame *f = stacks_frame(s, number), *own = NULL;
	enum own most = OWN_NOT;

	for (; f && most != OWN_CODE; f = stacks_frame(s, f->caller)) {
		const enum own here = own_of(f);

		if (here <= most)
			continue;
		most = here;
		own = f;
	}
	return own;
}

int stacks_put(const struct stacks *s, const struct event_sink *to)
{
	int err = 0;

	for (size_t i = 0; i < s->frames.n && !err; i++) {
		const struct stacks_frame *f = &s->frames.v[i];
		const struct event ev = {
			.kind = EVENT_FRAME,
			.frame = { .number = f->number, .caller = f->caller, .offset = f->offset,
				   .function = f->function, .file = f->file, .flags = f->flags },
		};

		err = to->push(to->ctx, &ev);
	}
	for (size_t i = 0; i < s->all.n && !err; i++)
		err = to->push(to->ctx, &(struct event){ .kind = EVENT_STACK,
							 .stack.id = s->all.v[i].id,
							 .stack.frame = s->all.v[i].frame,
							 .stack.known = s->all.v[i].known });
	return err;
}

static int index_place(struct map *index, uint64_t key, size_t place)
{
	struct map_slot *slot = map_put(index, key, NULL);

	if (slot)
		slot->value = place + 1;
	return slot ? 0 : -ENOMEM;
}

int stacks_copy(struct stacks *to, const struct stacks *from)
{
	int err = VEC_COPY(&to->frames, &from->frames) && VEC_COPY(&to->all,
								   &from->all) ? 0 : -ENOMEM;

	for (size_t i = 0; i < to->frames.n && !err; i++)
		err = index_place(&to->frame_index, to->frames.v[i].number, i);
	for (size_t i = 0; i < to->all.n && !err; i++)
		err = index_place(&to->index, to->all.v[i].id, i);
	return err;
}

void stacks_free(struct stacks *s)
{
	VEC_FREE(&s->frames);
	VEC_FREE(&s->all);
	map_free(&s->frame_index);
	map_free(&s->index);
	strpool_free(s->names);
	*s = (struct stacks){ 0 };
}
