// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * status: what the running daemon knows, from the file that it keeps.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "cmd/cmd.h"
#include "cmd/status_file.h"

#define RUNNING "running"

static const char *text_of(const cJSON *object, const char *name, const char *otherwise)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));

	return text ? text : otherwise;
}

static double number_of(const cJSON *object, const char *name)
{
	const cJSON *number = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsNumber(number) ? number->valuedouble : 0;
}

/* A daemon that was killed leaves the file as it was; its pid tells. */
static const char *state_of(const cJSON *status)
{
	double pid = number_of(status, "pid");

	if (cJSON_GetObjectItemCaseSensitive(status, "stopped"))
		return "stopped";
	if (pid < 1 || pid > 1 << 30 || (kill((pid_t)pid, 0) < 0 && errno == ESRCH))
		return "not running (no process has its pid in this pid namespace)";
	return RUNNING;
}

static void put_outputs(const cJSON *status, struct nfd_strbuf *buf)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(status, "outputs");
	const cJSON *entry;

	cJSON_ArrayForEach(entry, list) {
		bool on = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(entry, "on"));

		nfd_strbuf_printf(buf, "output %s: %s, because %s\n", text_of(entry, "name", "?"),
				  on ? "on" : "off", text_of(entry, "why", "?"));
		if (text_of(entry, "state", "")[0] && !on)
			nfd_strbuf_printf(buf, "  state:      %s\n", text_of(entry, "state", ""));
		if (!on)
			continue;
		nfd_strbuf_printf(buf, "  target:     %s\n  published:  %s, %.0f labels",
				  text_of(entry, "target", "?"),
				  text_of(entry, "published", "not since the start"),
				  number_of(entry, "labels"));
		if (number_of(entry, "leftOut") > 0)
			nfd_strbuf_printf(buf, ", %.0f found no room", number_of(entry, "leftOut"));
		nfd_strbuf_puts(buf, "\n");
		if (text_of(entry, "expires", "")[0])
			nfd_strbuf_printf(buf, "  expires:    %s\n", text_of(entry, "expires", ""));
		if (text_of(entry, "state", "")[0])
			nfd_strbuf_printf(buf, "  state:      %s\n", text_of(entry, "state", ""));
	}
}

static void put_watch(const cJSON *status, struct nfd_strbuf *buf)
{
	const cJSON *watch = cJSON_GetObjectItemCaseSensitive(status, "watch");
	bool uevents = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(watch, "uevents"));

	if (uevents)
		nfd_strbuf_printf(buf, "listening:    uevents (group %s) and files since %s\n",
				  text_of(watch, "group", "?"), text_of(watch, "since", "?"));
	else
		nfd_strbuf_printf(buf, "listening:    no uevents: %s\n",
				  text_of(watch, "reason", "?"));
	nfd_strbuf_printf(buf, "last event:   %s%s%s\n", text_of(watch, "event", "none yet"),
			  text_of(watch, "lastEvent", "")[0] ? ", " : "",
			  text_of(watch, "lastEvent", ""));
	nfd_strbuf_printf(buf, "events:       %.0f, times that some were lost: %.0f\n",
			  number_of(watch, "events"), number_of(watch, "lost"));
}

static void put_confinement(const cJSON *status, struct nfd_strbuf *buf)
{
	const cJSON *entry = nfd_json_get(status, "confinement");
	const cJSON *folder;
	const char *between = " ";

	/* A status file of an older version has none. */
	if (!entry || nfd_json_is_true(entry, "off")) {
		nfd_strbuf_printf(buf, "confined:     %s\n",
				  entry ? "no (confinement.mode: off)" : "no");
		return;
	}
	nfd_strbuf_printf(buf, "confined:     system calls: %s\n",
			  nfd_json_is_true(entry, "systemCalls") ?
				  "filtered" :
				  text_of(entry, "systemCallsReason", "no"));
	if (number_of(entry, "landlock") < 1) {
		nfd_strbuf_printf(buf, "              Landlock: %s\n",
				  text_of(entry, "landlockReason", "no"));
		return;
	}
	nfd_strbuf_printf(buf, "              Landlock (version %.0f): writes below",
			  number_of(entry, "landlock"));
	cJSON_ArrayForEach(folder, nfd_json_get(entry, "writable")) {
		nfd_strbuf_printf(buf, "%s%s", between,
				  cJSON_IsString(folder) ? folder->valuestring : "?");
		between = ", ";
	}
	nfd_strbuf_puts(buf, "\n");
}

