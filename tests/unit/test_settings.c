// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * settings: the table, values from each origin, order of the origins, words of every refusal.
 */
#include "config.h"

#include "settings.h"
#include "settings_yaml.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

static const struct nfd_setting *find(const char *key)
{
	size_t count;
	const struct nfd_setting *table = nfd_settings_table(&count);

	for (size_t i = 0; i < count; i++)
		if (strcmp(table[i].key, key) == 0)
			return &table[i];
	fail_msg("no setting %s", key);
	return NULL;
}

/* Value of a setting as text. */
static const char *value_of(const struct nfd_settings *settings, const char *key)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };

	nfd_settings_format(settings, find(key), &buf);
	return unit_text("%s", nfd_strbuf_text(&buf));
}

static const char *origin_of(const struct nfd_settings *settings, const char *key)
{
	size_t count;

	return settings->origin[find(key) - nfd_settings_table(&count)];
}

static void table_is_sound(void **state)
{
	struct nfd_settings settings;
	struct nfd_settings_sources none = { 0 };
	size_t count;
	const struct nfd_setting *table = nfd_settings_table(&count);

	(void)state;
	assert_int_equal(nfd_settings_load(&settings, &none, NULL), 0);
	for (size_t i = 0; i < count; i++) {
		assert_true(table[i].help && table[i].help[0]);
		if (strcmp(table[i].key, "core.nodeName") == 0)
			continue;
		assert_string_equal(value_of(&settings, table[i].key), table[i].fallback);
		assert_string_equal(settings.origin[i], "default");
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(table[i].key, table[j].key);
	}
	nfd_settings_done(&settings);
	nfd_settings_done(&settings);
}

