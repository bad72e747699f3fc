// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dcgm-exporter, where one runs on this node: asked by the API helper, which has the HTTP client.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>

#include "base/json.h"
#include "doctor/doctor.h"

static void skip(struct nfd_doctor *doctor, const char *why)
{
	nfd_skip(doctor, "GPU-DCGM-DOWN", "%s", why);
	nfd_skip(doctor, "GPU-DCGM-EMPTY", "%s", why);
}

static void check_samples(struct nfd_doctor *doctor, const cJSON *result)
{
	const cJSON *count = nfd_json_get(result, "gpus");
	double gpus = cJSON_IsNumber(count) ? count->valuedouble : 0;
	struct nfd_diagnosis *found;

	if (gpus >= (double)doctor->facts.gpu_count)
		return;
	found = nfd_find(doctor, "GPU-DCGM-EMPTY", NFD_VERDICT_WARNING,
			 "dcgm-exporter has data of %.0f of %zu GPUs", gpus,
			 doctor->facts.gpu_count);
	nfd_prove(doctor, found, doctor->options->dcgm_url, "%.0f GPUs in DCGM_FI_ samples", gpus);
	nfd_advise(doctor, found,
		   "kubectl delete pod -A -l app=nvidia-dcgm-exporter --field-selector "
		   "spec.nodeName=%s",
		   nfd_doctor_node(doctor));
}

/* Something answers on its port, with an error. */
static void found_down(struct nfd_doctor *doctor, const char *answer)
{
	struct nfd_diagnosis *found;

	found = nfd_find(doctor, "GPU-DCGM-DOWN", NFD_VERDICT_WARNING,
			 "dcgm-exporter runs on this node and answers with an error");
	nfd_prove(doctor, found, doctor->options->dcgm_url, "%s", answer);
	nfd_advise(doctor, found,
		   "kubectl logs -n gpu-operator -l app=nvidia-dcgm-exporter --tail 30    # a "
		   "profiling field that the GPU lacks, or its memory limit");
	nfd_skip(doctor, "GPU-DCGM-EMPTY", "dcgm-exporter answers with an error");
}

/*
 * Its pod has an address of its own unless it uses the host's network, so no answer on the loopback
 * address says nothing by itself.
 */
void nfd_check_dcgm(struct nfd_doctor *doctor)
{
	int pid = doctor->facts.processes.process[NFD_PROCESS_DCGM_EXPORTER].pid;
	const char *url = doctor->options->dcgm_url;
	struct nfd_error err = { 0 };
	cJSON *request, *result = NULL;
	int r;

	if (!doctor->facts.processes.is_read) {
		skip(doctor, "the processes of the host are not visible here");
		return;
	}
	if (!pid) {
		skip(doctor, "no dcgm-exporter runs on this node");
		return;
	}
	if (!url || !*url || !doctor->options->outputs->api.place) {
		skip(doctor, "dcgm-exporter was not to be asked");
		return;
	}
	request = cJSON_CreateObject();
	cJSON_AddStringToObject(request, "action", "dcgm");
	cJSON_AddStringToObject(request, "url", url);
	r = nfd_api_exchange(&doctor->options->outputs->api, request, &result, &err);
	if (r == 0)
		check_samples(doctor, result);
	else if (r == -EIO || r == -ENOMEM)
		skip(doctor,
		     "it does not answer on this host's loopback address (setting doctor.dcgm); "
		     "its pod may have an address of its own");
	else
		found_down(doctor, nfd_error_text(&err));
	cJSON_Delete(result);
}
