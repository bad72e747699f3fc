/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every read of the host goes through here: paths below one directory, symbolic links resolved
 * inside it, sizes capped, nothing that can block (a FIFO in a hostile tree reads as empty).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/macros.h"

enum nfd_read_kind { NFD_READ_FILE, NFD_READ_LINK, NFD_READ_DIR };

/**
 * nfd_read_observer - told of each successful read, in order; `record` is built on it.
 * @path: path below the root, without leading slash.
 * @data: content of the file or target of the link (@len bytes; none where only the existence was
 *        asked for); not to be used for a directory.
 */
typedef void nfd_read_observer(void *cookie, enum nfd_read_kind kind, const char *path,
			       const char *data, size_t len);

struct nfd_root {
	char *path;      /* as given, for messages; owned */
	int fd;          /* O_PATH of the directory, -1 when closed */
	bool no_openat2; /* the kernel or a seccomp filter lacks openat2: resolve links ourselves */
	nfd_read_observer *observer; /* may be NULL */
	void *observer_cookie;
};

/**
 * nfd_root_open() - open a root.
 * @root: filled; to be given to nfd_root_close() also after a failure.
 * @path: directory, absolute or not; a link is followed.
 * @err:  names the path.
 * Return: 0; -ENOENT, -ENOTDIR, -EACCES from open(2); -ENOMEM.
 */
int nfd_root_open(struct nfd_root *root, const char *path, struct nfd_error *err) nfd_must_check;

/**
 * nfd_root_close() - close and free; a zeroed or closed root is fine.
 */
void nfd_root_close(struct nfd_root *root);

/**
 * nfd_root_is_partial() - whether only some folders of a host are mounted below the root, as pods have it
 * (/host/sys, /host/proc and so on in an image's /host): what is missing may be there on the host. Told by
 * mounts: the root is a plain folder of our own root's, and its proc or sys is not.
 * Return: true; false for a whole host, a recording, our own root, and where it cannot be told.
 */
bool nfd_root_is_partial(const struct nfd_root *root);

/**
 * nfd_root_read() - read a whole small file with one read(2): an attribute or a regular file. Files
 * that the kernel makes piecewise (longer than a page, in proc) need nfd_root_read_alloc().
 * @root: borrowed.
 * @path: below the root, no leading slash.
 * @buf:  receives content and a NUL; NUL bytes of the file stay in it.
 * @size: size of @buf; the file may hold at most @size - 1 bytes.
 * Return: bytes read (>= 0); -EFBIG when the file holds more; errno of open(2) and read(2):
 *         nfd_root_is_absent() tells which of them mean that the thing is not there.
 */
ssize_t nfd_root_read(const struct nfd_root *root, const char *path, char *buf, size_t size)
	nfd_must_check;

/**
 * nfd_root_read_line() - read a small attribute file and trim white space of both ends.
 * @buf: receives the text, NUL-terminated; a NUL inside the file ends it.
 * Return: length of the text (>= 0); negative errno as for nfd_root_read().
 */
ssize_t nfd_root_read_line(const struct nfd_root *root, const char *path, char *buf, size_t size)
	nfd_must_check;

/**
 * nfd_root_read_start() - the first bytes of a file of any size (a magic number).
 * @buf: receives up to @size bytes, no NUL added.
 * Return: bytes read; negative errno as for nfd_root_read().
 */
ssize_t nfd_root_read_start(const struct nfd_root *root, const char *path, void *buf, size_t size)
	nfd_must_check;

/**
 * nfd_root_read_alloc() - read a whole file into memory of its own.
 * @max:     greatest size taken, in bytes.
 * @ret_buf: receives malloc'd memory with a NUL behind the content; owner: caller.
 * Return: bytes read; -EFBIG; -ENOMEM; negative errno as for nfd_root_read().
 */
ssize_t nfd_root_read_alloc(const struct nfd_root *root, const char *path, size_t max,
			    char **ret_buf) nfd_must_check;

/**
 * nfd_root_read_regular() - the same for a regular file alone; what is none (a FIFO, a device) is not
 * opened.
 * Return: bytes read; -ENXIO when it is something else; negative errno as for nfd_root_read_alloc().
 */
ssize_t nfd_root_read_regular(const struct nfd_root *root, const char *path, size_t max,
			      char **ret_buf) nfd_must_check;

/**
 * nfd_root_read_end() - the same for the end of a file, for logs.
 * @max: bytes before the end that are wanted; a smaller file is read whole.
 * Return: bytes read; negative errno as for nfd_root_read_alloc().
 */
ssize_t nfd_root_read_end(const struct nfd_root *root, const char *path, size_t max, char **ret_buf)
	nfd_must_check;

/**
 * nfd_root_read_link() - last part of the target of a symbolic link ("nvidia" of a driver link).
 * @buf: receives it, NUL-terminated.
 * Return: length; -ENOENT; -EINVAL when @path is no link; -ENAMETOOLONG.
 */
ssize_t nfd_root_read_link(const struct nfd_root *root, const char *path, char *buf, size_t size)
	nfd_must_check;

/**
 * nfd_root_exists() - whether a path is there, links followed.
 * Return: 1; 0 when absent; negative errno when it cannot be told.
 */
int nfd_root_exists(const struct nfd_root *root, const char *path) nfd_must_check;

/**
 * nfd_root_resolve() - path below the root with every link resolved.
 * @buf:  receives the path without leading slash ("" for the root itself).
 * @size: PATH_MAX is enough.
 * Return: 0; -ENOENT; -ELOOP after 40 links; -ENAMETOOLONG; other errno of readlinkat(2).
 */
int nfd_root_resolve(const struct nfd_root *root, const char *path, char *buf, size_t size)
	nfd_must_check;

/**
 * nfd_root_stat() - what a path is, links resolved inside the root.
 * @ret: filled.
 * Return: 0; -ENOENT and others of nfd_root_resolve() and fstatat(2).
 */
int nfd_root_stat(const struct nfd_root *root, const char *path, struct stat *ret) nfd_must_check;

/**
 * struct nfd_names - names of a directory's entries in byte order, without "." and "..".
 */
struct nfd_names {
	char **name; /* array of @count, owned */
	size_t count;
};

#define cleanup_names __attribute__((cleanup(nfd_names_done)))

/**
 * nfd_root_list() - names in a directory.
 * @ret: receives them; untouched on failure. Owner: caller, nfd_names_done().
 * Return: 0; -E2BIG over one million names; -ENOMEM; errno of open(2) and getdents(2).
 */
int nfd_root_list(const struct nfd_root *root, const char *path, struct nfd_names *ret)
	nfd_must_check;

/**
 * nfd_names_done() - free; a zeroed one is fine.
 */
void nfd_names_done(struct nfd_names *names);

/**
 * nfd_root_is_absent() - whether a negative errno of a read means "is not there".
 * @code: negative errno.
 * Return: true for -ENOENT, -ENOTDIR, -ENODEV and -ENXIO (the device went while we looked); false
 *         for all others, which mean "unknown".
 */
bool nfd_root_is_absent(int code);