static const struct {
	const char *name, *key, *text;
	int result;
	const char *expected; /* value, or part of the words */
} value_rows[] = {
	{ "interval", "core.sleepInterval", "60s", 0, "1m" },
	{ "interval of zero is never", "core.sleepInterval", "0", 0, "0s" },
	{ "interval below zero is never", "core.sleepInterval", "-1s", 0, "0s" },
	{ "interval under a second is one", "core.sleepInterval", "500ms", 0, "1s" },
	{ "interval of a nanosecond is a second", "core.sleepInterval", "1ns", 0, "1s" },
	{ "interval in nanoseconds, as in NFD", "core.sleepInterval", "60000000000", 0, "1m" },
	{ "nobody means 60 ns", "core.sleepInterval", "60", -EINVAL, "is no duration" },
	{ "interval of words", "core.sleepInterval", "often", -EINVAL,
	  "core.sleepInterval: \"often\" is no duration" },
	{ "interval empty", "core.sleepInterval", "", -EINVAL, "is no duration" },
	{ "interval of a year", "core.sleepInterval", "8784h", 0, "8784h" },
	{ "interval over a year", "core.sleepInterval", "8785h", -ERANGE,
	  "is out of range; allowed: 0s to 8784h" },
	{ "interval huge", "core.sleepInterval", "99999999999999999999h", -EINVAL,
	  "is no duration" },
	{ "lifetime below zero", "outputs.featureFile.lifetime", "-1s", -ERANGE, "out of range" },
	{ "delay at its limit", "watch.removalDelay", "1h", 0, "1h" },
	{ "delay over its limit", "watch.removalDelay", "1h1ms", -ERANGE, "allowed: 0s to 1h" },
	{ "pattern", "core.labelWhiteList", "^pci-", 0, "^pci-" },
	{ "pattern broken", "core.labelWhiteList", "(", -EINVAL,
	  "core.labelWhiteList: \"(\" is no regular expression" },
	{ "mode", "outputs.featureFile.mode", "on", 0, "on" },
	{ "mode unknown", "outputs.featureFile.mode", "yes", -EINVAL,
	  "\"yes\" is not allowed; allowed: auto, on, off" },
	{ "mode in upper case", "outputs.featureFile.mode", "ON", -EINVAL, "is not allowed" },
	{ "mode empty", "outputs.featureFile.mode", "", -EINVAL, "is not allowed" },
	{ "text", "outputs.featureFile.dir", "/a b/c", 0, "/a b/c" },
	{ "text with a newline", "outputs.featureFile.dir", "/a\nb", -EINVAL,
	  "control characters" },
	{ "text with delete", "outputs.featureFile.dir", "/a\177", -EINVAL, "control characters" },
	{ "text not UTF-8", "outputs.featureFile.dir", "/\xff", 0, "/\xff" },
	{ "name", "outputs.featureFile.name", "ours", 0, "ours" },
	{ "name with a slash", "outputs.featureFile.name", "a/b", -EINVAL, "without \"/\"" },
	{ "name with a dot first", "outputs.featureFile.name", ".a", -EINVAL, "begin with a dot" },
	{ "name empty", "outputs.featureFile.name", "", -EINVAL, "1 to 200 bytes" },
	{ "fields", "sources.pci.deviceLabelFields", "vendor, class", 0, "class,vendor" },
	{ "fields repeated", "sources.pci.deviceLabelFields", "vendor,vendor", 0, "vendor" },
	{ "field unknown", "sources.pci.deviceLabelFields", "serial", -EINVAL,
	  "allowed: class, vendor, device, subsystem_vendor, subsystem_device" },
	{ "fields empty", "sources.pci.deviceLabelFields", "", -EINVAL, "is not allowed" },
	{ "fields with a gap", "sources.pci.deviceLabelFields", "class,,vendor", -EINVAL,
	  "\"\" is not allowed" },
	{ "classes in lower case", "sources.pci.deviceClassWhitelist", "03, 0B40 ,12", 0,
	  "03,0b40,12" },
	{ "classes empty", "sources.pci.deviceClassWhitelist", "", 0, "" },
	{ "class of four digits", "sources.pci.deviceClassWhitelist", "0302", 0, "0302" },
	{ "class of five digits", "sources.pci.deviceClassWhitelist", "03020", -EINVAL,
	  "up to 4 hexadecimal digits" },
	{ "class of USB of three digits", "sources.usb.deviceClassWhitelist", "0e0", -EINVAL,
	  "up to 2 hexadecimal digits" },
	{ "class with a prefix", "sources.pci.deviceClassWhitelist", "0x03", -EINVAL,
	  "is no class" },
	{ "labels of nvidia", "sources.vendor.nvidia.labels", "on", 0, "on" },
	{ "labels of amd", "sources.vendor.amd.labels", "off", 0, "off" },
	{ "labels of intel", "sources.vendor.intel.labels", "auto", 0, "auto" },
	{ "labels of gaudi", "sources.vendor.gaudi.labels", "on", 0, "on" },
	{ "labels of mellanox", "sources.vendor.mellanox.labels", "off", 0, "off" },
	{ "labels of neuron", "sources.vendor.neuron.labels", "on", 0, "on" },
	{ "labels of tpu", "sources.vendor.tpu.labels", "off", 0, "off" },
	{ "labels of qualcomm", "sources.vendor.qualcomm.labels", "on", 0, "on" },
	{ "labels of ascend", "sources.vendor.ascend.labels", "off", 0, "off" },
	{ "labels of alveo", "sources.vendor.alveo.labels", "on", 0, "on" },
	{ "labels of a vendor, word unknown", "sources.vendor.nvidia.labels", "yes", -EINVAL,
	  "sources.vendor.nvidia.labels: \"yes\" is not allowed; allowed: auto, on, off" },
	{ "labels of a vendor, empty", "sources.vendor.amd.labels", "", -EINVAL, "is not allowed" },
	{ "labels of a vendor, key in another case", "sources.vendor.NVIDIA.LABELS", "off", 0,
	  NULL },
	{ "vendor unknown", "sources.vendor.voodoo.labels", "on", -ENOKEY,
	  "unknown key \"sources.vendor.voodoo.labels\"; allowed in sources.vendor: nvidia, amd, " },
	{ "vendor unknown, all are named", "sources.vendor.voodoo.labels", "on", -ENOKEY,
	  ": nvidia, amd, intel, gaudi, mellanox, neuron, tpu, qualcomm, ascend, alveo" },
	{ "source unknown, two levels up", "sources.vendro.amd.labels", "on", -ENOKEY,
	  "unknown key \"sources.vendro.amd.labels\"; allowed in sources: mode, cpu, kernel, pci, usb, " },
	{ "below a setting", "core.nodeName.x", "on", -ENOKEY,
	  "allowed in core: sleepInterval, labelWhiteList, nodeName" },
	{ "vendor is no key", "sources.vendor.nvidia", "on", -ENOKEY,
	  "allowed here: nvidia, amd, intel, gaudi, mellanox, neuron, tpu, qualcomm, ascend, alveo" },
	{ "key of a vendor unknown", "sources.vendor.nvidia.mig", "single", -ENOKEY,
	  "allowed here: labels, nvml, migStrategy, config" },
	{ "key of another vendor", "sources.vendor.amd.nvml", "on", -ENOKEY,
	  "unknown key \"sources.vendor.amd.nvml\"" },
	{ "NVML", "sources.vendor.nvidia.nvml", "off", 0, "off" },
	{ "NVML is on or off", "sources.vendor.nvidia.nvml", "auto", -EINVAL,
	  "\"auto\" is not allowed; allowed: on, off" },
	{ "MIG strategy", "sources.vendor.nvidia.migStrategy", "mixed", 0, "mixed" },
	{ "MIG strategy of the file", "sources.vendor.nvidia.migStrategy", "", 0, "" },
	{ "MIG strategy unknown", "sources.vendor.nvidia.migStrategy", "double", -EINVAL,
	  "\"double\" is not allowed; allowed: \"\", none, single, mixed" },
	{ "MIG strategy in upper case", "sources.vendor.nvidia.migStrategy", "MIXED", -EINVAL,
	  "is not allowed" },
	{ "configuration of NVIDIA", "sources.vendor.nvidia.config", "/etc/gfd.yaml", 0,
	  "/etc/gfd.yaml" },
	{ "configuration of NVIDIA with a newline", "sources.vendor.nvidia.config", "/a\nb",
	  -EINVAL, "control characters" },
	{ "level", "log.level", "debug", 0, "debug" },
	{ "sources all", "sources.mode", "all", 0, "all" },
	{ "sources where none runs", "sources.mode", "auto", 0, "auto" },
	{ "sources unknown", "sources.mode", "on", -EINVAL,
	  "sources.mode: \"on\" is not allowed; allowed: auto, all, own" },
	{ "sources in upper case", "sources.mode", "ALL", -EINVAL, "is not allowed" },
	{ "short form is the file's alone", "sources", "all", -ENOKEY, "unknown key \"sources\"" },
	{ "label sources", "core.labelSources", "usb,pci", 0, "pci,usb" },
	{ "label sources all", "core.labelSources", "all", 0, "all" },
	{ "label sources all but one", "core.labelSources", "all,-cpu", 0, "all,-cpu" },
	{ "label sources, the order counts", "core.labelSources", "-cpu,all", 0, "all" },
	{ "label sources, one back again", "core.labelSources", "all,-cpu,-usb,cpu", 0,
	  "all,-usb" },
	{ "label sources none", "core.labelSources", "", 0, "" },
	{ "label sources, taken out again", "core.labelSources", "pci,-pci", 0, "" },
	{ "label sources, fake is not in all", "core.labelSources", "all,fake", 0, "all,fake" },
	{ "label sources, each named", "core.labelSources",
	  "cpu,custom,kernel,local,memory,network,pci,storage,system,usb", 0, "all" },
	{ "label source unknown", "core.labelSources", "all,cpus", -EINVAL,
	  "core.labelSources: \"cpus\" is no source; allowed: all, cpu, custom, fake, kernel, " },
	{ "label source in upper case", "core.labelSources", "CPU", -EINVAL, "is no source" },
	{ "label source, unknown one taken out", "core.labelSources", "all,-cpus", -EINVAL,
	  "\"-cpus\" is no source" },
	{ "label source of nothing", "core.labelSources", "-", -EINVAL, "is no source" },
	{ "label sources, a gap", "core.labelSources", "cpu,,usb", -EINVAL, "\"\" is no source" },
	{ "label sources, minus all", "core.labelSources", "all,-all", -EINVAL, "is no source" },
	{ "feature sources", "core.featureSources", "all,-kernel", 0, "all,-kernel" },
	{ "feature source unknown", "core.featureSources", "gpu", -EINVAL,
	  "core.featureSources: \"gpu\" is no source" },
	{ "old sources", "core.sources", "pci", 0, "pci" },
	{ "old source unknown", "core.sources", "gpu", -EINVAL, "core.sources: \"gpu\" is no " },
	{ "publish nothing", "core.noPublish", "true", 0, "true" },
	{ "publish nothing, in capitals", "core.noPublish", "TRUE", 0, "true" },
	{ "publish nothing, a capital", "core.noPublish", "True", 0, "true" },
	{ "publish nothing, another word", "core.noPublish", "yes", 0, "true" },
	{ "publish nothing, a switch", "core.noPublish", "On", 0, "true" },
	{ "publish nothing, one letter", "core.noPublish", "Y", 0, "true" },
	{ "publish", "core.noPublish", "False", 0, "false" },
	{ "publish, another word", "core.noPublish", "NO", 0, "false" },
	{ "publish, a switch", "core.noPublish", "off", 0, "false" },
	{ "publish, one letter", "core.noPublish", "n", 0, "false" },
	{ "publish maybe", "core.noPublish", "maybe", -EINVAL,
	  "core.noPublish: \"maybe\" is not allowed; allowed: false, true" },
	{ "publish in numbers", "core.noPublish", "1", -EINVAL, "is not allowed" },
	{ "publish empty", "core.noPublish", "", -EINVAL, "is not allowed" },
	{ "features not published", "core.noPublishFeatures", "kernel.config, cpu.*", 0,
	  "kernel.config,cpu.*" },
	{ "features not published, a gap", "core.noPublishFeatures", "a,,b", -EINVAL,
	  "core.noPublishFeatures: empty words" },
	{ "owners", "core.ownerRefs", "ds,node", 0, "node,ds" },
	{ "no owners", "core.ownerRefs", "", 0, "" },
	{ "owner unknown", "core.ownerRefs", "pod,job", -EINVAL,
	  "core.ownerRefs: \"job\" is not allowed; allowed: node, pod, ds" },
	{ "owner twice", "core.ownerRefs", "pod,ds,pod", -EINVAL,
	  "core.ownerRefs: \"pod\" stands here twice" },
	{ "owners off", "core.noOwnerRefs", "True", 0, "true" },
	{ "flags without label", "sources.cpu.cpuid.attributeBlacklist", "SSE,AVX", 0, "SSE,AVX" },
	{ "flags without label, none", "sources.cpu.cpuid.attributeBlacklist", "", 0, "" },
	{ "flags with label", "sources.cpu.cpuid.attributeWhitelist", "AVX512F", 0, "AVX512F" },
	{ "flags with a control byte", "sources.cpu.cpuid.attributeWhitelist", "A\tB", -EINVAL,
	  "control characters are not allowed" },
	{ "kernel configuration", "sources.kernel.kconfigFile", "/boot/c", 0, "/boot/c" },
	{ "kernel configuration with a newline", "sources.kernel.kconfigFile", "/a\nb", -EINVAL,
	  "control characters" },
	{ "kernel options", "sources.kernel.configOpts", "HZ,PREEMPT", 0, "HZ,PREEMPT" },
	{ "kernel options none", "sources.kernel.configOpts", "", 0, "" },
	{ "object in nfd-worker's place", "outputs.nodeFeature.mode", "worker", 0, "worker" },
	{ "object unknown", "outputs.nodeFeature.mode", "nfd", -EINVAL,
	  "\"nfd\" is not allowed; allowed: auto, on, off, worker" },
	{ "key unknown", "core.sleep", "1s", -ENOKEY,
	  "unknown key \"core.sleep\"; allowed here: sleepInterval, labelWhiteList, nodeName" },
	{ "section unknown", "corr.x", "1s", -ENOKEY,
	  "unknown key \"corr.x\"; allowed at the top: core, sources, outputs, api, watch, " },
	{ "section unknown, in a longer key", "corr.x.y", "1s", -ENOKEY, "at the top: core, " },
	{ "key of dots", "..", "1s", -ENOKEY, "unknown key \"..\"; allowed at the top: core, " },
	{ "key empty", "", "1s", -ENOKEY, "unknown key \"\"" },
	{ "key in another case", "CORE.SLEEPINTERVAL", "1m", 0, NULL },
	{ "section is no key", "core", "1s", -ENOKEY, "unknown key \"core\"" },
};

