/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Temporary directories that stand in for a host: made by a test, removed after it.
 */
#pragma once

#include <stddef.h>

#include "base/root.h"

enum tree_kind { TREE_END, TREE_FILE, TREE_LINK, TREE_DIR, TREE_FIFO };

struct tree_entry {
	enum tree_kind kind;
	const char *path; /* below the tree; folders above it are made */
	const char *text; /* content of a file, target of a link */
};

/* Entries of a table; an array of them ends with a zeroed one. */
#define FILE_AT(path, text)           \
	{                             \
		TREE_FILE, path, text \
	}
#define LINK_AT(path, target)           \
	{                               \
		TREE_LINK, path, target \
	}
#define DIR_AT(path)               \
	{                          \
		TREE_DIR, path, "" \
	}
#define FIFO_AT(path)               \
	{                           \
		TREE_FIFO, path, "" \
	}

#define TREE_PCI "sys/bus/pci/devices/"

/* The uevent file of a PCI function: ADDRESS, "30200", "10DE:27B8", "nvidia". */
#define PCI_AT(address, class, ids, driver) \
	FILE_AT(TREE_PCI address "/uevent", \
		"DRIVER=" driver "\nPCI_CLASS=" class "\nPCI_ID=" ids "\n")
#define PCI_UNBOUND_AT(address, class, ids) \
	FILE_AT(TREE_PCI address "/uevent", "PCI_CLASS=" class "\nPCI_ID=" ids "\n")

/**
 * tree_new() - an empty directory below $TMPDIR or /tmp.
 * Return: its path; it and its content go at the end of the test.
 */
const char *tree_new(void);

/**
 * tree_fill() - add entries up to the zeroed one that ends them.
 */
void tree_fill(const char *tree, const struct tree_entry *entry);

/**
 * tree_file() - write a file with @text; tree_bytes() with @len bytes.
 */
void tree_file(const char *tree, const char *path, const char *text);
void tree_bytes(const char *tree, const char *path, const void *data, size_t len);

/**
 * tree_program() - write a shell script that can be run.
 * @text: what stands below "#!/bin/sh".
 * Return: its path, lives until the end of the test.
 */
const char *tree_program(const char *tree, const char *path, const char *text);

/**
 * tree_path() - path of something in a tree, lives until the end of the test.
 */
const char *tree_path(const char *tree, const char *path);

/**
 * tree_read() - content of a file, lives until the end of the test; NULL when there is none.
 */
const char *tree_read(const char *tree, const char *path);

/**
 * tree_list() - names in a folder with a blank behind each, in byte order; NULL without the folder.
 */
const char *tree_list(const char *tree, const char *path);

/**
 * tree_root() - open a tree as a root; closed at the end of the test.
 * @no_openat2: resolve links by walking, as on a kernel without openat2.
 */
struct nfd_root *tree_root(const char *tree, bool no_openat2);

/**
 * tree_remove_all() - close the roots and remove the trees of a test; unit_run() calls it.
 */
void tree_remove_all(void);
