// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A table of words. Log files are long, so only their end is read; the boot's first line may be
 * before it, and then older lines than this boot's could count: they are compared with what is now.
 */
#include "config.h"

#include "doctor/kernel_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_MAX (32 * 1024 * 1024)
#define RECORDS_MAX 100000

static const struct {
	const char *words;
	enum nfd_log_kind kind;
} patterns[] = {
	{ "NVRM: API mismatch:", NFD_KERNEL_API_MISMATCH },
	{ "RmInitAdapter failed!", NFD_KERNEL_INIT_FAILED },
	{ "rm_init_adapter failed", NFD_KERNEL_INIT_FAILED },
	{ "Direct firmware load for nvidia/", NFD_KERNEL_FIRMWARE },
	{ "Cannot initialize GSP firmware", NFD_KERNEL_FIRMWARE },
	{ "ignoring the legacy GPU", NFD_KERNEL_LEGACY },
	{ "NVRM: Xid (", NFD_KERNEL_XID },
};

/* Whether what rejects a module says which one. */
enum naming {
	NAMED_NEVER,
	NAMED_BEFORE, /* by the kernel, in some of its versions: "nvidia: loading of …" */
	NAMED_ALWAYS, /* by the programs that load modules, anywhere in the line */
};

/* What is said when a module's signature is not accepted. */
static const struct {
	const char *words;
	enum naming naming;
} rejections[] = {
	{ "oading of unsigned module is rejected", NAMED_BEFORE },
	{ "oading of module with unsupported crypto is rejected", NAMED_BEFORE },
	{ "oading of module with unavailable key is rejected", NAMED_BEFORE },
	{ "unsigned module loading is restricted", NAMED_NEVER },
	{ "Key was rejected by service", NAMED_ALWAYS },
	{ "Required key not available", NAMED_ALWAYS },
	{ "not signed by a key that is trusted", NAMED_ALWAYS },
};

static const char *const files[] = { "var/log/kern.log", "var/log/messages", "var/log/syslog",
				     "var/log/dmesg" };

/*
 * "PCI:0000:3b:00): 79, …" or "0000:3b:00.0": the address with its function. The bus is behind a domain
 * of four digits or more, which tells it from a time of day.
 */
static void take_address(const char *text, char ret[24])
{
	static const char hex[] = "0123456789abcdefABCDEF";

	while (*text && !ret[0]) {
		size_t len = strspn(text, hex);
		unsigned int bus, device;

		if (len >= 4 && len <= 8 && sscanf(text + len, ":%2x:%2x", &bus, &device) == 2)
			snprintf(ret, 24, "%04lx:%02x:%02x.0", strtoul(text, NULL, 16), bus,
				 device);
		text += len ? len : 1;
	}
}

static void add(struct nfd_kernel_log *log, const struct nfd_log_line *line)
{
	if (log->count == NFD_KERNEL_LINES_MAX) {
		memmove(&log->line[0], &log->line[1], (NFD_KERNEL_LINES_MAX - 1) * sizeof(*line));
		log->count--;
	}
	log->line[log->count++] = *line;
}

/* @text is the whole line, @at where what it says begins; some lines name the card before it. */
static void keep(struct nfd_kernel_log *log, enum nfd_log_kind kind, const char *text,
		 const char *at)
{
	struct nfd_log_line line = { .kind = kind };
	const char *number;

	snprintf(line.text, sizeof(line.text), "%s", at);
	take_address(at, line.address);
	if (kind != NFD_KERNEL_XID)
		take_address(text, line.address);
	number = kind == NFD_KERNEL_XID ? strstr(at, "): ") : NULL;
	if (number)
		line.number = (unsigned int)strtoul(number + 3, NULL, 10);
	add(log, &line);
}

/* "usb: loading of …": a word with a colon right before, which is neither the log's own nor ours. */
static bool is_of_another(const char *text, const char *at)
{
	const char *end = at - 1, *start;

	if (end <= text || end[-1] != ' ')
		return false;
	for (end--; end > text && end[-1] == ' ';)
		end--;
	for (start = end; start > text && start[-1] != ' ';)
		start--;
	return end > start && end[-1] == ':' && strncmp(start, "kernel:", 7) != 0 &&
	       strncmp(start, "nvidia", 6) != 0;
}

