// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One timer serves everything that is due: the next scan, held labels, steps of the outputs.
 */
#include "config.h"

#include "cmd/daemon.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/environment.h"
#include "base/json.h"
#include "base/notify.h"
#include "cmd/daemon_outputs.h"
#include "cmd/metrics_file.h"
#include "cmd/report.h"
#include "scan/pci_bus.h"
#include "scan/scan.h"

#define HASTY_SCAN_MS 1000
#define HASTY_SCANS_MAX 5
/* Daemons of a fleet that start together ask the API server within this time. */
#define START_SPREAD_MS 5000
/* Where no events can come (design 6). */
#define BLIND_INTERVAL_MS 60000

/* Time of the next regular scan: also often enough to renew the expiry at half its lifetime. */
static int64_t next_scan_ms(const struct nfd_daemon *daemon, int64_t now_ms)
{
	const struct nfd_settings *settings = &daemon->context->settings;
	int64_t lifetime_ms = settings->outputs.feature_file.lifetime_ms;
	int64_t due_ms = INT64_MAX;

	if (settings->core.sleep_interval_ms)
		due_ms = now_ms + settings->core.sleep_interval_ms;
	if (!daemon->watch.monitor)
		due_ms = nfd_min64(due_ms, now_ms + BLIND_INTERVAL_MS);
	if (lifetime_ms)
		due_ms = nfd_min64(due_ms, now_ms + lifetime_ms / 2);
	return due_ms;
}

static void write_status(struct nfd_daemon *daemon)
{
	struct nfd_error err = { 0 };

	daemon->status.node_name = daemon->context->settings.core.node_name;
	daemon->status.root = daemon->context->root_path;
	daemon->status.labels = &daemon->hold.published;
	daemon->status.faults = &daemon->faults;
	daemon->status.watch = &daemon->watch;
	daemon->status.doctor_cause = daemon->events.cause;
	daemon->status.confinement = &daemon->confinement;
	daemon->status.vendors = &daemon->vendors;
	if (nfd_status_write(daemon->context->settings.status_path, &daemon->status, &err) < 0)
		nfd_daemon_fault(daemon, NFD_LOG_WARNING, "status", "", nfd_error_text(&err));
	if (daemon->context->settings.metrics_path[0] &&
	    nfd_metrics_write(daemon->context->settings.metrics_path, &daemon->status, &err) < 0)
		nfd_daemon_fault(daemon, NFD_LOG_WARNING, "metrics", "", nfd_error_text(&err));
}

static void log_changes(struct nfd_daemon *daemon, const struct nfd_set *before)
{
	nfd_report_changes(before, &daemon->hold.published);
	daemon->status.changed_s = nfd_clock_real_s();
}

/* Notes the facts that stayed unknown; a mere doubt only where it kept a label. */
static void note_unknowns(struct nfd_daemon *daemon, const struct nfd_unknowns *unknowns,
			  const struct nfd_hold_result *result)
{
	for (size_t i = 0; i < unknowns->count; i++)
		if (unknowns->unknown[i].doubt != NFD_DOUBT_PASSING &&
		    nfd_unknowns_says_more(unknowns, i) &&
		    (!unknowns->unknown[i].doubt || result->kept_unknown > 0))
			nfd_daemon_fault(daemon, NFD_LOG_WARNING, "labels unknown ",
					 unknowns->unknown[i].prefix, unknowns->unknown[i].reason);
}

/* Takes the result of a scan into what is published. */
static int settle(struct nfd_daemon *daemon, const struct nfd_scan *scan, int64_t now_ms)
{
	cleanup_set struct nfd_set before = { 0 };
	struct nfd_hold_result result;
	int r;

	r = nfd_set_copy(&daemon->hold.published, &before);
	if (r == 0)
		r = nfd_hold_step(&daemon->hold, &scan->labels, &scan->unknowns, now_ms, &result);
	if (r < 0)
		return r;
	note_unknowns(daemon, &scan->unknowns, &result);
	daemon->status.kept_unknown = result.kept_unknown;
	daemon->status.leaving = daemon->hold.count - result.kept_unknown;
	if (result.changed)
		log_changes(daemon, &before);
	if (result.changed || daemon->status.scans == 0)
		nfd_daemon_events_compare(&daemon->events, &before, &daemon->hold.published,
					  now_ms);
	daemon->scan_due_ms = nfd_min64(daemon->scan_due_ms, result.next_ms);
	daemon->hasty = scan->incomplete ? daemon->hasty + 1 : 0;
	if (scan->incomplete && daemon->hasty <= HASTY_SCANS_MAX)
		daemon->scan_due_ms = nfd_min64(daemon->scan_due_ms, now_ms + HASTY_SCAN_MS);
	return 0;
}

