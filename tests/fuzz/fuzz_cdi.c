// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A CDI specification below a folder of its own, judged by doctor's check: a finding has a cause and
 * evidence.
 */
#include "config.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "doctor/doctor.h"
#include "tests/fuzz/fuzz.h"

#define SPEC "etc/cdi/nvidia.yaml"

static char folder[] = "/tmp/nfd-source-fuzz-XXXXXX";

static const char *below(const char *path)
{
	static char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s/%s", folder, path);
	return full;
}

static void remove_folder(void)
{
	unlink(below(SPEC));
	rmdir(below("etc/cdi"));
	rmdir(below("etc"));
	rmdir(folder);
}

static void make_folder(void)
{
	FUZZ_CHECK(mkdtemp(folder) != NULL);
	FUZZ_CHECK(mkdir(below("etc"), 0700) == 0 && mkdir(below("etc/cdi"), 0700) == 0);
	atexit(remove_folder);
}

static void write_spec(const uint8_t *data, size_t size)
{
	FILE *stream = fopen(below(SPEC), "we");

	FUZZ_CHECK(stream && fwrite(data, 1, size, stream) == size && fclose(stream) == 0);
}

static void check(const struct nfd_doctor *doctor)
{
	size_t count;

	nfd_rows(&count);
	FUZZ_CHECK(doctor->error == 0);
	for (size_t i = 0; i < count; i++) {
		const struct nfd_diagnosis *diagnosis = &doctor->diagnosis[i];

		FUZZ_CHECK((diagnosis->verdict == NFD_VERDICT_OK) == (diagnosis->cause == NULL));
		FUZZ_CHECK(diagnosis->verdict < NFD_VERDICT_INFO || diagnosis->evidence_count > 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct nfd_root root = { .fd = -1 };
	const struct nfd_output_options outputs = { .api.place = NULL };
	const struct nfd_doctor_options options = { .root = &root, .outputs = &outputs };
	struct nfd_doctor doctor = { .options = &options };
	size_t count;

	if (root.fd < 0) {
		make_folder();
		FUZZ_CHECK(nfd_root_open(&root, folder, NULL) == 0);
	}
	write_spec(data, size);
	nfd_rows(&count);
	doctor.diagnosis = calloc(count + 1, sizeof(*doctor.diagnosis));
	FUZZ_CHECK(doctor.diagnosis);
	snprintf(doctor.facts.module.version, sizeof(doctor.facts.module.version), "580.126.09");
	snprintf(doctor.facts.module.path, sizeof(doctor.facts.module.path),
		 "sys/module/nvidia/version");
	nfd_check_cdi(&doctor);
	check(&doctor);
	nfd_doctor_done(&doctor);
	return 0;
}
