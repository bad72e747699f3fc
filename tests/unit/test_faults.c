// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * base/faults (field case L2): logged at the beginning, rarely meanwhile, once at the end. An hour
 * passes by moving back the time of the last line.
 */
#include "config.h"

#include "base/faults.h"

#include "tests/unit/unit.h"

#define HOUR_MS (INT64_C(3600) * 1000)

/* What one round of the given fault logs. */
static const char *round_log(struct nfd_faults *faults, const char *id, const char *text)
{
	unit_capture(2);
	nfd_faults_begin(faults);
	if (id)
		nfd_faults_see(faults, NFD_LOG_WARNING, id, text);
	nfd_faults_end(faults, "");
	return unit_captured(2);
}

static void l2_logged_when_it_begins_and_ends(void **state)
{
	struct nfd_faults faults = { 0 };

	(void)state;
	assert_string_equal(round_log(&faults, "scan.pci", "cannot read"),
			    "level=warning msg=\"cannot read\" fault=scan.pci\n");
	for (int i = 0; i < 119; i++)
		assert_string_equal(round_log(&faults, "scan.pci", "cannot read"), "");
	assert_int_equal(faults.fault[0].count, 120);
	assert_string_equal(
		round_log(&faults, NULL, NULL),
		"level=info msg=\"a fault has ended\" fault=scan.pci was=\"cannot read\" "
		"times=120\n");
	assert_int_equal(faults.count, 0);
	assert_string_equal(round_log(&faults, NULL, NULL), "");
	nfd_faults_done(&faults);
}

static void repeats_once_an_hour(void **state)
{
	struct nfd_faults faults = { 0 };

	(void)state;
	round_log(&faults, "a", "text");
	faults.fault[0].logged_ms -= HOUR_MS;
	assert_string_equal(round_log(&faults, "a", "text"),
			    "level=warning msg=text fault=a times=2\n");
	assert_string_equal(round_log(&faults, "a", "text"), "");
	nfd_faults_done(&faults);
}

static void last_words_are_kept(void **state)
{
	struct nfd_faults faults = { 0 };

	(void)state;
	round_log(&faults, "a", "first words");
	round_log(&faults, "a", "last words");
	assert_int_equal(faults.count, 1);
	assert_string_equal(faults.fault[0].text, "last words");
	nfd_faults_done(&faults);
}

static void ids_are_apart(void **state)
{
	struct nfd_faults faults = { 0 };

	(void)state;
	unit_capture(2);
	nfd_faults_begin(&faults);
	nfd_faults_see(&faults, NFD_LOG_WARNING, "a", "text");
	nfd_faults_see(&faults, NFD_LOG_WARNING, "b", "text");
	nfd_faults_end(&faults, "");
	assert_string_equal(unit_captured(2), "level=warning msg=text fault=a\n"
					      "level=warning msg=text fault=b\n");
	assert_string_equal(round_log(&faults, "b", "text"),
			    "level=info msg=\"a fault has ended\" fault=a was=text times=1\n");
	assert_int_equal(faults.count, 1);
	assert_string_equal(faults.fault[0].id, "b");
	nfd_faults_done(&faults);
}

static void end_takes_a_prefix(void **state)
{
	struct nfd_faults faults = { 0 };

	(void)state;
	unit_capture(2);
	nfd_faults_begin(&faults);
	nfd_faults_see(&faults, NFD_LOG_WARNING, "scan.pci", "text");
	nfd_faults_see(&faults, NFD_LOG_WARNING, "output.file", "text");
	nfd_faults_begin(&faults);
	nfd_faults_end(&faults, "scan.");
	unit_captured(2);
	assert_int_equal(faults.count, 1);
	assert_string_equal(faults.fault[0].id, "output.file");
	nfd_faults_done(&faults);
}

static void done_of_zeroed_is_fine(void **state)
{
	struct nfd_faults faults = { 0 };

	(void)state;
	nfd_faults_done(&faults);
	assert_null(faults.fault);
}

int main(void)
{
	struct unit_suite suite = { .name = "faults" };

	UNIT_CASE(&suite, l2_logged_when_it_begins_and_ends);
	UNIT_CASE(&suite, repeats_once_an_hour);
	UNIT_CASE(&suite, last_words_are_kept);
	UNIT_CASE(&suite, ids_are_apart);
	UNIT_CASE(&suite, end_takes_a_prefix);
	UNIT_CASE(&suite, done_of_zeroed_is_fine);
	return unit_run(&suite);
}
