// SPDX-License-Identifier: BSD-3-Clause
/* `gpuprof help WORD` answers for every word that a report is made of, in lines that fit. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/note.h"
#include "base/str.h"
#include "findings/findings_rules.h"
#include "ledger/device_bucket.h"
#include "ledger/idle.h"
#include "ledger/thread_bucket.h"
#include "lib/test.h"
#include "view/words.h"

enum { WIDTH = 80 };

static void assert_explained(const char *name)
{
	struct strbuf out = STRBUF_INIT;

	if (words_explain(&out, name, WIDTH))
		fail_msg("there is no word '%s'", name);
	assert_false(out.failed);
	for (const char *line = out.s; *line; line += strcspn(line, "\n") + 1)
		if (strcspn(line, "\n") > WIDTH)
			fail_msg("%s: too wide: %.*s", name, (int)strcspn(line, "\n"), line);
	strbuf_free(&out);
}

static void assert_kind(const char *name, unsigned int kind)
{
	for (const struct word *w = word_list; w->name; w++)
		if (!strcmp(w->name, name) && w->kind == kind)
			return;
	fail_msg("there is no '%s' among %s", name, word_kind_names(kind));
}

TEST(every_bucket_finding_and_note_is_a_word)
{
	for (unsigned int i = 0; i < BUCKET_END; i++)
		assert_kind(bucket_name(i), strcmp(bucket_name(i), "stopped") ? WORD_BUCKET : WORD_FINDING);
	for (unsigned int i = 0; i < IDLE_CAUSES; i++)
		assert_kind(idle_name(i), strcmp(idle_name(i), "stopped") ? WORD_BUCKET : WORD_FINDING);
	for (unsigned int i = 0; i < DEVICE_BUCKETS_END; i++)
		assert_kind(device_bucket_name(i), WORD_BUCKET);
	for (size_t i = 0; i < finding_rules_n; i++)
		assert_kind(finding_rules[i].name, !strcmp(finding_rules[i].name, "other-process") ?
			    WORD_BUCKET : WORD_FINDING);
	for (size_t i = 0; i < finding_device_rules_n; i++)
		assert_kind(finding_device_rules[i].name, WORD_FINDING);
	for (unsigned int i = 0; i < NOTE_CODES; i++)
		assert_kind(note_name((enum note_code)i), i == NOTE_UNARMED ? WORD_BUCKET : WORD_NOTE);
}

static void explain(void *ctx, const char *name)
{
	(*(size_t *)ctx)++;
	assert_explained(name);
}

TEST(each_is_explained_in_lines_that_fit)
{
	size_t n = 0;

	words_each(explain, &n);
	assert_in_range(n, 300, 1000);	/* with the columns of 13 tables */
}

TEST(words_to_look_up_next_are_words)
{
	for (const struct word *w = word_list; w->name; w++) {
		char one[64];

		for (const char *at = w->see; at && *at; at += strspn(at, " ")) {
			size_t len = strcspn(at, " ");

			snprintf(one, sizeof(one), "%.*s", (int)len, at);
			assert_explained(one);
			assert_string_not_equal(one, w->name);
			at += len;
		}
	}
}

TEST(texts_are_sentences_and_words_of_a_kind_are_together_and_unique)
{
	unsigned int kind = 0;

	for (const struct word *w = word_list; w->name; w++) {
		assert_in_range(w->kind, kind, WORD_KINDS - 1);
		kind = w->kind;
		assert_int_equal(w->what[strlen(w->what) - 1], '.');
		assert_true(w->kind != WORD_FINDING || (w->title && strlen(w->title) <= 23));
		for (const struct word *other = word_list; other < w; other++)
			assert_false(other->kind == w->kind && !strcmp(other->name, w->name));
	}
}

TEST(each_finding_has_advice_of_one_line_and_only_findings_have)
{
	for (const struct word *w = word_list; w->name; w++) {
		const char *advice = w->fix ? w->fix : w->cuda;

		if (!w->title) {
			assert_null(w->fix);
			continue;
		}
		assert_ptr_equal(word_of_finding(w->name), w);
		if (strlen(advice) > 86 || advice[strlen(advice) - 1] != '.' || !isalpha(*advice))
			fail_msg("%s: '%s'", w->name, advice);
	}
	for (size_t i = 0; i < finding_rules_n; i++)
		assert_non_null(word_of_finding(finding_rules[i].name));
	for (size_t i = 0; i < finding_device_rules_n; i++)
		assert_non_null(word_of_finding(finding_device_rules[i].name));
	assert_null(word_of_finding("gemm"));
}

TEST(an_unknown_word_has_no_text)
{
	struct strbuf out = STRBUF_INIT;

	assert_int_equal(words_explain(&out, "no-such-word", WIDTH), -ENOENT);
	assert_int_equal(words_explain(&out, "", WIDTH), -ENOENT);
	assert_int_equal(out.len, 0);
	strbuf_free(&out);
}
