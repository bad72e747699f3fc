// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The text puts the cause first, then what it blocks, then what is worth knowing.
 */
#include "config.h"

#include "doctor/doctor_report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"

#define NPD_LINE 80

static const char *const colours[] = {
	[NFD_VERDICT_OK] = "\033[32m",         [NFD_VERDICT_NOT_CHECKED] = "\033[2m",
	[NFD_VERDICT_INFO] = "\033[36m",       [NFD_VERDICT_WARNING] = "\033[33m",
	[NFD_VERDICT_CRITICAL] = "\033[1;31m",
};

struct writer {
	const struct nfd_doctor *doctor;
	struct nfd_strbuf *buf;
	const struct nfd_row *row;
	size_t count;
	bool colour;
};

static void put_coloured(const struct writer *writer, enum nfd_verdict verdict, const char *text)
{
	nfd_strbuf_printf(writer->buf, "%s%s%s", writer->colour ? colours[verdict] : "", text,
			  writer->colour ? "\033[0m" : "");
}

/* Texts of the host may hold anything; a line stays a line, and a terminal is told nothing by it. */
static void put_plain(struct nfd_strbuf *buf, const char *text)
{
	while (text && *text) {
		unsigned char c = (unsigned char)*text;
		size_t len = nfd_utf8_length(text);
		/* U+0080 to U+009F are control characters as well. */
		bool is_control =
			c < ' ' || c == 0x7f || (c == 0xc2 && (unsigned char)text[1] < 0xa0);

		if (len == 0 || is_control) {
			len = len ? len : 1;
			for (size_t i = 0; i < len; i++)
				nfd_strbuf_printf(buf, "\\x%02x", (unsigned char)text[i]);
		} else {
			nfd_strbuf_add(buf, text, len);
		}
		text += len;
	}
}

static void put_finding(const struct writer *writer, size_t at)
{
	const struct nfd_diagnosis *diagnosis = &writer->doctor->diagnosis[at];
	struct nfd_strbuf *buf = writer->buf;

	put_coloured(writer, diagnosis->verdict, nfd_verdict_name(diagnosis->verdict));
	nfd_strbuf_printf(buf, " %s: ", writer->row[at].id);
	put_plain(buf, diagnosis->cause);
	nfd_strbuf_puts(buf, "\n");
	if (diagnosis->blocked_by) {
		nfd_strbuf_printf(buf, "  blocked by %s\n", diagnosis->blocked_by);
		return;
	}
	for (size_t i = 0; i < diagnosis->evidence_count; i++) {
		nfd_strbuf_puts(buf, "  ");
		put_plain(buf, diagnosis->evidence[i].path);
		nfd_strbuf_puts(buf, ": ");
		put_plain(buf, diagnosis->evidence[i].value);
		nfd_strbuf_puts(buf, "\n");
	}
	for (size_t i = 0; i < diagnosis->fix_count; i++) {
		nfd_strbuf_puts(buf, i == 0 ? "  fix: " : "       ");
		put_plain(buf, diagnosis->fix[i]);
		nfd_strbuf_puts(buf, "\n");
	}
}

/* Findings of one verdict, in the order of the chain; those that are blocked, or those that are not. */
static void put_findings(const struct writer *writer, enum nfd_verdict verdict, bool blocked)
{
	for (size_t i = 0; i < writer->count; i++)
		if (writer->doctor->diagnosis[i].verdict == verdict &&
		    !!writer->doctor->diagnosis[i].blocked_by == blocked)
			put_finding(writer, i);
}

static const char *headline(const struct nfd_doctor *doctor)
{
	enum nfd_verdict worst = nfd_doctor_worst(doctor);

	if (nfd_doctor_is_undecided(doctor))
		return "it cannot be told whether this node has a GPU";
	if (doctor->facts.gpu_count == 0 && worst <= NFD_VERDICT_INFO)
		return "nothing to check";
	if (worst == NFD_VERDICT_CRITICAL)
		return "the chain is broken";
	if (worst == NFD_VERDICT_WARNING)
		return "the chain holds, with warnings";
	return "every link that could be checked holds";
}

/* The worst of a link's rows; ok only when most of them could be checked. */
static enum nfd_verdict link_verdict(const struct writer *writer, size_t link)
{
	enum nfd_verdict worst = NFD_VERDICT_OK;
	size_t rows = 0, checked = 0;

	for (size_t i = 0; i < writer->count; i++) {
		enum nfd_verdict verdict = writer->doctor->diagnosis[i].verdict;

		if (writer->row[i].link != link)
			continue;
		rows++;
		checked += verdict != NFD_VERDICT_NOT_CHECKED;
		worst = verdict > worst ? verdict : worst;
	}
	if (worst > NFD_VERDICT_NOT_CHECKED)
		return worst;
	return checked * 2 > rows ? NFD_VERDICT_OK : NFD_VERDICT_NOT_CHECKED;
}

