// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * doctor/kernel_log: which lines mean something, what is taken from them, and where a boot begins.
 */
#include "config.h"

#include "doctor/kernel_log.h"

#include <errno.h>
#include <string.h>

#include "base/strbuf.h"
#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

#define STAMP "2026-02-03T06:11:12.123456+00:00 node-1 kernel: [ 1234.567890] "
#define NVRM STAMP "NVRM: "
#define NOTHING (-1)

static const struct {
	const char *name, *line;
	int kind;
	unsigned int number;
	const char *address;
	const char *text; /* begins so; NULL: not looked at */
} rows[] = {
	{ "empty", "", NOTHING, 0, "", NULL },
	{ "another line", STAMP "usb 1-1: new device", NOTHING, 0, "", NULL },
	{ "module loaded", NVRM "loading NVIDIA UNIX x86_64 Kernel Module  580.126.09", NOTHING, 0,
	  "", NULL },
	{ "mismatch", NVRM "API mismatch: the client has the version 580.159.03, but",
	  NFD_KERNEL_API_MISMATCH, 0, "", "NVRM: API mismatch: the client" },
	{ "mismatch, newer", NVRM "API mismatch: the client 'nvidia-smi' (pid 4711)",
	  NFD_KERNEL_API_MISMATCH, 0, "", NULL },
	{ "without stamp", "NVRM: API mismatch: x", NFD_KERNEL_API_MISMATCH, 0, "", "NVRM: API" },
	{ "record of kmsg", "4,1234,5678,-;NVRM: API mismatch: x", NFD_KERNEL_API_MISMATCH, 0, "",
	  "NVRM: API" },
	{ "start failed", NVRM "GPU 0000:3b:00.0: RmInitAdapter failed! (0x26:0x56:1474)",
	  NFD_KERNEL_INIT_FAILED, 0, "0000:3b:00.0", NULL },
	{ "start failed, other words",
	  NVRM "GPU 0000:3b:00.0: rm_init_adapter failed, device minor number 0",
	  NFD_KERNEL_INIT_FAILED, 0, "0000:3b:00.0", NULL },
	{ "firmware",
	  STAMP
	  "nvidia 0000:3b:00.0: Direct firmware load for nvidia/580.126.09/gsp_ga10x.bin failed "
	  "with error -2",
	  NFD_KERNEL_FIRMWARE, 0, "0000:3b:00.0", "Direct firmware load" },
	{ "firmware, other words", NVRM "GPU 0000:3b:00.0: Cannot initialize GSP firmware RM",
	  NFD_KERNEL_FIRMWARE, 0, "0000:3b:00.0", NULL },
	{ "firmware of another driver",
	  STAMP "r8169 0000:02:00.0: Direct firmware load for rtl_nic/rtl8168h-2.fw failed",
	  NOTHING, 0, "", NULL },
	{ "legacy", NVRM "ignoring the legacy GPU 0000:3b:00.0", NFD_KERNEL_LEGACY, 0,
	  "0000:3b:00.0", "ignoring the legacy GPU" },
	{ "fault",
	  NVRM
	  "Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
	  NFD_KERNEL_XID, 79, "0000:3b:00.0", "NVRM: Xid (PCI:0000:3b:00): 79," },
	{ "fault, long domain", NVRM "Xid (PCI:00000000:3b:00): 48, x", NFD_KERNEL_XID, 48,
	  "0000:3b:00.0", NULL },
	{ "fault, other domain", NVRM "Xid (PCI:fade:c1:1f): 63, x", NFD_KERNEL_XID, 63,
	  "fade:c1:1f.0", NULL },
	{ "fault, domain of five digits", NVRM "Xid (PCI:10000:01:00): 63, x", NFD_KERNEL_XID, 63,
	  "10000:01:00.0", NULL },
	{ "fault without number", NVRM "Xid (PCI:0000:3b:00)", NFD_KERNEL_XID, 0, "0000:3b:00.0",
	  NULL },
	{ "fault with a word", NVRM "Xid (PCI:0000:3b:00): x", NFD_KERNEL_XID, 0, "0000:3b:00.0",
	  NULL },
	{ "fault without address", NVRM "Xid (x): 13, y", NFD_KERNEL_XID, 13, "", NULL },
	{ "fault, cut", NVRM "Xid (", NFD_KERNEL_XID, 0, "", "NVRM: Xid (" },
	{ "unsigned module", STAMP "Loading of unsigned module is rejected", NFD_KERNEL_SIGNATURE,
	  0, "", NULL },
	{ "unknown key", STAMP "Loading of module with unavailable key is rejected",
	  NFD_KERNEL_SIGNATURE, 0, "", NULL },
	{ "lockdown",
	  STAMP
	  "Lockdown: modprobe: unsigned module loading is restricted; see man kernel_lockdown.7",
	  NFD_KERNEL_SIGNATURE, 0, "", NULL },
	{ "rejected by the loader",
	  "Feb  3 06:11:12 n modprobe[3]: modprobe: ERROR: could not insert 'nvidia': Key was rejected by service",
	  NFD_KERNEL_SIGNATURE, 0, "", "nvidia': Key was rejected" },
	{ "rejected by the loader, no key",
	  "Feb  3 n systemd-modules-load[3]: Failed to insert module 'nvidia': Required key not available",
	  NFD_KERNEL_SIGNATURE, 0, "", NULL },
	{ "another module rejected",
	  "Feb  3 n modprobe[3]: modprobe: ERROR: could not insert 'vboxdrv': Key was rejected by service",
	  NOTHING, 0, "", NULL },
	{ "hostile bytes", "\377\033[2JNVRM: API mismatch: \001\377", NFD_KERNEL_API_MISMATCH, 0,
	  "", "NVRM: API mismatch: \001\377" },
	{ "colons", NVRM "Xid (:::::::::::::::::::: ", NFD_KERNEL_XID, 0, "", NULL },
};