/* Keeps the result for later scans of single scanners; the devices are read anew each time. */
static void keep_scan(struct nfd_daemon *daemon, struct nfd_scan *scan)
{
	nfd_pci_bus_free(scan->pci);
	scan->pci = NULL;
	nfd_scan_done(&daemon->last);
	daemon->last = *scan;
	*scan = (struct nfd_scan){ 0 };
}

/* Without any output a scan is for nothing. */
static void check_outputs(struct nfd_daemon *daemon)
{
	for (size_t i = 0; i < daemon->status.output_count; i++)
		if (daemon->status.output[i].is_on)
			return;
	/* Somebody wants that. */
	if (daemon->context->settings.outputs.no_publish)
		return;
	nfd_daemon_fault(daemon, NFD_LOG_WARNING, "outputs", "",
			 "no output is on, so nothing is published: see nfd-source status");
}

/* After outputs and status made their folders. What was given up does not come back by a reload. */
static void check_confinement(struct nfd_daemon *daemon)
{
	const struct nfd_settings *settings = &daemon->context->settings;
	struct nfd_error err = { 0 };

	if (nfd_confinement_step(&daemon->confinement, settings, &err) < 0 ||
	    !nfd_confinement_covers(&daemon->confinement, settings, &err))
		nfd_daemon_fault(daemon, NFD_LOG_WARNING, "confinement", "", nfd_error_text(&err));
}

/* Scans with the given scanners; a full scan also sets the next time of one. */
static void scan_now(struct nfd_daemon *daemon, uint32_t wanted)
{
	bool features = nfd_outputs_want_features(&daemon->context->settings.outputs);
	/* Without raw features of the last scan there is nothing to take over. */
	uint32_t scanners = features && !daemon->last.features ? NFD_SCANNERS_ALL : wanted;
	bool full = scanners == NFD_SCANNERS_ALL;
	struct nfd_scan_request request = {
		.root = &daemon->context->root,
		.options = &daemon->context->settings.scan,
		.scanners = scanners,
		.before = full ? NULL : &daemon->last,
		.vendors = &daemon->vendors.verdict,
		.nvml = &daemon->vendors.nvml,
		.features = features,
	};
	int64_t begin_ms = nfd_clock_monotonic_ms();
	struct nfd_error err = { 0 };
	struct nfd_scan scan = { 0 };
	int r;

	nfd_faults_begin(&daemon->faults);
	if (full)
		daemon->scan_due_ms = next_scan_ms(daemon, begin_ms);
	nfd_context_prepare_scan(daemon->context);
	/* Before the scan: what changes behind it must be an event. */
	if (full || daemon->watch.files_stale)
		nfd_daemon_watch_files(&daemon->watch, &daemon->context->root,
				       &daemon->context->settings.scan,
				       &daemon->context->settings.outputs.feature_file);
	nfd_daemon_vendors_prepare(&daemon->vendors, wanted, begin_ms);
	if (daemon->vendors.verdict.of[NFD_VENDOR_NFD].verdict == NFD_VENDOR_WRITE)
		request.cpu = nfd_context_cpu(daemon->context);
	r = nfd_scan_run(&scan, &request, &err);
	if (r == 0)
		nfd_daemon_vendors_found(&daemon->vendors, scan.vendors_found, begin_ms);
	if (r == 0)
		r = settle(daemon, &scan, begin_ms);
	if (r < 0)
		nfd_daemon_fault(daemon, NFD_LOG_ERROR, "scan", "", nfd_error_text(&err));
	else
		keep_scan(daemon, &scan);
	nfd_scan_done(&scan);
	daemon->status.scans++;
	daemon->status.scanned_s = nfd_clock_real_s();
	daemon->status.scan_ms = nfd_clock_monotonic_ms() - begin_ms;
	/* Without a single good scan there is nothing to say to the outputs. */
	for (size_t i = 0; i < daemon->status.output_count && r == 0; i++)
		nfd_daemon_output_offer(daemon, i);
	check_outputs(daemon);
	check_confinement(daemon);
	write_status(daemon);
	nfd_faults_end(&daemon->faults, "");
}

