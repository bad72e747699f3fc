// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of settings: key, default, range, help. A new setting is one entry here and one field in
 * struct nfd_settings.
 */
#include "config.h"

#include "settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "scan/cpuid.h"
#include "scan/kernel_config.h"
#include "scan/pci.h"
#include "scan/usb.h"
#include "settings_value.h"

static const char *const modes[] = { "auto", "on", "off", NULL };
/* In the order of enum nfd_vendor_mode. */
static const char *const source_modes[] = { "auto", "all", "own", NULL };
static const char *const object_modes[] = { "auto", "on", "off", "worker", NULL };
static const char *const truths[] = { "false", "true", NULL };
/* In the order in which NFD writes them. */
static const char *const owner_kinds[] = { "node", "pod", "ds", NULL };
static const char *const switches[] = { "on", "off", NULL };
static const char *const mig_strategies[] = { "", "none", "single", "mixed", NULL };
static const char *const label_modes[] = { "fallback", "always", "off", NULL };
const char *const nfd_watch_groups[] = { "kernel", "udev", NULL };
static const char *const severities[] = { "warning", "critical", NULL };
static const char *const log_formats[] = { "text", "json", NULL };
static const char *const log_levels[] = { "error", "warning", "info", "debug", NULL };

#define AT(field) offsetof(struct nfd_settings, field)
#define MS_SECOND INT64_C(1000)
#define MS_MINUTE (60 * MS_SECOND)
#define MS_HOUR (60 * MS_MINUTE)
#define MS_YEAR (366 * 24 * MS_HOUR)

