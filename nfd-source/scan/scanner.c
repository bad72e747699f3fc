// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How scanners put what they find into the scan.
 */
#include "config.h"

#include "scan/scanner.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "scan/pci.h"

/* Whether a scanner further behind in the table has stated the key: partial scans keep its labels. */
static bool is_outdone(const struct nfd_scan *scan, const char *key)
{
	const struct nfd_label *label = nfd_set_find(&scan->labels, key);

	return label && label->writer > scan->writer;
}

static void put(struct nfd_scan *scan, const struct nfd_finding *finding, const char *stopped_by,
		const char *key)
{
	char source[512];
	struct nfd_label label = {
		.key = (char *)key,
		.value = (char *)finding->value,
		.stopped_by = (char *)stopped_by,
		.source = source,
		.rank = finding->rank,
		.is_stopgap = finding->is_stopgap,
		.writer = scan->writer,
	};
	int r;

	if (is_outdone(scan, key))
		return;
	snprintf(source, sizeof(source), "%s%s%s", finding->path, finding->detail ? ": " : "",
		 finding->detail ? finding->detail : "");
	r = nfd_set_put(&scan->labels, &label);
	if (r == -ENOMEM)
		scan->error = r;
}

/* A key that does not fit is cut, and then refused as too long by the grammar check. */
static void format_key(char key[NFD_LABEL_KEY_SIZE + 1], const char *fmt, va_list args)
{
	vsnprintf(key, NFD_LABEL_KEY_SIZE + 1, fmt, args);
}

/* Whether the running scanner's source is left out. NFD makes labels of raw features, so of a source without
 * these it makes none; its custom source has none of its own (scan/custom.c). */
static const char *setting_against_source(const struct nfd_scan *scan)
{
	const struct nfd_source_options *options;
	enum nfd_source source;

	if (!scan->scanner)
		return NULL;
	options = &scan->options->source;
	source = scan->scanner->source;
	if (options->labels_off >> source & 1)
		return "core.labelSources";
	if (source != NFD_SOURCE_CUSTOM && options->features_off >> source & 1)
		return "core.featureSources";
	return NULL;
}

/* The setting that keeps a label of the running scanner out; NULL: none does. */
static const char *setting_against(const struct nfd_scan *scan, const char *key)
{
	const char *setting;

	/* The vendor label is what GPU operators hang on: no setting takes it away (design 4, B3). */
	if (nfd_pci_is_vendor_key(key))
		return NULL;
	setting = setting_against_source(scan);
	if (setting)
		return setting;
	return nfd_filter_passes(scan->filter, key) ? NULL : "core.labelWhiteList";
}

void nfd_scan_label(struct nfd_scan *scan, const struct nfd_finding *finding, const char *fmt, ...)
{
	char key[NFD_LABEL_KEY_SIZE + 1];
	va_list args;

	va_start(args, fmt);
	format_key(key, fmt, args);
	va_end(args);
	put(scan, finding, setting_against(scan, key), key);
}

void nfd_scan_stopped(struct nfd_scan *scan, const struct nfd_finding *finding, const char *setting,
		      const char *fmt, ...)
{
	char key[NFD_LABEL_KEY_SIZE + 1];
	va_list args;

	va_start(args, fmt);
	format_key(key, fmt, args);
	va_end(args);
	put(scan, finding, setting, key);
}

void nfd_scan_count(struct nfd_scan *scan, enum nfd_rank rank, unsigned int count, const char *path,
		    const char *fmt, ...)
{
	char key[NFD_LABEL_KEY_SIZE + 1], value[16];
	struct nfd_finding finding = { .rank = rank, .value = value, .path = path };
	va_list args;

	snprintf(value, sizeof(value), "%u", count);
	va_start(args, fmt);
	format_key(key, fmt, args);
	va_end(args);
	nfd_scan_label(scan, &finding, "%s", key);
}

static void note_unknown(struct nfd_scan *scan, const char *prefix, const char *reason,
			 enum nfd_doubt doubt)
{
	if (nfd_unknowns_add(&scan->unknowns, prefix, reason, doubt) < 0)
		scan->error = -ENOMEM;
}

void nfd_scan_failed(struct nfd_scan *scan, const char *prefix, const char *path, int code)
{
	char reason[512];

	if (nfd_root_is_absent(code))
		return;
	snprintf(reason, sizeof(reason), "cannot read \"%s\": %s", path, nfd_errno_text(code));
	note_unknown(scan, prefix, reason, NFD_DOUBT_FAILED);
}

void nfd_scan_doubt(struct nfd_scan *scan, const char *prefix, const char *reason)
{
	note_unknown(scan, prefix, reason, NFD_DOUBT_SEEMS);
}

void nfd_scan_pending(struct nfd_scan *scan, const char *prefix, const char *reason)
{
	note_unknown(scan, prefix, reason, NFD_DOUBT_PASSING);
}

void nfd_scan_unknown(struct nfd_scan *scan, const char *prefix, const char *reason)
{
	note_unknown(scan, prefix, reason, NFD_DOUBT_FAILED);
}

void nfd_scan_feature_set(struct nfd_scan *scan, enum nfd_feature_kind kind, const char *feature)
{
	if (nfd_features_add(scan->features, kind, feature) < 0)
		scan->error = -ENOMEM;
}

void nfd_scan_flags(struct nfd_scan *scan, const char *feature, const char *const *name,
		    size_t count)
{
	if (nfd_features_flags(scan->features, feature, name, count) < 0)
		scan->error = -ENOMEM;
}

void nfd_scan_attributes(struct nfd_scan *scan, const char *feature,
			 const struct nfd_attribute *attribute, size_t count)
{
	if (nfd_features_attributes(scan->features, feature, attribute, count) < 0)
		scan->error = -ENOMEM;
}

void nfd_scan_feature(struct nfd_scan *scan, const char *feature, const char *name,
		      const char *value)
{
	if (nfd_features_attribute(scan->features, feature, name, value) < 0)
		scan->error = -ENOMEM;
}

void nfd_scan_instance(struct nfd_scan *scan, const char *feature,
		       const struct nfd_attribute *attribute, size_t count)
{
	cJSON *instance;

	if (!scan->features)
		return;
	instance = nfd_features_instance(scan->features, feature);
	if (!instance)
		scan->error = -ENOMEM;
	for (size_t i = 0; instance && i < count; i++)
		if (attribute[i].value &&
		    nfd_features_put(instance, attribute[i].name, attribute[i].value) < 0)
			scan->error = -ENOMEM;
}
