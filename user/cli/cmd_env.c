// SPDX-License-Identifier: BSD-3-Clause
/*
 * `gpuprof env`: installs the helper, and prints the variables by which processes started
 * elsewhere load it. In a pod an init container installs it. The output can be pasted;
 * instructions go to standard error. Each form is a row of `forms`. The helper sleeps until
 * gpuprof watches the process.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "base/exit.h"
#include "view/output.h"
#include "cli/env_check.h"
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

/* As YAML and JSON have it. */
static void add_quoted(struct strbuf *out, const char *text, const char *special)
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

/* "OPTION MOUNT --env NAME=VALUE --env ..." */
static void add_options(struct strbuf *out, const struct variables *vs, const char *option,
			const struct strbuf *mount)
{
	struct strbuf word = STRBUF_INIT;

	strbuf_addf(out, "%s ", option);
	strbuf_add_shell(out, mount->s);
	for (size_t i = 0; i < vs->n; i++) {
		strbuf_reset(&word);
		strbuf_addf(&word, "%s=%s", vs->v[i].name, vs->v[i].value);
		strbuf_addstr(out, " --env ");
		strbuf_add_shell(out, word.s);
	}
	strbuf_addch(out, '\n');
	out->failed |= mount->failed || word.failed;
	strbuf_free(&word);
}

static void form_docker(struct strbuf *out, const struct variables *vs)
{
	struct strbuf mount = STRBUF_INIT;

	strbuf_addf(&mount, "type=bind,src=%s,dst=%s,readonly", vs->dir, vs->dir);
	add_options(out, vs, "--mount", &mount);
	strbuf_free(&mount);
}

/* The helper comes with an image, so that nodes need nothing. A volume of this kind can be written
 * by all, where `env --dir` refuses to install: so it is copied there. */
static void form_k8s(struct strbuf *out, const struct variables *vs)
{
	strbuf_addstr(out, "spec:\n  template:\n    spec:\n      initContainers:\n"
			   "      - name: gpuprof\n        image: IMAGE-WITH-GPUPROF\n"
			   "        command:\n        - sh\n        - -c\n"
			   "        - gpuprof env -q --dir /tmp/gpuprof >/dev/null && "
			   "cp /tmp/gpuprof/" INJECT_FILE " /helper/\n"
			   "        volumeMounts:\n        - name: gpuprof\n"
			   "          mountPath: /helper\n"
			   "      containers:\n      - name: CONTAINER\n        env:\n");
	for (size_t i = 0; i < vs->n; i++) {
		strbuf_addf(out, "        - name: %s\n          value: ", vs->v[i].name);
		/* Kubernetes expands $(NAME) in a value and halves $$. */
		add_quoted(out, vs->v[i].value, "\"\\\\\\$$");
		strbuf_addch(out, '\n');
	}
	strbuf_addstr(out, "        volumeMounts:\n        - name: gpuprof\n          mountPath: ");
	add_quoted(out, vs->dir, "\"\\\\\\");
	strbuf_addstr(out, "\n          readOnly: true\n      volumes:\n      - name: gpuprof\n"
			   "        emptyDir: {}\n");
}

/* A device of the Container Device Interface without a device node. 0.6 is the first version that
 * lets the second part of `kind` have dots, and one that all runtimes of today read. */
