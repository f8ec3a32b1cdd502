// SPDX-License-Identifier: BSD-3-Clause
/* Lines are written whole, so that threads need no lock of their own. Without NVTX's header it has none. */
#include "mix_ranges.h"
#include "program.h"

#include <stddef.h>

#if __has_include(<nvtx3/nvToolsExt.h>)

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>

static FILE *file;
static nvtxDomainHandle_t domain;

int mix_ranges_open(const char *dir)
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/%d.ranges", dir, (int)getpid()) >= (int)sizeof(path))
		return -1;
	file = fopen(path, "we");
	domain = nvtxDomainCreateA("mix");
	return file ? 0 : -1;
}

struct mix_range mix_range_begin(const char *name, bool in_domain, bool is_start)
{
	struct mix_range r = { .name = name, .in_domain = in_domain, .is_start = is_start };
	nvtxEventAttributes_t e = { .version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
				    .messageType = NVTX_MESSAGE_TYPE_ASCII };

	e.message.ascii = name;
	r.before_ns = now_ns();
	if (is_start)
		r.id = in_domain ? nvtxDomainRangeStartEx(domain, &e) : nvtxRangeStartEx(&e);
	else if (in_domain)
		nvtxDomainRangePushEx(domain, &e);
	else
		nvtxRangePushEx(&e);
	r.after_ns = now_ns();
	return r;
}

void mix_range_end(struct mix_range *r)
{
	uint64_t before_ns = now_ns();

	if (!r->name)
		return;
	if (r->is_start && r->in_domain)
		nvtxDomainRangeEnd(domain, r->id);
	else if (r->is_start)
		nvtxRangeEnd(r->id);
	else if (r->in_domain)
		nvtxDomainRangePop(domain);
	else
		nvtxRangePop();
	fprintf(file, "%d %s %s %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", (int)gettid(),
		r->in_domain ? "mix" : "-", r->name, r->is_start ? "start" : "push", r->before_ns,
		r->after_ns, before_ns, now_ns());
	r->name = NULL;
}

#else
int mix_ranges_open(const char *dir)
{
	(void)dir;
	return -1;
}

struct mix_range mix_range_begin(const char *name, bool in_domain, bool is_start)
{
	return (struct mix_range){ .name = name, .in_domain = in_domain, .is_start = is_start };
}

void mix_range_end(struct mix_range *r)
{
	r->name = NULL;
}
#endif