/* clang-format off */
static const struct nfd_setting table[] = {
	{ .key = "core.sleepInterval", .type = NFD_SETTING_DURATION,
	  .offset = AT(core.sleep_interval_ms), .fallback = "5m", .min = 0, .max = MS_YEAR,
	  .help = "time between full scans; 0 or less: none, less than a second counts as 1s" },
	{ .key = "core.labelWhiteList", .type = NFD_SETTING_PATTERN,
	  .offset = AT(scan.label_white_list), .fallback = "",
	  .help = "regular expression that the part of a label key after / must match" },
	{ .key = "core.nodeName", .type = NFD_SETTING_TEXT, .offset = AT(core.node_name),
	  .fallback = "",
	  .help = "name of our Node; else $NODE_NAME, else the host name in lower case" },
	{ .key = "core.noPublish", .type = NFD_SETTING_TRUTH, .offset = AT(outputs.no_publish),
	  .fallback = "false", .choices = truths,
	  .help = "publish nothing by any output" },
	{ .key = "core.labelSources", .type = NFD_SETTING_SOURCES,
	  .offset = AT(scan.source.labels_off), .fallback = "all",
	  .help = "sources of NFD that give labels; all: all but fake, -NAME takes one out" },
	{ .key = "core.sources", .type = NFD_SETTING_SOURCES,
	  .offset = AT(core.old_labels_off), .fallback = "all",
	  .help = "NFD's older name of core.labelSources, before which it counts" },
	{ .key = "core.featureSources", .type = NFD_SETTING_SOURCES,
	  .offset = AT(scan.source.features_off), .fallback = "all",
	  .help = "sources of NFD that look at all, likewise; the others give no labels either" },
	{ .key = "core.noPublishFeatures", .type = NFD_SETTING_WORDS,
	  .offset = AT(outputs.node_feature.no_features), .fallback = "",
	  .help = "raw features that are not published, by name or \"beginning*\"" },
	{ .key = "core.ownerRefs", .type = NFD_SETTING_FIELDS,
	  .offset = AT(outputs.node_feature.owners), .fallback = "pod,ds",
	  .choices = owner_kinds, .max = 1,
	  .help = "owners of the NodeFeature in nfd-worker's place" },
	{ .key = "core.noOwnerRefs", .type = NFD_SETTING_TRUTH,
	  .offset = AT(outputs.node_feature.no_owners), .fallback = "false", .choices = truths,
	  .help = "no owners, whatever core.ownerRefs says" },
	{ .key = "sources.mode", .type = NFD_SETTING_CHOICE,
	  .offset = AT(scan.vendor.labels[NFD_VENDOR_NFD]), .fallback = "own",
	  .choices = source_modes,
	  .help = "all: what nfd-worker finds too; auto: where none runs; own: our labels alone" },
	{ .key = "sources.cpu.cpuid.attributeBlacklist", .type = NFD_SETTING_WORDS,
	  .offset = AT(scan.cpu.flag_black_list), .fallback = nfd_cpuid_denied,
	  .help = "flags of the processor that get no label" },
	{ .key = "sources.cpu.cpuid.attributeWhitelist", .type = NFD_SETTING_WORDS,
	  .offset = AT(scan.cpu.flag_white_list), .fallback = "",
	  .help = "if not empty: the only flags that get one" },
	{ .key = "sources.kernel.kconfigFile", .type = NFD_SETTING_TEXT,
	  .offset = AT(scan.kernel.config_file), .fallback = "",
	  .help = "configuration of the kernel, tried before the known places" },
	{ .key = "sources.kernel.configOpts", .type = NFD_SETTING_WORDS,
	  .offset = AT(scan.kernel.config_opts), .fallback = NFD_KERNEL_CONFIG_OPTS,
	  .help = "options of the kernel that get a label" },
	{ .key = "sources.pci.deviceClassWhitelist", .type = NFD_SETTING_CLASSES,
	  .offset = AT(scan.pci.class_white_list), .fallback = "02,03,0b40,12", .max = 4,
	  .help = "PCI classes that get labels, as prefixes of four hexadecimal digits" },
	{ .key = "sources.pci.deviceLabelFields", .type = NFD_SETTING_FIELDS,
	  .offset = AT(scan.pci.label_fields), .fallback = "class,vendor",
	  .choices = nfd_pci_field_names, .min = 1,
	  .help = "fields of the finer PCI label" },
	{ .key = "sources.usb.deviceClassWhitelist", .type = NFD_SETTING_CLASSES,
	  .offset = AT(scan.usb.class_white_list), .fallback = "0e,ef,fe,ff", .max = 2,
	  .help = "USB classes that get labels, as prefixes of two hexadecimal digits" },
	{ .key = "sources.usb.deviceLabelFields", .type = NFD_SETTING_FIELDS,
	  .offset = AT(scan.usb.label_fields), .fallback = "class,vendor,device",
	  .choices = nfd_usb_field_names, .min = 1,
	  .help = "fields of the USB label" },
	{ .key = "sources.nvidia.libraryDir", .type = NFD_SETTING_TEXT,
	  .offset = AT(scan.nvidia_library_dir), .fallback = "",
	  .help = "folder of libnvidia-ml.so, instead of the known places" },
	{ .key = "sources.vendor.nvidia.labels", .type = NFD_SETTING_CHOICE,
	  .offset = AT(scan.vendor.labels[NFD_VENDOR_NVIDIA]), .fallback = "auto", .choices = modes,
	  .help = "write the labels of gpu-feature-discovery; auto: where that is not here" },
	{ .key = "sources.vendor.nvidia.nvml", .type = NFD_SETTING_CHOICE,
	  .offset = AT(scan.vendor.nvml), .fallback = "on", .choices = switches,
	  .help = "ask NVML, in a process of its own; off: files alone" },
	{ .key = "sources.vendor.nvidia.migStrategy", .type = NFD_SETTING_CHOICE,
	  .offset = AT(scan.vendor.mig_strategy), .fallback = "", .choices = mig_strategies,
	  .help = "none, single or mixed; else as the configuration file says, else none" },
	{ .key = "sources.vendor.nvidia.config", .type = NFD_SETTING_TEXT,
	  .offset = AT(scan.vendor.nvidia_config), .fallback = "",
	  .help = "gpu-feature-discovery's configuration file (sharing, MIG), not below --root" },
	{ .key = "sources.vendor.amd.labels", .type = NFD_SETTING_CHOICE,
	  .offset = AT(scan.vendor.labels[NFD_VENDOR_AMD]), .fallback = "auto", .choices = modes,
	  .help = "write the labels of AMD's node labeller; auto: where that is not here" },
	{ .key = "sources.vendor.intel.labels", .type = NFD_SETTING_CHOICE,
	  .offset = AT(scan.vendor.labels[NFD_VENDOR_INTEL]), .fallback = "auto", .choices = modes,
	  .help = "write the labels of Intel's rules; auto: where these are not here" },
	{ .key = "sources.vendor.gaudi.labels", .type = NFD_SETTING_CHOICE,
	  .offset = AT(scan.vendor.labels[NFD_VENDOR_GAUDI]), .fallback = "auto", .choices = modes,
	  .help = "write labels of Gaudi accelerators; auto: where no other program does" },
	{ .key = "sources.vendor.mellanox.labels", .type = NFD_SETTING_CHOICE,
	  .offset = AT(scan.vendor.labels[NFD_VENDOR_MELLANOX]), .fallback = "auto", .choices = modes,
	  .help = "write labels of Mellanox network adapters" },
	{ .key = "sources.vendor.neuron.labels", .type = NFD_SETTING_CHOICE,
	  .offset = AT(scan.vendor.labels[NFD_VENDOR_NEURON]), .fallback = "auto", .choices = modes,
	  .help = "write labels of AWS Neuron devices; auto: where no other program does" },
	{ .key = "sources.vendor.tpu.labels", .type = NFD_SETTING_CHOICE,
	  .offset = AT(scan.vendor.labels[NFD_VENDOR_TPU]), .fallback = "auto", .choices = modes,
	  .help = "write labels of Google TPUs" },
	{ .key = "sources.vendor.qualcomm.labels", .type = NFD_SETTING_CHOICE,
	  .offset = AT(scan.vendor.labels[NFD_VENDOR_QUALCOMM]), .fallback = "auto", .choices = modes,
	  .help = "write labels of Qualcomm AI 100 cards" },
	{ .key = "sources.vendor.ascend.labels", .type = NFD_SETTING_CHOICE,
	  .offset = AT(scan.vendor.labels[NFD_VENDOR_ASCEND]), .fallback = "auto", .choices = modes,
	  .help = "write labels of Huawei Ascend cards" },
	{ .key = "sources.vendor.alveo.labels", .type = NFD_SETTING_CHOICE,
	  .offset = AT(scan.vendor.labels[NFD_VENDOR_ALVEO]), .fallback = "auto", .choices = modes,
	  .help = "write labels of AMD (Xilinx) Alveo cards" },
	{ .key = "outputs.featureFile.mode", .type = NFD_SETTING_CHOICE,
	  .offset = AT(outputs.feature_file.mode), .fallback = "auto", .choices = modes,
	  .help = "write NFD's feature file; auto: when its directory exists" },
	{ .key = "outputs.featureFile.dir", .type = NFD_SETTING_TEXT,
	  .offset = AT(outputs.feature_file.dir), .fallback = NFD_FEATURES_D,
	  .help = "NFD's features.d, not below --root" },
	{ .key = "outputs.featureFile.name", .type = NFD_SETTING_NAME,
	  .offset = AT(outputs.feature_file.name), .fallback = "nfd-source",
	  .help = "name of our file in it" },
	{ .key = "outputs.featureFile.lifetime", .type = NFD_SETTING_DURATION,
	  .offset = AT(outputs.feature_file.lifetime_ms), .fallback = "1h",
	  .min = 0, .max = MS_YEAR,
	  .help = "labels of a dead writer expire after it, unknown facts are kept for it; 0: never" },
	{ .key = "outputs.nodeFeature.mode", .type = NFD_SETTING_CHOICE,
	  .offset = AT(outputs.node_feature.mode), .fallback = "auto", .choices = object_modes,
	  .help = "publish a NodeFeature object; worker: also the one of nfd-worker" },
	{ .key = "outputs.nodeFeature.namespace", .type = NFD_SETTING_TEXT,
	  .offset = AT(outputs.node_feature.namespace), .fallback = "",
	  .help = "namespace of that object; else the pod's own" },
	{ .key = "outputs.nodeLabels.mode", .type = NFD_SETTING_CHOICE,
	  .offset = AT(outputs.node_labels.mode), .fallback = "fallback", .choices = label_modes,
	  .help = "patch labels onto our Node" },
	{ .key = "outputs.nodeLabels.after", .type = NFD_SETTING_DURATION,
	  .offset = AT(outputs.node_labels.after_ms), .fallback = "2m", .min = MS_SECOND,
	  .max = MS_HOUR, .help = "time that NFD has to bring a change to the Node" },
	{ .key = "outputs.nodeLabels.resync", .type = NFD_SETTING_DURATION,
	  .offset = AT(outputs.node_labels.resync_ms), .fallback = "10m", .min = MS_SECOND,
	  .max = MS_YEAR, .help = "time between checks of the Node" },
	{ .key = "api.kubeconfig", .type = NFD_SETTING_TEXT, .offset = AT(outputs.api.kubeconfig),
	  .fallback = "", .help = "kubeconfig with the credentials to use" },
	{ .key = "api.deadline", .type = NFD_SETTING_DURATION, .offset = AT(outputs.api.deadline_ms),
	  .fallback = "30s", .min = MS_SECOND, .max = MS_HOUR,
	  .help = "longest run of the API helper" },
	{ .key = "api.proxy", .type = NFD_SETTING_TEXT, .offset = AT(outputs.api.proxy),
	  .fallback = "", .help = "proxy URL for the API server" },
	{ .key = "watch.group", .type = NFD_SETTING_CHOICE, .offset = AT(watch.group),
	  .fallback = "kernel", .choices = nfd_watch_groups,
	  .help = "group of uevents to listen to" },
	{ .key = "watch.removalDelay", .type = NFD_SETTING_DURATION,
	  .offset = AT(watch.removal_delay_ms), .fallback = "3s", .min = 0, .max = MS_HOUR,
	  .help = "time that a label stays after its device has gone" },
	{ .key = "confinement.mode", .type = NFD_SETTING_CHOICE, .offset = AT(confinement),
	  .fallback = "auto", .choices = modes,
	  .help = "daemon and helpers give up rights by Landlock and seccomp; on: or do not start" },
	{ .key = "status.path", .type = NFD_SETTING_TEXT, .offset = AT(status_path),
	  .fallback = "/run/nfd-source/status.json", .help = "file that the daemon keeps for status" },
	{ .key = "metrics.path", .type = NFD_SETTING_TEXT, .offset = AT(metrics_path),
	  .fallback = "", .help = "file for node-exporter's textfile collector" },
	{ .key = "doctor.dcgm", .type = NFD_SETTING_TEXT, .offset = AT(dcgm_url),
	  .fallback = "http://127.0.0.1:9400/metrics",
	  .help = "dcgm-exporter on this host, on a loopback address" },
	{ .key = "doctor.failOn", .type = NFD_SETTING_CHOICE, .offset = AT(fail_on),
	  .fallback = "critical", .choices = severities,
	  .help = "least severity that makes doctor exit with 1" },
	{ .key = "log.format", .type = NFD_SETTING_CHOICE, .offset = AT(log_format),
	  .fallback = "text", .choices = log_formats, .help = "form of log lines" },
	{ .key = "log.level", .type = NFD_SETTING_CHOICE, .offset = AT(log_level),
	  .fallback = "info", .choices = log_levels, .help = "least severe events to log" },
};
/* clang-format on */

