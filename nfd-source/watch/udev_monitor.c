// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The only file that includes <libudev.h>. Events are only hints: what is there is always read from
 * sysfs afterwards, so a forged or lost event costs a scan, never a wrong label.
 */
#include "config.h"

#include "watch/udev_monitor.h"

#include <errno.h>
#include <libudev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for some thousand events; without the right to force it the system's limit applies. */
#define RECEIVE_BUFFER (4 * 1024 * 1024)
/* A flood must not keep the loop from its signals: the rest is read at the next turn. */
#define READ_AT_ONCE 2000

struct nfd_udev_monitor {
	struct udev *udev;
	struct udev_monitor *monitor;
	size_t count;
	struct nfd_udev_interest interest[];
};

static int listen_to(struct nfd_udev_monitor *monitor, const char *group)
{
	int r = 0;

	monitor->udev = udev_new();
	if (!monitor->udev)
		return -ENOMEM;
	errno = 0;
	monitor->monitor = udev_monitor_new_from_netlink(monitor->udev, group);
	if (!monitor->monitor)
		return errno ? -errno : -EIO;
	for (size_t i = 0; i < monitor->count && r >= 0; i++)
		r = udev_monitor_filter_add_match_subsystem_devtype(monitor->monitor,
								    monitor->interest[i].subsystem,
								    NULL);
	/* A smaller buffer only means that events may be lost sooner, and that is noticed. */
	udev_monitor_set_receive_buffer_size(monitor->monitor, RECEIVE_BUFFER);
	return r < 0 ? r : udev_monitor_enable_receiving(monitor->monitor);
}

int nfd_udev_monitor_new(const char *group, const struct nfd_udev_interest *interest, size_t count,
			 struct nfd_udev_monitor **ret, struct nfd_error *err)
{
	struct nfd_udev_monitor *monitor;
	int r;

	monitor = calloc(1, sizeof(*monitor) + count * sizeof(*interest));
	if (!monitor)
		return nfd_error_set(err, -ENOMEM, "out of memory");
	memcpy(monitor->interest, interest, count * sizeof(*interest));
	monitor->count = count;
	r = listen_to(monitor, group);
	if (r < 0) {
		nfd_udev_monitor_free(monitor);
		return nfd_error_set(err, r, "cannot listen to uevents of group \"%s\": %s", group,
				     nfd_errno_text(r));
	}
	*ret = monitor;
	return 0;
}

int nfd_udev_monitor_fd(const struct nfd_udev_monitor *monitor)
{
	return udev_monitor_get_fd(monitor->monitor);
}

static const char *or_none(const char *text)
{
	return text ? text : "?";
}

static void take_event(const struct nfd_udev_monitor *monitor, struct udev_device *device,
		       struct nfd_udev_events *ret)
{
	const char *subsystem = or_none(udev_device_get_subsystem(device));

	ret->count++;
	snprintf(ret->last, sizeof(ret->last), "%s %s %s", or_none(udev_device_get_action(device)),
		 subsystem, or_none(udev_device_get_sysname(device)));
	for (size_t i = 0; i < monitor->count; i++)
		if (strcmp(monitor->interest[i].subsystem, subsystem) == 0)
			ret->concerns |= monitor->interest[i].concerns;
}

void nfd_udev_monitor_read(struct nfd_udev_monitor *monitor, struct nfd_udev_events *ret)
{
	struct udev_device *device;

	*ret = (struct nfd_udev_events){ 0 };
	for (int i = 0; i < READ_AT_ONCE; i++) {
		errno = 0;
		device = udev_monitor_receive_device(monitor->monitor);
		if (device) {
			take_event(monitor, device, ret);
			udev_device_unref(device);
			continue;
		}
		if (errno == EAGAIN || errno == 0)
			return;
		/* ENOBUFS: the kernel dropped events. Anything else is no reason to trust more. */
		if (errno != EINTR) {
			ret->lost = true;
			if (errno != ENOBUFS)
				return;
		}
	}
}

void nfd_udev_monitor_free(struct nfd_udev_monitor *monitor)
{
	if (!monitor)
		return;
	udev_monitor_unref(monitor->monitor);
	udev_unref(monitor->udev);
	free(monitor);
}
