// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The verdicts are made anew before each scan, so that a file in features.d counts at once. NVML is
 * asked when a scan is about its labels for a reason of the host: an event, or the time of a full scan.
 */
#include "config.h"

#include "cmd/daemon_vendors.h"

#include <stdio.h>
#include <string.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/json.h"
#include "cmd/cmd.h"
#include "cmd/vendor_look.h"
#include "scan/scan.h"

/* A driver is loaded in steps: the first tries come soon. */
#define NVML_RETRY_FIRST_MS 2000
#define NVML_RETRY_LAST_MS 300000
/* Labels that a program of the vendor would write wait so long for the API server's first answer. */
#define DECIDE_AFTER_MS 10000
#define LOOK_EVERY_MS (60 * 60 * 1000)
#define LOOK_SPREAD_PERCENT 20

static int on_ready(void *cookie)
{
	struct nfd_daemon_vendors *vendors = cookie;

	return vendors->changed(vendors->cookie);
}

int nfd_daemon_vendors_init(struct nfd_daemon_vendors *vendors, struct nfd_context *context,
			    struct nfd_loop *loop, nfd_loop_callback *changed, void *cookie,
			    struct nfd_error *err)
{
	int r;

	*vendors = (struct nfd_daemon_vendors){
		.context = context,
		.changed = changed,
		.cookie = cookie,
		.nvml_due_ms = INT64_MAX,
		.look_due_ms = INT64_MAX,
		.decide_ms = INT64_MAX,
	};
	r = nfd_api_run_init(&vendors->look, INT64_MAX, err);
	if (r < 0)
		return r;
	r = nfd_child_init(&vendors->nvml_child, err);
	if (r < 0) {
		nfd_api_run_done(&vendors->look);
		return r;
	}
	vendors->is_open = true;
	r = nfd_loop_add(loop, vendors->look.child.poll_fd, on_ready, vendors, err);
	return r < 0 ? r : nfd_loop_add(loop, vendors->nvml_child.poll_fd, on_ready, vendors, err);
}

void nfd_daemon_vendors_done(struct nfd_daemon_vendors *vendors, struct nfd_loop *loop)
{
	if (!vendors->is_open)
		return;
	nfd_loop_remove(loop, vendors->look.child.poll_fd);
	nfd_loop_remove(loop, vendors->nvml_child.poll_fd);
	nfd_api_run_done(&vendors->look);
	nfd_child_done(&vendors->nvml_child);
	nfd_nvml_done(&vendors->nvml);
	cJSON_Delete(vendors->seen);
	cJSON_Delete(vendors->coming);
	vendors->seen = vendors->coming = NULL;
	vendors->is_open = false;
}

static const struct nfd_scan_options *options_of(const struct nfd_daemon_vendors *vendors)
{
	return &vendors->context->settings.scan;
}

static void set_nvml(struct nfd_daemon_vendors *vendors, enum nfd_nvml_end end, const char *why)
{
	nfd_nvml_done(&vendors->nvml);
	vendors->nvml.end = end;
	snprintf(vendors->nvml.why, sizeof(vendors->nvml.why), "%s", why);
}

static void retry_nvml(struct nfd_daemon_vendors *vendors, int64_t now_ms)
{
	const struct nfd_backoff backoff = { .first_ms = NVML_RETRY_FIRST_MS,
					     .last_ms = NVML_RETRY_LAST_MS };

	vendors->nvml_failures++;
	vendors->nvml_due_ms =
		now_ms + nfd_backoff_ms(&backoff, vendors->nvml_failures, 0, nfd_random());
}

static void start_nvml(struct nfd_daemon_vendors *vendors, int64_t now_ms)
{
	struct nfd_nvml_place place = nfd_context_nvml_place(vendors->context, true);
	char library[PATH_MAX], why[100];
	struct nfd_error err = { 0 };
	enum nfd_nvml_end end =
		nfd_nvml_find(&vendors->context->root, options_of(vendors)->nvidia_library_dir,
			      library, why);

	if (end == NFD_NVML_PENDING &&
	    nfd_nvml_start(&vendors->nvml_child, &place, library, &err) < 0) {
		set_nvml(vendors, NFD_NVML_RUBBISH, nfd_error_text(&err));
		retry_nvml(vendors, now_ms);
		return;
	}
	set_nvml(vendors, end, end == NFD_NVML_PENDING ? "NVML is being asked" : why);
}

/* Starts a run unless one is under way; that one's report would be out of date. */
static void ask_nvml(struct nfd_daemon_vendors *vendors, int64_t now_ms)
{
	vendors->nvml_due_ms = INT64_MAX;
	if (nfd_nvml_is_running(&vendors->nvml_child))
		vendors->nvml_again = true;
	else if (vendors->nvml_child.pid != 0)
		/* One that hangs in the kernel is not joined by others. */
		retry_nvml(vendors, now_ms);
	else if (options_of(vendors)->vendor.nvml)
		set_nvml(vendors, NFD_NVML_NOT_STARTED, "sources.vendor.nvidia.nvml is off");
	else
		start_nvml(vendors, now_ms);
}

