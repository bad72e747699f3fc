/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel events about devices, drivers and modules, by libudev's monitor.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct nfd_udev_monitor;

/* Which events came since the last read. */
struct nfd_udev_events {
	unsigned int count; /* events of subsystems that concern somebody */
	uint32_t concerns;  /* union of the masks of their subsystems */
	bool lost;      /* the kernel dropped events, or something else went wrong: trust nothing */
	char last[128]; /* "bind pci 0000:3b:00.0" of the last one; "" when there was none */
};

/* A subsystem to listen to. */
struct nfd_udev_interest {
	const char *subsystem;
	uint32_t concerns; /* bit mask of the caller; 0: only counted */
};

/**
 * nfd_udev_monitor_new() - start to listen.
 * @group:    "kernel": events as the kernel sends them, needs neither udevd nor the host's network
 *            namespace nor root; "udev": after udevd has handled them.
 * @interest: array of @count, copied.
 * @ret:      receives the monitor; owner: caller, nfd_udev_monitor_free().
 * Return: 0; negative errno of the socket; -ENOMEM.
 */
int nfd_udev_monitor_new(const char *group, const struct nfd_udev_interest *interest, size_t count,
			 struct nfd_udev_monitor **ret, struct nfd_error *err) nfd_must_check;

/**
 * nfd_udev_monitor_fd() - descriptor for the loop; borrowed.
 */
int nfd_udev_monitor_fd(const struct nfd_udev_monitor *monitor);

/**
 * nfd_udev_monitor_read() - take all events that wait.
 * @ret: overwritten.
 */
void nfd_udev_monitor_read(struct nfd_udev_monitor *monitor, struct nfd_udev_events *ret);

/**
 * nfd_udev_monitor_free() - stop listening; NULL is fine.
 */
void nfd_udev_monitor_free(struct nfd_udev_monitor *monitor);
