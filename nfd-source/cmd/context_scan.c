// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The scan of a command that runs once: it may wait for NVML and for the API server. The daemon has a
 * way of its own (cmd/daemon_vendors), which never waits.
 */
#include "config.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>

#include "base/json.h"
#include "cmd/cmd.h"
#include "cmd/vendor_look.h"
#include "doctor/processes.h"
#include "scan/cpu_live.h"
#include "scan/scan.h"

/* Eight cards without a persistence daemon take some seconds each to start. */
#define NVML_DEADLINE_MS 60000

/* In a pod the host's root is a folder, and its sysfs is mounted there all the same. */
static bool is_this_host(const struct nfd_context *context)
{
	char path[PATH_MAX];
	struct statfs status;

	if (strcmp(context->root_path, "/") == 0)
		return true;
	return snprintf(path, sizeof(path), "%s/sys", context->root_path) < (int)sizeof(path) &&
	       statfs(path, &status) == 0 && status.f_type == SYSFS_MAGIC;
}

const struct nfd_cpu_facts *nfd_context_cpu(struct nfd_context *context)
{
	if (!is_this_host(context))
		return NULL;
	if (!context->cpu_is_known)
		nfd_cpu_live(&context->cpu);
	context->cpu_is_known = true;
	return &context->cpu;
}

int nfd_context_worker_pid(const struct nfd_context *context)
{
	struct nfd_processes processes;

	nfd_processes_read(&context->root, 0, &processes);
	return processes.process[NFD_PROCESS_NFD_WORKER].pid;
}

void nfd_context_prepare_scan(struct nfd_context *context)
{
	const struct nfd_output_options *outputs = &context->settings.outputs;
	struct nfd_local_options *local = &context->settings.scan.local;
	const char *why;

	local->dir = nfd_feature_output.is_on(outputs, &why) ? NULL : outputs->feature_file.dir;
	local->own = outputs->feature_file.name;
}

struct nfd_nvml_place nfd_context_nvml_place(const struct nfd_context *context, bool is_daemon)
{
	return (struct nfd_nvml_place){
		.helper = is_daemon ? context->nvml_helper : NULL,
		.environment = context->sources.environment,
		.unconfined = context->settings.confinement == NFD_MODE_OFF,
		.deadline_ms = NVML_DEADLINE_MS,
	};
}

/* NVML's helper, which runs beside the scan until its answer is wanted. */
struct asking {
	struct nfd_context *context;
	struct nfd_child child;
	bool is_running, is_answered;
};

static void fail_nvml(struct nfd_context *context, enum nfd_nvml_end end, const char *why)
{
	context->nvml.end = end;
	snprintf(context->nvml.why, sizeof(context->nvml.why), "%s", why);
}

static void start_nvml(struct asking *asking, const char *library)
{
	struct nfd_nvml_place place = nfd_context_nvml_place(asking->context, false);
	struct nfd_error err = { 0 };

	asking->is_running = nfd_child_init(&asking->child, &err) == 0 &&
			     nfd_nvml_start(&asking->child, &place, library, &err) == 0;
	if (!asking->is_running) {
		fail_nvml(asking->context, NFD_NVML_RUBBISH, nfd_error_text(&err));
		nfd_child_done(&asking->child);
	}
}

static void begin_nvml(struct asking *asking, bool quick)
{
	struct nfd_context *context = asking->context;
	const struct nfd_scan_options *options = &context->settings.scan;
	char library[PATH_MAX], why[100];
	enum nfd_nvml_end end;

	nfd_nvml_done(&context->nvml);
	if (context->vendors.of[NFD_VENDOR_NVIDIA].verdict == NFD_VENDOR_LEAVE)
		return;
	if (options->vendor.nvml) {
		fail_nvml(context, NFD_NVML_NOT_STARTED, "sources.vendor.nvidia.nvml is off");
		return;
	}
	end = nfd_nvml_find(&context->root, options->nvidia_library_dir, library, why);
	if (end != NFD_NVML_PENDING)
		fail_nvml(context, end, why);
	else if (quick)
		fail_nvml(context, NFD_NVML_PENDING, "NVML is not waited for");
	else
		start_nvml(asking, library);
}

static void await_nvml(void *cookie)
{
	struct asking *asking = cookie;

	if (!asking->is_running || asking->is_answered)
		return;
	/* Its end is not waited for, which takes as long as our own labels; see run_scan(). */
	nfd_child_wait_output(&asking->child);
	nfd_nvml_take(&asking->child, &asking->context->nvml);
	/* Without a report how it ended says why. */
	if (asking->context->nvml.end != NFD_NVML_DONE) {
		nfd_child_wait(&asking->child);
		nfd_nvml_done(&asking->context->nvml);
		nfd_nvml_take(&asking->child, &asking->context->nvml);
	}
	asking->is_answered = true;
}

static bool wants_cpu(const struct nfd_context *context, unsigned int flags)
{
	return flags & NFD_SCAN_VENDORS ||
	       context->vendors.of[NFD_VENDOR_NFD].verdict == NFD_VENDOR_WRITE;
}

