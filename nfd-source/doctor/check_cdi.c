// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CDI specifications: their library paths must exist and be of the loaded driver.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/yaml_tree.h"
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

/* Whether a file is a specification of NVIDIA's; a stale one is a finding. */
static bool take_spec(struct nfd_doctor *doctor, const char *path)
{
	struct spec spec = { .path = path, .driver = doctor->facts.module.version };
	const struct nfd_root *root = doctor->options->root;
	cleanup_free char *text = NULL;
	ssize_t len = nfd_root_read_alloc(root, path, SPEC_MAX, &text);
	cJSON *document = NULL;
	const cJSON *device;
	bool is_ours;

	if (len <= 0 || nfd_yaml_tree_parse(text, (size_t)len, path, &document, NULL) < 0)
		return false;
	is_ours = strstr(nfd_json_text(document, "kind"), "nvidia.com/") != NULL;
	if (is_ours && spec.driver[0] && !doctor->facts.has_driver_container) {
		take_edits(root, nfd_json_get(document, "containerEdits"), &spec);
		cJSON_ArrayForEach(device, nfd_json_get(document, "devices"))
			take_edits(root, nfd_json_get(device, "containerEdits"), &spec);
		if (spec.stale[0])
			found_stale(doctor, &spec);
	}
	cJSON_Delete(document);
	return is_ours;
}

static size_t take_folder(struct nfd_doctor *doctor, const char *folder)
{
	cleanup_names struct nfd_names names = { 0 };
	char path[300];
	size_t count = 0;

	if (nfd_root_list(doctor->options->root, folder, &names) < 0)
		return 0;
	for (size_t i = 0; i < names.count; i++) {
		const char *dot = strrchr(names.name[i], '.');

		if (!dot || (strcmp(dot, ".yaml") != 0 && strcmp(dot, ".json") != 0))
			continue;
		snprintf(path, sizeof(path), "%s/%.200s", folder, names.name[i]);
		count += take_spec(doctor, path);
	}
	return count;
}

/* The toolkit ran, and what it should have made is not there. */
static void check_unresolved(struct nfd_doctor *doctor, size_t specs)
{
	static const char ready[] = "run/nvidia/validations/driver-ready";
	const struct nfd_root *root = doctor->options->root;
	struct nfd_diagnosis *found;

	if (specs > 0 || nfd_root_exists(root, ready) <= 0 ||
	    nfd_root_exists(root, "usr/local/nvidia/toolkit/nvidia-container-runtime.cdi") <= 0)
		return;
	found = nfd_find(
		doctor, "GPU-CDI-UNRESOLVED", NFD_VERDICT_WARNING,
		"the GPU Operator's toolkit is installed, and there is no CDI specification "
		"of NVIDIA: pods that name CDI devices are not started");
	nfd_prove(doctor, found, "etc/cdi, var/run/cdi", "no specification of kind nvidia.com/…");
	nfd_advise(doctor, found, "# delete the toolkit's pod on this node; it makes them anew");
	nfd_advise(doctor, found, "nvidia-ctk cdi generate --output=/var/run/cdi/nvidia.yaml");
}

void nfd_check_cdi(struct nfd_doctor *doctor)
{
	size_t specs = 0;

	for (size_t i = 0; i < NFD_ARRAY_SIZE(folders); i++)
		specs += take_folder(doctor, folders[i]);
	check_unresolved(doctor, specs);
	if (specs == 0)
		nfd_skip(doctor, "GPU-CDI-STALE", "there is no CDI specification of NVIDIA");
}