/* Somebody touched our file: compare it with what should be there. */
static void offer_again(struct nfd_daemon *daemon)
{
	unsigned int before = daemon->status.publications;

	for (size_t i = 0; i < daemon->status.output_count; i++)
		nfd_daemon_output_offer(daemon, i);
	if (daemon->status.publications != before)
		write_status(daemon);
}

/* From the loop itself, so that a daemon that hangs is found out. */
static void say_alive(struct nfd_daemon *daemon, int64_t now_ms)
{
	if (daemon->alive_due_ms > now_ms)
		return;
	nfd_notify(daemon->manager, "WATCHDOG=1");
	daemon->alive_due_ms = now_ms + daemon->alive_every_ms;
}

static void arm_timer(struct nfd_daemon *daemon)
{
	int64_t due_ms =
		nfd_min64(daemon->scan_due_ms, nfd_debounce_due_ms(&daemon->watch.debounce));

	due_ms = nfd_min64(due_ms, daemon->alive_due_ms);
	due_ms = nfd_min64(due_ms, nfd_daemon_events_due_ms(&daemon->events));
	due_ms = nfd_min64(due_ms, nfd_daemon_vendors_due_ms(&daemon->vendors));
	for (size_t i = 0; i < daemon->status.output_count; i++)
		due_ms = nfd_min64(due_ms, daemon->output[i].due_ms);
	nfd_timer_set(daemon->timer_fd, due_ms);
}

static int on_timer(void *cookie)
{
	struct nfd_daemon *daemon = cookie;
	int64_t now_ms = nfd_clock_monotonic_ms();
	uint32_t concerns = nfd_debounce_take(&daemon->watch.debounce, now_ms);
	bool retry = false, changed = false;

	nfd_timer_drain(daemon->timer_fd);
	say_alive(daemon, now_ms);
	nfd_daemon_events_step(&daemon->events, now_ms);
	concerns |= nfd_daemon_vendors_step(&daemon->vendors, &daemon->hold.published, now_ms);
	/* A failed output is tried again with a fresh scan: the state may have moved on. */
	for (size_t i = 0; i < daemon->status.output_count; i++)
		retry |= daemon->output[i].failures && daemon->output[i].due_ms <= now_ms;
	if (retry || daemon->scan_due_ms <= now_ms || concerns == NFD_SCANNERS_ALL)
		scan_now(daemon, NFD_SCANNERS_ALL);
	else if (concerns & ~NFD_CONCERNS_OUTPUT)
		scan_now(daemon, concerns & ~NFD_CONCERNS_OUTPUT);
	else if (concerns)
		offer_again(daemon);
	else
		for (size_t i = 0; i < daemon->status.output_count; i++)
			if (daemon->output[i].due_ms <= now_ms)
				changed |= nfd_daemon_output_serve(daemon, i);
	if (changed)
		write_status(daemon);
	arm_timer(daemon);
	return 0;
}

/* The helper of an output has something to say. */
static int on_output(void *cookie)
{
	struct nfd_daemon_output *output = cookie;

	if (nfd_daemon_output_serve(output->daemon, output->at))
		write_status(output->daemon);
	arm_timer(output->daemon);
	return 0;
}

static int on_events(void *cookie)
{
	arm_timer(cookie);
	return 0;
}

static struct nfd_daemon_watch_options watch_options(const struct nfd_settings *settings)
{
	return (struct nfd_daemon_watch_options){
		.group = nfd_watch_groups[settings->watch.group],
		.sources = settings->scan.vendor.labels[NFD_VENDOR_NFD] != NFD_VENDOR_OFF,
	};
}

static int start_watch(struct nfd_daemon *daemon, struct nfd_error *err)
{
	const struct nfd_daemon_watch_options options = watch_options(&daemon->context->settings);

	return nfd_daemon_watch_init(&daemon->watch, &daemon->loop, &options, on_events, daemon,
				     err);
}

/* One line where no events can come, and what to set. */
static void warn_if_blind(const struct nfd_daemon *daemon)
{
	if (daemon->watch.reason[0])
		nfd_log(NFD_LOG_WARNING,
			"no hotplug events: scanning once a minute; run in the initial user "
			"namespace, or try watch.group",
			"why", daemon->watch.reason, NULL);
}