static void takes_line(void **state)
{
	const __typeof__(rows[0]) *row = *state;
	struct nfd_kernel_log log = { 0 };

	nfd_kernel_log_take(&log, row->line);
	assert_int_equal(log.count, row->kind != NOTHING);
	if (!log.count)
		return;
	assert_int_equal(log.line[0].kind, row->kind);
	assert_int_equal(log.line[0].number, row->number);
	assert_string_equal(log.line[0].address, row->address);
	assert_true(log.line[0].text[0]);
	if (row->text)
		assert_memory_equal(log.line[0].text, row->text, strlen(row->text));
}

static void long_line_is_cut(void **state)
{
	struct nfd_kernel_log log = { 0 };

	(void)state;
	nfd_kernel_log_take(&log, unit_text("NVRM: API mismatch: %s", unit_repeat('x', 100000)));
	assert_int_equal(strlen(log.line[0].text), sizeof(log.line[0].text) - 1);
	nfd_kernel_log_take(&log,
			    unit_text("NVRM: Xid (PCI:0000:3b:00): %s, x", unit_repeat('9', 1000)));
	assert_int_equal(log.count, 2);
}

static void newest_lines_stay(void **state)
{
	struct nfd_kernel_log log = { 0 };

	(void)state;
	for (int i = 1; i <= NFD_KERNEL_LINES_MAX + 10; i++)
		nfd_kernel_log_take(&log, unit_text("NVRM: Xid (PCI:0000:3b:00): %d, x", i));
	assert_int_equal(log.count, NFD_KERNEL_LINES_MAX);
	assert_int_equal(log.line[0].number, 11);
	assert_int_equal(log.line[log.count - 1].number, NFD_KERNEL_LINES_MAX + 10);
	assert_null(nfd_kernel_log_find(&log, NFD_KERNEL_XID, 10));
	assert_ptr_equal(nfd_kernel_log_find(&log, NFD_KERNEL_XID, 11), &log.line[0]);
	assert_ptr_equal(nfd_kernel_log_find(&log, NFD_KERNEL_XID, 0), &log.line[log.count - 1]);
	assert_null(nfd_kernel_log_find(&log, NFD_KERNEL_LEGACY, 0));
}

#define XID(n) "kernel: NVRM: Xid (PCI:0000:3b:00): " n ", x\n"