static void takes_override(void **state)
{
	const __typeof__(value_rows[0]) *row = *state;
	const struct nfd_setting_override override = { row->key, row->text, "--set" };
	const struct nfd_settings_sources sources = { .override = &override, .override_count = 1 };
	struct nfd_settings settings;
	struct nfd_error err = { 0 };

	assert_int_equal(nfd_settings_load(&settings, &sources, &err), row->result);
	if (row->result < 0) {
		unit_assert_contains(err.text, "option --set: ");
		unit_assert_contains(err.text, row->expected);
	} else if (row->expected) {
		assert_string_equal(value_of(&settings, row->key), row->expected);
		assert_string_equal(origin_of(&settings, row->key), "option --set");
	}
	nfd_settings_done(&settings);
}

/* Loads a file's text; 0 or an error. */
static int load(struct nfd_settings *settings, const char *text, struct nfd_error *err)
{
	const char *tree = tree_new();
	struct nfd_settings_sources sources = { .file = tree_path(tree, "f"),
						.file_required = true };

	tree_file(tree, "f", text);
	return nfd_settings_load(settings, &sources, err);
}

static const struct {
	const char *name, *text, *key;
	int result;
	const char *expected; /* value, or part of the words */
	const char *origin;   /* ending */
} file_rows[] = {
	{ "empty", "", "core.sleepInterval", 0, "5m", "default" },
	{ "value", "core:\n  sleepInterval: 60s\n", "core.sleepInterval", 0, "1m", "/f:2:18" },
	{ "JSON", "{\"core\": {\"sleepInterval\": \"60s\"}}", "core.sleepInterval", 0, "1m",
	  "/f:1:28" },
	{ "key in another case", "Core:\n  SleepInterval: 60s\n", "core.sleepInterval", 0, "1m",
	  "/f:2:18" },
	{ "list", "sources:\n  pci:\n    deviceClassWhitelist: [\"03\", '0B40']\n",
	  "sources.pci.deviceClassWhitelist", 0, "03,0b40", "/f:3:27" },
	{ "one value for a list", "sources: {pci: {deviceClassWhitelist: \"03\"}}",
	  "sources.pci.deviceClassWhitelist", 0, "03", "/f:1:39" },
	{ "empty list", "sources: {pci: {deviceClassWhitelist: []}}",
	  "sources.pci.deviceClassWhitelist", 0, "", "/f:1:39" },
	{ "commas do not split", "sources: {pci: {deviceClassWhitelist: \"03,02\"}}", NULL, -EINVAL,
	  "f:1:39: sources.pci.deviceClassWhitelist: \"03,02\" is no class", NULL },
	{ "vendor", "sources:\n  vendor:\n    nvidia:\n      labels: \"off\"\n",
	  "sources.vendor.nvidia.labels", 0, "off", "/f:4:15" },
	{ "vendor, value without quotes", "sources: {vendor: {intel: {labels: on}}}",
	  "sources.vendor.intel.labels", 0, "on", "/f:1:36" },
	{ "vendor, wrong value", "sources:\n  vendor:\n    amd:\n      labels: maybe\n", NULL,
	  -EINVAL, "f:4:15: sources.vendor.amd.labels: \"maybe\" is not allowed", NULL },
	{ "vendor unknown", "sources:\n  vendor:\n    voodoo:\n      labels: auto\n", NULL, -ENOKEY,
	  "f:3:5: unknown key \"sources.vendor.voodoo\"; allowed here: nvidia, amd, intel", NULL },
	{ "strategy wrong", "sources: {vendor: {nvidia: {migStrategy: all}}}", NULL, -EINVAL,
	  "f:1:42: sources.vendor.nvidia.migStrategy: \"all\" is not allowed", NULL },
	{ "empty strategy", "sources: {vendor: {nvidia: {migStrategy: \"\"}}}",
	  "sources.vendor.nvidia.migStrategy", 0, "", "/f:1:42" },
	{ "no value leaves what is there", "core:\n  sleepInterval:\n", "core.sleepInterval", 0,
	  "5m", "default" },
	{ "empty section", "core:\n", "core.sleepInterval", 0, "5m", "default" },
	{ "all sources in one word", "sources: all\n", "sources.mode", 0, "all", "/f:1:10" },
	{ "all sources in one word, JSON", "{\"sources\": \"all\"}", "sources.mode", 0, "all",
	  "/f:1:13" },
	{ "all sources in one word, key in another case", "SOURCES: auto\n", "sources.mode", 0,
	  "auto", "/f:1:10" },
	{ "all sources among others", "sources: {mode: all, pci: {deviceLabelFields: [vendor]}}\n",
	  "sources.mode", 0, "all", "/f:1:17" },
	{ "others without a mode", "sources: {pci: {deviceLabelFields: [vendor]}}\n",
	  "sources.mode", 0, "own", "default" },
	{ "sources of no word", "sources:\n", "sources.mode", 0, "own", "default" },
	{ "word of sources wrong", "sources: none\n", NULL, -EINVAL,
	  "f:1:10: sources.mode: \"none\" is not allowed; allowed: auto, all, own", NULL },
	{ "word of sources empty", "sources: \"\"\n", NULL, -EINVAL,
	  "f:1:10: sources.mode: \"\" is not allowed", NULL },
	{ "words of sources in a list", "sources: [all]\n", NULL, -EINVAL,
	  "f:1:10: sources: holds further keys, not a value", NULL },
	{ "both forms of sources", "sources: all\nsources: {mode: all}\n", NULL, -ENOKEY,
	  "f:2:1: this key stands here twice", NULL },
	{ "both forms of sources, in two cases", "sources: all\nSources: {mode: own}\n", NULL,
	  -ENOKEY, "f:2:11: sources.mode: is set twice", NULL },
	{ "the word is for sources alone", "core: all\n", NULL, -EINVAL,
	  "f:1:7: core: holds further keys", NULL },
	{ "label sources in a list", "core:\n  labelSources: [all, -cpu]\n", "core.labelSources", 0,
	  "all,-cpu", "/f:2:17" },
	{ "label sources, empty list", "core: {labelSources: []}\n", "core.labelSources", 0, "",
	  "/f:1:22" },
	{ "label source unknown", "core:\n  labelSources: [cpu, gpu]\n", NULL, -EINVAL,
	  "f:2:17: core.labelSources: \"gpu\" is no source; allowed: all, cpu, custom", NULL },
	{ "old sources count before", "core: {sources: [pci], labelSources: [cpu]}\n",
	  "core.labelSources", 0, "pci", "core.sources (" },
	{ "old sources count before, behind", "core: {labelSources: [cpu], sources: [pci]}\n",
	  "core.labelSources", 0, "pci", "/f:1:38)" },
	{ "old sources alone", "core: {sources: []}\n", "core.labelSources", 0, "",
	  "core.sources (" },
	{ "old sources without a value", "core: {sources: , labelSources: [cpu]}\n",
	  "core.labelSources", 0, "cpu", "/f:1:33" },
	{ "old sources are not of features", "core: {sources: [pci]}\n", "core.featureSources", 0,
	  "all", "default" },
	{ "truth", "core: {noPublish: True}\n", "core.noPublish", 0, "true", "/f:1:19" },
	{ "features not published", "core: {noPublishFeatures: [kernel.config, \"local.*\"]}\n",
	  "core.noPublishFeatures", 0, "kernel.config,local.*", "/f:1:27" },
	{ "owners none", "core: {ownerRefs: []}\n", "core.ownerRefs", 0, "", "/f:1:19" },
	{ "owner twice", "core: {ownerRefs: [pod, pod]}\n", NULL, -EINVAL,
	  "f:1:19: core.ownerRefs: \"pod\" stands here twice", NULL },
	{ "flags replace the default",
	  "sources: {cpu: {cpuid: {attributeBlacklist: [MMX], attributeWhitelist: [AVX, AVX2]}}}\n",
	  "sources.cpu.cpuid.attributeBlacklist", 0, "MMX", "/f:1:45" },
	{ "flags without label, none", "sources: {cpu: {cpuid: {attributeBlacklist: []}}}\n",
	  "sources.cpu.cpuid.attributeBlacklist", 0, "", "/f:1:45" },
	{ "kernel", "sources: {kernel: {kconfigFile: /c, configOpts: [HZ]}}\n",
	  "sources.kernel.configOpts", 0, "HZ", "/f:1:49" },
	{ "object in nfd-worker's place", "outputs: {nodeFeature: {mode: worker}}\n",
	  "sources.mode", 0, "all", "outputs.nodeFeature.mode (" },
	{ "object in nfd-worker's place, said twice",
	  "sources: all\noutputs: {nodeFeature: {mode: worker}}\n", "sources.mode", 0, "all",
	  "/f:1:10" },
	{ "object in nfd-worker's place without its sources",
	  "sources: own\noutputs: {nodeFeature: {mode: worker}}\n", NULL, -EINVAL,
	  "/f:2:31), which needs sources.mode: all, but it is own (", NULL },
	{ "object in nfd-worker's place, its sources perhaps",
	  "sources: {mode: auto}\noutputs: {nodeFeature: {mode: worker}}\n", NULL, -EINVAL,
	  "needs sources.mode: all, but it is auto (", NULL },
	{ "object of ours", "outputs: {nodeFeature: {mode: \"on\"}}\n", "sources.mode", 0, "own",
	  "default" },
	{ "keys of nfd-worker are passed over",
	  "core: {klog: {v: 3}}\nsources: {custom: [{name: x}], memory: {}, fake: {labels: {}}}\n",
	  "core.sleepInterval", 0, "5m", "default" },
	{ "unknown key", "core:\n  x: 1\n", NULL, -ENOKEY,
	  "f:2:3: unknown key \"core.x\"; allowed here: sleepInterval, labelWhiteList, nodeName",
	  NULL },
	{ "unknown section", "x:\n  y: 1\n", NULL, -ENOKEY,
	  "f:1:1: unknown key \"x\"; allowed here: core, sources", NULL },
	{ "unknown deeper", "outputs:\n  featureFile:\n    mod: on\n", NULL, -ENOKEY,
	  "f:3:5: unknown key \"outputs.featureFile.mod\"; allowed here: mode, dir, name, lifetime",
	  NULL },
	{ "dotted key is one key", "core.sleepInterval: 60s\n", "core.sleepInterval", 0, "1m",
	  "/f:1:21" },
	{ "set twice", "core:\n  sleepInterval: 1s\n  SLEEPINTERVAL: 2s\n", NULL, -ENOKEY,
	  "f:3:3: core.sleepInterval: is set twice", NULL },
	{ "wrong value", "core:\n  sleepInterval:   often\n", NULL, -EINVAL,
	  "f:2:20: core.sleepInterval: \"often\" is no duration", NULL },
	{ "list for one value", "core: {sleepInterval: [1s]}\n", NULL, -EINVAL,
	  "f:1:23: core.sleepInterval: takes one plain value", NULL },
	{ "mapping for one value", "core: {sleepInterval: {a: b}}\n", NULL, -EINVAL,
	  "core.sleepInterval: takes one plain value", NULL },
	{ "mapping for a list", "sources: {pci: {deviceLabelFields: {a: b}}}\n", NULL, -EINVAL,
	  "takes a list of plain values", NULL },
	{ "odd entry of a list", "sources: {pci: {deviceLabelFields: [class, [x]]}}\n", NULL,
	  -EINVAL, "f:1:44: sources.pci.deviceLabelFields: takes a list of plain values", NULL },
	{ "value for a section", "core: 1\n", NULL, -EINVAL, "f:1:7: core: holds further keys",
	  NULL },
	{ "list for a section", "core: []\n", NULL, -EINVAL, "core: holds further keys", NULL },
	{ "no YAML", "core: [\n", NULL, -EINVAL, "f:2:1: not YAML", NULL },
	{ "not UTF-8", "core: \xff\n", NULL, -EINVAL, "not YAML", NULL },
};

