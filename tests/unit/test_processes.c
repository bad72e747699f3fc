// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * doctor/processes: names, start times and configuration files of what runs.
 */
#include "config.h"

#include "doctor/processes.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

#define BOOT_S 1770000000
/* Fields 3 to 21 of proc/PID/stat. */
#define FIELDS "S 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 12 0"

static const struct {
	const char *comm;
	enum nfd_process_kind kind;
} name_rows[] = {
	{ "containerd", NFD_PROCESS_CONTAINERD },
	{ "crio", NFD_PROCESS_CRIO },
	{ "dockerd", NFD_PROCESS_DOCKERD },
	{ "kubelet", NFD_PROCESS_KUBELET },
	{ "nvidia-persiste", NFD_PROCESS_PERSISTENCED },
	{ "nv-fabricmanage", NFD_PROCESS_FABRICMANAGER },
	{ "nvidia-device-p", NFD_PROCESS_DEVICE_PLUGIN },
	{ "dcgm-exporter", NFD_PROCESS_DCGM_EXPORTER },
	{ "nvidia-validato", NFD_PROCESS_VALIDATOR },
};

static void knows_names(void **state)
{
	const __typeof__(name_rows[0]) *row = *state;
	const char *tree = tree_new();
	struct nfd_processes processes;

	tree_file(tree, "proc/4711/comm", unit_text("%s\n", row->comm));
	nfd_processes_read(tree_root(tree, false), 0, &processes);
	assert_true(processes.is_read);
	for (int kind = 0; kind < NFD_PROCESS_KINDS; kind++)
		assert_int_equal(processes.process[kind].pid, kind == (int)row->kind ? 4711 : 0);
}

static const struct {
	const char *name;
	struct tree_entry tree[6];
	bool is_read;
	int pid; /* of containerd */
} tree_rows[] = {
	{ "no proc", { DIR_AT("etc") }, false, 0 },
	{ "empty proc", { DIR_AT("proc") }, false, 0 },
	{ "proc without processes",
	  { FILE_AT("proc/version", "x"), FILE_AT("proc/self/comm", "containerd") },
	  false,
	  0 },
	{ "others", { FILE_AT("proc/1/comm", "systemd\n") }, true, 0 },
	{ "missing newline", { FILE_AT("proc/7/comm", "containerd") }, true, 7 },
	{ "lowest of several",
	  { FILE_AT("proc/30/comm", "containerd\n"), FILE_AT("proc/200/comm", "containerd\n"),
	    FILE_AT("proc/1000/comm", "containerd\n") },
	  true,
	  30 },
	{ "names that begin so",
	  { FILE_AT("proc/7/comm", "containerd-shim\n"), FILE_AT("proc/8/comm", "containerd2\n"),
	    FILE_AT("proc/9/comm", "xcontainerd\n") },
	  true,
	  0 },
	{ "empty name", { FILE_AT("proc/7/comm", "\n") }, false, 0 },
	{ "gone meanwhile", { DIR_AT("proc/7"), FILE_AT("proc/8/comm", "containerd\n") }, true, 8 },
	{ "loop", { LINK_AT("proc/7", "7"), FILE_AT("proc/8/comm", "containerd\n") }, true, 8 },
};

static void looks_through_proc(void **state)
{
	const __typeof__(tree_rows[0]) *row = *state;
	const char *tree = tree_new();
	struct nfd_processes processes;

	tree_fill(tree, row->tree);
	nfd_processes_read(tree_root(tree, false), 0, &processes);
	assert_int_equal(processes.is_read, row->is_read);
	assert_int_equal(processes.process[NFD_PROCESS_CONTAINERD].pid, row->pid);
	assert_int_equal(processes.process[NFD_PROCESS_CONTAINERD].start_s, 0);
	assert_string_equal(processes.process[NFD_PROCESS_CONTAINERD].config, "");
}

static const struct {
	const char *name, *stat;
	int64_t boot_s, start_s;
} start_rows[] = {
	{ "as the kernel has it", "7 (containerd) " FIELDS " 12345 1 2 3\n", BOOT_S, BOOT_S + 123 },
	{ "at the end", "7 (containerd) " FIELDS " 100", BOOT_S, BOOT_S + 1 },
	{ "boot time not known", "7 (containerd) " FIELDS " 12345 1\n", 0, 0 },
	{ "a name with brackets and blanks", "7 (a) S (b c) 1) " FIELDS " 200 1\n", BOOT_S,
	  BOOT_S + 2 },
	{ "empty", "", BOOT_S, 0 },
	{ "no name", "7 S 1 2 3", BOOT_S, 0 },
	{ "cut", "7 (containerd) S 1 1", BOOT_S, 0 },
	{ "cut before the field", "7 (containerd) " FIELDS, BOOT_S, 0 },
	{ "huge number", "7 (containerd) " FIELDS " 99999999999999999999999999 1\n", BOOT_S,
	  BOOT_S + INT64_MAX / 100 },
	{ "huge number and huge boot time",
	  "7 (containerd) " FIELDS " 99999999999999999999999999 1\n", INT64_MAX - 5, 0 },
	{ "bracket alone", ")", BOOT_S, 0 },
};

