// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * labels/key: grammar of keys and values (spec nfd.md 1.4) and the three sanitisers (field cases D1,
 * D2, D3).
 */
#include "config.h"

#include "labels/key.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/unit.h"

#define A10 "aaaaaaaaaa"
#define A60 A10 A10 A10 A10 A10 A10
#define A63 A60 "aaa"
#define A240 A60 A60 A60 A60

static const struct {
	const char *name, *key;
	const char *reason; /* part of the words; NULL for a legal key */
} key_rows[] = {
	{ "vendor key", NFD_FEATURE_PREFIX "pci-10de.present", NULL },
	{ "shortest", "a/b", NULL },
	{ "all inner bytes", "a.b-c.0/A-b_c.d-9", NULL },
	{ "name of 63", "a/" A63, NULL },
	{ "name of 64", "a/" A63 "a", "64 bytes" },
	{ "prefix of 253", A240 ".aaaaaaaaaaaa/b", NULL },
	{ "prefix of 254", A240 ".aaaaaaaaaaaaa/b", "DNS name" },
	{ "empty", "", "no prefix" },
	{ "no prefix", "pci-10de.present", "no prefix" },
	{ "empty prefix", "/b", "DNS name" },
	{ "empty name", "a/", "begin and end" },
	{ "two slashes", "a/b/c", "begin and end" },
	{ "upper case prefix", "A/b", "DNS name" },
	{ "underscore in prefix", "a_b/c", "DNS name" },
	{ "prefix ends with a dot", "a./b", "DNS name" },
	{ "prefix begins with a dot", ".a/b", "DNS name" },
	{ "prefix with two dots", "a..b/c", "DNS name" },
	{ "prefix part ends with -", "a-.b/c", "DNS name" },
	{ "prefix part begins with -", "a.-b/c", "DNS name" },
	{ "name begins with -", "a/-b", "begin and end" },
	{ "name ends with .", "a/b.", "begin and end" },
	{ "name with a blank", "a/b c", "begin and end" },
	{ "name with a newline", "a/b\n", "begin and end" },
	{ "name not ASCII", "a/b\xc3\xa9z", "begin and end" },
	{ "prefix not ASCII", "\xc3\xa9/b", "DNS name" },
};

static void checks_key(void **state)
{
	const __typeof__(key_rows[0]) *row = *state;
	struct nfd_error err = { 0 };

	assert_int_equal(nfd_label_key_check(row->key, &err), row->reason ? -EINVAL : 0);
	assert_int_equal(nfd_label_key_check(row->key, NULL), row->reason ? -EINVAL : 0);
	assert_int_equal(err.code, row->reason ? -EINVAL : 0);
	if (row->reason)
		unit_assert_contains(err.text, row->reason);
}

static const struct {
	const char *name, *value;
	bool valid;
} value_rows[] = {
	{ "empty", "", true },
	{ "one letter", "x", true },
	{ "one digit", "0", true },
	{ "inner bytes", "a-b_c.d", true },
	{ "63 bytes", A63, true },
	{ "64 bytes", A63 "a", false },
	{ "begins with .", ".a", false },
	{ "ends with _", "a_", false },
	{ "only -", "-", false },
	{ "blank", "a b", false },
	{ "slash", "a/b", false },
	{ "newline at the end", "a\n", false },
	{ "not ASCII", "\xc3\xa9", false },
	{ "plus", "1+2", false },
};

static void checks_value(void **state)
{
	const __typeof__(value_rows[0]) *row = *state;

	assert_int_equal(nfd_label_value_is_valid(row->value), row->valid);
}

struct text_row {
	const char *name, *text, *value;
};