static void takes_file(void **state)
{
	const __typeof__(file_rows[0]) *row = *state;
	struct nfd_settings settings;
	struct nfd_error err = { 0 };

	assert_int_equal(load(&settings, row->text, &err), row->result);
	if (row->result < 0) {
		unit_assert_contains(err.text, row->expected);
	} else {
		assert_string_equal(value_of(&settings, row->key), row->expected);
		unit_assert_contains(origin_of(&settings, row->key), row->origin);
	}
	nfd_settings_done(&settings);
}

static void names_what_is_passed_over(void **state)
{
	struct nfd_settings settings;

	(void)state;
	assert_int_equal(load(&settings,
			      "core: {klog: {v: 1}}\n"
			      "sources: {cpu: {}, custom: [{name: x}], local: , fake: []}\n",
			      NULL),
			 0);
	assert_string_equal(settings.passed_over, "core.klog sources.custom");
	assert_true(settings.has_custom_rules);
	nfd_settings_done(&settings);
}

static const struct {
	const char *name, *text;
	bool expected;
} rules_rows[] = {
	{ "rules", "sources: {mode: all, Custom: [{name: a}]}\n", true },
	{ "a mapping", "sources: {custom: {name: a}}\n", true },
	{ "none", "sources: {custom: []}\n", false },
	{ "no value", "sources: {custom: }\n", false },
	{ "no key", "sources: {fake: {labels: {}}}\n", false },
};

