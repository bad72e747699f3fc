// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nfd-source-nvml [--unconfined] LIBRARY: loads that very library file, starts NVML, prints what it says as
 * one JSON object, ends (docs/doctor.md has the fields).
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "nvml/nvml_answer.h"

int main(int argc, char **argv)
{
	const struct nfd_nvml_question question = {
		.library = argc > 0 ? argv[argc - 1] : "",
		.unconfined = argc > 1 && strcmp(argv[1], "--unconfined") == 0,
	};

	if (argc != 2 + question.unconfined || question.library[0] != '/') {
		fputs("nfd-source-nvml: takes the absolute path of libnvidia-ml.so; started by "
		      "nfd-source's daemon and its doctor\n",
		      stderr);
		return 2;
	}
	/* Without running the library's destructors: they may hang as its calls may. */
	_exit(nfd_nvml_answer(&question));
}
