// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/local: which files of features.d count, and what becomes of their pairs (spec nfd.md 1). The grammar
 * has its own tests: test_feature_lines.
 */
#include "config.h"

#include "scan/local.h"

#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "tests/unit/scan_text.h"
#include "tests/unit/unit.h"

#define D "features.d/"
#define LABELS "attributes local.label"
#define FEATURES "attributes local.feature"
#define OWN "nfd-source"

static const struct {
	const char *name;
	struct tree_entry tree[10]; /* ends with a zeroed entry */
	const char *text;           /* of the labels */
	const char *attributes;     /* both features; NULL: not looked at */
} rows[] = {
	{ "no folder", { DIR_AT("x") }, "", LABELS "\n" FEATURES "\n" },
	{ "no folder but a file",
	  { FILE_AT("features.d", "a=1\n") },
	  "",
	  LABELS "\n" FEATURES "\n" },
	{ "an empty folder", { DIR_AT("features.d") }, "", LABELS "\n" FEATURES "\n" },
	{ "an empty file", { FILE_AT(D "a", "") }, "", LABELS "\n" FEATURES "\n" },
	{ "both features",
	  { FILE_AT(D "a", "example.com/a=1\n# +no-label\nb=2\n# +no-feature\nc=3\n") },
	  "example.com/a=1\nc=3\n",
	  LABELS " c=3 example.com/a=1\n" FEATURES " b=2 example.com/a=1\n" },
	{ "files in byte order",
	  { FILE_AT(D "b", "a.b/x=b\n"), FILE_AT(D "B", "a.b/x=B\na.b/y=B\n"),
	    FILE_AT(D "a", "a.b/x=a\na.b/z=a\n") },
	  "a.b/x=b\na.b/y=B\na.b/z=a\n" },
	{ "what is passed over",
	  { FILE_AT(D ".hidden", "a.b/a=1\n"), FILE_AT(D OWN, "a.b/b=1\n"), DIR_AT(D "dir"),
	    FILE_AT(D "dir/file", "a.b/c=1\n"), FIFO_AT(D "fifo"), LINK_AT(D "dangling", "nothing"),
	    LINK_AT(D "dirlink", "dir"), LINK_AT(D "device", "/dev/zero"),
	    FILE_AT(D "z", "a.b/z=1\n") },
	  "a.b/z=1\n" },
	{ "links lead anywhere",
	  { FILE_AT("elsewhere/f", "a.b/a=1\n"), LINK_AT(D "a", "../elsewhere/f"),
	    FILE_AT(D "..data/g", "a.b/b=1\n"), LINK_AT(D "b", "..data/g"),
	    LINK_AT(D "c", "/proc/sys/kernel/ostype") },
	  "a.b/a=1\na.b/b=1\nLinux=true\n" },

	{ "what is no label is a feature all the same",
	  { FILE_AT(D "a",
		    "a b=1\na.b/c=x y\nA.b/d=1\na.b/c/d=1\n=1\n/e=1\na.b/=1\na.b/f=-\ng=1\n") },
	  "g=1\n",
	  LABELS " =1 /e=1 A.b/d=1 a b=1 a.b/=1 a.b/c=x y a.b/c/d=1 a.b/f=- g=1\n" FEATURES
		 " =1 /e=1 A.b/d=1 a b=1 a.b/=1 a.b/c=x y a.b/c/d=1 a.b/f=- g=1\n" },
	{ "an empty value is one", { FILE_AT(D "a", "a.b/a=\nb=\n") }, "a.b/a=\nb=\n" },
	{ "namespaces of Kubernetes",
	  { FILE_AT(D "a",
		    "kubernetes.io/a=1\nnode-role.kubernetes.io/a=1\nnfd.node.kubernetes.io/a=1\n"
		    "x.feature.node.kubernetes.io/a=1\nprofile.node.kubernetes.io/a=1\n") },
	  "profile.node.kubernetes.io/a=1\nx.feature.node.kubernetes.io/a=1\n" },
	{ "no name in JSON without UTF-8",
	  { FILE_AT(D "a", "a\xff=1\nb=\xff\nc=1\n") },
	  "c=1\n",
	  LABELS " b=\xef\xbf\xbd c=1\n" FEATURES " b=\xef\xbf\xbd c=1\n" },

	{ "a bare key and the same in full",
	  { FILE_AT(D "a", NFD_F "a=full\n"), FILE_AT(D "b", "a=bare\nb=bare\n") },
	  "a=full\nb=bare\n" },
	{ "a full key that is no label hides none",
	  { FILE_AT(D "a", NFD_F "a=x y\na=bare\n") },
	  "a=bare\n" },
};

