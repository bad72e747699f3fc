// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * doctor/doctor_report: the four forms of made-up results.
 */
#include "config.h"

#include "doctor/doctor_report.h"

#include <errno.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/json.h"
#include "tests/unit/json_row.h"
#include "tests/unit/unit.h"

/* What a row makes of a doctor that has found nothing yet. */
typedef void fill(struct nfd_doctor *doctor);

static const struct nfd_output_options outputs;
static const struct nfd_doctor_options options = { .outputs = &outputs };

static struct nfd_doctor new_doctor(void)
{
	struct nfd_doctor doctor = { .options = &options };
	size_t count;

	nfd_rows(&count);
	doctor.diagnosis = calloc(count + 1, sizeof(*doctor.diagnosis));
	doctor.facts.gpu = calloc(2, sizeof(*doctor.facts.gpu));
	assert_true(doctor.diagnosis && doctor.facts.gpu);
	doctor.facts.gpu_count = 2;
	return doctor;
}

static void nothing(struct nfd_doctor *doctor)
{
	(void)doctor;
}

static void no_gpu(struct nfd_doctor *doctor)
{
	doctor->facts.gpu_count = 0;
	nfd_find(doctor, "GPU-PCI-NONE", NFD_VERDICT_INFO, "there is no NVIDIA GPU");
}

static void undecided(struct nfd_doctor *doctor)
{
	doctor->facts.gpu_count = 0;
	nfd_skip(doctor, "GPU-PCI-NONE", "sysfs is not mounted");
}

static void warned(struct nfd_doctor *doctor)
{
	nfd_find(doctor, "GPU-DRV-UNPINNED", NFD_VERDICT_WARNING, "packages can move");
}

static void broken(struct nfd_doctor *doctor)
{
	struct nfd_diagnosis *found;

	found = nfd_find(doctor, "GPU-DRV-MISMATCH", NFD_VERDICT_CRITICAL, "module %s, library %s",
			 "580.1", "580.2");
	nfd_prove(doctor, found, "sys/module/nvidia/version", "%s", "580.1");
	nfd_prove(doctor, found, "usr/lib/x.so", "580.2");
	nfd_advise(doctor, found, "reboot");
	nfd_advise(doctor, found, "apt-mark hold x");
	doctor->cause = "GPU-DRV-MISMATCH";
	found = nfd_find(doctor, "GPU-NVML-INIT", NFD_VERDICT_CRITICAL, "NVML does not start");
	nfd_prove(doctor, found, "nvmlInit_v2", "18");
	nfd_advise(doctor, found, "reboot now");
	found->blocked_by = "GPU-DRV-MISMATCH";
	nfd_find(doctor, "GPU-CRI-NODEFAULT", NFD_VERDICT_INFO, "not the default");
	nfd_skip(doctor, "GPU-NODE-CAPACITY", "the Node is not known");
	snprintf(doctor->facts.module.version, sizeof(doctor->facts.module.version), "580.1");
}

static void hostile(struct nfd_doctor *doctor)
{
	struct nfd_diagnosis *found;

	found = nfd_find(doctor, "GPU-DRV-NOUVEAU", NFD_VERDICT_CRITICAL, "a\nb\033[2J\177\377");
	nfd_prove(doctor, found, "p\nq", "v\r\001\"\\\377\xc3");
	nfd_advise(doctor, found, "x\ny");
	doctor->cause = "GPU-DRV-NOUVEAU";
}

static const struct {
	const char *name;
	fill *make;
	const char *text;
} text_rows[] = {
	{ "nothing found", nothing,
	  "ok: every link that could be checked holds (2 NVIDIA GPUs)\nchain: presence ok" },
	{ "no GPU", no_gpu, "info: nothing to check\ninfo GPU-PCI-NONE: there is no NVIDIA GPU\n" },
	{ "undecided", undecided, "not-checked: it cannot be told whether this node has a GPU\n" },
	{ "warning", warned, "warning: the chain holds, with warnings (2 NVIDIA GPUs)\nchain: " },
	{ "broken", broken,
	  "critical: the chain is broken (2 NVIDIA GPUs, driver 580.1)\nchain: " },
	{ "broken: cause", broken,
	  "\ncritical GPU-DRV-MISMATCH: module 580.1, library 580.2\n"
	  "  sys/module/nvidia/version: 580.1\n  usr/lib/x.so: 580.2\n  fix: reboot\n"
	  "       apt-mark hold x\ncritical GPU-NVML-INIT: NVML does not start\n"
	  "  blocked by GPU-DRV-MISMATCH\ninfo GPU-CRI-NODEFAULT: not the default\n" },
	{ "broken: chain", broken, ", library critical, nvml critical, " },
	{ "hostile", hostile, "critical GPU-DRV-NOUVEAU: a\\x0ab\\x1b[2J\\x7f" },
	{ "hostile: evidence", hostile, "  p\\x0aq: v\\x0d\\x01\"\\" },
	{ "hostile: fix", hostile, "  fix: x\\x0ay\n" },
};