static void reads_start(void **state)
{
	const __typeof__(start_rows[0]) *row = *state;
	const char *tree = tree_new();
	struct nfd_processes processes;

	tree_file(tree, "proc/7/comm", "containerd\n");
	tree_file(tree, "proc/7/stat", row->stat);
	nfd_processes_read(tree_root(tree, false), row->boot_s, &processes);
	/* In the row that overflows only that it does not. */
	if (row->boot_s <= BOOT_S)
		assert_int_equal(processes.process[NFD_PROCESS_CONTAINERD].start_s, row->start_s);
}

#define ARGS(text) text, sizeof(text) - 1

static const struct {
	const char *name, *args;
	size_t size;
	const char *config;
} config_rows[] = {
	{ "none", ARGS("/usr/bin/containerd\0"), "" },
	{ "empty", ARGS(""), "" },
	{ "-c", ARGS("containerd\0-c\0/etc/c.toml\0"), "/etc/c.toml" },
	{ "--config", ARGS("containerd\0--log\0--config\0/etc/c.toml\0-x\0"), "/etc/c.toml" },
	{ "--config=", ARGS("containerd\0--config=/etc/c.toml\0"), "/etc/c.toml" },
	{ "missing NUL", ARGS("containerd\0-c\0/etc/c.toml"), "/etc/c.toml" },
	{ "the first counts", ARGS("x\0-c\0/a\0-c\0/b\0"), "/a" },
	{ "-c at the end", ARGS("x\0-c\0"), "" },
	{ "-c at the end, missing NUL", ARGS("x\0-c"), "" },
	{ "--config= empty", ARGS("x\0--config=\0"), "" },
	{ "empty words", ARGS("x\0\0\0-c\0/a\0\0"), "/a" },
	{ "NULs alone", ARGS("\0\0\0"), "" },
	{ "words that begin so", ARGS("x\0--configure\0/a\0-cc\0/b\0--config-path=/c\0"), "" },
	{ "hostile bytes", ARGS("x\0-c\0\377\033[2J\n\0"), "\377\033[2J\n" },
};

static void reads_config(void **state)
{
	const __typeof__(config_rows[0]) *row = *state;
	const char *tree = tree_new();
	struct nfd_processes processes;

	tree_file(tree, "proc/7/comm", "containerd\n");
	tree_bytes(tree, "proc/7/cmdline", row->args, row->size);
	nfd_processes_read(tree_root(tree, false), 0, &processes);
	assert_string_equal(processes.process[NFD_PROCESS_CONTAINERD].config, row->config);
}

static void is_bounded(void **state)
{
	const char *tree = tree_new();
	struct nfd_processes processes;
	const char *config = processes.process[NFD_PROCESS_CONTAINERD].config;

	(void)state;
	tree_file(tree, "proc/7/comm", "containerd\n");
	tree_file(tree, "proc/7/cmdline", unit_text("--config=/%s", unit_repeat('x', 3000)));
	nfd_processes_read(tree_root(tree, false), 0, &processes);
	assert_int_equal(strlen(config), 255);
	tree_file(tree, "proc/7/cmdline", unit_text("--config=/%s", unit_repeat('x', 10000)));
	tree_file(tree, "proc/7/stat", unit_text("7 (%s", unit_repeat(')', 3000)));
	nfd_processes_read(tree_root(tree, false), BOOT_S, &processes);
	assert_int_equal(processes.process[NFD_PROCESS_CONTAINERD].pid, 7);
	assert_int_equal(processes.process[NFD_PROCESS_CONTAINERD].start_s, 0);
}

int main(void)
{
	struct unit_suite suite = { .name = "processes" };

	UNIT_ROWS(&suite, knows_names, name_rows, comm);
	UNIT_ROWS(&suite, looks_through_proc, tree_rows, name);
	UNIT_ROWS(&suite, reads_start, start_rows, name);
	UNIT_ROWS(&suite, reads_config, config_rows, name);
	UNIT_CASE(&suite, is_bounded);
	return unit_run(&suite);
}
