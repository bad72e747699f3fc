/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writer of POSIX ustar archives: files and links of a recording, nothing else. A library would
 * bring a dozen shared objects into every start of the program.
 */
#pragma once

#include <stddef.h>

#include "base/macros.h"

/**
 * nfd_tar_file() - append a regular file (mode 0644, owner 0, time 0).
 * @fd:   archive.
 * @path: name in the archive, at most 255 bytes, of which the last part at most 100.
 * @data: @len bytes.
 * Return: 0; -ENAMETOOLONG; errno of write(2).
 */
int nfd_tar_file(int fd, const char *path, const char *data, size_t len) nfd_must_check;

/**
 * nfd_tar_link() - append a symbolic link.
 * @target: at most 100 bytes.
 * Return: as above.
 */
int nfd_tar_link(int fd, const char *path, const char *target) nfd_must_check;

/**
 * nfd_tar_dir() - append a directory (mode 0755).
 * Return: as above.
 */
int nfd_tar_dir(int fd, const char *path) nfd_must_check;

/**
 * nfd_tar_end() - write the two empty blocks that end an archive.
 * Return: 0; errno of write(2).
 */
int nfd_tar_end(int fd) nfd_must_check;
