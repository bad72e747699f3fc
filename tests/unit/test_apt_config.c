// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * doctor/apt_config: statements of apt.conf(5), the files that apt reads, and their order.
 */
#include "config.h"

#include "doctor/apt_config.h"

#include <errno.h>
#include <string.h>

#include "base/strbuf.h"
#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

static const char *config_text(const struct nfd_apt_config *config)
{
	const char *text = "";

	for (size_t i = 0; i < config->count; i++)
		text = unit_text("%s%s=%s\n", text, config->value[i].key, config->value[i].value);
	return text;
}

static const struct {
	const char *name, *text, *values; /* "key=value" a line */
} rows[] = {
	{ "empty", "", "" },
	{ "white space", " \t\r\n", "" },
	{ "one value", "APT::Periodic::Enable \"1\";\n", "APT::Periodic::Enable=1\n" },
	{ "missing newline", "APT::Periodic::Enable \"1\";", "APT::Periodic::Enable=1\n" },
	{ "missing semicolon", "APT::Periodic::Enable \"1\"", "APT::Periodic::Enable=1\n" },
	{ "value without quotes", "APT::Periodic::Enable 1;", "APT::Periodic::Enable=1\n" },
	{ "carriage returns", "A \"1\";\r\nB \"2\";\r\n", "A=1\nB=2\n" },
	{ "empty value", "A \"\";", "A=\n" },
	{ "value with signs", "A \"x; { } // # y\";", "A=x; { } // # y\n" },
	{ "scope", "APT { Periodic { Enable \"1\"; Unattended-Upgrade \"2\"; }; };",
	  "APT::Periodic::Enable=1\nAPT::Periodic::Unattended-Upgrade=2\n" },
	{ "scope with a joined key", "APT::Periodic { Enable \"1\"; }",
	  "APT::Periodic::Enable=1\n" },
	{ "scope, then back", "A { B \"1\"; }; C \"2\";", "A::B=1\nC=2\n" },
	{ "list", "U::Package-Blacklist { \"nvidia-\"; \"libnvidia-\"; };",
	  "U::Package-Blacklist=nvidia-\nU::Package-Blacklist=libnvidia-\n" },
	{ "list, last one without semicolon", "L { \"a\"; \"b\" };", "L=a\nL=b\n" },
	{ "list without quotes", "L { a; b; };", "L=a\nL=b\n" },
	{ "empty list", "L { };", "" },
	{ "list entries by ::", "L:: \"a\";\nL:: \"b\";\n", "L=a\nL=b\n" },
	{ "list entry by :: in a scope", "U { L:: \"a\"; };", "U::L=a\n" },
	{ "list with comments",
	  "U::Allowed-Origins {\n\t\"${distro_id}:${distro_codename}\";\n//\t\"x:y-updates\";\n"
	  "\t# \"z\";\n\t/* \"q\"; */ \"${distro_id}:${distro_codename}-security\";\n};\n",
	  "U::Allowed-Origins=${distro_id}:${distro_codename}\n"
	  "U::Allowed-Origins=${distro_id}:${distro_codename}-security\n" },
	{ "comments", "// A \"1\";\n# B \"1\";\n/* C \"1\";\n D \"1\"; */ E \"1\"; // F \"1\";",
	  "E=1\n" },
	{ "comment not closed", "A \"1\"; /* B \"2\";", "A=1\n" },
	{ "comment without newline", "A \"1\"; // x", "A=1\n" },
	{ "clear", "A \"1\"; A::B \"2\"; AB \"3\";\n#clear A;\nC \"4\";", "AB=3\nC=4\n" },
	{ "clear by other case", "Abc::D \"1\";\n#clear aBC;\n", "" },
	{ "clear a list and fill it", "L { \"a\"; };\n#clear L;\nL { \"b\"; };", "L=b\n" },
	{ "clear nothing", "A \"1\";\n#clear;\n#clear ;\n#clear B;", "A=1\n" },
	{ "unknown directive", "#include \"/etc/passwd\";\nA \"1\";", "A=1\n" },

	{ "brace not closed", "A { B \"1\";", "A::B=1\n" },
	{ "brace closed twice", "A { B \"1\"; }; }; } C \"2\";", "A::B=1\nC=2\n" },
	{ "brace alone", "{ A \"1\"; }", "A=1\n" },
	{ "quote not closed", "A \"1", "A=1\n" },
	{ "quote alone", "\"", "" },
	{ "semicolons alone", ";;;", "" },
	{ "text without value", "hello", "" },
	{ "hostile bytes", "\001\377\033[2J \"\376\";", "\001\377\033[2J=\376\n" },
};