/* The chain, one word a link. */
static void put_chain(const struct writer *writer)
{
	const struct nfd_link *links;
	size_t count;

	links = nfd_links(&count);
	nfd_strbuf_puts(writer->buf, "chain: ");
	for (size_t link = 0; link < count; link++) {
		enum nfd_verdict worst = link_verdict(writer, link);

		nfd_strbuf_printf(writer->buf, "%s%s ", link ? ", " : "", links[link].name);
		put_coloured(writer, worst, nfd_verdict_name(worst));
	}
	nfd_strbuf_puts(writer->buf, "\n");
}

static void put_checks(const struct writer *writer)
{
	for (size_t i = 0; i < writer->count; i++) {
		const struct nfd_diagnosis *diagnosis = &writer->doctor->diagnosis[i];

		if (diagnosis->verdict > NFD_VERDICT_NOT_CHECKED)
			continue;
		put_coloured(writer, diagnosis->verdict, nfd_verdict_name(diagnosis->verdict));
		nfd_strbuf_printf(writer->buf, " %s: ", writer->row[i].id);
		put_plain(writer->buf, diagnosis->cause ? diagnosis->cause : writer->row[i].help);
		nfd_strbuf_puts(writer->buf, diagnosis->cause ? "\n" : ": no\n");
	}
}

void nfd_report_text(const struct nfd_doctor *doctor, bool colour, bool all, struct nfd_strbuf *buf)
{
	struct writer writer = { .doctor = doctor, .buf = buf, .colour = colour };
	enum nfd_verdict worst = nfd_doctor_worst(doctor);

	writer.row = nfd_rows(&writer.count);
	put_coloured(&writer, worst, nfd_verdict_name(worst));
	nfd_strbuf_printf(buf, ": %s", headline(doctor));
	if (doctor->facts.gpu_count)
		nfd_strbuf_printf(buf, " (%zu NVIDIA GPU%s", doctor->facts.gpu_count,
				  doctor->facts.gpu_count == 1 ? "" : "s");
	if (doctor->facts.gpu_count && doctor->facts.module.version[0]) {
		nfd_strbuf_puts(buf, ", driver ");
		put_plain(buf, doctor->facts.module.version);
	}
	nfd_strbuf_puts(buf, doctor->facts.gpu_count ? ")\n" : "\n");
	if (doctor->facts.gpu_count)
		put_chain(&writer);
	put_findings(&writer, NFD_VERDICT_CRITICAL, false);
	put_findings(&writer, NFD_VERDICT_WARNING, false);
	put_findings(&writer, NFD_VERDICT_CRITICAL, true);
	put_findings(&writer, NFD_VERDICT_WARNING, true);
	put_findings(&writer, NFD_VERDICT_INFO, false);
	if (all)
		put_checks(&writer);
}

/* An item that could not be added is freed. */
static bool add_to_array(cJSON *array, cJSON *item)
{
	if (item && cJSON_AddItemToArray(array, item))
		return true;
	cJSON_Delete(item);
	return false;
}

/* An object at the end of an array; NULL when memory ran out. */
static cJSON *new_entry(cJSON *array)
{
	cJSON *entry = cJSON_CreateObject();

	return add_to_array(array, entry) ? entry : NULL;
}

static bool add_evidence(cJSON *finding, const struct nfd_diagnosis *diagnosis)
{
	cJSON *evidence = cJSON_AddArrayToObject(finding, "evidence");
	cJSON *fix = cJSON_AddArrayToObject(finding, "fix");
	bool ok = evidence && fix;

	for (size_t i = 0; ok && i < diagnosis->evidence_count; i++) {
		cJSON *entry = new_entry(evidence);

		ok = entry && nfd_json_add_text(entry, "path", diagnosis->evidence[i].path) &&
		     nfd_json_add_text(entry, "value", diagnosis->evidence[i].value);
	}
	for (size_t i = 0; ok && i < diagnosis->fix_count; i++)
		ok = add_to_array(fix, nfd_json_new_text(diagnosis->fix[i]));
	return ok;
}

static bool add_text_or_null(cJSON *object, const char *name, const char *text)
{
	return text ? nfd_json_add_text(object, name, text) :
		      cJSON_AddNullToObject(object, name) != NULL;
}

