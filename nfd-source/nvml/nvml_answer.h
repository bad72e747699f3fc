/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What NVML says, as the report of docs/doctor.md.
 */
#pragma once

#include <stdbool.h>

/* The report on NVML by a library. */
struct nfd_nvml_question {
	const char *library; /* absolute path; borrowed */
	bool unconfined;     /* keep rights that this does not need */
	bool all_calls;      /* but filter no system calls: that is a sixth of a short run */
};

/**
 * nfd_nvml_answer() - load a library, start NVML, print what it says on standard output as one JSON object. For
 * a process of its own, which ends afterwards: it gives up rights, gets an alarm, and ends with its parent.
 * @question: struct nfd_nvml_question.
 * Return: exit status: 0 when the report is out; else 1.
 */
int nfd_nvml_answer(const void *question);
