// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the simulated NVML is ordered to say: facts from the environment and from the board's file.
 * A word that is no fact is said once on stderr.
 */
#include "libnvml.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_BYTES = 8192 };

static void complain(const char *word)
{
	static bool said;

	if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		fprintf(stderr, "gpusim: '%s' is no fact of the simulated NVML\n", word);
}

/* NAME[@DEVICE[/INSTANCE]]=VALUE[:FROM_MS[:UNTIL_MS]] */
static bool parse(char *word, struct nvml_fact *fact)
{
	char *value = strchr(word, '='), *device, *times;
	char *end = word;

	if (!value || value == word)
		return false;
	*value++ = '\0';
	*fact = (struct nvml_fact){ .device = NVML_EVERY, .instance = NVML_EVERY,
				    .until_ms = UINT64_MAX };
	device = strchr(word, '@');
	if (device) {
		*device++ = '\0';
		fact->device = (int)strtol(device, &end, 10);
		if (end != device && *end == '/')
			fact->instance = (int)strtol(end + 1, &end, 10);
		if (end == device || *end)
			return false;
	}
	times = strchr(value, ':');
	if (times) {
		*times++ = '\0';
		fact->from_ms = strtoull(times, &end, 10);
		if (*end == ':')
			fact->until_ms = strtoull(end + 1, &end, 10);
		if (*end)
			return false;
	}
	return snprintf(fact->name, sizeof(fact->name), "%s", word) < (int)sizeof(fact->name) &&
	       snprintf(fact->value, sizeof(fact->value), "%s", value) < (int)sizeof(fact->value);
}

static void add_all(struct nvml_facts *facts, char *text)
{
	char *rest = NULL, *word, copy[80];

	for (word = strtok_r(text, ", \t\n", &rest); word; word = strtok_r(NULL, ", \t\n", &rest)) {
		snprintf(copy, sizeof(copy), "%s", word);
		if (facts->count < NVML_FACTS && parse(word, &facts->all[facts->count]))
			facts->count++;
		else
			complain(copy);
	}
}

static bool read_file(char *text, size_t size)
{
	const char *directory = getenv("GPUSIM_BOARD");
	char path[PATH_MAX];
	ssize_t got;
	int fd;

	if (!directory)
		return false;
	snprintf(path, sizeof(path), "%s/facts", directory);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, text, size - 1);
	close(fd);
	text[got > 0 ? got : 0] = '\0';
	/* What stands behind the last line's end is still being written. */
	text[strrchr(text, '\n') ? strrchr(text, '\n') - text : 0] = '\0';
	return true;
}

void nvml_facts_read(struct nvml_facts *facts)
{
	const char *ordered = getenv("GPUSIM_NVML");
	char text[TEXT_BYTES];

	facts->count = 0;
	if (ordered) {
		snprintf(text, sizeof(text), "%s", ordered);
		add_all(facts, text);
	}
	if (read_file(text, sizeof(text)))
		add_all(facts, text);
}

bool nvml_fact_is(const struct nvml_fact *fact, const char *name, struct nvml_device device)
{
	return !strcmp(fact->name, name) &&
	       (fact->device == NVML_EVERY || device.index == NVML_EVERY ||
		fact->device == device.index) &&
	       (fact->instance == NVML_EVERY || fact->instance == device.instance);
}

const char *nvml_fact_find(const struct nvml_facts *facts, const char *name,
			   struct nvml_device device, uint64_t ms)
{
	unsigned int i;

	for (i = facts->count; i--;)
		if (nvml_fact_is(&facts->all[i], name, device) && facts->all[i].from_ms <= ms &&
		    ms < facts->all[i].until_ms)
			return facts->all[i].value;
	return NULL;
}

int nvml_fact_number(const char *name, int device, double fallback, double *number)
{
	return nvml_fact_of(name, (struct nvml_device){ device, NVML_EVERY }, fallback, number);
}

int nvml_fact_of(const char *name, struct nvml_device device, double fallback, double *number)
{
	struct nvml_facts facts;
	const char *value;
	char *end;

	nvml_facts_read(&facts);
	value = nvml_fact_find(&facts, name, device, nvml_ms());
	*number = fallback;
	if (!value)
		return NVML_OK;
	if (!strcmp(value, "none"))
		return NVML_NOT_SUPPORTED;
	*number = strtod(value, &end);
	if (end == value || *end) {
		complain(value);
		*number = fallback;
	}
	return NVML_OK;
}