/* After watch.group or sources.mode has changed. */
static void listen_anew(struct nfd_daemon *daemon)
{
	struct nfd_error err = { 0 };

	nfd_daemon_watch_done(&daemon->watch, &daemon->loop);
	if (start_watch(daemon, &err) < 0)
		nfd_log(NFD_LOG_ERROR, "cannot listen to events", "error", nfd_error_text(&err),
			NULL);
	warn_if_blind(daemon);
}

/* SIGHUP: settings that cannot be read leave the old ones in force. */
static void reload(struct nfd_daemon *daemon)
{
	struct nfd_context *context = daemon->context;
	struct nfd_daemon_watch_options options;
	struct nfd_settings fresh;
	struct nfd_error err = { 0 };

	if (nfd_settings_load(&fresh, &context->sources, &err) < 0) {
		nfd_log(NFD_LOG_ERROR, "settings not reloaded, the old ones stay in force", "error",
			nfd_error_text(&err), NULL);
		nfd_settings_done(&fresh);
		return;
	}
	for (size_t i = 0; i < daemon->status.output_count; i++)
		nfd_daemon_output_close(daemon, i);
	nfd_settings_done(&context->settings);
	context->settings = fresh;
	/* Not a start of a whole fleet. */
	context->place.spread_ms = 0;
	nfd_context_settle(context);
	daemon->hold.options.removal_delay_ms = fresh.watch.removal_delay_ms;
	daemon->hold.options.lifetime_ms = fresh.outputs.feature_file.lifetime_ms;
	nfd_log_setup((enum nfd_log_format)fresh.log_format, (enum nfd_log_level)fresh.log_level);
	nfd_daemon_vendors_reload(&daemon->vendors, nfd_clock_monotonic_ms());
	nfd_log(NFD_LOG_INFO, "settings reloaded", NULL);
	options = watch_options(&fresh);
	if (daemon->watch.options.group != options.group ||
	    daemon->watch.options.sources != options.sources)
		listen_anew(daemon);
}

static void say_reloading(struct nfd_daemon *daemon)
{
	char text[64];
	struct timespec now;

	/* The manager compares with its own CLOCK_MONOTONIC. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%lld",
		 now.tv_sec * 1000000LL + now.tv_nsec / 1000);
	nfd_notify(daemon->manager, text);
}

static int on_signal(void *cookie)
{
	struct nfd_daemon *daemon = cookie;
	int signal;

	while ((signal = nfd_signals_next(daemon->signal_fd)) > 0) {
		if (signal != SIGHUP) {
			nfd_loop_stop(&daemon->loop);
			return 0;
		}
		say_reloading(daemon);
		reload(daemon);
		scan_now(daemon, NFD_SCANNERS_ALL);
		nfd_notify(daemon->manager, "READY=1");
		arm_timer(daemon);
	}
	return 0;
}

/* Labels that were published before this process: from the outputs, else from the status file. */
static void read_back(const struct nfd_context *context, struct nfd_set *ret)
{
	const struct nfd_output *const *outputs;
	struct nfd_error err = { 0 };
	cJSON *status = NULL;
	const char *why;
	size_t count;

	outputs = nfd_outputs(&count);
	for (size_t i = 0; i < count; i++)
		if (outputs[i]->read_back && outputs[i]->is_on(&context->settings.outputs, &why) &&
		    outputs[i]->read_back(&context->settings.outputs, ret, &err) < 0)
			nfd_log(NFD_LOG_WARNING, "cannot read what is published", "output",
				outputs[i]->name, "error", nfd_error_text(&err), NULL);
	if (ret->count > 0 || nfd_status_read(context->settings.status_path, &status, NULL) < 0)
		return;
	if (nfd_status_labels(status, ret) < 0)
		nfd_log(NFD_LOG_WARNING, "out of memory", NULL);
	cJSON_Delete(status);
}

/* With the finding that was told before this process, so that a restart does not tell it again. */
static int start_events(struct nfd_daemon *daemon, struct nfd_error *err)
{
	cJSON *status = NULL;
	int r;

	if (nfd_status_read(daemon->context->settings.status_path, &status, NULL) < 0)
		status = NULL;
	r = nfd_daemon_events_init(&daemon->events, daemon->context, &daemon->loop,
				   nfd_json_text(status, "doctorCause"), on_events, daemon, err);
	cJSON_Delete(status);
	return r;
}

static int add_sources(struct nfd_daemon *daemon, struct nfd_error *err)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP, 0 };
	int r;

	/* Whoever reads our log may go away. */
	signal(SIGPIPE, SIG_IGN);
	r = nfd_loop_init(&daemon->loop, err);
	if (r < 0)
		return r;
	daemon->timer_fd = nfd_timer_new();
	daemon->signal_fd = nfd_signals_new(signals);
	if (daemon->timer_fd < 0 || daemon->signal_fd < 0)
		return nfd_error_set(err,
				     daemon->timer_fd < 0 ? daemon->timer_fd : daemon->signal_fd,
				     "cannot make timer or signal descriptor");
	r = nfd_loop_add(&daemon->loop, daemon->timer_fd, on_timer, daemon, err);
	if (r == 0)
		r = nfd_loop_add(&daemon->loop, daemon->signal_fd, on_signal, daemon, err);
	if (r == 0)
		r = start_events(daemon, err);
	if (r == 0)
		r = nfd_daemon_vendors_init(&daemon->vendors, daemon->context, &daemon->loop,
					    on_timer, daemon, err);
	return r < 0 ? r : start_watch(daemon, err);
}