/* Hosts have many processes: not at each scan. */
static void look_for_worker(struct nfd_daemon_vendors *vendors, int64_t now_ms)
{
	if (now_ms < vendors->worker_due_ms)
		return;
	vendors->worker_pid = nfd_context_worker_pid(vendors->context);
	vendors->worker_due_ms = now_ms + LOOK_EVERY_MS;
}

void nfd_daemon_vendors_prepare(struct nfd_daemon_vendors *vendors, uint32_t wanted, int64_t now_ms)
{
	const struct nfd_settings *settings = &vendors->context->settings;
	struct nfd_vendor_view view = { .seen = vendors->seen, .coming = vendors->coming };

	look_for_worker(vendors, now_ms);
	view.worker_pid = vendors->worker_pid;
	view.file_alone = nfd_vendor_file_alone(&settings->outputs);

	view.is_pending = !vendors->seen && now_ms < vendors->decide_ms &&
			  nfd_vendor_look_wanted(&settings->outputs);
	vendors->is_pending = view.is_pending;
	nfd_vendors_decide(&settings->scan.vendor, settings->outputs.feature_file.dir, &view,
			   &vendors->verdict);
	if (vendors->nvml_is_fresh)
		vendors->nvml_is_fresh = false;
	else if (wanted & nfd_scanners_for_vendor(NFD_VENDOR_NVIDIA) &&
		 vendors->verdict.of[NFD_VENDOR_NVIDIA].verdict != NFD_VENDOR_LEAVE)
		ask_nvml(vendors, now_ms);
}

void nfd_daemon_vendors_found(struct nfd_daemon_vendors *vendors, unsigned int found,
			      int64_t now_ms)
{
	int64_t spread_ms = vendors->context->place.spread_ms;

	/* Who has NFD's labels is of interest only where that decides. */
	if (options_of(vendors)->vendor.labels[NFD_VENDOR_NFD] != NFD_VENDOR_AUTO)
		found &= ~(1U << NFD_VENDOR_NFD);
	/* New hardware may be that of a vendor that was not asked for. */
	if (found & ~vendors->found &&
	    nfd_vendor_look_wanted(&vendors->context->settings.outputs)) {
		vendors->look_due_ms = now_ms + nfd_spread_ms(spread_ms / 2, 100, nfd_random());
		if (!vendors->seen && vendors->decide_ms == INT64_MAX)
			vendors->decide_ms = now_ms + DECIDE_AFTER_MS;
	}
	vendors->found = found;
}

bool nfd_daemon_vendors_is_asking(const struct nfd_daemon_vendors *vendors)
{
	return vendors->is_pending &&
	       vendors->verdict.of[NFD_VENDOR_NFD].verdict == NFD_VENDOR_WAIT;
}

void nfd_daemon_vendors_reload(struct nfd_daemon_vendors *vendors, int64_t now_ms)
{
	if (vendors->found)
		vendors->look_due_ms = now_ms;
	vendors->worker_due_ms = now_ms;
}

static bool is_well(const struct nfd_nvml *nvml)
{
	const cJSON *code = nfd_json_get(nfd_json_get(nvml->report, "init"), "code");

	return nvml->end == NFD_NVML_DONE && cJSON_IsNumber(code) && code->valueint == 0;
}

static uint32_t step_nvml(struct nfd_daemon_vendors *vendors, int64_t now_ms)
{
	uint32_t bits = nfd_scanners_for_vendor(NFD_VENDOR_NVIDIA);

	if (nfd_child_step(&vendors->nvml_child, now_ms)) {
		if (vendors->nvml_again) {
			vendors->nvml_again = false;
			ask_nvml(vendors, now_ms);
			return 0;
		}
		nfd_nvml_done(&vendors->nvml);
		nfd_nvml_take(&vendors->nvml_child, &vendors->nvml);
		vendors->nvml_is_fresh = true;
		if (is_well(&vendors->nvml))
			vendors->nvml_failures = 0;
		else
			retry_nvml(vendors, now_ms);
		return bits;
	}
	return vendors->nvml_due_ms <= now_ms ? bits : 0;
}

/* The scanners whose verdict the API server can change. */
static uint32_t scanners_of_auto(const struct nfd_daemon_vendors *vendors)
{
	uint32_t bits = 0;

	for (int i = NFD_VENDOR_NONE + 1; i < NFD_VENDOR_COUNT; i++)
		if (vendors->found >> i & 1 && nfd_labeller((enum nfd_vendor)i)->program &&
		    options_of(vendors)->vendor.labels[i] == NFD_VENDOR_AUTO)
			/* NFD's verdict also decides raw features of scanners that are ours. */
			bits |= i == NFD_VENDOR_NFD ? NFD_SCANNERS_ALL :
						      nfd_scanners_for_vendor((enum nfd_vendor)i);
	return bits;
}

