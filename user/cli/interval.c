// SPDX-License-Identifier: BSD-3-Clause
/* No verb: a report of each interval on standard output, until the targets end or Ctrl-C. */
#include "cli/exit.h"
#include "cli/print.h"
#include "cli/session.h"
#include "cli/verbs.h"

struct intervals {
	const struct options *o;
	unsigned int printed;
	int rc;
};

static int print_interval(void *ctx, const struct model *m, uint64_t now_ns)
{
	struct intervals *iv = ctx;
	struct print_extra extra = { .now_ns = now_ns, .again = iv->printed++ > 0 };
	int rc = print_report(iv->o, m, &extra);

	if (rc == EXIT_PARTIAL)
		iv->rc = rc;	/* said at the end; the next interval may be whole */
	else if (rc)
		return iv->rc = rc;
	return 0;
}

int verb_default(const struct options *o)
{
	struct intervals iv = { .o = o };
	struct session_plan plan = { .o = o, .capture_path = o->capture,
				     .interval_ns = o->interval_ns,
				     .on_interval = print_interval, .ctx = &iv };
	struct session_outcome out;
	int rc = print_check(o);

	if (rc)
		return rc;
	rc = session_run(&plan, &out);
	/* The rest, since the last whole interval. */
	if (!rc && !iv.rc && out.started && !(o->count && iv.printed >= o->count)) {
		struct print_extra extra = { .again = iv.printed > 0 };

		rc = print_report(o, out.model, &extra);
	}
	rc = rc ? rc : iv.rc;
	if (out.command_status > 0)
		rc = out.command_status;
	session_outcome_free(&out);
	return rc;
}
