// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stage, fchmod, fsync, rename, fsync of the folder; each step checked, each failure undone.
 */
#include "config.h"

#include "base/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/write.h"

static int fail(const struct nfd_atomic_file *file, const char *step, struct nfd_error *err)
{
	int code = -errno;

	return nfd_error_set(err, code, "cannot %s \"%s/%s\": %s", step, file->dir, file->name,
			     nfd_errno_text(code));
}

static int open_staging(const struct nfd_atomic_file *file)
{
	return openat(file->dirfd, file->staging ? file->staging : ".",
		      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/*
 * Removes what killed writers left. A writer holds a shared lock on the folder while it stages, so
 * whoever gets the exclusive one knows that nobody does; a pid would mean nothing across namespaces.
 */
static void sweep(const struct nfd_atomic_file *file)
{
	cleanup_closedir DIR *dir = NULL;
	struct dirent *entry;
	int fd = open_staging(file);

	if (fd < 0)
		return;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return;
	while ((entry = readdir(dir)) != NULL)
		unlinkat(fd, entry->d_name, 0);
}

int nfd_atomic_file_prepare(const struct nfd_atomic_file *file, struct nfd_error *err)
{
	struct stat st;

	if (!file->staging)
		return 0;
	if (mkdirat(file->dirfd, file->staging, 0700) == 0)
		return 1;
	if (errno != EEXIST) {
		int code = -errno;

		return nfd_error_set(err, code, "cannot make staging folder \"%s/%s\": %s",
				     file->dir, file->staging, nfd_errno_text(code));
	}
	if (fstatat(file->dirfd, file->staging, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !S_ISDIR(st.st_mode))
		return nfd_error_set(err, -ENOTDIR,
				     "\"%s/%s\" is no folder: remove it, it is the place where "
				     "files are staged",
				     file->dir, file->staging);
	sweep(file);
	return 0;
}

/* A name that no other writer of this folder uses; the leading dot hides it from nfd-worker. */
static void temporary_name(const struct nfd_atomic_file *file, char *ret, size_t size)
{
	unsigned int salt = (unsigned int)getpid();

	if (getrandom(&salt, sizeof(salt), GRND_NONBLOCK) < 0)
		salt ^= (unsigned int)time(NULL);
	snprintf(ret, size, ".%.200s.%08x", file->name, salt);
}

/* Everything up to the rename; on failure the temporary file is still there. */
static int stage(const struct nfd_atomic_file *file, int fd, const void *data, size_t len,
		 struct nfd_error *err)
{
	errno = -nfd_write_all(fd, data, len);
	if (errno)
		return fail(file, "write the new content of", err);
	if (fchmod(fd, file->mode) < 0)
		return fail(file, "set the mode of the new", err);
	if (fsync(fd) < 0)
		return fail(file, "sync the new content of", err);
	return 0;
}

int nfd_atomic_file_write(const struct nfd_atomic_file *file, const void *data, size_t len,
			  struct nfd_error *err)
{
	cleanup_close int staging = open_staging(file);
	cleanup_close int fd = -1;
	char name[256];
	int r;

	if (staging < 0)
		return fail(file, "open the staging folder of", err);
	/* Never waits long: the exclusive lock is only held for a sweep. */
	if (file->staging && flock(staging, LOCK_SH) < 0)
		return fail(file, "lock the staging folder of", err);
	temporary_name(file, name, sizeof(name));
	fd = openat(staging, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fail(file, "create a new", err);
	r = stage(file, fd, data, len, err);
	/* Some file systems report a full disk only here. */
	if (close(TAKE_FD(fd)) < 0 && r == 0)
		r = fail(file, "close the new", err);
	if (r == 0 && renameat(staging, name, file->dirfd, file->name) < 0)
		r = fail(file, "rename into place", err);
	if (r < 0) {
		unlinkat(staging, name, 0);
		return r;
	}
	/* The rename is done and visible: a failing sync of the folder is not worth undoing it. */
	fsync(file->dirfd);
	return 0;
}

int nfd_atomic_file_remove(const struct nfd_atomic_file *file, struct nfd_error *err)
{
	struct stat there;

	if (unlinkat(file->dirfd, file->name, 0) == 0)
		return 1;
	/* A read-only mount refuses before it looks; what it has stays a failure to remove. */
	if (errno == EROFS && fstatat(file->dirfd, file->name, &there, AT_SYMLINK_NOFOLLOW) == 0)
		errno = EROFS;
	return errno == ENOENT ? 0 : fail(file, "remove", err);
}

int nfd_atomic_file_remove_staging(const struct nfd_atomic_file *file, struct nfd_error *err)
{
	cleanup_closedir DIR *dir = NULL;
	struct dirent *entry;
	int fd = open_staging(file);

	if (fd < 0)
		return errno == ENOENT ? 0 : fail(file, "open the staging folder of", err);
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return fail(file, "read the staging folder of", err);
	}
	while ((entry = readdir(dir)) != NULL)
		unlinkat(fd, entry->d_name, 0);
	if (unlinkat(file->dirfd, file->staging, AT_REMOVEDIR) < 0)
		return fail(file, "remove the staging folder of", err);
	return 1;
}

/* Splits the path into an open directory (made when missing) and the name in it. */
static int open_parent(const char *path, char dir[PATH_MAX], const char **ret_name, bool make,
		       struct nfd_error *err)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;
	int fd, code;

	if (len >= PATH_MAX || !slash || !slash[1])
		return nfd_error_set(err, -EINVAL, "path \"%s\" is no absolute file name", path);
	/* The slash itself for a file in the top folder. */
	memcpy(dir, path, len ? len : 1);
	dir[len ? len : 1] = '\0';
	*ret_name = slash + 1;
	if (make)
		mkdir(dir, 0755);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	code = fd < 0 ? -errno : 0;
	if (fd < 0)
		return nfd_error_set(err, code, "cannot open \"%s\": %s", dir,
				     nfd_errno_text(code));
	return fd;
}

int nfd_atomic_file_put(const char *path, bool make_dir, const void *data, size_t len,
			struct nfd_error *err)
{
	struct nfd_atomic_file file = { .mode = 0644 };
	char dir[PATH_MAX];
	cleanup_close int dirfd = open_parent(path, dir, &file.name, make_dir, err);

	if (dirfd < 0)
		return dirfd;
	file.dirfd = dirfd;
	file.dir = dir;
	return nfd_atomic_file_write(&file, data, len, err);
}
