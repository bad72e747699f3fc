// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * record: a tar of everything that a scan reads on this host, so that a report can be replayed with
 * --root. The list is never out of date: the scan itself is watched.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/mask.h"
#include "cmd/tar.h"
#include "scan/scan.h"

struct recorder {
	const struct nfd_root *root;
	int fd;
	char **seen; /* paths already written, sorted; owned */
	size_t count;
	int error;
	char error_path[256];
};

/* Notes a path. Returns whether it is new. */
static bool is_new(struct recorder *recorder, const char *path)
{
	size_t low = 0, high = recorder->count;
	char **bigger, *copy;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(recorder->seen[middle], path);

		if (order == 0)
			return false;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	bigger = realloc(recorder->seen, (recorder->count + 1) * sizeof(*bigger));
	if (bigger)
		recorder->seen = bigger;
	copy = bigger ? strdup(path) : NULL;
	if (!copy) {
		recorder->error = -ENOMEM;
		return false;
	}
	memmove(bigger + low + 1, bigger + low, (recorder->count - low) * sizeof(*bigger));
	bigger[low] = copy;
	recorder->count++;
	return true;
}

static int write_masked(struct recorder *recorder, const char *path, const char *data, size_t len)
{
	cleanup_free char *copy = malloc(len + 1);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, data, len);
	nfd_mask(path, copy, len);
	return nfd_tar_file(recorder->fd, path, copy, len);
}

/*
 * The real path of what was read: files and folders lie where the last link leads, a link itself in
 * its real folder. The links on the way are observed by this look-up, and so recorded too.
 */
static int real_path(const struct recorder *recorder, enum nfd_read_kind kind, const char *path,
		     char ret[PATH_MAX])
{
	char parent[PATH_MAX];
	const char *slash;
	size_t len;
	int r;

	if (kind != NFD_READ_LINK)
		return nfd_root_resolve(recorder->root, path, ret, PATH_MAX);
	slash = strrchr(path, '/');
	if (!slash) {
		snprintf(ret, PATH_MAX, "%s", path);
		return 0;
	}
	snprintf(parent, sizeof(parent), "%.*s", (int)(slash - path), path);
	r = nfd_root_resolve(recorder->root, parent, ret, PATH_MAX);
	len = r < 0 ? 0 : strlen(ret);
	if (r == 0)
		snprintf(ret + len, PATH_MAX - len, "%s%s", len ? "/" : "", slash + 1);
	return r;
}

static void record(void *cookie, enum nfd_read_kind kind, const char *path, const char *data,
		   size_t len)
{
	struct recorder *recorder = cookie;
	char real[PATH_MAX];
	int r;

	/* What vanished since it was read cannot be placed, and would not be missed. */
	if (recorder->error || real_path(recorder, kind, path, real) < 0 || !real[0] ||
	    !is_new(recorder, real))
		return;
	if (kind == NFD_READ_FILE)
		r = write_masked(recorder, real, data, len);
	else if (kind == NFD_READ_LINK)
		r = nfd_tar_link(recorder->fd, real, data);
	else
		r = nfd_tar_dir(recorder->fd, real);
	if (r == -ENAMETOOLONG) {
		nfd_log(NFD_LOG_WARNING, "left out of the archive: the name is too long for it",
			"path", real, NULL);
	} else if (r < 0) {
		recorder->error = r;
		snprintf(recorder->error_path, sizeof(recorder->error_path), "%s", real);
	}
}

static int scan_recorded(struct nfd_context *context, int fd)
{
	struct recorder recorder = { .root = &context->root, .fd = fd };
	struct nfd_scan scan = { 0 };
	int r;

	context->root.observer = record;
	context->root.observer_cookie = &recorder;
	r = nfd_context_scan(context, &scan,
			     NFD_SCAN_FEATURES | NFD_SCAN_ALL | NFD_SCAN_QUICK | NFD_SCAN_VENDORS);
	context->root.observer = NULL;
	nfd_scan_done(&scan);
	if (r == 0)
		r = recorder.error;
	if (r == 0)
		r = nfd_tar_end(fd);
	if (r < 0)
		nfd_log(NFD_LOG_ERROR, "cannot record", "path", recorder.error_path, "error",
			nfd_errno_text(r), NULL);
	for (size_t i = 0; i < recorder.count; i++)
		free(recorder.seen[i]);
	free(recorder.seen);
	return r < 0 ? NFD_EXIT_FAILED : NFD_EXIT_DONE;
}

static int run(struct nfd_context *context)
{
	const char *path = nfd_context_option(context, "output");
	cleanup_close int fd = -1;
	int exit_code;

	if (!path && isatty(STDOUT_FILENO) == 1) {
		nfd_log(NFD_LOG_ERROR, "will not write an archive to a terminal: give -o FILE",
			NULL);
		return NFD_EXIT_USAGE;
	}
	if (!path)
		return scan_recorded(context, STDOUT_FILENO);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0) {
		nfd_log(NFD_LOG_ERROR, "cannot create the archive", "path", path, "error",
			nfd_errno_text(-errno), NULL);
		return NFD_EXIT_FAILED;
	}
	exit_code = scan_recorded(context, fd);
	if (close(TAKE_FD(fd)) < 0) {
		nfd_log(NFD_LOG_ERROR, "cannot close the archive", "path", path, "error",
			nfd_errno_text(-errno), NULL);
		return NFD_EXIT_FAILED;
	}
	return exit_code;
}

static const struct nfd_option options[] = {
	{ .name = "output",
	  .letter = 'o',
	  .argument = "FILE",
	  .help = "archive to write; else standard output" },
};

const struct nfd_command nfd_cmd_record = {
	.name = "record",
	.summary = "write a tar of what a scan reads here, serials, MACs and UUIDs masked",
	.option = options,
	.option_count = NFD_ARRAY_SIZE(options),
	.reads_host = true,
	.run = run,
};
