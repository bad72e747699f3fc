// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The exposition format is lines "name{label="value"} number"; label values here are constant words.
 */
#include "config.h"

#include "cmd/metrics_file.h"

#include <errno.h>

#include "base/atomic_file.h"
#include "cmd/daemon_watch.h"

static void put_head(struct nfd_strbuf *buf, const char *name, const char *type, const char *help)
{
	nfd_strbuf_printf(buf, "# HELP nfd_source_%s %s\n# TYPE nfd_source_%s %s\n", name, help,
			  name, type);
}

struct single {
	const char *name, *type, *help;
	double value;
};

static void put_singles(const struct nfd_status *status, struct nfd_strbuf *buf)
{
	const struct nfd_daemon_watch *watch = status->watch;
	const struct single singles[] = {
		{ "start_time_seconds", "gauge", "When the daemon started, in seconds since 1970.",
		  (double)status->started_s },
		{ "scans_total", "counter", "Scans since the start.", status->scans },
		{ "last_scan_timestamp_seconds", "gauge", "When the last scan was.",
		  (double)status->scanned_s },
		{ "last_scan_duration_seconds", "gauge", "How long the last scan took.",
		  (double)status->scan_ms / 1000 },
		{ "last_change_timestamp_seconds", "gauge",
		  "When a label last changed; 0 for not since the start.",
		  (double)status->changed_s },
		{ "events_total", "counter", "Events of devices and files since the start.",
		  watch ? (double)watch->events : 0 },
		{ "events_lost_total", "counter", "Times that events were lost.",
		  watch ? (double)watch->lost : 0 },
		{ "faults", "gauge", "Things that are wrong now (see nfd-source status).",
		  (double)status->faults->count },
	};

	for (size_t i = 0; i < NFD_ARRAY_SIZE(singles); i++) {
		put_head(buf, singles[i].name, singles[i].type, singles[i].help);
		nfd_strbuf_printf(buf, "nfd_source_%s %.15g\n", singles[i].name, singles[i].value);
	}
}

static void put_labels(const struct nfd_status *status, struct nfd_strbuf *buf)
{
	put_head(buf, "labels", "gauge", "Labels by state.");
	nfd_strbuf_printf(buf,
			  "nfd_source_labels{state=\"present\"} %zu\n"
			  "nfd_source_labels{state=\"unknown\"} %zu\n"
			  "nfd_source_labels{state=\"leaving\"} %zu\n",
			  status->labels->count - status->kept_unknown - status->leaving,
			  status->kept_unknown, status->leaving);
}

/* One value of an output. */
struct row {
	const char *name, *type, *help;
	const char *label; /* further label with value, or "" */
	double (*value)(const struct nfd_status_output *output);
};

static double is_on(const struct nfd_status_output *output)
{
	return output->is_on;
}

static double succeeded(const struct nfd_status_output *output)
{
	return output->publications;
}

/* The failures of a helper are told by the helper's own count. */
static double failed(const struct nfd_status_output *output)
{
	return output->failures + (double)output->api.failures;
}

static double success_time(const struct nfd_status_output *output)
{
	return (double)output->success_s;
}

static double published_time(const struct nfd_status_output *output)
{
	return (double)output->published_s;
}

static double runs(const struct nfd_status_output *output)
{
	return (double)output->api.runs;
}

static double deadlines(const struct nfd_status_output *output)
{
	return (double)output->api.deadlines;
}

static double get_requests(const struct nfd_status_output *output)
{
	return (double)output->api.get;
}

static double patch_requests(const struct nfd_status_output *output)
{
	return (double)output->api.patch;
}

/* Rows of one name stand together. */
static const struct row rows[] = {
	{ "output_on", "gauge", "Whether an output is on.", "", is_on },
	{ "publications_total", "counter", "Publications by output and result.",
	  ",result=\"success\"", succeeded },
	{ "publications_total", "counter", "", ",result=\"failure\"", failed },
	{ "last_publication_timestamp_seconds", "gauge",
	  "When an output last published something new; 0 for never.", "", published_time },
	{ "last_success_timestamp_seconds", "gauge",
	  "When all was last known to be out; 0 for never.", "", success_time },
	{ "helper_runs_total", "counter", "Runs of nfd-source-api.", "", runs },
	{ "helper_deadlines_total", "counter", "Runs of nfd-source-api that hit their deadline.",
	  "", deadlines },
	{ "api_requests_total", "counter", "Requests to the API server.", ",verb=\"get\"",
	  get_requests },
	{ "api_requests_total", "counter", "", ",verb=\"patch\"", patch_requests },
};

static void put_outputs(const struct nfd_status *status, struct nfd_strbuf *buf)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(rows); i++) {
		if (rows[i].help[0])
			put_head(buf, rows[i].name, rows[i].type, rows[i].help);
		for (size_t at = 0; at < status->output_count; at++)
			if (status->output[at].name)
				nfd_strbuf_printf(buf, "nfd_source_%s{output=\"%s\"%s} %.15g\n",
						  rows[i].name, status->output[at].name,
						  rows[i].label,
						  rows[i].value(&status->output[at]));
	}
}

void nfd_metrics_render(const struct nfd_status *status, struct nfd_strbuf *buf)
{
	put_head(buf, "build_info", "gauge", "The version that runs.");
	nfd_strbuf_printf(buf, "nfd_source_build_info{version=\"%s\"} 1\n", PACKAGE_VERSION);
	put_singles(status, buf);
	put_labels(status, buf);
	put_outputs(status, buf);
}

int nfd_metrics_write(const char *path, const struct nfd_status *status, struct nfd_error *err)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };

	nfd_metrics_render(status, &buf);
	if (buf.error)
		return nfd_error_set(err, buf.error, "out of memory");
	return nfd_atomic_file_put(path, false, buf.data, buf.len, err);
}