static void reads_statements(void **state)
{
	const __typeof__(rows[0]) *row = *state;
	struct nfd_apt_config config = { 0 };
	const char *text;
	int r = nfd_apt_config_parse(&config, row->text);

	text = config_text(&config);
	nfd_apt_config_done(&config);
	assert_int_equal(r, 0);
	assert_string_equal(text, row->values);
}

static const struct {
	const char *name;
	struct tree_entry tree[8];
	const char *values;
	int error;
} file_rows[] = {
	{ "none", { DIR_AT("etc") }, "", 0 },
	{ "main file", { FILE_AT("etc/apt/apt.conf", "A \"1\";") }, "A=1\n", 0 },
	{ "name order, main file last",
	  { FILE_AT("etc/apt/apt.conf", "A \"main\";"),
	    FILE_AT("etc/apt/apt.conf.d/50b", "A \"50\";"),
	    FILE_AT("etc/apt/apt.conf.d/20auto-upgrades", "A \"20\";") },
	  "A=20\nA=50\nA=main\n",
	  0 },
	{ "which names",
	  { FILE_AT("etc/apt/apt.conf.d/10a.conf", "A \"1\";"),
	    FILE_AT("etc/apt/apt.conf.d/20b", "B \"1\";"),
	    FILE_AT("etc/apt/apt.conf.d/30c.dpkg-old", "C \"1\";"),
	    FILE_AT("etc/apt/apt.conf.d/40d.conf.bak", "D \"1\";"),
	    FILE_AT("etc/apt/apt.conf.d/.50e", "E \"1\";"),
	    FILE_AT("etc/apt/apt.conf.d/.conf", "F \"1\";") },
	  "A=1\nB=1\n",
	  0 },
	{ "a dot inside a .conf name",
	  { FILE_AT("etc/apt/apt.conf.d/52hold-580.126.conf", "A \"1\";") },
	  "A=1\n",
	  0 },
	{ "an editor's copy is not read",
	  { FILE_AT("etc/apt/apt.conf.d/20auto-upgrades~", "A \"1\";"),
	    FILE_AT("etc/apt/apt.conf.d/#20auto-upgrades#", "A \"1\";") },
	  "",
	  0 },
	{ "clear in a later file",
	  { FILE_AT("etc/apt/apt.conf.d/10a", "L { \"a\"; };"),
	    FILE_AT("etc/apt/apt.conf.d/20b", "#clear L;") },
	  "",
	  0 },
	{ "a folder among the files",
	  { DIR_AT("etc/apt/apt.conf.d/10a"), FILE_AT("etc/apt/apt.conf.d/20b", "B \"1\";") },
	  "B=1\n",
	  -EISDIR },
	{ "FIFO", { FIFO_AT("etc/apt/apt.conf") }, "", 0 },
	{ "link that leads nowhere", { LINK_AT("etc/apt/apt.conf", "/none") }, "", 0 },
	{ "loop", { LINK_AT("etc/apt/apt.conf", "apt.conf") }, "", -ELOOP },
	{ "the folder is a file", { FILE_AT("etc/apt/apt.conf.d", "A \"1\";") }, "", 0 },
};