static struct nfd_scan_options options_for(const char *tree)
{
	struct nfd_scan_options options = scan_options(0);

	options.local.dir = tree_path(tree, "features.d");
	options.local.own = OWN;
	return options;
}

static void scans(void **state)
{
	const __typeof__(rows[0]) *row = *state;
	const char *tree = tree_new();
	const struct nfd_root *root = tree_root(tree, false);
	const struct nfd_scan_options options = options_for(tree);

	tree_fill(tree, row->tree);
	assert_string_equal(scan_text(&nfd_local_scanner, root, &options, false), row->text);
	if (row->attributes)
		assert_string_equal(scan_features(&nfd_local_scanner, root, &options),
				    row->attributes);
}

/* Next to nfd-worker nothing is read, and the features are nfd-worker's. */
static void is_off_without_a_folder(void **state)
{
	const char *tree = tree_new();
	struct nfd_scan_options options = options_for(tree);
	const struct nfd_root *root = tree_root(tree, false);

	(void)state;
	tree_file(tree, D "a", "a=1\n");
	options.local.dir = NULL;
	assert_string_equal(scan_text(&nfd_local_scanner, root, &options, false), "");
	assert_string_equal(scan_features(&nfd_local_scanner, root, &options), "");
	/* And without a name of our own no file is ours. */
	options = options_for(tree);
	options.local.own = NULL;
	tree_file(tree, D OWN, "b=1\n");
	assert_string_equal(scan_text(&nfd_local_scanner, root, &options, false), "a=1\nb=1\n");
}

static void size_of_a_file(void **state)
{
	const char *tree = tree_new();
	const struct nfd_root *root = tree_root(tree, false);
	const struct nfd_scan_options options = options_for(tree);

	(void)state;
	tree_file(tree, D "a", unit_text("a=1\n#%s", unit_repeat('x', 65536 - 5)));
	tree_file(tree, D "b", unit_text("b=1\n#%s", unit_repeat('x', 65536 - 4)));
	tree_file(tree, D "c", "c=1\n");
	assert_string_equal(scan_text(&nfd_local_scanner, root, &options, false), "a=1\nc=1\n");
}

/* What is behind the bound is not known, and so is what it would have changed. */
static void size_of_the_folder(void **state)
{
	const char *tree = tree_new();
	const struct nfd_root *root = tree_root(tree, false);
	const struct nfd_scan_options options = options_for(tree);
	const char *text;

	(void)state;
	for (int i = 0; i < 1024; i++)
		tree_file(tree, unit_text(D "%04d", i), unit_text("a%04d=1\n", i));
	text = scan_text(&nfd_local_scanner, root, &options, false);
	unit_assert_contains(text, "a0000=1\n");
	unit_assert_contains(text, "a1000=1\n");
	assert_null(strstr(text, "a1023"));
	unit_assert_contains(text, "unknown \n");
}

