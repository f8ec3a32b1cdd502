// SPDX-License-Identifier: BSD-3-Clause
/*
 * `gpuprof env`: installs the helper, and prints the variables by which processes started
 * elsewhere load it. The output can be pasted; instructions go to standard error. Each form is a
 * row of `forms`. The helper sleeps until gpuprof watches the process.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "base/exit.h"
#include "view/output.h"
#include "cli/option_row.h"
#include "cli/verbs.h"
#include "inject/install.h"
#include "base/utf8.h"

#define VARIABLES 3

struct variables {
	struct {
		const char *name, *value;
	} v[VARIABLES];
	size_t n;
	const char *dir;	/* of the helper */
};

/* ---- quoting -------------------------------------------------------------------------------- */

/* special: characters that get another one before them; pairs of both. */
static void add_escaped(struct strbuf *out, const char *text, const char *special)
{
	for (; *text; text++) {
		for (const char *pair = special; *pair; pair += 2)
			if (*pair == *text)
				strbuf_addch(out, pair[1]);
		strbuf_addch(out, *text);
	}
}

static void add_yaml(struct strbuf *out, const char *text, const char *special)
{
	strbuf_addch(out, '"');
	add_escaped(out, text, special);
	strbuf_addch(out, '"');
}

/* ---- forms ---------------------------------------------------------------------------------- */

static void form_shell(struct strbuf *out, const struct variables *vs)
{
	for (size_t i = 0; i < vs->n; i++) {
		strbuf_addf(out, "export %s=", vs->v[i].name);
		strbuf_add_shell(out, vs->v[i].value);
		strbuf_addch(out, '\n');
	}
}

static void form_systemd(struct strbuf *out, const struct variables *vs)
{
	strbuf_addstr(out, "[Service]\n");
	for (size_t i = 0; i < vs->n; i++) {
		strbuf_addf(out, "Environment=\"%s=", vs->v[i].name);
		add_escaped(out, vs->v[i].value, "\"\\\\\\%%");	/* % begins a specifier */
		strbuf_addstr(out, "\"\n");
	}
}

static void form_docker(struct strbuf *out, const struct variables *vs)
{
	struct strbuf word = STRBUF_INIT;

	strbuf_addf(&word, "type=bind,src=%s,dst=%s,readonly", vs->dir, vs->dir);
	strbuf_addstr(out, "--mount ");
	strbuf_add_shell(out, word.s);
	for (size_t i = 0; i < vs->n; i++) {
		strbuf_reset(&word);
		strbuf_addf(&word, "%s=%s", vs->v[i].name, vs->v[i].value);
		strbuf_addstr(out, " --env ");
		strbuf_add_shell(out, word.s);
	}
	strbuf_addch(out, '\n');
	out->failed |= word.failed;
	strbuf_free(&word);
}

static void form_k8s(struct strbuf *out, const struct variables *vs)
{
	strbuf_addstr(out, "spec:\n  template:\n    spec:\n      containers:\n"
			   "      - name: CONTAINER\n        env:\n");
	for (size_t i = 0; i < vs->n; i++) {
		strbuf_addf(out, "        - name: %s\n          value: ", vs->v[i].name);
		/* Kubernetes expands $(NAME) in a value and halves $$. */
		add_yaml(out, vs->v[i].value, "\"\\\\\\$$");
		strbuf_addch(out, '\n');
	}
	strbuf_addstr(out, "        volumeMounts:\n        - name: gpuprof\n          mountPath: ");
	add_yaml(out, vs->dir, "\"\\\\\\");
	strbuf_addstr(out, "\n          readOnly: true\n      volumes:\n      - name: gpuprof\n"
			   "        hostPath:\n          path: ");
	add_yaml(out, vs->dir, "\"\\\\\\");
	strbuf_addstr(out, "\n          type: Directory\n");
}

static const struct {
	void (*print)(struct strbuf *out, const struct variables *vs);
	const char *what;	/* to do with it */
	/* characters that its reader does not accept in a directory; beside control characters */
	const char *not_dir;
	bool is_text;		/* its reader takes UTF-8 only */
} forms[ENV_FORMS] = {
	[ENV_SHELL] = { form_shell,
			"paste it, or: eval \"$(gpuprof env)\"; it is for what is started then", "",
			false },
	[ENV_SYSTEMD] = { form_systemd, "add it with `systemctl edit UNIT`, then restart the unit",
			  "", true },
	[ENV_DOCKER] = { form_docker,
			 "add it to the options of `docker run`, before the image's name", ",\"",
			 false },
	[ENV_K8S] = { form_k8s,
		      "with the container's name in it: `kubectl patch deployment NAME "
		      "--patch-file FILE`; the helper must be installed on every node",
		      ":", true },
	[ENV_SLURM] = { form_shell,
			"put it into the job's script before srun; the helper must be installed "
			"on every node (or with --dir on a shared file system)",
			"", false },
};

