// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nfd-worker runs as an unprivileged user, so a file that others may not read is skipped.
 */
#include "config.h"

#include "doctor/feature_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/parse.h"
#include "base/root.h"
#include "base/strbuf.h"
#include "labels/key.h"

#define FEATURE_FILE_MAX 65536
#define EXPIRY "# +expiry-time="

/* Keys without prefix are completed by NFD. */
static void take_line(struct nfd_feature_dir_file *file, char *line)
{
	char key[NFD_LABEL_KEY_SIZE + 64];
	struct nfd_label label = { .key = key, .rank = NFD_RANK_NORMAL };
	char *equals;

	line = nfd_trim(line);
	if (!*line || *line == '#')
		return;
	equals = strchr(line, '=');
	if (equals)
		*equals = '\0';
	label.value = equals ? equals + 1 : (char[]){ "true" };
	snprintf(key, sizeof(key), "%s%s", strchr(line, '/') ? "" : NFD_FEATURE_PREFIX, line);
	if (!nfd_label_value_is_valid(label.value) && label.value[0] != '@') {
		snprintf(file->bad_value, sizeof(file->bad_value), "%.80s=%.100s", line,
			 label.value);
		return;
	}
	/* What is no label key is no label to NFD either. */
	if (nfd_set_put(&file->labels, &label) < 0)
		return;
}

/* What to do about a file: words for a shell, which its name must not change. */
static void advise(struct nfd_feature_dir_file *file, const char *command, const char *comment)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };

	nfd_strbuf_puts(&buf, command);
	nfd_strbuf_put_word(&buf, file->path);
	nfd_strbuf_puts(&buf, comment);
	snprintf(file->advice, sizeof(file->advice), "%s", nfd_strbuf_text(&buf));
}

/* The command that takes the dot from the front of the name. */
static void advise_rename(struct nfd_feature_dir_file *file)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	char path[sizeof(file->path)];
	int folder = (int)(strlen(file->path) - strlen(file->name));

	snprintf(path, sizeof(path), "%.*s%s", folder, file->path, file->name + 1);
	nfd_strbuf_puts(&buf, "mv ");
	nfd_strbuf_put_word(&buf, file->path);
	nfd_strbuf_puts(&buf, " ");
	nfd_strbuf_put_word(&buf, path);
	nfd_strbuf_puts(&buf, "    # without the dot");
	snprintf(file->advice, sizeof(file->advice), "%s", nfd_strbuf_text(&buf));
}

static void take_text(struct nfd_feature_dir_file *file, char *text)
{
	bool expired = false;
	int64_t expiry_s;
	char *line;

	while ((line = strsep(&text, "\n")) != NULL) {
		if (strncmp(line, EXPIRY, strlen(EXPIRY)) != 0) {
			if (!expired)
				take_line(file, line);
			continue;
		}
		/* It covers what stands behind it. */
		expired = nfd_parse_time(nfd_trim(line + strlen(EXPIRY)), &expiry_s) == 0 &&
			  expiry_s < nfd_clock_real_s();
		if (!expired)
			continue;
		snprintf(file->skipped, sizeof(file->skipped), "its labels expired on %.40s",
			 line + strlen(EXPIRY));
		advise(file, "# start the program that writes it, or: rm ", "");
	}
}

static void read_file(const struct nfd_root *root, struct nfd_feature_dir_file *file)
{
	cleanup_free char *text = NULL;
	struct stat st;
	ssize_t len;

	if (fstatat(root->fd, file->name, &st, 0) < 0 || !S_ISREG(st.st_mode))
		return;
	if (file->name[0] == '.') {
		snprintf(file->skipped, sizeof(file->skipped), "its name begins with a dot");
		advise_rename(file);
		return;
	}
	if (!(st.st_mode & S_IROTH)) {
		snprintf(file->skipped, sizeof(file->skipped),
			 "its mode is %04o, and nfd-worker is no root", st.st_mode & 07777);
		advise(file, "chmod 0644 ", "");
	}
	len = nfd_root_read_alloc(root, file->name, FEATURE_FILE_MAX, &text);
	if (len == -EFBIG) {
		snprintf(file->skipped, sizeof(file->skipped), "it is larger than 65,536 bytes");
		advise(file, "# make it smaller: ", "");
	}
	if (len > 0)
		take_text(file, text);
}

int nfd_feature_dir_read(const char *dir, nfd_feature_dir_visitor *visitor, void *cookie)
{
	cleanup_names struct nfd_names names = { 0 };
	struct nfd_root root = { 0 };
	int r = nfd_root_open(&root, dir, NULL);

	if (r == 0)
		r = nfd_root_list(&root, ".", &names);
	for (size_t i = 0; r == 0 && i < names.count; i++) {
		struct nfd_feature_dir_file file = { .name = names.name[i] };

		snprintf(file.path, sizeof(file.path), "%s/%s", dir, names.name[i]);
		read_file(&root, &file);
		visitor(cookie, &file);
		nfd_set_done(&file.labels);
	}
	nfd_root_close(&root);
	return r < 0 ? r : (int)names.count;
}
