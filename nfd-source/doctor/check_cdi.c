// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CDI specifications: their library paths must exist and be of the loaded driver.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/yaml_tree.h"
#include "doctor/cdi.h"
#include "doctor/doctor.h"

#define SPEC_MAX (4 * 1024 * 1024)

static const char *const folders[] = { "etc/cdi", "var/run/cdi", "run/cdi" };

/* The version in a path that ends in ".so.<version>"; NULL for another path. */
static const char *version_in(const char *path)
{
	const char *at = strstr(path, ".so.");

	/* A soname such as ".so.1" is no version of the driver. */
	return at && strchr(at + 4, '.') ? at + 4 : NULL;
}

struct spec {
	const char *path;   /* of the file */
	const char *driver; /* version of the loaded module */
	char stale[512];    /* hostPath of another version, or a missing one; "" for none */
	bool is_missing;
};

static void take_path(const struct nfd_root *root, const char *host_path, struct spec *spec)
{
	const char *version = version_in(host_path);
	bool missing;

	if (!version || spec->stale[0])
		return;
	missing = nfd_root_exists(root, host_path + strspn(host_path, "/")) == 0;
	if (!missing && strcmp(version, spec->driver) == 0)
		return;
	/* Other libraries may have versions of their own; those of the driver look like its version. */
	if (!missing && strspn(version, "0123456789.") != strlen(version))
		return;
	if (!missing && strcspn(version, ".") != 3)
		return;
	spec->is_missing = missing;
	snprintf(spec->stale, sizeof(spec->stale), "%s", host_path);
}

static void take_edits(const struct nfd_root *root, const cJSON *edits, struct spec *spec)
{
	const cJSON *mount;

	cJSON_ArrayForEach(mount, nfd_json_get(edits, "mounts"))
		take_path(root, nfd_json_text(mount, "hostPath"), spec);
}

static void found_stale(struct nfd_doctor *doctor, const struct spec *spec)
{
	struct nfd_diagnosis *found;

	found = nfd_find(doctor, "GPU-CDI-STALE", NFD_VERDICT_CRITICAL,
			 "the CDI specification /%s is of another driver version than the loaded "
			 "%s: containers do not start",
			 spec->path, spec->driver);
	nfd_prove(doctor, found, spec->path, "%s%s", spec->stale,
		  spec->is_missing ? " (is missing)" : "");
	nfd_prove(doctor, found, doctor->facts.module.path, "%s", spec->driver);
	nfd_advise(doctor, found, "nvidia-ctk cdi generate --output=/var/run/cdi/nvidia.yaml");
	nfd_advise(doctor, found, "# then delete the device plugin's pod on this node");
}

/* A specification of NVIDIA's; NULL for another file. Owner: caller. */
static cJSON *read_spec(const struct nfd_root *root, const char *path)
{
	cleanup_free char *text = NULL;
	ssize_t len = nfd_root_read_alloc(root, path, SPEC_MAX, &text);
	cJSON *document = NULL;

	if (len <= 0 || nfd_yaml_tree_parse(text, (size_t)len, path, &document, NULL) < 0)
		return NULL;
	if (strstr(nfd_json_text(document, "kind"), "nvidia.com/"))
		return document;
	cJSON_Delete(document);
	return NULL;
}

static void take_spec(struct nfd_doctor *doctor, const char *path, const cJSON *document)
{
	struct spec spec = { .path = path, .driver = doctor->facts.module.version };
	const struct nfd_root *root = doctor->options->root;
	const cJSON *device;

	if (!spec.driver[0] || doctor->facts.has_driver_container)
		return;
	take_edits(root, nfd_json_get(document, "containerEdits"), &spec);
	cJSON_ArrayForEach(device, nfd_json_get(document, "devices"))
		take_edits(root, nfd_json_get(device, "containerEdits"), &spec);
	if (spec.stale[0])
		found_stale(doctor, &spec);
}

