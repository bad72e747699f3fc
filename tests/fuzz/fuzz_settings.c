// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The settings file: any bytes give settings or an error with words, and settings that were taken
 * can be printed.
 */
#include "config.h"

#include <sys/mman.h>

#include "settings.h"
#include "tests/fuzz/fuzz.h"

/* All settings as text: each value must be printable in its own form. */
static void print_all(const struct nfd_settings *settings)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	size_t count;
	const struct nfd_setting *table = nfd_settings_table(&count);

	for (size_t i = 0; i < count; i++) {
		FUZZ_CHECK(settings->origin[i]);
		nfd_settings_format(settings, &table[i], &buf);
	}
	FUZZ_CHECK(buf.error == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	char path[32];
	const struct nfd_settings_sources sources = { .file = path, .file_required = true };
	struct nfd_settings settings;
	struct nfd_error err = { 0 };
	int r;

	if (fd < 0)
		fd = memfd_create("settings", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	FUZZ_CHECK(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
	r = nfd_settings_load(&settings, &sources, &err);
	FUZZ_CHECK(r <= 0 && (r == 0) == (err.code == 0));
	FUZZ_CHECK(r == 0 || err.text[0]);
	if (r == 0)
		print_all(&settings);
	nfd_settings_done(&settings);
	return 0;
}