static bool add_finding(cJSON *findings, const struct nfd_row *row,
			const struct nfd_diagnosis *diagnosis)
{
	cJSON *finding = new_entry(findings);

	return finding && cJSON_AddStringToObject(finding, "id", row->id) &&
	       cJSON_AddStringToObject(finding, "verdict", nfd_verdict_name(diagnosis->verdict)) &&
	       add_text_or_null(finding, "blockedBy", diagnosis->blocked_by) &&
	       nfd_json_add_text(finding, "cause", diagnosis->cause) &&
	       add_evidence(finding, diagnosis);
}

static bool add_check(cJSON *checks, const struct nfd_row *row,
		      const struct nfd_diagnosis *diagnosis)
{
	cJSON *check = new_entry(checks);

	return check && cJSON_AddStringToObject(check, "id", row->id) &&
	       cJSON_AddStringToObject(check, "verdict", nfd_verdict_name(diagnosis->verdict)) &&
	       add_text_or_null(check, "reason",
				diagnosis->verdict == NFD_VERDICT_NOT_CHECKED ? diagnosis->cause :
										NULL);
}

void nfd_report_json(const struct nfd_doctor *doctor, struct nfd_strbuf *buf)
{
	cJSON *object = cJSON_CreateObject();
	cJSON *findings, *checks;
	const struct nfd_row *rows;
	char *text = NULL;
	size_t count;
	bool ok;

	rows = nfd_rows(&count);
	ok = cJSON_AddNumberToObject(object, "schema", 1) &&
	     cJSON_AddStringToObject(object, "verdict",
				     nfd_verdict_name(nfd_doctor_worst(doctor))) &&
	     add_text_or_null(object, "cause", doctor->cause);
	findings = cJSON_AddArrayToObject(object, "findings");
	checks = cJSON_AddArrayToObject(object, "checks");
	ok = ok && findings && checks;
	for (size_t i = 0; ok && i < count; i++) {
		if (doctor->diagnosis[i].verdict >= NFD_VERDICT_INFO)
			ok = add_finding(findings, &rows[i], &doctor->diagnosis[i]);
		ok = ok && add_check(checks, &rows[i], &doctor->diagnosis[i]);
	}
	if (ok)
		text = cJSON_Print(object);
	cJSON_Delete(object);
	if (text)
		nfd_strbuf_printf(buf, "%s\n", text);
	else
		buf->error = -ENOMEM;
	cJSON_free(text);
}

/* The finding that is told where there is room for one. */
static size_t first_finding(const struct nfd_doctor *doctor, size_t count)
{
	enum nfd_verdict worst = nfd_doctor_worst(doctor);
	size_t at = 0;

	while (at < count && doctor->diagnosis[at].verdict != worst)
		at++;
	return at;
}

int nfd_report_npd(const struct nfd_doctor *doctor, enum nfd_verdict fail_on,
		   struct nfd_strbuf *buf)
{
	const struct nfd_row *rows;
	char line[NPD_LINE + 1];
	size_t count, at;

	rows = nfd_rows(&count);
	at = first_finding(doctor, count);
	if (nfd_doctor_is_undecided(doctor))
		snprintf(line, sizeof(line), "it cannot be told whether this node has a GPU");
	else if (nfd_doctor_worst(doctor) < fail_on || at == count)
		snprintf(line, sizeof(line), "GPU chain: %s", headline(doctor));
	else
		snprintf(line, sizeof(line), "%s: %s", rows[at].id, rows[at].help);
	nfd_strbuf_printf(buf, "%s\n", line);
	if (nfd_doctor_is_undecided(doctor))
		return 2;
	return nfd_doctor_worst(doctor) >= fail_on;
}

void nfd_report_metrics(const struct nfd_doctor *doctor, struct nfd_strbuf *buf)
{
	static const int values[] = {
		[NFD_VERDICT_OK] = 0,      [NFD_VERDICT_NOT_CHECKED] = -1, [NFD_VERDICT_INFO] = 1,
		[NFD_VERDICT_WARNING] = 2, [NFD_VERDICT_CRITICAL] = 3,
	};
	const struct nfd_row *rows;
	size_t count;

	rows = nfd_rows(&count);
	nfd_strbuf_puts(
		buf, "# HELP nfd_source_doctor_check Verdict of a check: 0 ok, 1 info, 2 warning, "
		     "3 critical, -1 not checked.\n"
		     "# TYPE nfd_source_doctor_check gauge\n");
	for (size_t i = 0; i < count; i++)
		nfd_strbuf_printf(buf, "nfd_source_doctor_check{id=\"%s\"} %d\n", rows[i].id,
				  values[doctor->diagnosis[i].verdict]);
	nfd_strbuf_printf(buf,
			  "# HELP nfd_source_doctor_verdict Worst verdict of all checks.\n"
			  "# TYPE nfd_source_doctor_verdict gauge\n"
			  "nfd_source_doctor_verdict %d\n",
			  values[nfd_doctor_worst(doctor)]);
}
