// SPDX-License-Identifier: BSD-3-Clause
/*
 * `gpuprof doctor`: what works on this host, what does not, what to do; with -p, why a process
 * shows nothing. Each check is a row; all of them are run, whatever fails. Sample:
 *
 *   ok    kernel                   6.18.4 x86_64
 *   less  CAP_SYS_PTRACE           missing: cannot read what other users' processes map
 *   FAIL  kernel BTF               missing: needs a kernel with CONFIG_DEBUG_INFO_BTF
 */
#include "cli/cmd_doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "session/target_list.h"
#include "view/output.h"
#include "cli/verbs.h"
#include "base/version.h"

void doctor_say(struct doctor *d, enum verdict v, const char *what, const char *fmt, ...)
{
	static const char *const words[] = { [GOOD] = "ok", [WORSE] = "less", [BAD] = "FAIL" };
	char *detail = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&detail, fmt, ap);
	va_end(ap);
	strbuf_addf(&d->out, "%-5s %-24s ", words[v], what);
	for (int i = 0; i < n; i++)	/* paths of others, on our user's terminal */
		strbuf_addch(&d->out, (unsigned char)detail[i] < ' ' ? '?' : detail[i]);
	strbuf_addch(&d->out, '\n');
	if (n >= 0)
		free(detail);
}

void doctor_fail(struct doctor *d, int exit_code)
{
	d->rc = d->rc ? d->rc : exit_code;
}

int verb_doctor(const struct options *o)
{
	struct doctor d = { .o = o, .out = STRBUF_INIT };
	struct target_list chosen;
	int rc = target_list_find(&chosen, &o->session);

	d.rc = rc;
	strbuf_addf(&d.out, "gpuprof %s\n", version_text());
	doctor_host(&d);
	for (size_t i = 0; i < chosen.n; i++)
		doctor_process(&d, (pid_t)chosen.pids[i]);
	target_list_free(&chosen);
	rc = output_write(NULL, &d.out);
	strbuf_free(&d.out);
	return d.rc ? d.rc : rc;
}