static void form_cdi(struct strbuf *out, const struct variables *vs)
{
	struct strbuf word = STRBUF_INIT;

	strbuf_addstr(out, "{\n  \"cdiVersion\": \"0.6.0\",\n  \"kind\": \"gpuprof.dev/helper\",\n"
			   "  \"devices\": [\n    {\n      \"name\": \"on\",\n"
			   "      \"containerEdits\": {\n        \"env\": [");
	for (size_t i = 0; i < vs->n; i++) {
		strbuf_reset(&word);
		strbuf_addf(&word, "%s=%s", vs->v[i].name, vs->v[i].value);
		strbuf_addstr(out, i ? ",\n          " : "\n          ");
		add_quoted(out, word.s, "\"\\\\\\");
	}
	strbuf_addstr(out, "\n        ],\n        \"mounts\": [\n          {\n"
			   "            \"hostPath\": ");
	add_quoted(out, vs->dir, "\"\\\\\\");
	strbuf_addstr(out, ",\n            \"containerPath\": ");
	add_quoted(out, vs->dir, "\"\\\\\\");
	strbuf_addstr(out, ",\n            \"options\": [\"ro\", \"nosuid\", \"nodev\", \"bind\"]\n"
			   "          }\n        ]\n      }\n    }\n  ]\n}\n");
	out->failed |= word.failed;
	strbuf_free(&word);
}

static void form_apptainer(struct strbuf *out, const struct variables *vs)
{
	struct strbuf mount = STRBUF_INIT;

	strbuf_addf(&mount, "%s:%s:ro", vs->dir, vs->dir);
	add_options(out, vs, "--bind", &mount);
	strbuf_free(&mount);
}

/* Slurm takes what is printed as it is, without quotes. A task that names an injection itself
 * keeps it, and a node without the file starts tasks as before. */
static void form_prolog(struct strbuf *out, const struct variables *vs)
{
	struct strbuf line = STRBUF_INIT;

	strbuf_addstr(out, "#!/bin/sh\n[ -z \"$" INJECT_CUDA "\" ] || exit 0\n[ -r ");
	strbuf_add_shell(out, vs->v[0].value);
	strbuf_addstr(out, " ] || exit 0\n");
	for (size_t i = 0; i < vs->n; i++) {
		strbuf_reset(&line);
		strbuf_addf(&line, "export %s=%s", vs->v[i].name, vs->v[i].value);
		strbuf_addf(out, "[ -n \"$%s\" ] || printf '%%s\\n' ", vs->v[i].name);
		strbuf_add_shell(out, line.s);
		strbuf_addch(out, '\n');
	}
	out->failed |= line.failed;
	strbuf_free(&line);
}