static int run_scan(struct nfd_context *context, unsigned int flags, struct nfd_scan *scan)
{
	struct asking asking = { .context = context };
	struct nfd_scan_request request = {
		.root = &context->root,
		.options = &context->settings.scan,
		.vendors = flags & NFD_SCAN_VENDORS ? NULL : &context->vendors,
		.cpu = wants_cpu(context, flags) ? nfd_context_cpu(context) : NULL,
		.nvml = &context->nvml,
		.await_nvml = await_nvml,
		.await_cookie = &asking,
		.features = flags & NFD_SCAN_FEATURES,
		.all_devices = flags & NFD_SCAN_ALL,
	};
	struct nfd_error err = { 0 };
	int r;

	begin_nvml(&asking, flags & NFD_SCAN_QUICK);
	r = nfd_scan_run(scan, &request, &err);
	/* It ends now, or is ended: where no GPU is, nobody wants the answer. */
	if (asking.is_running)
		nfd_child_done(&asking.child);
	if (r < 0)
		nfd_log(NFD_LOG_ERROR, "cannot scan", "error", nfd_error_text(&err), NULL);
	return r;
}

/* What is seen of an nfd-worker; looked for only where it decides. */
static void add_worker(const struct nfd_context *context, struct nfd_vendor_view *view)
{
	if (context->settings.scan.vendor.labels[NFD_VENDOR_NFD] != NFD_VENDOR_AUTO)
		return;
	view->worker_pid = nfd_context_worker_pid(context);
	view->file_alone = nfd_vendor_file_alone(&context->settings.outputs);
}

int nfd_context_scan(struct nfd_context *context, struct nfd_scan *scan, unsigned int flags)
{
	const struct nfd_vendor_options *options = &context->settings.scan.vendor;
	struct nfd_vendor_view view = { 0 };
	int r;

	add_worker(context, &view);
	nfd_context_prepare_scan(context);
	nfd_vendors_decide(options, context->settings.outputs.feature_file.dir, &view,
			   &context->vendors);
	r = run_scan(context, flags, scan);
	if (r < 0)
		return r;
	for (size_t i = 0; i < scan->unknowns.count; i++)
		if (!scan->unknowns.unknown[i].doubt && nfd_unknowns_says_more(&scan->unknowns, i))
			nfd_log(NFD_LOG_WARNING, "labels are unknown", "keys",
				scan->unknowns.unknown[i].prefix, "reason",
				scan->unknowns.unknown[i].reason, NULL);
	return 0;
}

/* The helper's answer; NULL when there was none. */
static cJSON *ask_api(const struct nfd_context *context, cJSON *request)
{
	struct nfd_error err = { 0 };
	cJSON *result = NULL;

	if (nfd_api_exchange(&context->settings.outputs.api, request, &result, &err) == 0)
		return result;
	nfd_log(NFD_LOG_DEBUG, "who writes the vendors' labels is decided by files alone", "error",
		nfd_error_text(&err), NULL);
	return NULL;
}

/* Labels that are published now; those of a file that cannot be read are none. */
static void read_published(const struct nfd_context *context, struct nfd_set *ret)
{
	struct nfd_error err = { 0 };

	if (nfd_feature_output.read_back(&context->settings.outputs, ret, &err) < 0)
		nfd_log(NFD_LOG_DEBUG, "cannot read what is published", "error",
			nfd_error_text(&err), NULL);
}

static bool is_changed(const struct nfd_vendors *before, const struct nfd_vendors *now)
{
	for (size_t i = 0; i < NFD_VENDOR_COUNT; i++)
		if (before->of[i].verdict != now->of[i].verdict)
			return true;
	return false;
}

/* The request for what this scan found; NULL when there is nothing to ask. */
static int make_request(const struct nfd_context *context, const struct nfd_scan *scan, cJSON **ret)
{
	cleanup_set struct nfd_set published = { 0 };

	*ret = NULL;
	if (!nfd_vendor_look_wanted(&context->settings.outputs))
		return 0;
	read_published(context, &published);
	return nfd_vendor_look_request(&context->settings, scan->vendors_found, &published, ret);
}

int nfd_context_ask_vendors(struct nfd_context *context, struct nfd_scan *scan, unsigned int flags)
{
	const struct nfd_settings *settings = &context->settings;
	struct nfd_vendors before = context->vendors;
	struct nfd_vendor_view view = { 0 };
	cJSON *request, *result;
	int r = make_request(context, scan, &request);

	if (r < 0)
		nfd_log(NFD_LOG_ERROR, "out of memory", NULL);
	if (r < 0 || !request)
		return r;
	result = ask_api(context, request);
	view.seen = nfd_json_get(result, "seen");
	view.coming = nfd_json_get(result, "coming");
	add_worker(context, &view);
	nfd_vendors_decide(&settings->scan.vendor, settings->outputs.feature_file.dir, &view,
			   &context->vendors);
	cJSON_Delete(result);
	if (!is_changed(&before, &context->vendors))
		return 0;
	nfd_scan_done(scan);
	return run_scan(context, flags, scan);
}