static const struct text_row name_rows[] = {
	{ "D1 parentheses", "NVIDIA TITAN X (Pascal)", "NVIDIA-TITAN-X-Pascal" },
	{ "D1 slash", "AMD Instinct MI250X / MI250", "AMD-Instinct-MI250X-MI250" },
	{ "D1 not ASCII", "Intel\xc2\xae Arc\xe2\x84\xa2 A770", "Intel-Arc-A770" },
	{ "D1 ends with -", "GeForce RTX 4090 -", "GeForce-RTX-4090" },
	{ "D1 nothing legal", "(((", "" },
	{ "D1 empty", "", "" },
	{ "D1 newline acts as a blank", "NVIDIA\nA100", "NVIDIA-A100" },
	{ "blanks at both ends", "  A100\t\r\n", "A100" },
	{ "several blanks", "A   B", "A-B" },
	{ "only legal joints", "-_.", "" },
	{ "begins with joints", "--..A", "A" },
	{ "control bytes", "A\001\033B", "AB" },
	{ "not UTF-8",
	  "A\xff\xfe"
	  "B",
	  "AB" },
	{ "63 bytes", A63, A63 },
	{ "64 bytes", A63 "b", A63 },
	{ "the 63rd is -", A60 "aa-b", A60 "aa" },
	{ "the 63rd is a blank", A60 "aa b", A60 "aa" },
	{ "a cut leaves no joints", A60 "._-b", A60 },
};

static void makes_value_from_name(void **state)
{
	const struct text_row *row = *state;
	char value[NFD_LABEL_VALUE_SIZE];

	assert_int_equal(nfd_label_value_from_name(row->text, value), strlen(row->value));
	assert_string_equal(value, row->value);
	assert_true(nfd_label_value_is_valid(value));
}

static const struct {
	const char *name, *text, *suffix, *value;
} suffix_rows[] = {
	{ "D2 model is shortened", "NVIDIA-RTX-PRO-6000-Blackwell-Max-Q-Workstation-Edition",
	  "-MIG-1g.24gb", "NVIDIA-RTX-PRO-6000-Blackwell-Max-Q-Workstation-Edi-MIG-1g.24gb" },
	{ "D2 blanks in the model", "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
	  "-MIG-1g.24gb", "NVIDIA-RTX-PRO-6000-Blackwell-Max-Q-Workstation-Edi-MIG-1g.24gb" },
	{ "fits", "NVIDIA A100", "-MIG-1g.5gb", "NVIDIA-A100-MIG-1g.5gb" },
	{ "no suffix", "NVIDIA A100", "", "NVIDIA-A100" },
	{ "exactly 63", A60, "-xy", A60 "-xy" },
	{ "one over", A60 "b", "-xy", A60 "-xy" },
	{ "a cut leaves no joint before the suffix", A10 A10 A10 A10 A10 "aaaaaaaaa-b", "-xyz",
	  A10 A10 A10 A10 A10 "aaaaaaaaa-xyz" },
	{ "suffix of 62", "model", "-" A60 "b", "m-" A60 "b" },
	{ "suffix of 63 is dropped", "model", "-" A60 "bb", "model" },
	{ "suffix ends with a joint", "model", "-x-", "model-x" },
	{ "nothing legal", "((", "-x", "" },
	{ "empty", "", "-x", "" },
};

static void makes_value_with_suffix(void **state)
{
	const __typeof__(suffix_rows[0]) *row = *state;
	char value[NFD_LABEL_VALUE_SIZE];

	assert_int_equal(nfd_label_value_with_suffix(row->text, row->suffix, value),
			 strlen(row->value));
	assert_string_equal(value, row->value);
}

static const struct text_row version_rows[] = {
	{ "D3 plus", "4.9.140-l4t-r32.3.1+g47e7e1cb0b49", "4.9.140-l4t-r32.3.1_g47e7e1cb0b49" },
	{ "D3 tilde", "6.1.0~rc4-amd64", "6.1.0_rc4-amd64" },
	{ "D3 unchanged", "5.15.167.4-microsoft-standard-WSL2",
	  "5.15.167.4-microsoft-standard-WSL2" },
	{ "empty", "", "" },
	{ "nothing legal", "+~", "" },
	{ "ends trimmed", "+1.0+", "1.0" },
	{ "each byte becomes _",
	  "1\xc3\xa9"
	  "2",
	  "1__2" },
	{ "63 bytes", A63, A63 },
	{ "64 bytes", A63 "b", A63 },
	{ "the 63rd is illegal", A60 "aa+b", A60 "aa" },
};