static const struct {
	void (*print)(struct strbuf *out, const struct variables *vs);
	const char *what;	/* to do with it */
	/* characters that its reader does not accept; beside control characters */
	const char *not_dir, *not_value;	/* in a directory; in any value */
	bool is_text;		/* its reader takes UTF-8 only */
	bool is_elsewhere;	/* the directory is not of this host: nothing is installed */
} forms[ENV_FORMS] = {
	[ENV_SHELL] = { form_shell,
			"paste it, or: eval \"$(gpuprof env)\" with the same options; it is for "
			"what is started then", "", "", false, false },
	[ENV_SYSTEMD] = { form_systemd, "add it with `systemctl edit UNIT`, then restart the unit",
			  "", "", true, false },
	[ENV_DOCKER] = { form_docker,
			 "add it to the options of `docker run`, before the image's name", ",\"",
			 "", false, false },
	[ENV_K8S] = { form_k8s,
		      "put in the container's name and an image that holds gpuprof (of your own: "
		      "FROM debian, with the package of `make deb`), then: `kubectl patch "
		      "deployment NAME --patch-file FILE`", ":", "", true, true },
	[ENV_SLURM] = { form_shell,
			"put it into the job's script before srun; the helper must be installed "
			"on every node (or with --dir on a shared file system)",
			"", "", false, false },
	[ENV_CDI] = { form_cdi,
		      "write it to /etc/cdi/gpuprof.json, then add to the options of `docker "
		      "run` or `podman run`: --device gpuprof.dev/helper=on", "", "", true, false },
	/* --bind is cut at , and :, --env at ,; values are expanded by a shell inside */
	[ENV_APPTAINER] = { form_apptainer,
			    "add it to the options of `apptainer exec` (or run), before the "
			    "image's name", ":", ",=\"\\$`", false, false },
	[ENV_PROLOG] = { form_prolog,
			 "name it as TaskProlog in slurm.conf, or by `srun --task-prolog`; "
			 "the helper must be installed on every node (or with --dir on a "
			 "shared file system)", "", "", false, false },
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

/* The first of these characters in the text, as a flaw. */
static const char *flaw_in(const char *text, const char *bad, char shown[6])
{
	const char *at = text + strcspn(text, bad);

	snprintf(shown, 6, "a '%c'", *at);
	return *at ? shown : NULL;
}

static bool is_plain_dir(const char *dir, enum env_form form)
{
	const char *flaw = flaw_of(dir, form);
	char shown[256], character[6];

	if (!flaw)
		flaw = flaw_in(dir, forms[form].not_dir, character);
	if (!flaw)
		flaw = flaw_in(dir, forms[form].not_value, character);
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
		char character[6];

		if (!flaw)
			flaw = flaw_in(vs->v[i].value, forms[form].not_value, character);
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
		log_error("cannot print the variables: out of memory");
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

/* In the containers; nothing is installed here. */
static int print_elsewhere(const char *dir, enum env_form form)
{
	struct strbuf path = STRBUF_INIT;
	int rc = EXIT_USAGE;

	strbuf_addf(&path, "%s/" INJECT_FILE, dir);
	if (path.failed) {
		log_error("cannot print the variables: out of memory");
		rc = EXIT_FAIL;
	} else if (*dir != '/' || !dir[1]) {
		log_error("cannot mount the helper at '%s' in a container; give the whole name of "
			  "a directory with --dir", dir);
	} else {
		rc = print(path.s, form);
	}
	strbuf_free(&path);
	return rc;
}

static int install_and_print(const char *given, enum env_form form)
{
	char *dir = given ? strdup(given) : install_default_dir(), *path = NULL;
	int rc = EXIT_FAIL, err;

	if (!dir) {
		log_error("cannot choose where to install the helper: HOME is not set; give --dir");
		return EXIT_FAIL;
	}
	if (!is_plain_dir(dir, form)) {
		free(dir);
		return EXIT_USAGE;
	}
	err = install_helper(dir, &path);
	if (err >= 0) {
		log_info("%s %s", err ? "the helper is" : "installed", path);
		rc = print(path, form);
	}
	free(path);
	free(dir);
	return rc;
}

static bool names_helper(const char *variable)
{
	const char *value = getenv(variable);

	return value && inject_is_helper(value);
}

static int print_removal(void)
{
	const char *before = inject_foreign(INJECT_CHAIN);
	struct variables vs = { .n = 0 };
	struct strbuf out = STRBUF_INIT;
	int rc = EXIT_USAGE;

	if (names_helper(INJECT_CUDA) && before)
		add_variable(&vs, INJECT_CUDA, before);
	else if (names_helper(INJECT_CUDA))
		strbuf_addstr(&out, "unset " INJECT_CUDA "\n");
	if (names_helper(INJECT_NVTX))
		strbuf_addstr(&out, "unset " INJECT_NVTX "\n");
	if (getenv(INJECT_CHAIN))
		strbuf_addstr(&out, "unset " INJECT_CHAIN "\n");
	if (are_plain(&vs, ENV_SHELL)) {
		form_shell(&out, &vs);
		log_info("%s", !out.len ? "nothing to remove: no variable names the helper" :
			 "paste it, or: eval \"$(gpuprof env --remove)\"; processes that run keep "
			 "the helper, and its file stays");
		rc = output_write(NULL, &out);
	}
	strbuf_free(&out);
	return rc;
}

int verb_env(const struct options *o)
{
	const enum env_form form = (enum env_form)o->env_form;

	if (o->check)
		return env_check(&o->session);
	if (o->remove)
		return print_removal();
	if (forms[form].is_elsewhere)
		return print_elsewhere(o->dir ? o->dir : INSTALL_SYSTEM_DIR, form);
	return install_and_print(o->dir, form);
}
