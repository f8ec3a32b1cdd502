/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of a set that was kept, each read into a model of its own, for the tests of what they say together. */
#ifndef UNIT_KEEP_ROOM_H
#define UNIT_KEEP_ROOM_H

#include "lib/capture_lib.h"
#include "lib/stamped.h"

#include "capture/capture_sink.h"
#include "model/model.h"
#include "lib/cmocka.h"

static inline int keep_hear(void *model, const struct event *ev)
{
	return model_push(model, ev);
}

/* One that is complete and of at most max_bytes; it is gone then. prepare: on the empty model, or NULL. */
static inline struct model *keep_read_file(uint64_t number, int64_t max_bytes, void (*prepare)(struct model *m))
{
	char path[PATH_MAX];
	struct capture_reader *c;
	struct model *m;
	struct stat st;

	assert_int_equal(capture_file_name(path, lib_path, number), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size <= max_bytes);
	c = capture_open(path);
	assert_non_null(c);
	m = model_new(&lib_funcs);
	if (prepare)
		prepare(m);
	assert_int_equal(capture_read(c, &(struct event_sink){ keep_hear, m }), 0);
	assert_int_equal(capture_state(c), CAPTURE_COMPLETE);
	assert_int_equal(model_finish(m), 0);
	unlink(path);
	capture_free(c);
	return m;
}

#endif
