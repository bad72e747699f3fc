// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The directory is opened anew for each step: it may be replaced, remounted or gone, and each step
 * must say so by itself. A features.d that is a link is followed.
 */
#include "config.h"

#include "output/feature_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/strbuf.h"
#include "output/feature_text.h"

bool nfd_feature_file_is_on(const struct nfd_feature_file_options *options, const char **ret_why)
{
	struct stat st;

	if (options->mode == NFD_MODE_ON) {
		*ret_why = "outputs.featureFile.mode is on";
		return true;
	}
	if (options->mode == NFD_MODE_OFF) {
		*ret_why = "outputs.featureFile.mode is off";
		return false;
	}
	if (stat(options->dir, &st) == 0 && S_ISDIR(st.st_mode)) {
		*ret_why = "outputs.featureFile.mode is auto and the directory exists";
		return true;
	}
	*ret_why = "outputs.featureFile.mode is auto and the directory does not exist";
	return false;
}

static int open_dir(const struct nfd_feature_file_options *options, struct nfd_error *err)
{
	int fd = open(options->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0) {
		int code = -errno;

		return nfd_error_set(err, code, "cannot open \"%s\": %s", options->dir,
				     nfd_errno_text(code));
	}
	return fd;
}

static struct nfd_atomic_file atomic_file(const struct nfd_feature_file_options *options, int dirfd)
{
	return (struct nfd_atomic_file){
		.dirfd = dirfd,
		.dir = options->dir,
		.staging = NFD_STAGING_DIR,
		.name = options->name,
		.mode = 0644,
	};
}

void nfd_feature_file_state_done(struct nfd_feature_file_state *state)
{
	nfd_set_done(&state->labels);
	free(state->text);
	*state = (struct nfd_feature_file_state){ 0 };
}

/* Reads up to the cap of a feature file into malloc'd text. */
static int read_text(int fd, char **ret_text)
{
	cleanup_free char *text = malloc(NFD_FEATURE_FILE_MAX + 2);
	size_t len = 0;
	ssize_t n;

	if (!text)
		return -ENOMEM;
	while ((n = read(fd, text + len, NFD_FEATURE_FILE_MAX + 1 - len)) != 0) {
		if (n < 0 && errno != EINTR)
			return -errno;
		len += n > 0 ? (size_t)n : 0;
		if (len > NFD_FEATURE_FILE_MAX)
			return -EFBIG;
	}
	text[len] = '\0';
	*ret_text = TAKE_PTR(text);
	return 0;
}

static int parse_state(struct nfd_feature_file_state *state, int64_t now_s)
{
	cleanup_free char *copy = strdup(state->text);

	if (!copy)
		return -ENOMEM;
	return nfd_feature_text_parse(copy, now_s, &state->labels, &state->expiry_s);
}

int nfd_feature_file_read(const struct nfd_feature_file_options *options, int64_t now_s,
			  struct nfd_feature_file_state *ret, struct nfd_error *err)
{
	cleanup_close int dirfd = -1;
	cleanup_close int fd = -1;
	struct stat st;
	int r;

	*ret = (struct nfd_feature_file_state){ 0 };
	dirfd = open_dir(options, err);
	if (dirfd < 0)
		return dirfd == -ENOENT ? 0 : dirfd;
	fd = openat(dirfd, options->name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return 0;
	r = fd < 0 || fstat(fd, &st) < 0 ? -errno : 0;
	if (r == 0) {
		ret->exists = true;
		ret->changed_ms = (int64_t)st.st_ctim.tv_sec * 1000 + st.st_ctim.tv_nsec / 1000000;
		r = read_text(fd, &ret->text);
	}
	if (r == 0)
		r = parse_state(ret, now_s);
	if (r < 0) {
		nfd_feature_file_state_done(ret);
		return nfd_error_set(err, r, "cannot read \"%s/%s\": %s", options->dir,
				     options->name, nfd_errno_text(r));
	}
	return 0;
}

/* The text that a write would give, but for the expiry line. */
static bool has_same_lines(const struct nfd_feature_file_options *options,
			   const struct nfd_feature_file_state *state, const struct nfd_set *set)
{
	cleanup_strbuf struct nfd_strbuf wanted = { 0 };
	size_t left_out;

	if (!state->text || (options->lifetime_ms != 0) != (state->expiry_s != 0))
		return false;
	if (nfd_feature_text_render(set, state->expiry_s, &wanted, &left_out) < 0)
		return false;
	return strcmp(nfd_strbuf_text(&wanted), state->text) == 0;
}

bool nfd_feature_file_needs_write(const struct nfd_feature_file_options *options,
				  const struct nfd_feature_file_state *state,
				  const struct nfd_set *set, int64_t now_s)
{
	if (!has_same_lines(options, state, set))
		return true;
	return options->lifetime_ms && (state->expiry_s - now_s) * 2000 <= options->lifetime_ms;
}

/* mkdir -p for the folders of an absolute or relative path, mode 0755 whatever the umask. */
static int make_dirs(const char *path)
{
	char part[PATH_MAX];
	size_t len = strlen(path);

	if (len >= sizeof(part))
		return -ENAMETOOLONG;
	for (size_t i = 1; i <= len; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		if (mkdir(part, 0755) == 0)
			chmod(part, 0755);
		else if (errno != EEXIST)
			return -errno;
	}
	return 0;
}

/* Opens features.d, made when it is missing. */
static int open_or_make_dir(const struct nfd_feature_file_options *options,
			    struct nfd_feature_file_report *report, struct nfd_error *err)
{
	struct stat st;
	int r;

