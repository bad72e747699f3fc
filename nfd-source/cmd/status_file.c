// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Status as JSON. Times are RFC 3339 texts; a time that has not come is missing.
 */
#include "config.h"

#include "cmd/status_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/root.h"
#include "cmd/daemon_confine.h"
#include "cmd/daemon_vendors.h"
#include "cmd/daemon_watch.h"

#define STATUS_MAX (1024 * 1024)

static void add_time(cJSON *object, const char *name, int64_t seconds)
{
	char text[NFD_TIME_TEXT_SIZE];

	if (seconds == 0)
		return;
	nfd_format_time(seconds, text);
	cJSON_AddStringToObject(object, name, text);
}

/* Runs of the helper and their requests, for an output that has one. */
static void add_api(cJSON *object, const struct nfd_api_counts *counts)
{
	cJSON *entry;

	if (counts->runs == 0)
		return;
	entry = cJSON_AddObjectToObject(object, "api");
	cJSON_AddNumberToObject(entry, "runs", (double)counts->runs);
	cJSON_AddNumberToObject(entry, "failures", (double)counts->failures);
	cJSON_AddNumberToObject(entry, "deadlines", (double)counts->deadlines);
	cJSON_AddNumberToObject(entry, "get", (double)counts->get);
	cJSON_AddNumberToObject(entry, "patch", (double)counts->patch);
	cJSON_AddNumberToObject(entry, "delete", (double)counts->delete);
}

static void add_outputs(cJSON *object, const struct nfd_status *status)
{
	cJSON *list = cJSON_AddArrayToObject(object, "outputs");

	for (size_t i = 0; i < status->output_count; i++) {
		const struct nfd_status_output *output = &status->output[i];
		cJSON *entry = cJSON_CreateObject();

		cJSON_AddStringToObject(entry, "name", output->name);
		cJSON_AddBoolToObject(entry, "on", output->is_on && !output->is_idle);
		cJSON_AddStringToObject(entry, "why", output->why);
		cJSON_AddStringToObject(entry, "target", output->target);
		add_time(entry, "published", output->published_s);
		add_time(entry, "expires", output->expiry_s);
		cJSON_AddNumberToObject(entry, "labels", (double)output->labels);
		cJSON_AddNumberToObject(entry, "leftOut", (double)output->left_out);
		if (output->state[0])
			cJSON_AddStringToObject(entry, "state", output->state);
		add_api(entry, &output->api);
		cJSON_AddItemToArray(list, entry);
	}
}

static void add_faults(cJSON *object, const struct nfd_faults *faults)
{
	cJSON *list = cJSON_AddArrayToObject(object, "faults");

	for (size_t i = 0; i < faults->count; i++) {
		cJSON *entry = cJSON_CreateObject();

		cJSON_AddStringToObject(entry, "id", faults->fault[i].id);
		cJSON_AddStringToObject(entry, "text", faults->fault[i].text);
		add_time(entry, "since", faults->fault[i].since_s);
		cJSON_AddNumberToObject(entry, "count", faults->fault[i].count);
		cJSON_AddItemToArray(list, entry);
	}
}

static void add_watch(cJSON *object, const struct nfd_daemon_watch *watch)
{
	cJSON *entry;

	if (!watch)
		return;
	entry = cJSON_AddObjectToObject(object, "watch");
	cJSON_AddBoolToObject(entry, "uevents", watch->monitor != NULL);
	cJSON_AddStringToObject(entry, "group", watch->options.group);
	if (watch->reason[0])
		cJSON_AddStringToObject(entry, "reason", watch->reason);
	cJSON_AddBoolToObject(entry, "files", watch->files.fd >= 0);
	add_time(entry, "since", watch->since_s);
	add_time(entry, "event", watch->event_s);
	if (watch->event_s)
		cJSON_AddStringToObject(entry, "lastEvent", watch->event);
	cJSON_AddNumberToObject(entry, "events", (double)watch->events);
	cJSON_AddNumberToObject(entry, "lost", (double)watch->lost);
}

static void add_confinement(cJSON *object, const struct nfd_confinement *confinement)
{
	cJSON *entry, *list;

	if (!confinement)
		return;
	entry = cJSON_AddObjectToObject(object, "confinement");
	cJSON_AddBoolToObject(entry, "off", confinement->mode == NFD_MODE_OFF);
	cJSON_AddBoolToObject(entry, "systemCalls", confinement->calls != 0);
	cJSON_AddNumberToObject(entry, "landlock", confinement->landlock);
	if (confinement->calls_reason[0])
		cJSON_AddStringToObject(entry, "systemCallsReason", confinement->calls_reason);
	if (confinement->landlock_reason[0])
		cJSON_AddStringToObject(entry, "landlockReason", confinement->landlock_reason);
	list = cJSON_AddArrayToObject(entry, "writable");
	for (size_t i = 0; confinement->landlock && i < confinement->folder_count; i++)
		cJSON_AddItemToArray(list, cJSON_CreateString(confinement->folder[i]));
}

