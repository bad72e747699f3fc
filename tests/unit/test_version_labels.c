// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/version_labels: one version text, up to four labels.
 */
#include "config.h"

#include "scan/version_labels.h"

#include "tests/unit/labels.h"
#include "tests/unit/unit.h"

static const struct {
	const char *text, *labels;
} rows[] = {
	{ "580.126.09", "v.full=580.126.09\nv.major=580\nv.minor=126\nv.revision=09\n" },
	{ "390.157", "v.full=390.157\nv.major=390\nv.minor=157\n" },
	{ "7", "v.full=7\nv.major=7\n" },
	{ "5.15.167.4-x", "v.full=5.15.167.4-x\nv.major=5\nv.minor=15\nv.revision=167\n" },
	{ "1.2+git", "v.full=1.2_git\nv.major=1\nv.minor=2\n" },
	{ "v1.2", "v.full=v1.2\n" },
	{ "+1.2", "v.full=1.2\nv.major=1\nv.minor=2\n" },
	{ "99999999999999999999.1", "v.full=99999999999999999999.1\n" },
	{ "", "" },
	{ "()", "" },
};

static void makes_labels(void **state)
{
	const __typeof__(rows[0]) *row = *state;
	struct nfd_scan scan = { 0 };

	nfd_scan_version(&scan, NFD_F "v", "some/path", row->text);
	assert_string_equal(labels_text(&scan.labels), row->labels);
	if (scan.labels.count)
		assert_string_equal(scan.labels.label[0].source,
				    unit_text("some/path: %s", row->text));
	nfd_set_done(&scan.labels);
}

int main(void)
{
	struct unit_suite suite = { .name = "version_labels" };

	UNIT_ROWS(&suite, makes_labels, rows, text);
	return unit_run(&suite);
}
