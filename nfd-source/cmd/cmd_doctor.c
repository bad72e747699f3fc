// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * doctor: which link of the GPU chain is broken, why, and what to type.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "doctor/doctor_report.h"

#define NVML_DEADLINE_MS 10000

static enum nfd_verdict fail_on(const struct nfd_context *context)
{
	static const enum nfd_verdict verdicts[] = { NFD_VERDICT_WARNING, NFD_VERDICT_CRITICAL };

	return verdicts[context->settings.fail_on];
}

static int exit_code(const struct nfd_context *context, const struct nfd_doctor *doctor)
{
	if (nfd_doctor_is_undecided(doctor))
		return NFD_EXIT_UNDECIDED;
	return nfd_doctor_worst(doctor) >= fail_on(context) ? NFD_EXIT_FAILED : NFD_EXIT_DONE;
}

static int render(const struct nfd_context *context, const struct nfd_doctor *doctor,
		  struct nfd_strbuf *buf)
{
	const char *form = nfd_context_option(context, "output");

	if (form && strcmp(form, "npd") == 0)
		return nfd_report_npd(doctor, fail_on(context), buf);
	if (form && strcmp(form, "json") == 0)
		nfd_report_json(doctor, buf);
	else if (form && strcmp(form, "metrics") == 0)
		nfd_report_metrics(doctor, buf);
	else
		nfd_report_text(doctor, isatty(STDOUT_FILENO) == 1,
				nfd_context_option(context, "all") != NULL, buf);
	return exit_code(context, doctor);
}

static int run(struct nfd_context *context)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	const char *nvml = nfd_context_option(context, "no-nvml") ? NULL : context->nvml_helper;
	struct nfd_doctor_options options = {
		.root = &context->root,
		.outputs = &context->settings.outputs,
		.library_dir = context->settings.scan.nvidia_library_dir,
		.nvml_helper = nvml,
		.nvml_deadline_ms = NVML_DEADLINE_MS,
		.ask_api = !nfd_context_option(context, "no-api"),
		.dcgm_url = nfd_context_option(context, "no-api") ? "" : context->settings.dcgm_url,
	};
	struct nfd_doctor doctor;
	struct nfd_error err = { 0 };
	int code = NFD_EXIT_FAILED;

	if (nfd_doctor_run(&doctor, &options, &err) < 0) {
		nfd_log(NFD_LOG_ERROR, nfd_error_text(&err), NULL);
	} else {
		code = render(context, &doctor, &buf);
		if (nfd_print(&buf) != NFD_EXIT_DONE)
			code = NFD_EXIT_FAILED;
	}
	nfd_doctor_done(&doctor);
	return code;
}

static const char *const forms[] = { "text", "json", "npd", "metrics", NULL };
static const char *const severities[] = { "warning", "critical", NULL };

static const struct nfd_option options[] = {
	{ .name = "output",
	  .letter = 'o',
	  .argument = "FORM",
	  .choices = forms,
	  .help = "text (default), json, npd or metrics" },
	{ .name = "fail-on",
	  .argument = "SEVERITY",
	  .choices = severities,
	  .setting = "doctor.failOn",
	  .help = "exit with 1 from this severity on: warning or critical" },
	{ .name = "all", .help = "list also checks that found nothing or could not be made" },
	{ .name = "no-nvml", .help = "do not load the NVIDIA library" },
	{ .name = "no-api", .help = "do not ask the API server and dcgm-exporter" },
};

const struct nfd_command nfd_cmd_doctor = {
	.name = "doctor",
	.summary = "tell which link of the GPU chain is broken, and what to type",
	.option = options,
	.option_count = NFD_ARRAY_SIZE(options),
	.reads_host = true,
	.run = run,
};