static void put_vendors(const cJSON *status, struct nfd_strbuf *buf)
{
	const cJSON *nvml = nfd_json_get(status, "nvml");
	const cJSON *entry = nfd_json_get(status, "sources");

	/* A status file of an older version has none. */
	if (entry)
		nfd_strbuf_printf(buf, "sources:      those of nfd-worker: %s, because %s\n",
				  text_of(entry, "labels", "?"), text_of(entry, "why", "?"));
	cJSON_ArrayForEach(entry, nfd_json_get(status, "vendors"))
		nfd_strbuf_printf(buf, "vendor %s: %s, because %s\n", text_of(entry, "name", "?"),
				  text_of(entry, "labels", "?"), text_of(entry, "why", "?"));
	if (nvml)
		nfd_strbuf_printf(buf, "NVML:         %s%s%s\n", text_of(nvml, "state", "?"),
				  text_of(nvml, "why", "")[0] ? ": " : "",
				  text_of(nvml, "why", ""));
}

static void put_faults(const cJSON *status, struct nfd_strbuf *buf)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(status, "faults");
	const cJSON *entry;

	cJSON_ArrayForEach(entry, list)
		nfd_strbuf_printf(buf, "fault:        %s: %s (since %s, %.0f times)\n",
				  text_of(entry, "id", "?"), text_of(entry, "text", "?"),
				  text_of(entry, "since", "?"), number_of(entry, "count"));
	if (cJSON_GetArraySize(list) == 0)
		nfd_strbuf_puts(buf, "fault:        none\n");
}

static void render(const cJSON *status, struct nfd_strbuf *buf)
{
	nfd_strbuf_printf(buf, "daemon:       %s, pid %.0f, version %s\n", state_of(status),
			  number_of(status, "pid"), text_of(status, "version", "?"));
	nfd_strbuf_printf(buf, "node:         %s\nroot:         %s\n", text_of(status, "node", "?"),
			  text_of(status, "root", "?"));
	nfd_strbuf_printf(buf, "started:      %s\n", text_of(status, "started", "?"));
	if (cJSON_GetObjectItemCaseSensitive(status, "stopped"))
		nfd_strbuf_printf(buf, "stopped:      %s\n", text_of(status, "stopped", "?"));
	nfd_strbuf_printf(buf, "last scan:    %s, %.0f ms, %.0f since the start\n",
			  text_of(status, "scanned", "none yet"),
			  number_of(status, "scanMilliseconds"), number_of(status, "scans"));
	nfd_strbuf_printf(buf, "last change:  %s\n",
			  text_of(status, "changed", "none since the start"));
	nfd_strbuf_printf(buf, "labels:       %d\npublications: %.0f\n",
			  cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(status, "labels")),
			  number_of(status, "publications"));
	put_watch(status, buf);
	put_confinement(status, buf);
	put_vendors(status, buf);
	put_outputs(status, buf);
	put_faults(status, buf);
}

static int run(struct nfd_context *context)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	const char *form = nfd_context_option(context, "output");
	struct nfd_error err = { 0 };
	cJSON *status = NULL;
	bool running;
	char *text;
	int r;

	r = nfd_status_read(context->settings.status_path, &status, &err);
	if (r < 0) {
		nfd_log(NFD_LOG_ERROR, "no status: is the daemon running (nfd-source run)?",
			"error", nfd_error_text(&err), NULL);
		return NFD_EXIT_FAILED;
	}
	if (form && strcmp(form, "json") == 0) {
		text = cJSON_Print(status);
		nfd_strbuf_printf(&buf, "%s\n", text ? text : "");
		buf.error = text ? buf.error : -ENOMEM;
		cJSON_free(text);
	} else {
		render(status, &buf);
	}
	running = strcmp(state_of(status), RUNNING) == 0;
	cJSON_Delete(status);
	r = nfd_print(&buf);
	/* Probes want to know whether the daemon lives. */
	return r == NFD_EXIT_DONE && !running ? NFD_EXIT_FAILED : r;
}

static const char *const forms[] = { "text", "json", NULL };

static const struct nfd_option options[] = {
	{ .name = "output",
	  .letter = 'o',
	  .argument = "FORM",
	  .choices = forms,
	  .help = "text (default) or json" },
};

const struct nfd_command nfd_cmd_status = {
	.name = "status",
	.summary = "print what the running daemon knows",
	.option = options,
	.option_count = NFD_ARRAY_SIZE(options),
	.run = run,
};