static void find_manager(struct nfd_daemon *daemon)
{
	char *const *environment = daemon->context->sources.environment;

	daemon->manager = nfd_environment_value(environment, "NOTIFY_SOCKET");
	daemon->alive_every_ms =
		nfd_notify_watchdog_ms(nfd_environment_value(environment, "WATCHDOG_USEC"),
				       nfd_environment_value(environment, "WATCHDOG_PID"));
	daemon->alive_due_ms = daemon->alive_every_ms ? nfd_clock_monotonic_ms() : INT64_MAX;
}

int nfd_daemon_init(struct nfd_daemon *daemon, struct nfd_context *context, struct nfd_error *err)
{
	struct nfd_hold_options options = {
		.removal_delay_ms = context->settings.watch.removal_delay_ms,
		.lifetime_ms = context->settings.outputs.feature_file.lifetime_ms,
	};
	const struct nfd_output *const *outputs;
	struct nfd_set published = { 0 };

	*daemon = (struct nfd_daemon){ .context = context, .timer_fd = -1, .signal_fd = -1 };
	daemon->loop.epoll_fd = -1;
	daemon->watch.files.fd = -1;
	find_manager(daemon);
	daemon->status.started_s = nfd_clock_real_s();
	outputs = nfd_outputs(&daemon->status.output_count);
	for (size_t i = 0; i < daemon->status.output_count; i++) {
		daemon->output[i] = (struct nfd_daemon_output){
			.daemon = daemon,
			.at = i,
			.output = outputs[i],
			.due_ms = INT64_MAX,
		};
	}
	daemon->output_ready = on_output;
	context->place.spread_ms = START_SPREAD_MS;
	read_back(context, &published);
	nfd_hold_init(&daemon->hold, &options, &published);
	return add_sources(daemon, err);
}

int nfd_daemon_run(struct nfd_daemon *daemon, struct nfd_error *err)
{
	int r;

	nfd_log(NFD_LOG_INFO, "started", "version", PACKAGE_VERSION, "root",
		daemon->context->root_path, NULL);
	r = nfd_confinement_begin(&daemon->confinement, &daemon->context->settings, err);
	if (r < 0)
		return r;
	warn_if_blind(daemon);
	scan_now(daemon, NFD_SCANNERS_ALL);
	arm_timer(daemon);
	nfd_notify(daemon->manager, "READY=1");
	r = nfd_loop_run(&daemon->loop, err);
	nfd_notify(daemon->manager, "STOPPING=1");
	daemon->status.stopped_s = nfd_clock_real_s();
	write_status(daemon);
	nfd_log(NFD_LOG_INFO, "stopped", NULL);
	return r;
}

void nfd_daemon_done(struct nfd_daemon *daemon)
{
	for (size_t i = 0; i < daemon->status.output_count; i++)
		nfd_daemon_output_close(daemon, i);
	nfd_daemon_events_done(&daemon->events, &daemon->loop);
	nfd_daemon_vendors_done(&daemon->vendors, &daemon->loop);
	nfd_daemon_watch_done(&daemon->watch, &daemon->loop);
	nfd_scan_done(&daemon->last);
	nfd_loop_done(&daemon->loop);
	nfd_cleanup_close(&daemon->timer_fd);
	nfd_cleanup_close(&daemon->signal_fd);
	nfd_hold_done(&daemon->hold);
	nfd_faults_done(&daemon->faults);
}