static void writes_text(void **state)
{
	const __typeof__(text_rows[0]) *row = *state;
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	cleanup_strbuf struct nfd_strbuf coloured = { 0 };
	struct nfd_doctor doctor = new_doctor();

	row->make(&doctor);
	nfd_report_text(&doctor, false, false, &buf);
	nfd_report_text(&doctor, true, false, &coloured);
	nfd_doctor_done(&doctor);
	assert_int_equal(buf.error, 0);
	unit_assert_contains(buf.data, row->text);
	assert_null(strchr(buf.data, '\033'));
	assert_true(coloured.len > buf.len);
	unit_assert_contains(coloured.data, "\033[0m");
}

static void all_lists_every_check(void **state)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	struct nfd_doctor doctor = new_doctor();
	const struct nfd_row *rows;
	size_t count;

	(void)state;
	rows = nfd_rows(&count);
	broken(&doctor);
	nfd_report_text(&doctor, false, true, &buf);
	nfd_doctor_done(&doctor);
	for (size_t i = 0; i < count; i++)
		unit_assert_contains(buf.data, unit_text(" %s: ", rows[i].id));
	unit_assert_contains(buf.data, "not-checked GPU-NODE-CAPACITY: the Node is not known\n");
}

static cJSON *json_of(fill *make)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	struct nfd_doctor doctor = new_doctor();
	const char *end;
	cJSON *json;

	make(&doctor);
	nfd_report_json(&doctor, &buf);
	nfd_doctor_done(&doctor);
	assert_int_equal(buf.error, 0);
	json = cJSON_ParseWithOpts(buf.data, &end, true);
	assert_non_null(json);
	assert_int_equal(buf.data[buf.len - 1], '\n');
	return json_keep(json);
}

static const struct {
	const char *name;
	fill *make;
	const char *verdict, *cause; /* JSON */
	size_t findings;
} json_rows[] = {
	{ "nothing found", nothing, "'ok'", "null", 0 },
	{ "no GPU", no_gpu, "'info'", "null", 1 },
	{ "undecided", undecided, "'not-checked'", "null", 0 },
	{ "warning", warned, "'warning'", "null", 1 },
	{ "broken", broken, "'critical'", "'GPU-DRV-MISMATCH'", 3 },
	{ "hostile", hostile, "'critical'", "'GPU-DRV-NOUVEAU'", 1 },
};

static void writes_json(void **state)
{
	const __typeof__(json_rows[0]) *row = *state;
	const cJSON *json = json_of(row->make);
	size_t count;

	nfd_rows(&count);
	assert_string_equal(json_text(nfd_json_get(json, "schema")), "1");
	assert_string_equal(json_text(nfd_json_get(json, "verdict")), row->verdict);
	assert_string_equal(json_text(nfd_json_get(json, "cause")), row->cause);
	assert_int_equal(nfd_json_length(json, "findings"), row->findings);
	assert_int_equal(nfd_json_length(json, "checks"), count);
}

static void json_of_a_finding(void **state)
{
	const cJSON *json = json_of(broken);
	const cJSON *findings = nfd_json_get(json, "findings"), *check;

	(void)state;
	assert_string_equal(json_text(cJSON_GetArrayItem(findings, 0)),
			    "{'id':'GPU-DRV-MISMATCH','verdict':'critical','blockedBy':null,"
			    "'cause':'module 580.1, library 580.2','evidence':[{'path':"
			    "'sys/module/nvidia/version','value':'580.1'},{'path':'usr/lib/x.so',"
			    "'value':'580.2'}],'fix':['reboot','apt-mark hold x']}");
	unit_assert_contains(json_text(cJSON_GetArrayItem(findings, 1)),
			     "'blockedBy':'GPU-DRV-MISMATCH'");
	cJSON_ArrayForEach(check, nfd_json_get(json, "checks"))
		if (strcmp(nfd_json_text(check, "id"), "GPU-NODE-CAPACITY") == 0)
			assert_string_equal(json_text(check),
					    "{'id':'GPU-NODE-CAPACITY','verdict':'not-checked',"
					    "'reason':'the Node is not known'}");
}