static void knows_of_rules(void **state)
{
	const __typeof__(rules_rows[0]) *row = *state;
	struct nfd_settings settings;

	assert_int_equal(load(&settings, row->text, NULL), 0);
	assert_int_equal(settings.has_custom_rules, row->expected);
	nfd_settings_done(&settings);
}

static const struct {
	const char *name;
	struct tree_entry entry;
	bool required;
	int result;
} missing_rows[] = {
	{ "missing, not required", DIR_AT("x"), false, 0 },
	{ "missing, required", DIR_AT("x"), true, -ENOENT },
	{ "dangling link, not required", LINK_AT("f", "nowhere"), false, 0 },
	{ "folder, not required", DIR_AT("f"), false, -EISDIR },
	{ "loop, not required", LINK_AT("f", "f"), false, -ELOOP },
	{ "fifo is empty", FIFO_AT("f"), true, 0 },
};

static void file_may_be_missing(void **state)
{
	const __typeof__(missing_rows[0]) *row = *state;
	const struct tree_entry entry[] = { row->entry, { 0 } };
	const char *tree = tree_new();
	const struct nfd_settings_sources sources = { .file = tree_path(tree, "f"),
						      .file_required = row->required };
	struct nfd_settings settings;
	struct nfd_error err = { 0 };

	tree_fill(tree, entry);
	assert_int_equal(nfd_settings_load(&settings, &sources, &err), row->result);
	if (row->result < 0)
		unit_assert_contains(err.text,
				     unit_text("cannot read settings \"%s\"", sources.file));
	nfd_settings_done(&settings);
}