/* While a program of a vendor is there, its going is to be seen soon. */
static int64_t look_every_ms(const struct nfd_daemon_vendors *vendors)
{
	int64_t resync_ms = vendors->context->settings.outputs.node_labels.resync_ms;

	if (cJSON_GetArraySize(vendors->seen) == 0 && cJSON_GetArraySize(vendors->coming) == 0)
		return LOOK_EVERY_MS;
	return nfd_min64(resync_ms, LOOK_EVERY_MS);
}

/* Takes one object of an answer's over. Returns whether it is another one. */
static bool take_object(cJSON *result, const char *field, cJSON **kept)
{
	cJSON *fresh = cJSON_DetachItemFromObjectCaseSensitive(result, field);
	bool changed = !*kept || !cJSON_Compare(*kept, fresh, true);

	cJSON_Delete(*kept);
	*kept = fresh;
	return changed;
}

/* Takes an answer. Returns whether the verdicts may be others now. */
static bool take_look(struct nfd_daemon_vendors *vendors, struct nfd_api_answer *answer,
		      int64_t now_ms)
{
	bool changed;

	vendors->is_looking = false;
	if (answer->failed) {
		nfd_log(NFD_LOG_DEBUG, "cannot ask the API server for the vendors' own programs",
			"error", answer->text, NULL);
		vendors->look_due_ms =
			nfd_api_run_not_before_ms(&vendors->look,
						  &vendors->context->settings.outputs.api);
		vendors->decide_ms = nfd_min64(vendors->decide_ms, now_ms);
		return false;
	}
	if (*nfd_json_text(answer->result, "objectsWhy"))
		nfd_log(NFD_LOG_DEBUG, "NodeFeature objects of others are not seen", "error",
			nfd_json_text(answer->result, "objectsWhy"), NULL);
	changed = take_object(answer->result, "seen", &vendors->seen);
	changed |= take_object(answer->result, "coming", &vendors->coming);
	vendors->decide_ms = 0;
	/* Unless another was asked for while this one was under way. */
	vendors->look_due_ms = nfd_min64(vendors->look_due_ms,
					 now_ms + nfd_spread_ms(look_every_ms(vendors),
								LOOK_SPREAD_PERCENT, nfd_random()));
	return changed;
}

static void start_look(struct nfd_daemon_vendors *vendors, const struct nfd_set *published)
{
	const struct nfd_settings *settings = &vendors->context->settings;
	struct nfd_error err = { 0 };
	cJSON *request = NULL;

	vendors->look_due_ms = INT64_MAX;
	if (!nfd_vendor_look_wanted(&settings->outputs) ||
	    nfd_vendor_look_request(settings, vendors->found, published, &request) < 0 || !request)
		return;
	vendors->is_looking = true;
	if (nfd_api_run_start(&vendors->look, &settings->outputs.api, request, &err) == 0)
		return;
	vendors->is_looking = false;
	vendors->look_due_ms = nfd_api_run_not_before_ms(&vendors->look, &settings->outputs.api);
}

uint32_t nfd_daemon_vendors_step(struct nfd_daemon_vendors *vendors,
				 const struct nfd_set *published, int64_t now_ms)
{
	const struct nfd_api_options *api = &vendors->context->settings.outputs.api;
	struct nfd_api_answer answer;
	uint32_t bits;

	if (!vendors->is_open)
		return 0;
	bits = step_nvml(vendors, now_ms);
	if (nfd_api_run_step(&vendors->look, api, now_ms, &answer)) {
		if (take_look(vendors, &answer, now_ms))
			bits |= scanners_of_auto(vendors);
		nfd_api_answer_done(&answer);
	}
	if (vendors->look_due_ms <= now_ms && !vendors->is_looking)
		start_look(vendors, published);
	/* No answer in time: files decide until there is one. */
	if (vendors->decide_ms && vendors->decide_ms <= now_ms) {
		vendors->decide_ms = 0;
		bits |= vendors->seen ? 0 : scanners_of_auto(vendors);
	}
	return bits;
}

int64_t nfd_daemon_vendors_due_ms(const struct nfd_daemon_vendors *vendors)
{
	int64_t due_ms;

	if (!vendors->is_open)
		return INT64_MAX;
	due_ms = nfd_min64(vendors->nvml_due_ms, nfd_child_due_ms(&vendors->nvml_child));
	due_ms = nfd_min64(due_ms, nfd_child_due_ms(&vendors->look.child));
	if (vendors->decide_ms)
		due_ms = nfd_min64(due_ms, vendors->decide_ms);
	return vendors->is_looking ? due_ms : nfd_min64(due_ms, vendors->look_due_ms);
}
