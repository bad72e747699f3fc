// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What older set-ups left behind (field case M1): hooks that NFD no longer runs, labels that two
 * files set, and an NFD beside the patcher.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/root.h"
#include "doctor/doctor.h"
#include "doctor/feature_dir.h"

/* source.d stands beside features.d. */
static void check_hooks(struct nfd_doctor *doctor)
{
	const char *dir = doctor->options->outputs->feature_file.dir;
	const char *slash = strrchr(dir, '/');
	cleanup_names struct nfd_names names = { 0 };
	struct nfd_root root = { 0 };
	struct nfd_diagnosis *found = NULL;
	cleanup_strbuf struct nfd_strbuf word = { 0 };
	char hooks[512], path[800];

	if (!slash)
		return;
	snprintf(hooks, sizeof(hooks), "%.*s/source.d", (int)(slash - dir), dir);
	if (nfd_root_open(&root, hooks, NULL) == 0 && nfd_root_list(&root, ".", &names) == 0)
		for (size_t i = 0; i < names.count; i++) {
			struct stat st;

			snprintf(path, sizeof(path), "%s/%.250s", hooks, names.name[i]);
			if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || !(st.st_mode & 0111))
				continue;
			if (!found)
				found = nfd_find(
					doctor, "GPU-NFD-HOOKS", NFD_VERDICT_WARNING,
					"there are hooks in source.d, which NFD no longer runs "
					"since 0.17");
			nfd_prove(doctor, found, path, "is executable");
			nfd_strbuf_done(&word);
			nfd_strbuf_put_word(&word, path);
			nfd_advise(doctor, found,
				   "rm %s    # after its labels come from a file in "
				   "features.d",
				   nfd_strbuf_text(&word));
		}
	nfd_root_close(&root);
}

struct writers {
	struct nfd_doctor *doctor;
	struct nfd_set all; /* key → value; the source is the file */
};

static void found_two(struct nfd_doctor *doctor, const struct nfd_label *before,
		      const struct nfd_label *after, const char *path)
{
	bool same = strcmp(before->value, after->value) == 0;
	struct nfd_diagnosis *found;

	found = nfd_find(
		doctor, "GPU-NFD-TWOWRITERS", same ? NFD_VERDICT_INFO : NFD_VERDICT_WARNING,
		same ? "two feature files set %s, to the same value" :
		       "two feature files set %s to different values; NFD takes the last file "
		       "by name",
		after->key);
	nfd_prove(doctor, found, before->source, "%s", before->value);
	nfd_prove(doctor, found, path, "%s", after->value);
	nfd_advise(doctor, found, "# keep one of the two writers");
}

static void take_file(void *cookie, const struct nfd_feature_dir_file *file)
{
	struct writers *writers = cookie;

	if (file->skipped[0])
		return;
	for (size_t i = 0; i < file->labels.count; i++) {
		struct nfd_label label = file->labels.label[i];
		const struct nfd_label *before = nfd_set_find(&writers->all, label.key);

		if (before)
			found_two(writers->doctor, before, &label, file->path);
		label.source = (char *)file->path;
		if (nfd_set_put(&writers->all, &label) < 0)
			return;
	}
}

/* Both set labels on the Node then; what NFD lists as its own is left to it. */
static void check_active(struct nfd_doctor *doctor)
{
	const cJSON *node = nfd_json_get(doctor->facts.node, "node");
	struct nfd_diagnosis *found;

	if (!doctor->facts.node) {
		nfd_skip(doctor, "GPU-NFD-ACTIVE", "the Node is not known: %s",
			 doctor->facts.node_why);
		return;
	}
	if (doctor->options->outputs->node_labels.mode != NFD_LABELS_ALWAYS ||
	    !nfd_json_is_true(node, "nfd"))
		return;
	found = nfd_find(
		doctor, "GPU-NFD-ACTIVE", NFD_VERDICT_INFO,
		"NFD is active on this node: labels that it lists as its own are left to it, "
		"though outputs.nodeLabels.mode is \"always\"");
	nfd_prove(doctor, found, "Node metadata.annotations",
		  "nfd.node.kubernetes.io/feature-labels is there");
	nfd_advise(
		doctor, found,
		"# outputs.nodeLabels.mode: fallback patches only while NFD does not bring them");
}

void nfd_check_leftovers(struct nfd_doctor *doctor)
{
	const char *dir = doctor->options->outputs->feature_file.dir;
	struct writers writers = { .doctor = doctor };

	check_hooks(doctor);
	check_active(doctor);
	if (nfd_feature_dir_read(dir, take_file, &writers) < 0)
		nfd_skip(doctor, "GPU-NFD-TWOWRITERS", "%s is not there or cannot be read", dir);
	nfd_set_done(&writers.all);
}