static void file_has_a_cap(void **state)
{
	struct nfd_settings settings;
	struct nfd_error err = { 0 };
	size_t cap = 1024 * 1024;

	(void)state;
	assert_int_equal(load(&settings, unit_repeat('#', cap), &err), 0);
	nfd_settings_done(&settings);
	assert_int_equal(load(&settings, unit_repeat('#', cap + 1), &err), -EFBIG);
	nfd_settings_done(&settings);
}

static const struct {
	const char *key, *variable;
} variable_rows[] = {
	{ "core.sleepInterval", "NFD_SOURCE_CORE_SLEEP_INTERVAL" },
	{ "sources.pci.deviceClassWhitelist", "NFD_SOURCE_SOURCES_PCI_DEVICE_CLASS_WHITELIST" },
	{ "sources.vendor.nvidia.migStrategy", "NFD_SOURCE_SOURCES_VENDOR_NVIDIA_MIG_STRATEGY" },
	{ "status.path", "NFD_SOURCE_STATUS_PATH" },
};

static void names_variable(void **state)
{
	const __typeof__(variable_rows[0]) *row = *state;
	char name[96];

	nfd_settings_variable(find(row->key), name, sizeof(name));
	assert_string_equal(name, row->variable);
	nfd_settings_variable(find(row->key), name, 14);
	assert_true(strlen(name) < 14);
	assert_memory_equal(name, row->variable, strlen(name));
}

