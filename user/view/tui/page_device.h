/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Devices as the live view shows them: of the host, over all watched processes, or of one process;
 * what they did in the time of a snapshot, and in the refreshes before.
 */
#ifndef VIEW_TUI_PAGE_DEVICE_H
#define VIEW_TUI_PAGE_DEVICE_H

#include "view/device_bar.h"
#include "view/tui/drawing.h"

struct page_device {
	uint32_t number, last;		/* of alike ones, of the last of them */
	size_t alike;			/* so many more */
	char uuid[64];			/* of the host's; "": unknown */
	uint32_t process, device;	/* of one process: its handle and its own ordinal */
	bool is_process;
	const struct snapshot_device *s;	/* the only one that has it; NULL: there are more */
	const struct sampled_device *sampled;	/* NULL: NVML reported nothing of it */
	uint64_t ns[DEVICE_PARTS], wall_ns;	/* where several processes have it, what ran in its
						 * busy time is divided as the processes' own are */
	uint64_t used_bytes, total_bytes;	/* 0: unknown */
	struct { char s[64]; } note;
};

struct page_devices {
	VEC(struct page_device) all;
};

/* Those of the host, by number; alike ones with consecutive numbers are one. 0 or -ENOMEM. */
int page_devices_read(struct page_devices *v, const struct snapshot *snap);
/* Those of a process. */
int page_devices_read_process(struct page_devices *v, const struct snapshot *snap,
			      uint32_t process);
static inline void page_devices_free(struct page_devices *v)
{
	VEC_FREE(&v->all);
}

/* A column for each of the last refreshes, up to the one that is shown: how busy it was. */
void page_add_history(struct drawing *g, const struct page_device *v, size_t width);

/* The same as glyphs: what it did most of the time that it was busy. */
void page_add_history_parts(struct drawing *g, const struct page_device *v, size_t width);

/* "62 %", ">=62 %" where some of it is unknown, "?": text. */
const char *page_busy_text(const uint64_t ns[DEVICE_PARTS], uint64_t wall_ns, char *text,
			   size_t size);

#endif
