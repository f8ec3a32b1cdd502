/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NVML's samples of the host's devices, whichever process uses them: how active they were, the
 * reasons of reduced clocks, which processes have memory of them, and faults. Bounded, also
 * against forged devices. Knows no works and no books.
 */
#ifndef FACTS_SAMPLES_H
#define FACTS_SAMPLES_H

#include <stdbool.h>

#include "base/vec.h"
#include "event/device_number.h"
#include "event/event.h"

#define SAMPLES_DEVICES_MAX 1024
#define SAMPLES_USERS_MAX 4096		/* of a device */
#define SAMPLES_FAULTS_MAX 64		/* of a device, of different kinds */
#define SAMPLES_REASONS 8		/* bits of SAMPLE_CLOCK_REASONS */

struct sample_mean {
	uint64_t ns;			/* of samples that have it */
	double sum;			/* value x ns */
};

struct sample_user {
	uint32_t process, pid;		/* handle; as it is shown. 0: unknown */
	bool has_bytes;
	bool stayed;			/* it was on the device when the sample began, too */
	uint64_t used_bytes;		/* at the last sample that knew */
	uint64_t seen_ns;
};

struct sample_fault {
	uint8_t what;			/* enum fault_what */
	uint64_t number;		/* of an XID */
	uint64_t first_ns, times;
};

struct sampled_device {
	char uuid[64], name[64];
	uint32_t number;		/* on the host: event/device_number.h */
	uint64_t last_ns;		/* where its last sample ended; 0: none came */
	uint64_t sampled_ns;
	/* of rates; a reading stands for all of its sample */
	struct sample_mean mean[SAMPLE_FIELDS];
	uint64_t energy_mj, energy_ns;	/* so much between readings so far apart */
	uint64_t energy_last_mj, energy_at_ns;	/* the last reading; 0: there was none */
	uint64_t reasons_ns;		/* in which the reasons of the clocks are known */
	uint64_t reason_ns[SAMPLES_REASONS];
	bool has_busy, busy;		/* in the last sample, did any kernel run? */
	/* Of sampled_ns, for a device without reported works; the rest is unknown. */
	uint64_t idle_ns;		/* no kernel ran, or no process was on it */
	uint64_t used_ns;		/* kernels ran, and a process was on it; if samples lack
					 * kernels: a process stayed on it */
	bool has_users;			/* its last sample knew them */
	bool had_users;			/* the one before did; was there anybody? */
	bool was_used;
	uint64_t nameless;		/* of these without a pid; and in the sample before */
	uint64_t nameless_before;
	VEC(struct sample_user) users;	/* also those that are gone: seen_ns < last_ns */
	VEC(struct sample_fault) faults;
	uint64_t more_faults;		/* that there was no room for */
};

struct samples {
	VEC(struct sampled_device *) all;
	struct sampled_device *last;	/* that was found; NULL: none */
};

void samples_free(struct samples *s);

/* SAMPLE, USER, FAULT; time outside of [from_ns, until_ns) is in no sum. 0, -EINVAL or -ENOMEM; *d:
 * its device. */
int samples_push(struct samples *s, const struct event *ev, uint64_t from_ns, uint64_t until_ns,
		 struct sampled_device **d);
/* to is zeroed; 0 or -ENOMEM */
int samples_copy(struct samples *to, const struct samples *from);
/* Subtracts a copy of since_ns: sums and faults are of the time from then on. */
void samples_subtract(struct samples *from, const struct samples *earlier, uint64_t since_ns);

/* Is it the device of a UUID, whatever stands before the first dash? For CUDA a MIG instance is
 * "GPU-". */
bool sampled_device_is(const struct sampled_device *d, const char *uuid);
/* or NULL */
const struct sampled_device *samples_find(const struct samples *s, const char *uuid);
/* as they have it; else as it is */
static inline const char *samples_uuid(const struct samples *s, const char *uuid)
{
	const struct sampled_device *d = samples_find(s, uuid);

	return d ? d->uuid : uuid;
}

/* The GPU that a MIG instance is of, with what only GPUs have; NULL: it is none, or unknown. */
static inline const struct sampled_device *samples_gpu_of(const struct samples *s,
							  const struct sampled_device *d)
{
	for (size_t i = 0; device_number_is_instance(d->number) && i < s->all.n; i++)
		if (s->all.v[i]->number == device_number_gpu(d->number))
			return s->all.v[i];
	return NULL;
}

/* As of the last sample, or later if it has gone since. NULL: it was not there, or unknown. */
const struct sample_user *samples_user(const struct sampled_device *d, uint32_t process);

/* In the field's unit; false: unknown. */
bool samples_mean(const struct sampled_device *d, unsigned int field, double *mean);

#endif