static void environment_is_taken(void **state)
{
	char *environment[] = {
		(char[]){ "NFD_SOURCE_CORE_SLEEP_INTERVAL=7s" },
		(char[]){ "NFD_SOURCE_SOURCES_PCI_DEVICE_LABEL_FIELDS=vendor,device" },
		(char[]){ "NFD_SOURCE_SERVICE_HOST=10.0.0.1" }, /* made for a Service nfd-source */
		(char[]){ "NFD_SOURCE_LOG_LEVELS=x" },
		(char[]){ "no equals sign" },
		NULL,
	};
	const struct nfd_settings_sources sources = { .environment = environment };
	struct nfd_settings settings;

	(void)state;
	assert_int_equal(nfd_settings_load(&settings, &sources, NULL), 0);
	assert_int_equal(settings.core.sleep_interval_ms, 7000);
	assert_string_equal(value_of(&settings, "sources.pci.deviceLabelFields"), "vendor,device");
	assert_string_equal(origin_of(&settings, "core.sleepInterval"),
			    "environment NFD_SOURCE_CORE_SLEEP_INTERVAL");
	nfd_settings_done(&settings);
}

/* core.sources of a file counts before core.labelSources of that file, not before an option, as in NFD. */
static void later_label_sources_win(void **state)
{
	char *environment[] = { (char[]){ "NFD_SOURCE_CORE_LABEL_SOURCES=usb" }, NULL };
	const struct nfd_setting_override override[] = { { "core.labelSources", "cpu", "--set" },
							 { "core.sources", "kernel", "--set" } };
	static const char *const expected[] = { "pci", "usb", "cpu", "kernel" };
	const char *tree = tree_new();
	struct nfd_settings_sources sources = { .file = tree_path(tree, "f"),
						.override = override };
	struct nfd_settings settings;

	(void)state;
	tree_file(tree, "f", "core: {sources: [pci], labelSources: [memory]}");
	for (size_t step = 0; step < NFD_ARRAY_SIZE(expected); step++) {
		sources.environment = step >= 1 ? environment : NULL;
		sources.override_count = step >= 2 ? step - 1 : 0;
		assert_int_equal(nfd_settings_load(&settings, &sources, NULL), 0);
		assert_string_equal(value_of(&settings, "core.labelSources"), expected[step]);
		nfd_settings_done(&settings);
	}
}

