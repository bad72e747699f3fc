/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel said of NVIDIA's driver: lines of its log that mean something (spec gpu-stack.md
 * 2.1). From /dev/kmsg of the running host, or the log files below a root.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/root.h"

enum nfd_log_kind {
	NFD_KERNEL_API_MISMATCH,
	NFD_KERNEL_INIT_FAILED, /* RmInitAdapter failed */
	NFD_KERNEL_FIRMWARE,    /* GSP firmware missing */
	NFD_KERNEL_LEGACY,      /* ignoring the legacy GPU */
	NFD_KERNEL_SIGNATURE,   /* the module's signature was rejected */
	NFD_KERNEL_XID,         /* a fault; @number has which */
};

struct nfd_log_line {
	enum nfd_log_kind kind;
	unsigned int number; /* of an Xid */
	char address[24];    /* PCI address it names, with function; "" for none */
	char text[240];      /* the line behind the kernel's stamp */
};

#define NFD_KERNEL_LINES_MAX 64

struct nfd_kernel_log {
	struct nfd_log_line
		line[NFD_KERNEL_LINES_MAX]; /* newest last; the newest when there are more */
	size_t count;
	bool is_read;  /* a log file was there and could be read */
	int error;     /* why none could be read; 0: there was none */
	char path[64]; /* file that was read */
};

/**
 * nfd_kernel_log_read() - read the lines since the last boot.
 * @ret: filled.
 */
void nfd_kernel_log_read(const struct nfd_root *root, struct nfd_kernel_log *ret);

/**
 * nfd_kernel_log_take() - take one line, if it means something.
 * @text: one line of a log, any bytes; a line "Linux version" empties the list: a new boot.
 */
void nfd_kernel_log_take(struct nfd_kernel_log *log, const char *text);

/**
 * nfd_kernel_log_find() - the newest line of a kind.
 * @number: of an Xid; 0 for any.
 * Return: borrowed; NULL when there is none.
 */
const struct nfd_log_line *nfd_kernel_log_find(const struct nfd_kernel_log *log,
					       enum nfd_log_kind kind, unsigned int number);
