// SPDX-License-Identifier: BSD-3-Clause
/* Notes: each code is a word of its own; a model keeps the first of them, a snapshot their copies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"
#include "base/note.h"
#include "facts/notes.h"

static void each_code_is_a_kebab_case_word_of_its_own(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < NOTE_CODES; i++) {
		const char *name = note_name((enum note_code)i);

		assert_non_null(name);
		assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz-"), strlen(name));
		assert_true(*name != '-' && name[strlen(name) - 1] != '-');
		for (unsigned int k = 0; k < i; k++)
			assert_string_not_equal(name, note_name((enum note_code)k));
	}
}

static struct event note(const char *code, const char *text)
{
	return (struct event){ .kind = EVENT_NOTE, .pid = 7, .note.code = code, .note.text = text,
			       .note.severity = NOTE_WARNING };
}

static void notes_of_later_versions_are_kept_as_they_are(void **state)
{
	struct event ev = note("code-of-2031", "a text");
	struct notes n = { 0 }, copy = { 0 };

	(void)state;
	ev.note.severity = 200;
	assert_int_equal(notes_push(&n, &ev), 0);
	assert_int_equal(notes_copy(&copy, &n), 0);
	notes_free(&n);
	assert_int_equal(copy.all.n, 1);
	assert_string_equal(copy.all.v[0].code, "code-of-2031");
	assert_string_equal(copy.all.v[0].text, "a text");
	assert_int_equal(copy.all.v[0].pid, 7);
	assert_string_equal(note_severity_name(copy.all.v[0].severity), "?");
	notes_free(&copy);
}

static void notes_are_bounded_and_need_a_code(void **state)
{
	struct event ev = note(NULL, "a text"), empty = note("records-lost", NULL);
	struct notes n = { 0 };

	(void)state;
	assert_int_not_equal(notes_push(&n, &ev), 0);
	for (int i = 0; i < 2 * NOTES_MAX; i++)
		assert_int_equal(notes_push(&n, &empty), 0);
	assert_int_equal(n.all.n, NOTES_MAX);
	assert_string_equal(n.all.v[0].text, "");
	notes_free(&n);
}

/* Logs notes of so many processes, and five of none, into a text. */
static void log_all(char *logged, size_t size, unsigned int processes)
{
	int file = memfd_create("stderr", 0), saved = dup(STDERR_FILENO);
	ssize_t n;

	assert_true(file >= 0 && saved >= 0);
	dup2(file, STDERR_FILENO);
	for (unsigned int pid = 1; pid <= processes; pid++)
		note_log("helper-not-found", NOTE_WARNING, pid, "no helper");
	for (unsigned int i = 0; i < 5; i++)
		note_log("nvml-failed", NOTE_WARNING, 0, "no NVML");
	note_log_rest();
	dup2(saved, STDERR_FILENO);
	n = pread(file, logged, size - 1, 0);
	logged[n > 0 ? n : 0] = '\0';
	close(file);
	close(saved);
}

static unsigned int count(const char *text, const char *word)
{
	unsigned int n = 0;

	while ((text = strstr(text, word)) != NULL) {
		text += strlen(word);
		n++;
	}
	return n;
}

static void of_one_code_three_processes_are_named_and_all_with_v(void **state)
{
	char logged[4096];

	(void)state;
	log_all(logged, sizeof(logged), 212);
	assert_int_equal(count(logged, "gpuprof: warning: no helper\n"), 3);
	assert_int_equal(count(logged, "gpuprof: warning: no NVML\n"), 5);
	assert_int_equal(count(logged, "gpuprof: warning: the same of 209 more processes "
				       "(-v: each; gpuprof help helper-not-found)\n"), 1);
	log_threshold = LOG_DEBUG;
	log_all(logged, sizeof(logged), 100);
	log_threshold = LOG_INFO;
	assert_int_equal(count(logged, "gpuprof: warning: no helper\n"), 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_code_is_a_kebab_case_word_of_its_own),
		cmocka_unit_test(notes_of_later_versions_are_kept_as_they_are),
		cmocka_unit_test(notes_are_bounded_and_need_a_code),
		cmocka_unit_test(of_one_code_three_processes_are_named_and_all_with_v),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