static void environment_error_names_the_variable(void **state)
{
	char *environment[] = { (char[]){ "NFD_SOURCE_LOG_LEVEL=loud" }, NULL };
	const struct nfd_settings_sources sources = { .environment = environment };
	struct nfd_settings settings;
	struct nfd_error err = { 0 };

	(void)state;
	assert_int_equal(nfd_settings_load(&settings, &sources, &err), -EINVAL);
	assert_string_equal(err.text,
			    "environment NFD_SOURCE_LOG_LEVEL: log.level: \"loud\" is not "
			    "allowed; allowed: error, warning, info, debug");
	nfd_settings_done(&settings);
}

/* File, then environment, then options: the last one that says something wins. */
static void origins_have_an_order(void **state)
{
	char *environment[] = { (char[]){ "NFD_SOURCE_CORE_SLEEP_INTERVAL=2s" }, NULL };
	const struct nfd_setting_override override[] = { { "core.sleepInterval", "3s", "a" },
							 { "core.sleepInterval", "4s", "b" } };
	const char *tree = tree_new();
	struct nfd_settings_sources sources = { .file = tree_path(tree, "f") };
	struct nfd_settings settings;

	(void)state;
	tree_file(tree, "f", "core: {sleepInterval: 1s}");
	for (int step = 1; step <= 4; step++) {
		if (step >= 2)
			sources.environment = environment;
		sources.override = step >= 3 ? override : NULL;
		sources.override_count = step >= 3 ? (size_t)step - 2 : 0;
		assert_int_equal(nfd_settings_load(&settings, &sources, NULL), 0);
		assert_int_equal(settings.core.sleep_interval_ms, step * 1000);
		nfd_settings_done(&settings);
	}
}

static void too_many_values(void **state)
{
	const char *list = "03";
	struct nfd_setting_override override = { "sources.pci.deviceClassWhitelist", NULL, "x" };
	struct nfd_settings_sources sources = { .override = &override, .override_count = 1 };
	struct nfd_settings settings;
	struct nfd_error err = { 0 };

	(void)state;
	for (int i = 1; i < NFD_YAML_VALUES_MAX; i++)
		list = unit_text("%s,03", list);
	override.value = list;
	assert_int_equal(nfd_settings_load(&settings, &sources, &err), 0);
	assert_int_equal(settings.scan.pci.class_white_list.count, NFD_YAML_VALUES_MAX);
	nfd_settings_done(&settings);
	override.value = unit_text("%s,03", list);
	assert_int_equal(nfd_settings_load(&settings, &sources, &err), -EINVAL);
	unit_assert_contains(err.text, unit_text("more than %d values", NFD_YAML_VALUES_MAX));
	nfd_settings_done(&settings);
}

/* Field case E1: option, then NODE_NAME, then the host name in lower case. */
static void e1_node_name(void **state)
{
	char *environment[] = { (char[]){ "NODE_NAME=ip-10-67-12-187.ec2.internal" }, NULL };
	const struct nfd_setting_override override = { "core.nodeName", "given", "--node-name" };
	struct nfd_settings_sources sources = { .environment = environment,
						.override = &override,
						.override_count = 1 };
	struct nfd_settings settings;

	(void)state;
	assert_int_equal(nfd_settings_load(&settings, &sources, NULL), 0);
	assert_string_equal(settings.core.node_name, "given");
	nfd_settings_done(&settings);
	sources.override_count = 0;
	assert_int_equal(nfd_settings_load(&settings, &sources, NULL), 0);
	assert_string_equal(settings.core.node_name, "ip-10-67-12-187.ec2.internal");
	assert_string_equal(origin_of(&settings, "core.nodeName"), "environment NODE_NAME");
	nfd_settings_done(&settings);
	environment[0] = (char[]){ "NODE_NAME=" };
	assert_int_equal(nfd_settings_load(&settings, &sources, NULL), 0);
	assert_string_equal(origin_of(&settings, "core.nodeName"), "host name");
	for (const char *c = settings.core.node_name; *c; c++)
		assert_false(*c >= 'A' && *c <= 'Z');
	nfd_settings_done(&settings);
}

int main(void)
{
	struct unit_suite suite = { .name = "settings" };

	UNIT_CASE(&suite, table_is_sound);
	UNIT_ROWS(&suite, takes_override, value_rows, name);
	UNIT_ROWS(&suite, takes_file, file_rows, name);
	UNIT_CASE(&suite, names_what_is_passed_over);
	UNIT_ROWS(&suite, knows_of_rules, rules_rows, name);
	UNIT_ROWS(&suite, file_may_be_missing, missing_rows, name);
	UNIT_CASE(&suite, file_has_a_cap);
	UNIT_ROWS(&suite, names_variable, variable_rows, key);
	UNIT_CASE(&suite, environment_is_taken);
	UNIT_CASE(&suite, later_label_sources_win);
	UNIT_CASE(&suite, environment_error_names_the_variable);
	UNIT_CASE(&suite, origins_have_an_order);
	UNIT_CASE(&suite, too_many_values);
	UNIT_CASE(&suite, e1_node_name);
	return unit_run(&suite);
}
