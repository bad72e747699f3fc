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
	{ "is already bound to", NFD_KERNEL_OTHER_DRIVER },
	{ "NVRM: Xid (", NFD_KERNEL_XID },
};

/* What the loader says when it does not take the module. */
static const char *const rejections[] = {
	"Loading of unsigned module is rejected",
	"Key was rejected by service",
	"Required key not available",
	"not signed by a key that is trusted",
};

static const char *const files[] = { "var/log/kern.log", "var/log/messages", "var/log/syslog",
				     "var/log/dmesg" };

/* "PCI:0000:3b:00): 79, …" or "0000:3b:00.0": the address with its function. */
static void take_address(const char *text, char ret[24])
{
	for (; *text; text++) {
		unsigned int domain, bus, device;

		if (sscanf(text, "%4x:%2x:%2x", &domain, &bus, &device) != 3)
			continue;
		snprintf(ret, 24, "%04x:%02x:%02x.0", domain, bus, device);
		return;
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

static void keep(struct nfd_kernel_log *log, enum nfd_log_kind kind, const char *at)
{
	struct nfd_log_line line = { .kind = kind };
	const char *number;

	snprintf(line.text, sizeof(line.text), "%s", at);
	take_address(at, line.address);
	number = kind == NFD_KERNEL_XID ? strstr(at, "): ") : NULL;
	if (number)
		line.number = (unsigned int)strtoul(number + 3, NULL, 10);
	add(log, &line);
}

void nfd_kernel_log_take(struct nfd_kernel_log *log, const char *text)
{
	if (strstr(text, "] Linux version ") || strstr(text, "kernel: Linux version ")) {
		log->count = 0;
		return;
	}
	for (size_t i = 0; i < NFD_ARRAY_SIZE(patterns); i++) {
		const char *at = strstr(text, patterns[i].words);

		if (at) {
			keep(log, patterns[i].kind, at);
			return;
		}
	}
	for (size_t i = 0; i < NFD_ARRAY_SIZE(rejections); i++)
		if (strstr(text, rejections[i]) && strstr(text, "nvidia")) {
			const char *at = strstr(text, "nvidia");

			keep(log, NFD_KERNEL_SIGNATURE, at);
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

void nfd_kernel_log_read(const struct nfd_root *root, struct nfd_kernel_log *ret)
{
	*ret = (struct nfd_kernel_log){ 0 };
	if (strcmp(root->path, "/") == 0)
		read_kmsg(ret);
	for (size_t i = 0; i < NFD_ARRAY_SIZE(files) && !ret->is_read; i++) {
		cleanup_free char *text = NULL;
		ssize_t len = nfd_root_read_alloc(root, files[i], LOG_MAX, &text);
		char *rest = text, *line;

		if (len < 0) {
			if (!nfd_root_is_absent((int)len))
				ret->error = (int)len;
			continue;
		}
		ret->is_read = true;
		snprintf(ret->path, sizeof(ret->path), "%s", files[i]);
		while ((line = strsep(&rest, "\n")) != NULL)
			nfd_kernel_log_take(ret, line);
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
