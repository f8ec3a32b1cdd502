// SPDX-License-Identifier: BSD-3-Clause
/* `gpuprof version`: one line, for people and for scripts. */
#include "base/str.h"
#include "view/output.h"
#include "cli/verbs.h"
#include "base/version.h"

int verb_version(const struct options *o)
{
	struct strbuf sb = STRBUF_INIT;
	int rc;

	strbuf_addf(&sb, "gpuprof %s\n", version_text());
	(void)o;
	rc = output_write(NULL, &sb);
	strbuf_free(&sb);
	return rc;
}
