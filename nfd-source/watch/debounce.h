/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many events, few scans (design 6): after a quiet time an event is acted on after 100 ms of silence
 * or 500 ms at most; while a storm lasts the longest wait doubles up to 2 s. A pure state machine.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define NFD_DEBOUNCE_SILENCE_MS 100
#define NFD_DEBOUNCE_FIRST_MS 500
#define NFD_DEBOUNCE_STORM_MS 2000

struct nfd_debounce {
	uint32_t waiting;   /* what the waiting events concern, a bit mask of the caller; 0: none */
	int64_t first_ms;   /* time of the first waiting event */
	int64_t last_ms;    /* time of the last event */
	int64_t fired_ms;   /* time of the last action */
	int64_t longest_ms; /* longest wait in force */
};

/**
 * nfd_debounce_event() - note an event.
 * @concerns: what it concerns; must not be 0.
 * @now_ms:   any monotonic clock, the same for all calls.
 */
void nfd_debounce_event(struct nfd_debounce *debounce, uint32_t concerns, int64_t now_ms);

/**
 * nfd_debounce_due_ms() - when the waiting events are to be acted on.
 * Return: a time, maybe past; INT64_MAX when none wait.
 */
int64_t nfd_debounce_due_ms(const struct nfd_debounce *debounce);

/**
 * nfd_debounce_take() - take the waiting events when they are due.
 * @now_ms: as above.
 * Return: what they concern; 0 when none are due.
 */
uint32_t nfd_debounce_take(struct nfd_debounce *debounce, int64_t now_ms);