/* JSON is UTF-8, whatever a file of the host holds. */
static void json_is_utf8(void **state)
{
	char *printed = cJSON_PrintUnformatted(json_of(hostile));
	const char *text = unit_text("%s", printed);

	(void)state;
	cJSON_free(printed);
	assert_null(strchr(text, '\377'));
	assert_null(strstr(text, "\xc3\""));
}

static const struct {
	const char *name;
	fill *make;
	enum nfd_verdict fail_on;
	int code;
	const char *line;
} npd_rows[] = {
	{ "nothing found", nothing, NFD_VERDICT_WARNING, 0,
	  "GPU chain: every link that could be checked holds\n" },
	{ "no GPU", no_gpu, NFD_VERDICT_WARNING, 0, "GPU chain: nothing to check\n" },
	{ "undecided", undecided, NFD_VERDICT_WARNING, 2,
	  "it cannot be told whether this node has a GPU\n" },
	{ "warning", warned, NFD_VERDICT_WARNING, 1,
	  "GPU-DRV-UNPINNED: driver packages can be upgraded automatically\n" },
	{ "warning, fail on critical", warned, NFD_VERDICT_CRITICAL, 0,
	  "GPU chain: the chain holds, with warnings\n" },
	{ "broken", broken, NFD_VERDICT_CRITICAL, 1,
	  "GPU-DRV-MISMATCH: library and loaded module differ\n" },
};

static void writes_npd(void **state)
{
	const __typeof__(npd_rows[0]) *row = *state;
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	struct nfd_doctor doctor = new_doctor();

	row->make(&doctor);
	assert_int_equal(nfd_report_npd(&doctor, row->fail_on, &buf), row->code);
	nfd_doctor_done(&doctor);
	assert_string_equal(buf.data, row->line);
}

/* node-problem-detector cuts at 80 bytes; every row fits. */
static void npd_lines_fit(void **state)
{
	const struct nfd_row *rows;
	size_t count;

	(void)state;
	rows = nfd_rows(&count);
	for (size_t i = 0; i < count; i++) {
		size_t len = strlen(rows[i].id) + 2 + strlen(rows[i].help);

		if (len > 80)
			print_error("%s: %zu bytes\n", rows[i].id, len);
		assert_true(len <= 80);
	}
}

static void writes_metrics(void **state)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	struct nfd_doctor doctor = new_doctor();
	const struct nfd_row *rows;
	size_t count;

	(void)state;
	rows = nfd_rows(&count);
	broken(&doctor);
	nfd_report_metrics(&doctor, &buf);
	nfd_doctor_done(&doctor);
	for (size_t i = 0; i < count; i++)
		unit_assert_contains(buf.data, unit_text("\nnfd_source_doctor_check{id=\"%s\"} ",
							 rows[i].id));
	unit_assert_contains(buf.data, "{id=\"GPU-DRV-MISMATCH\"} 3\n");
	unit_assert_contains(buf.data, "{id=\"GPU-CRI-NODEFAULT\"} 1\n");
	unit_assert_contains(buf.data, "{id=\"GPU-NODE-CAPACITY\"} -1\n");
	unit_assert_contains(buf.data, "{id=\"GPU-PCI-NONE\"} 0\n");
	unit_assert_contains(buf.data, "\nnfd_source_doctor_verdict 3\n");
}

int main(void)
{
	struct unit_suite suite = { .name = "doctor_report" };

	UNIT_ROWS(&suite, writes_text, text_rows, name);
	UNIT_CASE(&suite, all_lists_every_check);
	UNIT_ROWS(&suite, writes_json, json_rows, name);
	UNIT_CASE(&suite, json_of_a_finding);
	UNIT_CASE(&suite, json_is_utf8);
	UNIT_ROWS(&suite, writes_npd, npd_rows, name);
	UNIT_CASE(&suite, npd_lines_fit);
	UNIT_CASE(&suite, writes_metrics);
	return unit_run(&suite);
}
