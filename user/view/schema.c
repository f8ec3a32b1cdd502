// SPDX-License-Identifier: BSD-3-Clause
/*
 * The JSON Schema of what render_json writes, from the same data: the columns of view_list and the
 * keys of meta. A property is one line, so that a new column is one line in a diff. Keys and
 * tables that it does not have are valid: later versions add some.
 */
#include "view/schema.h"

#include <string.h>

#include "view/summary.h"
#include "view/view.h"
#include "view/words.h"

/* As add_pair of render.c writes them. */
static const struct {
	const char *type;
	const char *more;	/* further keywords */
} of_cell[] = {
	[CELL_TEXT] = { "\"string\"", "" },
	[CELL_INT] = { "\"integer\"", ", \"minimum\": 0" },
	[CELL_NS] = { "\"integer\"", ", \"minimum\": 0" },
	[CELL_BYTES] = { "\"integer\"", ", \"minimum\": 0" },
	[CELL_SHARE] = { "\"number\"", ", \"minimum\": 0" },
	[CELL_REAL] = { "\"number\"", "" },
	[CELL_ID] = { "\"integer\"", ", \"minimum\": 0" },
	[CELL_DEVICE] = { "\"integer\"", ", \"minimum\": 0" },
	[CELL_BOOL] = { "\"boolean\"", "" },
	[CELL_STACK] = { "\"array\"", ", \"items\": {\"type\": \"string\"}" },
	[CELL_PROSE] = { "\"string\"", "" },
	[CELL_COMMAND] = { "\"string\"", "" },
};

struct property {
	const char *name, *help;
	unsigned int type;	/* enum cell_type */
	bool never_null;
};

static void add_property(struct strbuf *out, const struct property *p)
{
	strbuf_addstr(out, "\n     ");
	render_json_string(out, p->name);
	strbuf_addf(out, p->never_null ? ": {\"type\": %s" : ": {\"type\": [%s, \"null\"]",
		    of_cell[p->type].type);
	strbuf_addf(out, "%s, \"description\": ", of_cell[p->type].more);
	render_json_string(out, p->help);
	strbuf_addch(out, '}');
}

static void add_name(struct strbuf *out, bool is_first, const char *name)
{
	strbuf_addstr(out, is_first ? "" : ", ");
	render_json_string(out, name);
}

/* ---- meta ------------------------------------------------------------------------------------ */

static const char *help_of_field(const char *name)
{
	for (const struct word *w = word_list; w->name; w++)
		if (w->kind == WORD_FIELD && !strcmp(w->name, name))
			return w->what;
	return "";
}

static const char notes[] = ",\n      \"items\": {\"type\": \"object\", \"required\": "
			    "[\"code\", \"severity\", \"pid\", \"text\"],\n"
			    "       \"properties\": {\"code\": {\"type\": \"string\"}, "
			    "\"severity\": {\"enum\": [\"info\", \"warning\"]},\n"
			    "        \"pid\": {\"type\": [\"integer\", \"null\"]}, "
			    "\"text\": {\"type\": \"string\"}}}}";

static void add_notes(struct strbuf *out)
{
	strbuf_addstr(out, "\n     \"notes\": {\"type\": \"array\", \"description\": ");
	render_json_string(out, help_of_field("notes"));
	strbuf_addstr(out, notes);
}

static void add_meta(struct strbuf *out)
{
	struct summary_text unknown;

	summary_write_unknown(&unknown);
	out->failed |= !unknown.pool;
	strbuf_addstr(out, "  \"meta\": {\"type\": \"object\",\n   \"required\": [");
	for (size_t i = 0; i < unknown.meta.n; i++)
		add_name(out, !i, unknown.pairs[i].key);
	strbuf_addstr(out, ", \"notes\"],\n   \"properties\": {");
	for (size_t i = 0; i < unknown.meta.n; i++) {
		const struct meta_pair *pair = &unknown.pairs[i];

		add_property(out, &(struct property){ pair->key, help_of_field(pair->key),
						      pair->type, pair->value.known });
		strbuf_addch(out, ',');
	}
	add_notes(out);
	strbuf_addstr(out, "\n   }},\n");
	summary_text_free(&unknown);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static bool is_listed(const char *list, const char *name)
{
	const size_t len = strlen(name);

	for (; list; list = strchr(list, ' ')) {
		list += *list == ' ';
		if (!strncmp(list, name, len) && (list[len] == ' ' || !list[len]))
			return true;
	}
	return false;
}

static void add_table(struct strbuf *out, const struct view *v)
{
	/* Some columns are only there with --by launch: not required. */
	const unsigned int all = view_columns(v, CALLS_BY_LAUNCH);

	strbuf_addstr(out, "\n   ");
	render_json_string(out, v->name);
	strbuf_addstr(out, ": {\"type\": \"array\", \"description\": \"a row: ");
	strbuf_addf(out, "%s\",\n    \"items\": {\"type\": \"object\",\n    \"required\": [",
		    v->help);
	for (unsigned int i = 0; i < v->n_columns; i++)
		add_name(out, !i, v->columns[i].name);
	strbuf_addstr(out, "],\n    \"properties\": {");
	for (unsigned int i = 0; i < all; i++) {
		const struct column *c = &v->columns[i];

		strbuf_addstr(out, i ? "," : "");
		add_property(out, &(struct property){ c->name, c->help, c->type,
						      is_listed(v->never_null, c->name) });
	}
	strbuf_addstr(out, "\n    }}}");
}

static const char head[] =
	"{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
	" \"title\": \"gpuprof report\",\n"
	" \"description\": \"What gpuprof, gpuprof stat and gpuprof report print with "
	"--format json. Made by: gpuprof help schema\",\n"
	" \"type\": \"object\",\n"
	" \"required\": [\"schema_version\", \"meta\", \"tables\"],\n"
	" \"properties\": {\n"
	"  \"schema_version\": {\"const\": 1},\n";

void schema_add(struct strbuf *out)
{
	strbuf_addstr(out, head);
	add_meta(out);
	strbuf_addstr(out, "  \"tables\": {\"type\": \"object\", \"properties\": {");
	for (size_t i = 0; view_list[i]; i++) {
		strbuf_addstr(out, i ? "," : "");
		add_table(out, view_list[i]);
	}
	strbuf_addstr(out, "\n  }}\n }}\n");
}
