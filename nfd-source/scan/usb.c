// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads sys/bus/usb/devices/<device>/{bDeviceClass,idVendor,idProduct,serial} and, where the device
 * states class 00, <device>/<interface>/bInterfaceClass (field case C1).
 */
#include "config.h"

#include "scan/usb.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define USB_DEVICES "sys/bus/usb/devices"
#define SETTING_CLASSES "sources.usb.deviceClassWhitelist"
#define PATH_SIZE 640
#define TEXT_SIZE 128

enum { FIELD_CLASS, FIELD_VENDOR, FIELD_DEVICE, FIELD_SERIAL };

const char *const nfd_usb_field_names[NFD_USB_FIELDS + 1] = {
	"class", "vendor", "device", "serial", NULL,
};

static const char *const attributes[NFD_USB_FIELDS] = {
	"bDeviceClass",
	"idVendor",
	"idProduct",
	"serial",
};

struct usb_device {
	const char *name;                      /* entry in sys/bus/usb/devices; borrowed */
	char field[NFD_USB_FIELDS][TEXT_SIZE]; /* "" when missing */
};

static bool is_white_listed(const struct nfd_scan *scan, const char *class)
{
	const struct nfd_texts *list = &scan->options->usb.class_white_list;

	for (size_t i = 0; i < list->count; i++)
		if (strncmp(class, list->text[i], strlen(list->text[i])) == 0)
			return true;
	return false;
}

static void make_stem(const struct nfd_scan *scan, const struct usb_device *device,
		      const char *class, char *ret, size_t size)
{
	size_t len = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < NFD_USB_FIELDS && len < size; i++)
		if (scan->options->usb.label_fields & 1U << i)
			len += (size_t)snprintf(ret + len, size - len, "%s%s", len ? "_" : "",
						i == FIELD_CLASS ? class : device->field[i]);
}

static const char *text_or_none(const char *text)
{
	return *text ? text : NULL;
}

/* Our own raw feature has what labels are made of; NFD's has every device, without its name. */
static void add_features(struct nfd_scan *scan, const struct usb_device *device, const char *class)
{
	const struct nfd_attribute own[] = {
		{ "name", device->name },
		{ "class", class },
		{ "vendor", device->field[FIELD_VENDOR] },
		{ "device", device->field[FIELD_DEVICE] },
	};
	const struct nfd_attribute standard[] = {
		{ "class", text_or_none(class) },
		{ "vendor", text_or_none(device->field[FIELD_VENDOR]) },
		{ "device", text_or_none(device->field[FIELD_DEVICE]) },
		{ "serial", text_or_none(device->field[FIELD_SERIAL]) },
	};

	if (is_white_listed(scan, class))
		nfd_scan_instance(scan, "nfd-source.usb", own, NFD_ARRAY_SIZE(own));
	if (scan->stands_in)
		nfd_scan_instance(scan, "usb.device", standard, NFD_ARRAY_SIZE(standard));
}

/* One label for a class of the device, from the device itself or from one of its interfaces. */
static void add_class(struct nfd_scan *scan, const struct usb_device *device, const char *class,
		      const char *path)
{
	char stem[NFD_USB_FIELDS * TEXT_SIZE], detail[TEXT_SIZE * 3];
	struct nfd_finding finding = {
		.rank = NFD_RANK_NORMAL, .value = "true", .path = path, .detail = detail
	};

	add_features(scan, device, class);
	make_stem(scan, device, class, stem, sizeof(stem));
	snprintf(detail, sizeof(detail), "class %s, device %s:%s", class,
		 device->field[FIELD_VENDOR], device->field[FIELD_DEVICE]);
	if (is_white_listed(scan, class))
		nfd_scan_label(scan, &finding, NFD_F "usb-%s.present", stem);
	else if (scan->all_devices)
		nfd_scan_stopped(scan, &finding, SETTING_CLASSES, NFD_F "usb-%s.present", stem);
}

/* The classes of the interfaces; one that cannot be read drops the whole device, as in NFD. */
static void add_interfaces(struct nfd_scan *scan, const struct usb_device *device)
{
	cleanup_names struct nfd_names names = { 0 };
	char path[PATH_SIZE], class[TEXT_SIZE];

	snprintf(path, sizeof(path), USB_DEVICES "/%s", device->name);
	if (nfd_root_list(scan->root, path, &names) < 0)
		return;
	for (int add = 0; add <= 1; add++)
		for (size_t i = 0; i < names.count; i++) {
			ssize_t len;

			if (!strchr(names.name[i], ':'))
				continue;
			snprintf(path, sizeof(path), USB_DEVICES "/%s/%s/bInterfaceClass",
				 device->name, names.name[i]);
			len = nfd_root_read_line(scan->root, path, class, sizeof(class));
			if (len == -ENOENT)
				continue;
			if (len < 0) {
				nfd_scan_failed(scan, NFD_F "usb-", path, (int)len);
				return;
			}
			if (add)
				add_class(scan, device, class, path);
		}
}

static void add_device(struct nfd_scan *scan, const char *name)
{
	struct usb_device device = { .name = name };
	char path[PATH_SIZE];

	for (size_t i = 0; i < NFD_USB_FIELDS; i++) {
		ssize_t len;

		snprintf(path, sizeof(path), USB_DEVICES "/%s/%s", name, attributes[i]);
		len = nfd_root_read_line(scan->root, path, device.field[i],
					 sizeof(device.field[i]));
		if (len >= 0)
			continue;
		device.field[i][0] = '\0';
		nfd_scan_failed(scan, NFD_F "usb-", path, (int)len);
		/* Without a product id it is no device: a root hub's port, an interface. */
		if (i == FIELD_DEVICE)
			return;
	}
	if (strcmp(device.field[FIELD_CLASS], "00") == 0) {
		add_interfaces(scan, &device);
		return;
	}
	snprintf(path, sizeof(path), USB_DEVICES "/%s/bDeviceClass", name);
	add_class(scan, &device, device.field[FIELD_CLASS], path);
}

static void run(struct nfd_scan *scan)
{
	cleanup_names struct nfd_names names = { 0 };
	int r;

	r = nfd_root_list(scan->root, USB_DEVICES, &names);
	if (r < 0)
		nfd_scan_failed(scan, NFD_F "usb-", USB_DEVICES, r);
	/* Without a bus NFD has an empty list of devices too. */
	if ((r == 0 || r == -ENOENT) && scan->stands_in)
		nfd_scan_feature_set(scan, NFD_INSTANCES, "usb.device");
	for (size_t i = 0; i < names.count; i++)
		/* "1-1:1.0" is an interface of device "1-1". */
		if (!strchr(names.name[i], ':'))
			add_device(scan, names.name[i]);
}

static const char *const subsystems[] = { "usb", NULL };
static const char *const prefixes[] = { NFD_F "usb-", NULL };
static const char *const features[] = { "nfd-source.usb", "usb.device", NULL };

const struct nfd_scanner nfd_usb_scanner = {
	.name = "usb",
	.summary = "USB devices by class, vendor and product",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.features = features,
	.run = run,
	.source = NFD_SOURCE_USB,
};