/* A link to itself is there, and cannot be read: like a file whose disk fails. */
static void what_cannot_be_read_is_unknown(void **state)
{
	const char *tree = tree_new();
	const struct nfd_root *root = tree_root(tree, false);
	struct nfd_scan_options options = options_for(tree);

	(void)state;
	tree_fill(tree, (struct tree_entry[]){
				FILE_AT(D "a", "a=1\n"),
				LINK_AT(D "b", "b"),
				FILE_AT(D "c", "c=1\n"),
				LINK_AT("loop", "loop"),
				{ 0 },
			});
	assert_string_equal(scan_text(&nfd_local_scanner, root, &options, false),
			    "a=1\nc=1\nunknown \n");
	options.local.dir = tree_path(tree, "loop");
	assert_string_equal(scan_text(&nfd_local_scanner, root, &options, false), "unknown \n");
	assert_string_equal(scan_features(&nfd_local_scanner, root, &options),
			    LABELS "\n" FEATURES "\n");
}

/* Bare keys are stopgaps unless the doubt is ours; the source says where a label is from. */
static void labels_have_a_source(void **state)
{
	const char *tree = tree_new();
	const struct nfd_scan_options options = options_for(tree);

	(void)state;
	tree_file(tree, D "a", "x=1\na.b/y=2\n");
	for (int in_doubt = 0; in_doubt <= 1; in_doubt++) {
		struct nfd_scan scan = { .root = tree_root(tree, false), .options = &options };

		if (in_doubt)
			tree_fill(tree, (struct tree_entry[]){ LINK_AT(D "b", "b"), { 0 } });
		nfd_local_scanner.run(&scan);
		assert_string_equal(nfd_set_find(&scan.labels, NFD_F "x")->source,
				    unit_text("%s/features.d/a: 1", tree));
		assert_int_equal(nfd_set_find(&scan.labels, NFD_F "x")->is_stopgap, !in_doubt);
		assert_false(nfd_set_find(&scan.labels, "a.b/y")->is_stopgap);
		nfd_scan_done(&scan);
	}
}

static const char *log_of(const char *tree)
{
	const struct nfd_scan_options options = options_for(tree);
	const char *log;

	nfd_log_setup(NFD_LOG_TEXT, NFD_LOG_DEBUG);
	unit_capture(2);
	scan_text(&nfd_local_scanner, tree_root(tree, false), &options, false);
	log = unit_captured(2);
	nfd_log_setup(NFD_LOG_TEXT, NFD_LOG_INFO);
	return log;
}

static void says_what_does_not_count(void **state)
{
	const char *tree = tree_new(), *log;

	(void)state;
	tree_file(tree, D "a", "a=1\n# +x\n\na b=1\n");
	tree_file(tree, D "b", unit_repeat('x', 65537));
	log = log_of(tree);
	unit_assert_contains(log, unit_text("%s/features.d/a", tree));
	unit_assert_contains(log, "line=2 why=\"it is no directive that NFD knows\"");
	unit_assert_contains(log, "line=4 why=\"its key is no label key\"");
	unit_assert_contains(log, "line=0 why=\"it has more than 65536 bytes\"");
}

static void says_so_within_limits(void **state)
{
	const char *tree = tree_new(), *log, *at;
	char text[8 * 100 + 1] = "";
	int count = 0;

	(void)state;
	for (int i = 0; i < 100; i++)
		snprintf(text + i * 8, 9, "a %04d=\n", i);
	tree_file(tree, D "a", text);
	log = log_of(tree);
	for (at = log; (at = strstr(at, "its key is")); at++)
		count++;
	assert_int_equal(count, 20);
	unit_assert_contains(log, "count=80");
}

int main(void)
{
	struct unit_suite suite = { .name = "local" };

	UNIT_ROWS(&suite, scans, rows, name);
	UNIT_CASE(&suite, is_off_without_a_folder);
	UNIT_CASE(&suite, size_of_a_file);
	UNIT_CASE(&suite, size_of_the_folder);
	UNIT_CASE(&suite, what_cannot_be_read_is_unknown);
	UNIT_CASE(&suite, labels_have_a_source);
	UNIT_CASE(&suite, says_what_does_not_count);
	UNIT_CASE(&suite, says_so_within_limits);
	return unit_run(&suite);
}