/* ---- all of it ------------------------------------------------------------------------------ */

static void add_variable(struct variables *vs, const char *name, const char *value)
{
	vs->v[vs->n].name = name;
	vs->v[vs->n++].value = value;
}

/* The user's other settings stay: another injection is loaded after ours, but NVTX has one only. */
static void choose(struct variables *vs, const char *path)
{
	const char *before = inject_foreign(INJECT_CUDA), *nvtx = inject_foreign(INJECT_NVTX);

	add_variable(vs, INJECT_CUDA, path);
	if (nvtx)
		log_warn("NVTX stays with %s, which " INJECT_NVTX " names: ranges are not seen",
			 nvtx);
	else
		add_variable(vs, INJECT_NVTX, path);
	if (!before)
		before = inject_foreign(INJECT_CHAIN);
	if (!before)
		return;
	add_variable(vs, INJECT_CHAIN, before);
	log_info("%s, which was asked for before, is loaded after the helper", before);
}

/* Characters that no form can quote, or that would be run when pasted: control characters; in a
 * text also those that end a line elsewhere or are no characters at all. */
static const char *flaw_of(const char *text, enum env_form form)
{
	for (const char *at = text; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			return "a control character";
	while (forms[form].is_text && *text) {
		int32_t code = utf8_next(&text);

		if (code < 0 || (code >= 0x80 && code < 0xa0) || code == 0x2028 || code == 0x2029 ||
		    code == 0xfeff || code == 0xfffe || code == 0xffff)
			return "what is no plain UTF-8";
	}
	return NULL;
}

static bool is_plain_dir(const char *dir, enum env_form form)
{
	const char *flaw = flaw_of(dir, form);
	const char bad = dir[strcspn(dir, forms[form].not_dir)];
	const char character[] = { 'a', ' ', '\'', bad, '\'', '\0' };
	char shown[256];

	if (!flaw && bad)
		flaw = character;
	if (!flaw)
		return true;
	str_copy_line(shown, sizeof(shown), dir, strlen(dir));
	log_error("cannot write the directory '%s' in the form asked for: it has %s; choose "
		  "another one with --dir", shown, flaw);
	return false;
}

/* Values that come from our own environment. */
static bool are_plain(const struct variables *vs, enum env_form form)
{
	for (size_t i = 0; i < vs->n; i++) {
		const char *flaw = flaw_of(vs->v[i].value, form);

		if (!flaw)
			continue;
		log_error("cannot write %s in the form asked for: its value has %s; "
			  "unset " INJECT_CUDA " and " INJECT_CHAIN " first", vs->v[i].name, flaw);
		return false;
	}
	return true;
}

static int print(const char *path, enum env_form form)
{
	struct variables vs = { .n = 0 };
	struct strbuf out = STRBUF_INIT;
	char *dir = strndup(path, (size_t)(strrchr(path, '/') - path));
	int rc = EXIT_USAGE;

	if (!dir) {
		log_error("out of memory");
		return EXIT_FAIL;
	}
	vs.dir = dir;
	choose(&vs, path);
	if (is_plain_dir(dir, form) && are_plain(&vs, form)) {
		forms[form].print(&out, &vs);
		rc = output_write(NULL, &out);
		if (!rc)
			log_info("%s", forms[form].what);
	}
	strbuf_free(&out);
	free(dir);
	return rc;
}

int verb_env(const struct options *o)
{
	char *dir = o->dir ? strdup(o->dir) : install_default_dir(), *path = NULL;
	int rc = EXIT_FAIL, err;

	if (!dir) {
		log_error("cannot tell where to install the helper: HOME is not set; give --dir");
		return EXIT_FAIL;
	}
	if (!is_plain_dir(dir, (enum env_form)o->env_form)) {
		free(dir);
		return EXIT_USAGE;
	}
	err = install_helper(dir, &path);
	if (err >= 0) {
		log_info("%s %s", err ? "the helper is" : "installed", path);
		rc = print(path, (enum env_form)o->env_form);
	}
	free(path);
	free(dir);
	return rc;
}
