// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads below one directory. openat2(2) with RESOLVE_IN_ROOT does the work; where it is missing
 * (before Linux 5.6, or refused by a seccomp filter) the links are walked here instead.
 */
#include "config.h"

#include "base/root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/parse.h"

#define LINKS_MAX 40
#define NAMES_MAX 1000000

int nfd_root_open(struct nfd_root *root, const char *path, struct nfd_error *err)
{
	*root = (struct nfd_root){ .fd = -1 };
	root->path = strdup(path);
	if (!root->path)
		return nfd_error_set(err, -ENOMEM, "out of memory");
	root->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root->fd < 0) {
		int code = -errno;

		return nfd_error_set(err, code, "cannot open root \"%s\": %s", path,
				     nfd_errno_text(code));
	}
	return 0;
}

void nfd_root_close(struct nfd_root *root)
{
	/* A zeroed root has no path and owns no fd, though its fd reads 0. */
	if (root->path && root->fd >= 0)
		close(root->fd);
	free(root->path);
	*root = (struct nfd_root){ .fd = -1 };
}

/* The number of the mount that a folder lies in, as the kernel counts them; -1 when it cannot be told. */
static long mount_of(int dirfd, const char *path)
{
	cleanup_close int fd = openat(dirfd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_close int info = -1;
	char name[64], text[512];
	const char *line;
	ssize_t len;

	snprintf(name, sizeof(name), "/proc/self/fdinfo/%d", fd);
	info = fd < 0 ? -1 : open(name, O_RDONLY | O_CLOEXEC);
	len = info < 0 ? -1 : read(info, text, sizeof(text) - 1);
	if (len < 0)
		return -1;
	text[len] = '\0';
	line = strstr(text, "mnt_id:");
	return line ? strtol(line + strlen("mnt_id:"), NULL, 10) : -1;
}

bool nfd_root_is_partial(const struct nfd_root *root)
{
	static const char *const folders[] = { "proc", "sys" };
	long own = mount_of(AT_FDCWD, "/"), below;
	struct stat ours, roots;

	if (own < 0 || mount_of(root->fd, ".") != own)
		return false;
	if (stat("/", &ours) < 0 || fstat(root->fd, &roots) < 0 ||
	    (ours.st_dev == roots.st_dev && ours.st_ino == roots.st_ino))
		return false;
	for (size_t i = 0; i < NFD_ARRAY_SIZE(folders); i++) {
		below = mount_of(root->fd, folders[i]);
		if (below >= 0 && below != own)
			return true;
	}
	return false;
}

bool nfd_root_is_absent(int code)
{
	return code == -ENOENT || code == -ENOTDIR || code == -ENODEV || code == -ENXIO;
}

static void observe(const struct nfd_root *root, enum nfd_read_kind kind, const char *path,
		    const char *data, size_t len)
{
	if (root->observer)
		root->observer(root->observer_cookie, kind, path, data, len);
}

/* Drops the last component of @path in place. */
static void drop_last(char *path)
{
	char *slash = strrchr(path, '/');

	*(slash ? slash : path) = '\0';
}

/* Puts the link target @link in front of @rest (a buffer of PATH_MAX). */
static int prepend_target(char *rest, const char *link)
{
	size_t link_len = strlen(link), rest_len = strlen(rest);

	if (link_len + 1 + rest_len >= PATH_MAX)
		return -ENAMETOOLONG;
	memmove(rest + link_len + 1, rest, rest_len + 1);
	memcpy(rest, link, link_len);
	rest[link_len] = '/';
	return 0;
}

/* Takes the first component off @rest into @name. Returns its length, 0 at the end. */
static size_t take_component(char *rest, char name[NAME_MAX + 1])
{
	size_t skip = strspn(rest, "/");
	size_t len = strcspn(rest + skip, "/");

	if (len > NAME_MAX)
		len = NAME_MAX;
	memcpy(name, rest + skip, len);
	name[len] = '\0';
	memmove(rest, rest + skip + len, strlen(rest + skip + len) + 1);
	return len;
}

/* One step of the walk: appends @name to @done, or replaces it by its link target in @rest. */
static int walk_component(const struct nfd_root *root, char *done, size_t size, char *rest,
			  const char *name, bool follow, int *links)
{
	char target[PATH_MAX];
	size_t len = strlen(done);
	ssize_t n;

	if (strcmp(name, ".") == 0)
		return 0;
	if (strcmp(name, "..") == 0) {
		drop_last(done);
		return 0;
	}
	if (len + 1 + strlen(name) >= size)
		return -ENAMETOOLONG;
	if (len)
		done[len] = '/';
	memcpy(done + len + (len ? 1 : 0), name, strlen(name) + 1);
	n = readlinkat(root->fd, done, target, sizeof(target) - 1);
	if (n < 0)
		return errno == EINVAL ? 0 : -errno;
	if (!follow)
		return 0;
	if (++*links > LINKS_MAX)
		return -ELOOP;
	target[n] = '\0';
	observe(root, NFD_READ_LINK, done, target, (size_t)n);
	if (target[0] == '/')
		done[0] = '\0';
	else
		drop_last(done);
	return prepend_target(rest, target);
}

static int resolve(const struct nfd_root *root, const char *path, bool follow_last, char *buf,
		   size_t size)
{
	char rest[PATH_MAX], name[NAME_MAX + 1];
	int links = 0, r;

	if (strlen(path) >= sizeof(rest) || size == 0)
		return -ENAMETOOLONG;
	memcpy(rest, path, strlen(path) + 1);
	buf[0] = '\0';
	while (take_component(rest, name) > 0) {
		bool last = rest[strspn(rest, "/")] == '\0';

		r = walk_component(root, buf, size, rest, name, !last || follow_last, &links);
		if (r < 0)
			return r;
	}
	return 0;
}

int nfd_root_resolve(const struct nfd_root *root, const char *path, char *buf, size_t size)
{
	return resolve(root, path, true, buf, size);
}

static int open_by_walk(const struct nfd_root *root, const char *path, int flags)
{
	char real[PATH_MAX];
	int fd, r;

	r = resolve(root, path, !(flags & O_NOFOLLOW), real, sizeof(real));
	if (r < 0)
		return r;
	fd = openat(root->fd, real[0] ? real : ".", flags | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

static int open_below(const struct nfd_root *root, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned int)(flags | O_CLOEXEC),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	long fd;

	if (!root->no_openat2) {
		fd = syscall(SYS_openat2, root->fd, path, &how, sizeof(how));
		if (fd >= 0)
			return (int)fd;
		/* EPERM: seccomp filters older than openat2. EAGAIN: a rename raced with "..". */
		if (errno != ENOSYS && errno != EPERM && errno != EAGAIN)
			return -errno;
	}
	return open_by_walk(root, path, flags | O_CLOEXEC);
}

/* Reads until @size bytes or the end. Returns the number of bytes, or -errno. */
static ssize_t read_fully(int fd, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t n;

	while (len < size) {
		n = read(fd, buf + len, size - len);
		if (n < 0 && errno == EINTR)
			continue;
		/* A FIFO or tty without a writer: nothing to read is an empty file. */
		if (n < 0)
			return errno == EAGAIN ? (ssize_t)len : -errno;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	return (ssize_t)len;
}

ssize_t nfd_root_read_start(const struct nfd_root *root, const char *path, void *buf, size_t size)
{
	cleanup_close int fd = open_below(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	ssize_t len;

	if (fd < 0)
		return fd;
	len = read_fully(fd, buf, size);
	if (len >= 0)
		observe(root, NFD_READ_FILE, path, buf, (size_t)len);
	return len;
}

ssize_t nfd_root_read(const struct nfd_root *root, const char *path, char *buf, size_t size)
{
	cleanup_close int fd = open_below(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	ssize_t len;

	if (fd < 0)
		return fd;
	/* The kernel hands out a whole attribute, and a regular file, in one read. */
	do
		len = read(fd, buf, size);
	while (len < 0 && errno == EINTR);
	/* A FIFO whose writer says nothing is an empty file. */
	if (len < 0 && errno == EAGAIN)
		len = 0;
	if (len < 0)
		return -errno;
	if ((size_t)len == size)
		return -EFBIG;
	buf[len] = '\0';
	observe(root, NFD_READ_FILE, path, buf, (size_t)len);
	return len;
}

ssize_t nfd_root_read_line(const struct nfd_root *root, const char *path, char *buf, size_t size)
{
	ssize_t len = nfd_root_read(root, path, buf, size);
	char *text;

	if (len < 0)
		return len;
	text = nfd_trim(buf);
	len = (ssize_t)strlen(text);
	memmove(buf, text, (size_t)len + 1);
	return len;
}

/* Reads on to the end of a file. */
static ssize_t read_rest(const struct nfd_root *root, const char *path, int fd, size_t max,
			 char **ret_buf)
{
	cleanup_free char *buf = NULL;
	size_t size = 4096, len = 0;
	ssize_t n;

	for (;;) {
		char *bigger = realloc(buf, size + 1);

		if (!bigger)
			return -ENOMEM;
		buf = bigger;
		n = read_fully(fd, buf + len, size - len);
		if (n < 0)
			return n;
		len += (size_t)n;
		if (len > max)
			return -EFBIG;
		if (len < size)
			break;
		size *= 2;
	}
	buf[len] = '\0';
	observe(root, NFD_READ_FILE, path, buf, len);
	*ret_buf = TAKE_PTR(buf);
	return (ssize_t)len;
}

ssize_t nfd_root_read_alloc(const struct nfd_root *root, const char *path, size_t max,
			    char **ret_buf)
{
	cleanup_close int fd = open_below(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);

	return fd < 0 ? fd : read_rest(root, path, fd, max, ret_buf);
}

ssize_t nfd_root_read_regular(const struct nfd_root *root, const char *path, size_t max,
			      char **ret_buf)
{
	cleanup_close int fd = -1;
	struct stat st;
	int r = nfd_root_stat(root, path, &st);

	if (r < 0 || !S_ISREG(st.st_mode))
		return r < 0 ? r : -ENXIO;
	fd = open_below(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return fd;
	/* It may have become another one meanwhile. */
	if (fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? read_rest(root, path, fd, max, ret_buf) : -ENXIO;
}

ssize_t nfd_root_read_end(const struct nfd_root *root, const char *path, size_t max, char **ret_buf)
{
	cleanup_close int fd = open_below(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISREG(st.st_mode) && st.st_size > (off_t)max &&
	    lseek(fd, st.st_size - (off_t)max, SEEK_SET) < 0)
		return -errno;
	/* The file may grow meanwhile. */
	return read_rest(root, path, fd, 2 * max, ret_buf);
}

ssize_t nfd_root_read_link(const struct nfd_root *root, const char *path, char *buf, size_t size)
{
	cleanup_close int fd = open_below(root, path, O_PATH | O_NOFOLLOW);
	char target[PATH_MAX];
	const char *base;
	ssize_t n;

	if (fd < 0)
		return fd;
	n = readlinkat(fd, "", target, sizeof(target) - 1);
	if (n < 0)
		return errno == ENOENT ? -EINVAL : -errno;
	target[n] = '\0';
	observe(root, NFD_READ_LINK, path, target, (size_t)n);
	base = strrchr(target, '/');
	base = base ? base + 1 : target;
	if (strlen(base) >= size)
		return -ENAMETOOLONG;
	memcpy(buf, base, strlen(base) + 1);
	return (ssize_t)strlen(base);
}

int nfd_root_exists(const struct nfd_root *root, const char *path)
{
	cleanup_close int fd = open_below(root, path, O_PATH);
	struct stat st;

	if (fd < 0)
		return nfd_root_is_absent(fd) ? 0 : fd;
	if (root->observer && fstat(fd, &st) == 0)
		observe(root, S_ISDIR(st.st_mode) ? NFD_READ_DIR : NFD_READ_FILE, path, "", 0);
	return 1;
}

void nfd_names_done(struct nfd_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->name[i]);
	free(names->name);
	*names = (struct nfd_names){ 0 };
}

static int add_name(struct nfd_names *names, const char *name)
{
	/* The array doubles whenever the count reaches a power of two. */
	if ((names->count & (names->count - 1)) == 0) {
		size_t size = names->count ? names->count * 2 : 1;
		char **bigger = realloc(names->name, size * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		names->name = bigger;
	}
	names->name[names->count] = strdup(name);
	if (!names->name[names->count])
		return -ENOMEM;
	names->count++;
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int read_names(DIR *dir, struct nfd_names *names)
{
	struct dirent *entry;
	int r;

	while ((errno = 0, entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (names->count >= NAMES_MAX)
			return -E2BIG;
		r = add_name(names, entry->d_name);
		if (r < 0)
			return r;
	}
	return -errno;
}

int nfd_root_list(const struct nfd_root *root, const char *path, struct nfd_names *ret)
{
	cleanup_names struct nfd_names names = { 0 };
	cleanup_close int fd = open_below(root, path, O_RDONLY | O_DIRECTORY);
	cleanup_closedir DIR *dir = NULL;
	int r;

	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir)
		return -errno;
	TAKE_FD(fd); /* the stream owns it now */
	r = read_names(dir, &names);
	if (r < 0)
		return r;
	if (names.count)
		qsort(names.name, names.count, sizeof(*names.name), compare_names);
	observe(root, NFD_READ_DIR, path, NULL, 0);
	*ret = names;
	names = (struct nfd_names){ 0 };
	return 0;
}

int nfd_root_stat(const struct nfd_root *root, const char *path, struct stat *ret)
{
	char real[PATH_MAX];
	int r = nfd_root_resolve(root, path, real, sizeof(real));

	if (r < 0)
		return r;
	return fstatat(root->fd, real[0] ? real : ".", ret, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}