_Static_assert(NFD_ARRAY_SIZE(table) <= NFD_SETTINGS_MAX, "origin array too small");

/* Keys of nfd-worker.conf for what we do not have (spec nfd.md 6.1; docs/nfd-worker-conf.md). */
static const char *const foreign_keys[] = {
	"core.klog",      "sources.custom",  "sources.fake",    "sources.local",
	"sources.memory", "sources.network", "sources.storage", "sources.system",
};

const struct nfd_setting *nfd_settings_table(size_t *ret_count)
{
	*ret_count = NFD_ARRAY_SIZE(table);
	return table;
}

size_t nfd_settings_position(const struct nfd_setting *setting)
{
	return (size_t)(setting - table);
}

const struct nfd_setting *nfd_settings_find(const char *key)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(table); i++)
		if (strcasecmp(table[i].key, key) == 0)
			return &table[i];
	return NULL;
}

static bool is_section(const char *key, size_t len)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(table); i++)
		if (strncasecmp(table[i].key, key, len) == 0 && table[i].key[len] == '.')
			return true;
	return false;
}

bool nfd_settings_is_section(const char *key)
{
	return is_section(key, strlen(key));
}

bool nfd_settings_is_foreign(const char *key)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(foreign_keys); i++)
		if (strcasecmp(foreign_keys[i], key) == 0)
			return true;
	return false;
}