static void makes_value_from_version(void **state)
{
	const struct text_row *row = *state;
	char value[NFD_LABEL_VALUE_SIZE];

	assert_int_equal(nfd_label_value_from_version(row->text, value), strlen(row->value));
	assert_string_equal(value, row->value);
	assert_true(nfd_label_value_is_valid(value));
}

static const struct {
	const char *name, *text;
	size_t size;
	const char *value;
} run_rows[] = {
	{ "nothing to do", "a-b_c.1", 16, "a-b_c.1" },
	{ "one for a run", "IBM/S390 !", 16, "IBM_S390_" },
	{ "bytes above ASCII", "\xc3\xa9z", 16, "_z" },
	{ "a legal one beside it stays", "a_?b", 16, "a__b" },
	{ "cut", "abcdef", 4, "abc" },
	{ "cut within a run", "ab??", 4, "ab_" },
	{ "no room", "a", 1, "" },
	{ "empty", "", 16, "" },
};

static void joins_illegal(void **state)
{
	const __typeof__(run_rows[0]) *row = *state;
	char text[16];

	assert_int_equal(nfd_label_text_join_illegal(row->text, text, row->size),
			 strlen(row->value));
	assert_string_equal(text, row->value);
}

static const struct {
	const char *name, *pattern, *key;
	bool matches;
} match_rows[] = {
	{ "the key itself", "a.b/c", "a.b/c", true },
	{ "a longer key", "a.b/c", "a.b/c.d", false },
	{ "a shorter key", "a.b/c", "a.b/", false },
	{ "beginning", "a.b/*", "a.b/c", true },
	{ "beginning and no more", "a.b/*", "a.b/", true },
	{ "another beginning", "a.b/*", "x.b/c", false },
	{ "a star elsewhere is itself", "a*b", "axb", false },
	{ "everything", "*", "a.b/c", true },
	{ "nothing", "", "a", false },
};

static void matches_key(void **state)
{
	const __typeof__(match_rows[0]) *row = *state;

	assert_int_equal(nfd_label_key_matches(row->pattern, row->key), row->matches);
}

static const struct {
	const char *key;
	bool is_reserved;
} namespace_rows[] = {
	{ "kubernetes.io/a", true },
	{ "node.kubernetes.io/a", true },
	{ "node-role.kubernetes.io/a", true },
	{ "nfd.node.kubernetes.io/a", true },
	{ "x-feature.node.kubernetes.io/a", true },
	{ "feature.node.kubernetes.io/a", false },
	{ "intel.feature.node.kubernetes.io/a", false },
	{ "profile.node.kubernetes.io/a", false },
	{ "a.b.profile.node.kubernetes.io/a", false },
	{ "xkubernetes.io/a", false },
	{ "kubernetes.io.example.com/a", false },
	{ "example.com/kubernetes.io", false },
	{ "k8s.io/a", false },
	{ "io/a", false },
};

static void knows_reserved_namespaces(void **state)
{
	const __typeof__(namespace_rows[0]) *row = *state;

	assert_int_equal(nfd_label_key_is_reserved(row->key), row->is_reserved);
}

int main(void)
{
	struct unit_suite suite = { .name = "key" };

	UNIT_ROWS(&suite, matches_key, match_rows, name);
	UNIT_ROWS(&suite, checks_key, key_rows, name);
	UNIT_ROWS(&suite, knows_reserved_namespaces, namespace_rows, key);
	UNIT_ROWS(&suite, checks_value, value_rows, name);
	UNIT_ROWS(&suite, makes_value_from_name, name_rows, name);
	UNIT_ROWS(&suite, makes_value_with_suffix, suffix_rows, name);
	UNIT_ROWS(&suite, joins_illegal, run_rows, name);
	UNIT_ROWS(&suite, makes_value_from_version, version_rows, name);
	return unit_run(&suite);
}