static void forget(struct nfd_kernel_log *log, enum nfd_log_kind kind)
{
	size_t kept = 0;

	for (size_t i = 0; i < log->count; i++)
		if (log->line[i].kind != kind)
			log->line[kept++] = log->line[i];
	log->count = kept;
}

void nfd_kernel_log_take(struct nfd_kernel_log *log, const char *text)
{
	if (strstr(text, "] Linux version ") || strstr(text, "kernel: Linux version ")) {
		log->count = 0;
		return;
	}
	/* A module that is loaded anew: what the one before it could not do does not count. */
	if (strstr(text, "NVRM: loading NVIDIA UNIX"))
		forget(log, NFD_KERNEL_INIT_FAILED);
	for (size_t i = 0; i < NFD_ARRAY_SIZE(patterns); i++) {
		const char *at = strstr(text, patterns[i].words);

		if (at) {
			keep(log, patterns[i].kind, text, at);
			return;
		}
	}
	for (size_t i = 0; i < NFD_ARRAY_SIZE(rejections); i++) {
		const char *at = strstr(text, rejections[i].words);
		const char *name = strstr(text, "nvidia");

		if (!at || (rejections[i].naming == NAMED_ALWAYS && !name) ||
		    (rejections[i].naming == NAMED_BEFORE && is_of_another(text, at)))
			continue;
		keep(log, NFD_KERNEL_SIGNATURE, text, name && name < at ? name : at);
		return;
	}
}

/*
 * The kernel's own memory: one record a read. Only for the running host: below another root the log
 * is another one's. Reading is restricted to CAP_SYSLOG on most systems.
 */
static void read_kmsg(struct nfd_kernel_log *ret)
{
	cleanup_close int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char record[8192];

	if (fd < 0) {
		ret->error = errno == ENOENT ? 0 : -errno;
		return;
	}
	for (int i = 0; i < RECORDS_MAX; i++) {
		ssize_t len = read(fd, record, sizeof(record) - 1);

		/* EPIPE: the record was overwritten meanwhile; the next read goes on. */
		if (len < 0 && (errno == EPIPE || errno == EINTR))
			continue;
		if (len <= 0)
			break;
		record[len] = '\0';
		record[strcspn(record, "\n")] = '\0';
		nfd_kernel_log_take(ret, record);
	}
	ret->is_read = true;
	snprintf(ret->path, sizeof(ret->path), "dev/kmsg");
}

/* Each line of a log file; a NUL in it hides nothing that stands behind. */
static void take_lines(struct nfd_kernel_log *log, char *text, size_t len)
{
	char *rest = text, *line;

	for (char *nul = memchr(text, '\0', len); nul;
	     nul = memchr(nul, '\0', len - (size_t)(nul - text)))
		*nul = '?';
	while ((line = strsep(&rest, "\n")) != NULL)
		nfd_kernel_log_take(log, line);
}

void nfd_kernel_log_read(const struct nfd_root *root, struct nfd_kernel_log *ret)
{
	*ret = (struct nfd_kernel_log){ 0 };
	if (strcmp(root->path, "/") == 0)
		read_kmsg(ret);
	for (size_t i = 0; i < NFD_ARRAY_SIZE(files) && !ret->is_read; i++) {
		cleanup_free char *text = NULL;
		ssize_t len = nfd_root_read_end(root, files[i], LOG_MAX, &text);

		if (len < 0) {
			if (!nfd_root_is_absent((int)len))
				ret->error = (int)len;
			continue;
		}
		ret->is_read = true;
		snprintf(ret->path, sizeof(ret->path), "%s", files[i]);
		take_lines(ret, text, (size_t)len);
	}
}

const struct nfd_log_line *nfd_kernel_log_find(const struct nfd_kernel_log *log,
					       enum nfd_log_kind kind, unsigned int number)
{
	for (size_t i = log->count; i-- > 0;)
		if (log->line[i].kind == kind && (number == 0 || log->line[i].number == number))
			return &log->line[i];
	return NULL;
}