/* Visits the specifications of a folder; @doctor NULL only counts them. */
static size_t visit_folder(const struct nfd_root *root, const char *folder,
			   struct nfd_doctor *doctor)
{
	cleanup_names struct nfd_names names = { 0 };
	char path[300];
	size_t count = 0;

	if (nfd_root_list(root, folder, &names) < 0)
		return 0;
	for (size_t i = 0; i < names.count; i++) {
		const char *dot = strrchr(names.name[i], '.');
		cJSON *document;

		if (!dot || (strcmp(dot, ".yaml") != 0 && strcmp(dot, ".json") != 0))
			continue;
		snprintf(path, sizeof(path), "%s/%.200s", folder, names.name[i]);
		document = read_spec(root, path);
		count += document != NULL;
		if (document && doctor)
			take_spec(doctor, path, document);
		cJSON_Delete(document);
	}
	return count;
}

size_t nfd_cdi_count(const struct nfd_root *root)
{
	size_t count = 0;

	for (size_t i = 0; i < NFD_ARRAY_SIZE(folders); i++)
		count += visit_folder(root, folders[i], NULL);
	return count;
}

/*
 * The operator is here, CDI was switched on for the runtime, and what the toolkit should have made is
 * not there. Without that switch specifications are nobody's business.
 */
static void check_unresolved(struct nfd_doctor *doctor)
{
	const struct nfd_runtime_config *runtime = &doctor->facts.runtime;
	struct nfd_diagnosis *found;

	if (doctor->facts.cdi_specs > 0 || !runtime->is_cdi_set || !runtime->is_cdi_on ||
	    nfd_root_exists(doctor->options->root, "run/nvidia/validations") <= 0)
		return;
	found = nfd_find(doctor, "GPU-CDI-UNRESOLVED", NFD_VERDICT_WARNING,
			 "CDI is switched on for the container runtime, and there is no CDI "
			 "specification of NVIDIA: pods that name CDI devices are not started");
	nfd_prove(doctor, found, "etc/cdi, var/run/cdi", "no specification of kind nvidia.com/…");
	nfd_prove(doctor, found, runtime->path, "enable_cdi = true");
	nfd_advise(doctor, found, "# delete the toolkit's pod on this node; it makes them anew");
	nfd_advise(doctor, found, "nvidia-ctk cdi generate --output=/var/run/cdi/nvidia.yaml");
}

/* Specifications, and a runtime that does not read them. */
static void check_off(struct nfd_doctor *doctor)
{
	const struct nfd_runtime_config *runtime = &doctor->facts.runtime;
	struct nfd_diagnosis *found;

	/* With an nvidia runtime pods get their GPUs all the same. */
	if (doctor->facts.cdi_specs == 0 || runtime->kind != NFD_RUNTIME_CONTAINERD ||
	    runtime->error[0] || runtime->is_cdi_on || runtime->nvidia.is_there ||
	    doctor->facts.has_nri)
		return;
	found = nfd_find(doctor, "GPU-CDI-OFF", NFD_VERDICT_CRITICAL,
			 "there are CDI specifications of NVIDIA and no nvidia runtime, and this "
			 "containerd has CDI switched off: pods are given devices that are not in "
			 "them");
	nfd_prove(doctor, found, runtime->path[0] ? runtime->path : "containerd's defaults",
		  "version %d, enable_cdi %s", runtime->version,
		  runtime->is_cdi_set ? "= false" : "is not set, and off before containerd 2.0");
	nfd_advise(doctor, found,
		   "# set enable_cdi = true in the CRI plugin's section, then: systemctl restart "
		   "containerd");
}

void nfd_check_cdi(struct nfd_doctor *doctor)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(folders); i++)
		visit_folder(doctor->options->root, folders[i], doctor);
	check_unresolved(doctor);
	check_off(doctor);
	if (doctor->facts.cdi_specs == 0)
		nfd_skip(doctor, "GPU-CDI-STALE", "there is no CDI specification of NVIDIA");
}