static const struct {
	const char *name;
	struct tree_entry tree[3];
	size_t count;
	bool is_read;
	int error;
	const char *path;
} file_rows[] = {
	{ "none", { DIR_AT("var/log") }, 0, false, 0, "" },
	{ "kern.log",
	  { FILE_AT("var/log/kern.log", XID("1") XID("2")) },
	  2,
	  true,
	  0,
	  "var/log/kern.log" },
	{ "missing newline",
	  { FILE_AT("var/log/kern.log", "NVRM: API mismatch: x") },
	  1,
	  true,
	  0,
	  "var/log/kern.log" },
	{ "empty", { FILE_AT("var/log/kern.log", "") }, 0, true, 0, "var/log/kern.log" },
	{ "messages", { FILE_AT("var/log/messages", XID("1")) }, 1, true, 0, "var/log/messages" },
	{ "syslog", { FILE_AT("var/log/syslog", XID("1")) }, 1, true, 0, "var/log/syslog" },
	{ "dmesg", { FILE_AT("var/log/dmesg", XID("1")) }, 1, true, 0, "var/log/dmesg" },
	{ "the first that is there",
	  { FILE_AT("var/log/messages", XID("1")), FILE_AT("var/log/dmesg", XID("1") XID("2")) },
	  1,
	  true,
	  0,
	  "var/log/messages" },
	{ "unreadable, then another",
	  { DIR_AT("var/log/kern.log"), FILE_AT("var/log/messages", XID("1")) },
	  1,
	  true,
	  -EISDIR,
	  "var/log/messages" },
	{ "unreadable", { LINK_AT("var/log/kern.log", "kern.log") }, 0, false, -ELOOP, "" },
	{ "lines before the boot do not count",
	  { FILE_AT("var/log/kern.log",
		    XID("1") "node kernel: Linux version 6.8.0 (x@y)\n" XID("2") XID("3")) },
	  2,
	  true,
	  0,
	  "var/log/kern.log" },
	{ "boot with a stamp",
	  { FILE_AT("var/log/kern.log",
		    XID("1") "node kernel: [    0.000000] Linux version 6.8.0 (x@y)\n" XID("2")) },
	  1,
	  true,
	  0,
	  "var/log/kern.log" },
	{ "a program that says so is no boot",
	  { FILE_AT("var/log/syslog", XID("1") "node app[5]: runs on Linux version 6.8.0\n") },
	  1,
	  true,
	  0,
	  "var/log/syslog" },
};

static void reads_files(void **state)
{
	const __typeof__(file_rows[0]) *row = *state;
	const char *tree = tree_new();
	struct nfd_kernel_log log;

	tree_fill(tree, row->tree);
	nfd_kernel_log_read(tree_root(tree, false), &log);
	assert_int_equal(log.count, row->count);
	assert_int_equal(log.is_read, row->is_read);
	assert_string_equal(log.path, row->path);
	if (!log.is_read)
		assert_int_equal(log.error, row->error);
}

/* A log that grew large is no reason to know nothing: its end is what counts. */
static void end_of_a_large_log(void **state)
{
	const char *tree = tree_new();
	struct nfd_kernel_log log;
	struct nfd_strbuf buf = { 0 };

	(void)state;
	nfd_strbuf_puts(&buf, unit_repeat('x', 33 * 1024 * 1024));
	nfd_strbuf_puts(&buf, "\n" XID("79"));
	tree_bytes(tree, "var/log/kern.log", buf.data, buf.len);
	nfd_strbuf_done(&buf);
	nfd_kernel_log_read(tree_root(tree, false), &log);
	assert_true(log.is_read);
	assert_non_null(nfd_kernel_log_find(&log, NFD_KERNEL_XID, 79));
}

/* A NUL byte in the file (a crash leaves blocks of them) does not hide the lines behind it. */
static void nul_bytes(void **state)
{
	static const char text[] = "x\0\0\0\n" XID("79");
	const char *tree = tree_new();
	struct nfd_kernel_log log;

	(void)state;
	tree_bytes(tree, "var/log/kern.log", text, sizeof(text) - 1);
	nfd_kernel_log_read(tree_root(tree, false), &log);
	assert_non_null(nfd_kernel_log_find(&log, NFD_KERNEL_XID, 79));
}

int main(void)
{
	struct unit_suite suite = { .name = "kernel_log" };

	UNIT_ROWS(&suite, takes_line, rows, name);
	UNIT_CASE(&suite, long_line_is_cut);
	UNIT_CASE(&suite, newest_lines_stay);
	UNIT_ROWS(&suite, reads_files, file_rows, name);
	UNIT_CASE(&suite, end_of_a_large_log);
	UNIT_CASE(&suite, nul_bytes);
	return unit_run(&suite);
}
