// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A short list: one entry an unknown fact or failing output.
 */
#include "config.h"

#include "base/faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define REPEAT_MS (INT64_C(3600) * 1000)

void nfd_faults_begin(struct nfd_faults *faults)
{
	faults->round++;
}

static void free_fault(struct nfd_fault *fault)
{
	free(fault->id);
	free(fault->text);
}

static struct nfd_fault *find(struct nfd_faults *faults, const char *id)
{
	for (size_t i = 0; i < faults->count; i++)
		if (strcmp(faults->fault[i].id, id) == 0)
			return &faults->fault[i];
	return NULL;
}

/* A new entry, or NULL when memory ran out. */
static struct nfd_fault *add(struct nfd_faults *faults, const char *id, const char *text)
{
	struct nfd_fault *bigger, fault = { .since_s = nfd_clock_real_s() };

	bigger = realloc(faults->fault, (faults->count + 1) * sizeof(*bigger));
	if (!bigger)
		return NULL;
	faults->fault = bigger;
	fault.id = strdup(id);
	fault.text = strdup(text);
	if (!fault.id || !fault.text) {
		free_fault(&fault);
		return NULL;
	}
	faults->fault[faults->count] = fault;
	return &faults->fault[faults->count++];
}

/* The newest words; the old ones stay when memory runs out. */
static void keep_words(struct nfd_fault *fault, const char *text)
{
	char *copy = strcmp(fault->text, text) == 0 ? NULL : strdup(text);

	if (!copy)
		return;
	free(fault->text);
	fault->text = copy;
}

void nfd_faults_see(struct nfd_faults *faults, enum nfd_log_level level, const char *id,
		    const char *text)
{
	struct nfd_fault *fault = find(faults, id);
	int64_t now_ms = nfd_clock_monotonic_ms();
	char count[16];

	if (!fault) {
		fault = add(faults, id, text);
		nfd_log(level, text, "fault", id, NULL);
	} else if (now_ms - fault->logged_ms >= REPEAT_MS) {
		snprintf(count, sizeof(count), "%u", fault->count + 1);
		nfd_log(level, text, "fault", id, "times", count, NULL);
	} else {
		now_ms = fault->logged_ms;
	}
	if (!fault)
		return;
	keep_words(fault, text);
	fault->logged_ms = now_ms;
	fault->round = faults->round;
	fault->count++;
}

void nfd_faults_end(struct nfd_faults *faults, const char *prefix)
{
	size_t kept = 0;

	for (size_t i = 0; i < faults->count; i++) {
		struct nfd_fault *fault = &faults->fault[i];
		char count[16];

		if (fault->round == faults->round ||
		    strncmp(fault->id, prefix, strlen(prefix)) != 0) {
			faults->fault[kept++] = *fault;
			continue;
		}
		snprintf(count, sizeof(count), "%u", fault->count);
		nfd_log(NFD_LOG_INFO, "a fault has ended", "fault", fault->id, "was", fault->text,
			"times", count, NULL);
		free_fault(fault);
	}
	faults->count = kept;
}

void nfd_faults_done(struct nfd_faults *faults)
{
	for (size_t i = 0; i < faults->count; i++)
		free_fault(&faults->fault[i]);
	free(faults->fault);
	*faults = (struct nfd_faults){ 0 };
}