static void reads_files(void **state)
{
	const __typeof__(file_rows[0]) *row = *state;
	struct nfd_apt_config config;
	const char *tree = tree_new(), *text;
	int r, error;

	tree_fill(tree, row->tree);
	r = nfd_apt_config_read(tree_root(tree, false), &config);
	text = config_text(&config);
	error = config.error;
	nfd_apt_config_done(&config);
	assert_int_equal(r, 0);
	assert_string_equal(text, row->values);
	assert_int_equal(error, row->error);
}

static void size_is_bounded(void **state)
{
	const char *tree = tree_new();
	const char *text = unit_text("A \"1\";//%s", unit_repeat('x', 256 * 1024 - 8));
	struct nfd_apt_config config;

	(void)state;
	tree_file(tree, "etc/apt/apt.conf", text);
	assert_int_equal(nfd_apt_config_read(tree_root(tree, false), &config), 0);
	assert_int_equal(config.error, 0);
	assert_string_equal(nfd_apt_config_get(&config, "A", "-"), "1");
	nfd_apt_config_done(&config);
	tree_file(tree, "etc/apt/apt.conf", unit_text("%sx", text));
	assert_int_equal(nfd_apt_config_read(tree_root(tree, false), &config), 0);
	assert_int_equal(config.error, -EFBIG);
	assert_int_equal(config.count, 0);
	nfd_apt_config_done(&config);
}

static void looks_up(void **state)
{
	struct nfd_apt_config config = { 0 };
	size_t cursor = 0;

	(void)state;
	assert_string_equal(nfd_apt_config_get(&config, "A", "none"), "none");
	assert_null(nfd_apt_config_get(&config, "A", NULL));
	assert_int_equal(nfd_apt_config_parse(&config, "Ab \"1\"; B \"2\"; aB \"3\"; Ab::C \"4\";"),
			 0);
	assert_string_equal(nfd_apt_config_get(&config, "AB", "none"), "3");
	assert_string_equal(nfd_apt_config_next(&config, "ab", &cursor), "1");
	assert_string_equal(nfd_apt_config_next(&config, "ab", &cursor), "3");
	assert_null(nfd_apt_config_next(&config, "ab", &cursor));
	assert_null(nfd_apt_config_next(&config, "ab", &cursor));
	nfd_apt_config_done(&config);
	assert_int_equal(config.count, 0);
	nfd_apt_config_done(&config);
}

/* Long words are cut, deep scopes passed over, and values over the cap left out. */
static void is_bounded(void **state)
{
	struct nfd_apt_config config = { 0 };
	struct nfd_strbuf buf = { 0 };

	(void)state;
	assert_int_equal(nfd_apt_config_parse(&config, unit_text("%s \"%s\"; A \"1\";",
								 unit_repeat('k', 5000),
								 unit_repeat('v', 5000))),
			 0);
	assert_int_equal(config.count, 2);
	assert_true(strlen(config.value[0].key) < 256 && strlen(config.value[0].value) < 256);
	nfd_apt_config_done(&config);
	for (int i = 0; i < 10000; i++)
		nfd_strbuf_puts(&buf, "x{");
	assert_int_equal(nfd_apt_config_parse(&config, nfd_strbuf_text(&buf)), 0);
	nfd_apt_config_done(&config);
	nfd_strbuf_done(&buf);
	for (int i = 0; i < NFD_APT_VALUES_MAX + 10; i++)
		nfd_strbuf_printf(&buf, "A%d \"%d\";\n", i, i);
	assert_int_equal(nfd_apt_config_parse(&config, nfd_strbuf_text(&buf)), 0);
	assert_int_equal(config.count, NFD_APT_VALUES_MAX);
	nfd_apt_config_done(&config);
	nfd_strbuf_done(&buf);
}

int main(void)
{
	struct unit_suite suite = { .name = "apt_config" };

	UNIT_ROWS(&suite, reads_statements, rows, name);
	UNIT_ROWS(&suite, reads_files, file_rows, name);
	UNIT_CASE(&suite, size_is_bounded);
	UNIT_CASE(&suite, looks_up);
	UNIT_CASE(&suite, is_bounded);
	return unit_run(&suite);
}