	report->made_dir = false;
	if (stat(options->dir, &st) < 0 && errno == ENOENT) {
		r = make_dirs(options->dir);
		if (r < 0)
			return nfd_error_set(err, r, "cannot make directory \"%s\": %s",
					     options->dir, nfd_errno_text(r));
		report->made_dir = true;
	}
	return open_dir(options, err);
}

int nfd_feature_file_prepare(const struct nfd_feature_file_options *options,
			     struct nfd_feature_file_report *report, struct nfd_error *err)
{
	cleanup_close int dirfd = open_or_make_dir(options, report, err);
	struct nfd_atomic_file file;
	int r;

	if (dirfd < 0)
		return dirfd;
	file = atomic_file(options, dirfd);
	r = nfd_atomic_file_prepare(&file, err);
	return r < 0 ? r : 0;
}

int nfd_feature_file_give(const struct nfd_feature_file_options *options, uid_t uid, gid_t gid,
			  struct nfd_feature_file_report *report, struct nfd_error *err)
{
	cleanup_close int dirfd = open_or_make_dir(options, report, err);
	struct nfd_atomic_file file;
	struct stat st;
	int r;

	if (dirfd < 0)
		return dirfd;
	if (fstat(dirfd, &st) == 0 && st.st_uid == uid && st.st_gid == gid)
		return 0;
	file = atomic_file(options, dirfd);
	/* Of another user, and we may do nothing there but change owners: an init container. */
	if (fchown(dirfd, geteuid(), (gid_t)-1) == 0 && file.staging)
		(void)!fchownat(dirfd, file.staging, geteuid(), (gid_t)-1, AT_SYMLINK_NOFOLLOW);
	/* Its new owner makes one; files that are there are replaced by name, whoever they belong to. */
	r = nfd_atomic_file_remove_staging(&file, err);
	if (r < 0)
		return r;
	if (fchown(dirfd, uid, gid) < 0) {
		r = -errno;
		return nfd_error_set(err, r, "cannot give \"%s\" to %u:%u: %s", options->dir,
				     (unsigned int)uid, (unsigned int)gid, nfd_errno_text(r));
	}
	return 1;
}

int nfd_feature_file_write(const struct nfd_feature_file_options *options,
			   const struct nfd_set *set, int64_t now_s,
			   struct nfd_feature_file_report *report, struct nfd_error *err)
{
	cleanup_strbuf struct nfd_strbuf text = { 0 };
	struct nfd_atomic_file file;
	cleanup_close int dirfd = -1;
	int r;

	report->expiry_s = options->lifetime_ms ? now_s + (options->lifetime_ms + 999) / 1000 : 0;
	r = nfd_feature_text_render(set, report->expiry_s, &text, &report->left_out);
	if (r < 0)
		return nfd_error_set(err, r, "out of memory");
	report->labels = (size_t)r;
	dirfd = open_dir(options, err);
	if (dirfd < 0)
		return dirfd;
	file = atomic_file(options, dirfd);
	/* The folder may have been taken away since the start; making it again is the lesser evil. */
	r = nfd_atomic_file_prepare(&file, err);
	if (r < 0)
		return r;
	return nfd_atomic_file_write(&file, text.data ? text.data : "", text.len, err);
}

int nfd_feature_file_touch(const struct nfd_feature_file_options *options, struct nfd_error *err)
{
	cleanup_close int dirfd = open_dir(options, err);

	if (dirfd < 0)
		return dirfd;
	if (utimensat(dirfd, options->name, NULL, 0) < 0) {
		int code = -errno;

		return nfd_error_set(err, code, "cannot touch \"%s/%s\": %s", options->dir,
				     options->name, nfd_errno_text(code));
	}
	return 0;
}

int nfd_feature_file_remove(const struct nfd_feature_file_options *options, struct nfd_error *err)
{
	cleanup_close int dirfd = open_dir(options, err);
	struct nfd_atomic_file file = atomic_file(options, dirfd);

	if (dirfd < 0)
		return dirfd == -ENOENT ? 0 : dirfd;
	return nfd_atomic_file_remove(&file, err);
}

int nfd_feature_file_remove_staging(const struct nfd_feature_file_options *options,
				    struct nfd_error *err)
{
	cleanup_close int dirfd = open_dir(options, err);
	struct nfd_atomic_file file = atomic_file(options, dirfd);

	if (dirfd < 0)
		return dirfd == -ENOENT ? 0 : dirfd;
	return nfd_atomic_file_remove_staging(&file, err);
}
