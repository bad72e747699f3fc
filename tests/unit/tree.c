// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes and removes the trees. Any failure here fails the test that asked.
 */
#include "config.h"

#include "tests/unit/tree.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define TREES_MAX 8
#define ROOTS_MAX 8

static char trees[TREES_MAX][PATH_MAX];
static size_t tree_count;
static struct nfd_root roots[ROOTS_MAX];
static size_t root_count;

const char *tree_new(void)
{
	const char *dir = secure_getenv("TMPDIR");
	char *path;

	assert_true(tree_count < TREES_MAX);
	path = trees[tree_count];
	snprintf(path, PATH_MAX, "%s/nfd-source-unit-XXXXXX", dir && *dir ? dir : "/tmp");
	assert_non_null(mkdtemp(path));
	tree_count++;
	return path;
}

const char *tree_path(const char *tree, const char *path)
{
	return unit_text("%s/%s", tree, path);
}

/* mkdir -p of everything above the last slash. */
static void make_parents(const char *tree, const char *path)
{
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/'))
		mkdir(unit_text("%s/%.*s", tree, (int)(slash - path), path), 0755);
}

void tree_bytes(const char *tree, const char *path, const void *data, size_t len)
{
	FILE *file;

	make_parents(tree, path);
	file = fopen(tree_path(tree, path), "we");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

void tree_file(const char *tree, const char *path, const char *text)
{
	tree_bytes(tree, path, text, strlen(text));
}

const char *tree_program(const char *tree, const char *path, const char *text)
{
	tree_file(tree, path, unit_text("#!/bin/sh\n%s\n", text));
	assert_int_equal(chmod(tree_path(tree, path), 0755), 0);
	return tree_path(tree, path);
}

static void add_entry(const char *tree, const struct tree_entry *entry)
{
	const char *path = tree_path(tree, entry->path);

	make_parents(tree, entry->path);
	switch (entry->kind) {
	case TREE_FILE:
		tree_file(tree, entry->path, entry->text);
		break;
	case TREE_LINK:
		assert_int_equal(symlink(entry->text, path), 0);
		break;
	case TREE_DIR:
		mkdir(path, 0755);
		break;
	case TREE_FIFO:
		assert_int_equal(mkfifo(path, 0644), 0);
		break;
	case TREE_END:
		break;
	}
}

void tree_fill(const char *tree, const struct tree_entry *entry)
{
	for (; entry->kind != TREE_END; entry++)
		add_entry(tree, entry);
}

const char *tree_read(const char *tree, const char *path)
{
	FILE *file = fopen(tree_path(tree, path), "re");
	struct stat st;
	char *text;

	if (!file)
		return NULL;
	assert_int_equal(fstat(fileno(file), &st), 0);
	text = unit_bytes((size_t)st.st_size + 1);
	assert_int_equal(fread(text, 1, (size_t)st.st_size, file), st.st_size);
	fclose(file);
	return text;
}

const char *tree_list(const char *tree, const char *path)
{
	struct dirent **entries;
	const char *text = "";
	int count = scandir(tree_path(tree, path), &entries, NULL, alphasort);

	if (count < 0)
		return NULL;
	for (int i = 0; i < count; i++) {
		if (strcmp(entries[i]->d_name, ".") != 0 && strcmp(entries[i]->d_name, "..") != 0)
			text = unit_text("%s%s ", text, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return text;
}

struct nfd_root *tree_root(const char *tree, bool no_openat2)
{
	struct nfd_root *root;

	assert_true(root_count < ROOTS_MAX);
	root = &roots[root_count];
	assert_int_equal(nfd_root_open(root, tree, NULL), 0);
	root_count++;
	root->no_openat2 = no_openat2;
	return root;
}

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

void tree_remove_all(void)
{
	while (root_count)
		nfd_root_close(&roots[--root_count]);
	while (tree_count)
		nftw(trees[--tree_count], remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