static void add_verdict(cJSON *entry, const struct nfd_vendor_state *state)
{
	cJSON_AddStringToObject(entry, "labels", nfd_vendor_words(state->verdict));
	nfd_json_add_text(entry, "why", state->why);
}

/* Whether we write the labels of NFD's sources, and of vendors whose hardware is here. */
static void add_vendors(cJSON *object, const struct nfd_daemon_vendors *vendors)
{
	cJSON *list, *nvml;

	if (!vendors)
		return;
	add_verdict(cJSON_AddObjectToObject(object, "sources"),
		    &vendors->verdict.of[NFD_VENDOR_NFD]);
	list = cJSON_AddArrayToObject(object, "vendors");
	for (int i = NFD_VENDOR_NFD + 1; i < NFD_VENDOR_COUNT; i++) {
		cJSON *entry;

		if (!(vendors->found >> i & 1))
			continue;
		entry = cJSON_CreateObject();
		cJSON_AddStringToObject(entry, "name", nfd_labeller((enum nfd_vendor)i)->name);
		add_verdict(entry, &vendors->verdict.of[i]);
		cJSON_AddItemToArray(list, entry);
	}
	if (!(vendors->found >> NFD_VENDOR_NVIDIA & 1))
		return;
	nvml = cJSON_AddObjectToObject(object, "nvml");
	cJSON_AddStringToObject(nvml, "state", nfd_nvml_words(vendors->nvml.end));
	if (vendors->nvml.why[0])
		nfd_json_add_text(nvml, "why", vendors->nvml.why);
}

static char *render(const struct nfd_status *status)
{
	cJSON *object = cJSON_CreateObject();
	cJSON *labels;
	char *text;

	cJSON_AddNumberToObject(object, "schema", 1);
	cJSON_AddStringToObject(object, "version", PACKAGE_VERSION);
	cJSON_AddNumberToObject(object, "pid", (double)getpid());
	cJSON_AddStringToObject(object, "node", status->node_name);
	cJSON_AddStringToObject(object, "root", status->root);
	add_time(object, "started", status->started_s);
	add_time(object, "stopped", status->stopped_s);
	add_time(object, "scanned", status->scanned_s);
	add_time(object, "changed", status->changed_s);
	cJSON_AddNumberToObject(object, "scanMilliseconds", (double)status->scan_ms);
	cJSON_AddNumberToObject(object, "scans", status->scans);
	cJSON_AddNumberToObject(object, "publications", status->publications);
	if (status->doctor_cause && status->doctor_cause[0])
		cJSON_AddStringToObject(object, "doctorCause", status->doctor_cause);
	add_watch(object, status->watch);
	add_confinement(object, status->confinement);
	add_vendors(object, status->vendors);
	add_outputs(object, status);
	add_faults(object, status->faults);
	labels = cJSON_AddObjectToObject(object, "labels");
	for (size_t i = 0; i < status->labels->count; i++)
		cJSON_AddStringToObject(labels, status->labels->label[i].key,
					status->labels->label[i].value);
	text = cJSON_PrintUnformatted(object);
	cJSON_Delete(object);
	return text;
}

int nfd_status_write(const char *path, const struct nfd_status *status, struct nfd_error *err)
{
	char *text = render(status);
	int r;

	if (!text)
		return nfd_error_set(err, -ENOMEM, "out of memory");
	r = nfd_atomic_file_put(path, true, text, strlen(text), err);
	cJSON_free(text);
	return r;
}

int nfd_status_read(const char *path, cJSON **ret, struct nfd_error *err)
{
	cleanup_close int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	cleanup_free char *text = malloc(STATUS_MAX + 1);
	ssize_t len;
	int code;

	len = fd < 0 ? -1 : text ? read(fd, text, STATUS_MAX + 1) : 0;
	code = len < 0 ? -errno : !text ? -ENOMEM : len > STATUS_MAX ? -EFBIG : 0;
	if (code < 0)
		return nfd_error_set(err, code, "cannot read \"%s\": %s", path,
				     nfd_errno_text(code));
	*ret = cJSON_ParseWithLength(text, (size_t)len);
	if (!*ret)
		return nfd_error_set(err, -EBADMSG, "\"%s\" holds no JSON", path);
	return 0;
}

int nfd_status_labels(const cJSON *document, struct nfd_set *set)
{
	const cJSON *labels = cJSON_GetObjectItemCaseSensitive(document, "labels");
	const cJSON *entry;
	int r;

	cJSON_ArrayForEach(entry, labels) {
		struct nfd_label label = { .key = entry->string,
					   .value = entry->valuestring,
					   .rank = NFD_RANK_NORMAL };

		if (!cJSON_IsString(entry) || !label.key)
			continue;
		r = nfd_set_put(set, &label);
		if (r == -ENOMEM)
			return r;
	}
	return 0;
}

int nfd_status_remove(const char *path, struct nfd_error *err)
{
	int code;

	if (unlink(path) == 0)
		return 1;
	code = -errno;
	if (nfd_root_is_absent(code))
		return 0;
	return nfd_error_set(err, code, "cannot remove \"%s\": %s", path, nfd_errno_text(code));
}