/* Length of the section that a key is in, with its dot; of the next above that there is, else 0. */
static size_t section_length(const char *key)
{
	size_t len = strlen(key);

	while (len > 0 && (key[len] != '.' || !is_section(key, len)))
		len--;
	return len > 0 ? len + 1 : 0;
}

int nfd_settings_refuse_key(const char *key, struct nfd_error *err)
{
	size_t len = section_length(key);
	char list[400] = "", where[120] = "here";
	size_t used = 0;

	/* A section of the key is unknown already. */
	if (strchr(key + len, '.') && len > 0)
		snprintf(where, sizeof(where), "in %.*s", (int)len - 1, key);
	else if (strchr(key, '.') && len == 0)
		snprintf(where, sizeof(where), "at the top");
	for (size_t i = 0; i < NFD_ARRAY_SIZE(table) && used < sizeof(list); i++) {
		const char *name;
		int name_len;

		if (strncasecmp(table[i].key, key, len) != 0)
			continue;
		name = table[i].key + len;
		name_len = (int)strcspn(name, ".");
		/* Keys of one section stand together, so a name seen before is the last one. */
		if (i && strncmp(table[i - 1].key, table[i].key, len + (size_t)name_len) == 0)
			continue;
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%.*s",
					 used ? ", " : "", name_len, name);
	}
	return nfd_error_set(err, -ENOKEY, "unknown key \"%.100s\"; allowed %s: %s", key, where,
			     list);
}
