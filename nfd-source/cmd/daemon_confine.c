// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A folder that is not there cannot be in a rule of Landlock, and what it lies in (/etc) is too much. So
 * the restriction waits for it: that features.d may come later is worth more than an early start.
 */
#include "config.h"

#include "cmd/daemon_confine.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/call_filter.h"
#include "base/landlock.h"

/* NVML's helper may be started, whatever hardware comes later. */
static bool wants_nvml(const struct nfd_settings *settings)
{
	const struct nfd_vendor_options *vendor = &settings->scan.vendor;

	return vendor->labels[NFD_VENDOR_NVIDIA] != NFD_VENDOR_OFF && !vendor->nvml;
}

/* Children are started and confine themselves further; which programs, is up to a kubeconfig. */
static unsigned int wanted_calls(const struct nfd_settings *settings)
{
	const struct nfd_output_options *outputs = &settings->outputs;
	bool api = outputs->node_labels.mode != NFD_LABELS_OFF ||
		   outputs->node_feature.mode != NFD_MODE_OFF;

	return NFD_CALLS_START | NFD_CALLS_CONFINE | (api ? NFD_CALLS_NETWORK : 0) |
	       (api || wants_nvml(settings) ? NFD_CALLS_ANY_PROGRAM : 0);
}

/* The folder that @path lies in; the path itself where that would be the root. */
static void put_parent(const char *path, char ret[PATH_MAX])
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	while (len > 0 && path[len - 1] != '/')
		len--;
	while (len > 1 && path[len - 1] == '/')
		len--;
	if (len <= 1)
		snprintf(ret, PATH_MAX, "%s", path);
	else
		snprintf(ret, PATH_MAX, "%.*s", (int)len, path);
}

static size_t add_folder(const char *path, char ret[NFD_CONFINEMENT_FOLDERS][PATH_MAX],
			 size_t count)
{
	put_parent(path, ret[count]);
	for (size_t i = 0; i < count; i++)
		if (strcmp(ret[i], ret[count]) == 0)
			return count;
	return count + 1;
}

/* Fills @ret with what the settings write below; returns how many. */
static size_t wanted_folders(const struct nfd_settings *settings,
			     char ret[NFD_CONFINEMENT_FOLDERS][PATH_MAX])
{
	size_t count = 0;

	/* Not features.d itself: when somebody makes it anew, that is another folder. */
	if (settings->outputs.feature_file.mode != NFD_MODE_OFF)
		count = add_folder(settings->outputs.feature_file.dir, ret, count);
	count = add_folder(settings->status_path, ret, count);
	if (settings->metrics_path[0])
		count = add_folder(settings->metrics_path, ret, count);
	return count;
}

/* Going without is for the status to tell, but where a person demands it. */
static int refuse(const struct nfd_confinement *confinement, int code, const char *reason,
		  struct nfd_error *err)
{
	if (confinement->mode != NFD_MODE_ON)
		return 0;
	return nfd_error_set(err, code, "%s (confinement.mode: on)", reason);
}

static int restrict_writing(struct nfd_confinement *confinement, struct nfd_error *err)
{
	/* NVML's helper opens the driver's nodes; children without standard error get /dev/null. */
	struct nfd_landlock_rule rules[NFD_CONFINEMENT_FOLDERS + 1] = {
		{ .path = confinement->has_devices ? "/dev" : "/dev/null",
		  .use = NFD_LANDLOCK_DEVICES }
	};
	struct nfd_error why = { 0 };
	int r;

	for (size_t i = 0; i < confinement->folder_count; i++)
		rules[i + 1] = (struct nfd_landlock_rule){ .path = confinement->folder[i],
							   .use = NFD_LANDLOCK_FILES };
	r = nfd_landlock_restrict(rules, confinement->folder_count + 1, &why);
	confinement->waits = false;
	if (r == 0) {
		confinement->landlock = nfd_landlock_abi();
		confinement->landlock_reason[0] = '\0';
		return 0;
	}
	snprintf(confinement->landlock_reason, sizeof(confinement->landlock_reason), "%s",
		 nfd_error_text(&why));
	return refuse(confinement, r, confinement->landlock_reason, err);
}

int nfd_confinement_step(struct nfd_confinement *confinement, const struct nfd_settings *settings,
			 struct nfd_error *err)
{
	struct stat status;

	if (!confinement->waits)
		return 0;
	confinement->folder_count = wanted_folders(settings, confinement->folder);
	confinement->has_devices = wants_nvml(settings);
	for (size_t i = 0; i < confinement->folder_count; i++)
		if (stat(confinement->folder[i], &status) < 0) {
			snprintf(confinement->landlock_reason, sizeof(confinement->landlock_reason),
				 "waits until \"%s\" is there", confinement->folder[i]);
			return 0;
		}
	return restrict_writing(confinement, err);
}

static int filter_calls(struct nfd_confinement *confinement, const struct nfd_settings *settings,
			struct nfd_error *err)
{
	unsigned int calls = wanted_calls(settings);
	struct nfd_error why = { 0 };
	int r = nfd_call_filter_apply(calls, &why);

	if (r == 0) {
		confinement->calls = calls;
		return 0;
	}
	snprintf(confinement->calls_reason, sizeof(confinement->calls_reason), "%s",
		 nfd_error_text(&why));
	return refuse(confinement, r, confinement->calls_reason, err);
}

int nfd_confinement_begin(struct nfd_confinement *confinement, const struct nfd_settings *settings,
			  struct nfd_error *err)
{
	int r;

	*confinement = (struct nfd_confinement){ .mode = settings->confinement };
	if (confinement->mode == NFD_MODE_OFF)
		return 0;
	confinement->waits = true;
	r = filter_calls(confinement, settings, err);
	return r < 0 ? r : nfd_confinement_step(confinement, settings, err);
}

static bool has_folder(const struct nfd_confinement *confinement, const char *folder)
{
	for (size_t i = 0; i < confinement->folder_count; i++)
		if (strcmp(confinement->folder[i], folder) == 0)
			return true;
	return false;
}

bool nfd_confinement_covers(const struct nfd_confinement *confinement,
			    const struct nfd_settings *settings, struct nfd_error *err)
{
	char folder[NFD_CONFINEMENT_FOLDERS][PATH_MAX];
	size_t count = wanted_folders(settings, folder);

	for (size_t i = 0; i < count && confinement->landlock; i++)
		if (!has_folder(confinement, folder[i])) {
			nfd_error_set(err, -EPERM,
				      "the running daemon gave up writing below \"%s\", which the "
				      "settings now ask for: restart it",
				      folder[i]);
			return false;
		}
	if (confinement->calls && wanted_calls(settings) & ~confinement->calls & NFD_CALLS_NETWORK)
		nfd_error_set(err, -EPERM,
			      "the running daemon gave up the network, which the settings now ask "
			      "for: restart it");
	else if (confinement->landlock && wants_nvml(settings) && !confinement->has_devices)
		nfd_error_set(err, -EPERM,
			      "the running daemon gave up the driver's device nodes, which NVML "
			      "now needs: restart it");
	else
		return true;
	return false;
}
