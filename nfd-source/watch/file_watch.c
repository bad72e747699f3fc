// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Several wishes may share one inotify watch (the kernel gives one number a folder), so each event
 * is compared with all entries of its number.
 */
#include "config.h"

#include "watch/file_watch.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

/* No IN_ATTRIB and no IN_MODIFY: the first is our own touch, the second comes before the end. */
#define NAME_EVENTS (IN_CREATE | IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO)
#define SELF_EVENTS (IN_DELETE_SELF | IN_MOVE_SELF)

int nfd_file_watch_init(struct nfd_file_watch *watch, struct nfd_error *err)
{
	for (size_t i = 0; i < NFD_FILE_WATCHES_MAX; i++)
		watch->watch[i].wd = -1;
	watch->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (watch->fd < 0) {
		int code = -errno;

		return nfd_error_set(err, code, "inotify_init1: %s", nfd_errno_text(code));
	}
	return 0;
}

void nfd_file_watch_done(struct nfd_file_watch *watch)
{
	if (watch->fd >= 0)
		close(watch->fd);
	watch->fd = -1;
}

static int add_entry(struct nfd_file_watch *watch, const char *dir, const char *name, size_t len,
		     uint32_t concerns)
{
	int wd;

	for (size_t i = 0; i < NFD_FILE_WATCHES_MAX; i++) {
		if (watch->watch[i].wd >= 0)
			continue;
		if (len >= sizeof(watch->watch[i].name))
			return -ENAMETOOLONG;
		wd = inotify_add_watch(watch->fd, dir, NAME_EVENTS | SELF_EVENTS | IN_ONLYDIR);
		if (wd < 0)
			return -errno;
		watch->watch[i].wd = wd;
		watch->watch[i].concerns = concerns;
		memcpy(watch->watch[i].name, name, len);
		watch->watch[i].name[len] = '\0';
		return 0;
	}
	return -ENOSPC;
}

/* Waits for the part of the path behind the nearest folder that exists. */
static int add_ancestor(struct nfd_file_watch *watch, const char *dir)
{
	char path[PATH_MAX];
	char *slash;
	int r;

	if (strlen(dir) >= sizeof(path))
		return -ENAMETOOLONG;
	memcpy(path, dir, strlen(dir) + 1);
	while ((slash = strrchr(path, '/')) != NULL && slash[1]) {
		*slash = '\0';
		r = add_entry(watch, path[0] ? path : "/", slash + 1, strlen(slash + 1), 0);
		if (r != -ENOENT && r != -ENOTDIR)
			return r;
	}
	return -ENOENT;
}

int nfd_file_watch_add(struct nfd_file_watch *watch, const char *dir, const char *name,
		       uint32_t concerns)
{
	int r;

	if (watch->fd < 0)
		return -EBADF;
	r = add_entry(watch, dir, name, strlen(name), concerns);
	return r == -ENOENT || r == -ENOTDIR ? add_ancestor(watch, dir) : r;
}

void nfd_file_watch_clear(struct nfd_file_watch *watch)
{
	for (size_t i = 0; i < NFD_FILE_WATCHES_MAX; i++) {
		/* A number that was removed before gives EINVAL, which is as good. */
		if (watch->watch[i].wd >= 0)
			inotify_rm_watch(watch->fd, watch->watch[i].wd);
		watch->watch[i].wd = -1;
	}
}

static bool is_wanted(const char *wanted, const char *name)
{
	return wanted[0] ? strncmp(name, wanted, strlen(wanted)) == 0 : name[0] != '.';
}

static void take_event(const struct nfd_file_watch *watch, const struct inotify_event *event,
		       struct nfd_file_events *ret)
{
	if (event->mask & IN_Q_OVERFLOW) {
		ret->lost = true;
		return;
	}
	for (size_t i = 0; i < NFD_FILE_WATCHES_MAX; i++) {
		/* IN_IGNORED of a watch that we removed has a number that nobody has any more. */
		if (watch->watch[i].wd != event->wd)
			continue;
		if (event->mask & (SELF_EVENTS | IN_IGNORED | IN_UNMOUNT)) {
			ret->tree_changed = true;
			ret->concerns |= watch->watch[i].concerns;
		} else if (event->len && is_wanted(watch->watch[i].name, event->name)) {
			ret->concerns |= watch->watch[i].concerns;
			ret->tree_changed |= watch->watch[i].concerns == 0;
		}
	}
}

void nfd_file_watch_read(struct nfd_file_watch *watch, struct nfd_file_events *ret)
{
	char buf[16384] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t len;

	*ret = (struct nfd_file_events){ 0 };
	while ((len = read(watch->fd, buf, sizeof(buf))) > 0) {
		for (char *at = buf; at < buf + len;) {
			const struct inotify_event *event =
				(const struct inotify_event *)(void *)at;

			take_event(watch, event, ret);
			at += sizeof(*event) + event->len;
		}
	}
}
