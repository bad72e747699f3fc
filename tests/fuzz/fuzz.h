/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every fuzz target has. Without libFuzzer, replay.c runs a target over its corpus.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

/**
 * LLVMFuzzerTestOneInput() - the target.
 * @data: @size bytes, with no byte behind them.
 * Return: 0.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/**
 * fuzz_text() - the input as a text of exactly its size, so that a read behind its NUL is found.
 * Return: owner: caller, free(). A NUL byte in the input ends the text early.
 */
char *fuzz_text(const uint8_t *data, size_t size);

/**
 * fuzz_corpus() - folder of the seeds and past crashes of a target.
 * @program: argv[0]; "…/fuzz_NAME" gives the folder NAME of the corpus.
 * Return: static text.
 */
const char *fuzz_corpus(const char *program);

/**
 * FUZZ_CHECK() - abort when a property of the result does not hold, also with NDEBUG.
 */
#define FUZZ_CHECK(condition)                                        \
	do {                                                         \
		if (!(condition))                                    \
			fuzz_failed(#condition, __FILE__, __LINE__); \
	} while (0)
void fuzz_failed(const char *condition, const char *file, int line) __attribute__((noreturn));
