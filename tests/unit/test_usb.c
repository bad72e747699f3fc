// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/usb: devices and interfaces (field case C1).
 */
#include "config.h"

#include "scan/usb.h"

#include "tests/unit/scan_text.h"
#include "tests/unit/unit.h"

#define USB "sys/bus/usb/devices/"
#define DEVICE_AT(name, class, vendor, product)                                                    \
	FILE_AT(USB name "/bDeviceClass", class "\n"), FILE_AT(USB name "/idVendor", vendor "\n"), \
		FILE_AT(USB name "/idProduct", product "\n")
#define INTERFACE_AT(device, name, class) \
	FILE_AT(USB device "/" name "/bInterfaceClass", class "\n")

static const struct scan_row rows[] = {
	{ "no bus: NFD has its raw feature all the same",
	  { DIR_AT("sys") },
	  "",
	  .features = "instances usb.device\n" },
	{ "empty bus",
	  { DIR_AT("sys/bus/usb/devices") },
	  "",
	  .features = "instances usb.device\n" },
	{ "bus is a loop",
	  { LINK_AT("sys/bus/usb/devices", "devices") },
	  "unknown usb-\n",
	  .features = "" },
	{ "every device as a raw feature, those with labels as one of ours too",
	  { DEVICE_AT("1-1", "ff", "1a6e", "089a"), FILE_AT(USB "1-1/serial", "A 1\n"),
	    DEVICE_AT("usb1", "09", "1d6b", "0002") },
	  "usb-ff_1a6e_089a.present=true\n",
	  .features = "instance usb.device class=ff vendor=1a6e device=089a serial=A 1\n"
		      "instance usb.device class=09 vendor=1d6b device=0002\n"
		      "instance nfd-source.usb name=1-1 class=ff vendor=1a6e device=089a\n" },
	{ "one for each interface, the same class twice too",
	  { DEVICE_AT("1-1", "00", "1", "2"), INTERFACE_AT("1-1", "1-1:1.0", "03"),
	    INTERFACE_AT("1-1", "1-1:1.1", "03"), DEVICE_AT("1-2", "00", "3", "4") },
	  "",
	  .features = "instance usb.device class=03 vendor=1 device=2\n"
		      "instance usb.device class=03 vendor=1 device=2\n" },
	{ "attributes that are empty or not readable are left out",
	  { FILE_AT(USB "1-1/bDeviceClass", "\n"), DIR_AT(USB "1-1/idVendor"),
	    FILE_AT(USB "1-1/idProduct", "2\n") },
	  "unknown usb-\n",
	  .features = "instance usb.device device=2\n" },
	{ "C1 class of the interfaces",
	  { DEVICE_AT("1-1", "00", "1a6e", "089a"), INTERFACE_AT("1-1", "1-1:1.0", "fe"),
	    DEVICE_AT("usb1", "09", "1d6b", "0002"), INTERFACE_AT("usb1", "1-0:1.0", "09"),
	    DEVICE_AT("1-2", "00", "046d", "0825"), INTERFACE_AT("1-2", "1-2:1.0", "0e"),
	    INTERFACE_AT("1-2", "1-2:1.1", "0e"), INTERFACE_AT("1-2", "1-2:1.2", "01"),
	    DEVICE_AT("1-3", "e0", "8087", "0a2b") },
	  "usb-0e_046d_0825.present=true\nusb-fe_1a6e_089a.present=true\n" },
	{ "C1 interfaces beside the devices are no devices",
	  { FILE_AT(USB "1-1:1.0/bInterfaceClass", "fe"), FILE_AT(USB "1-1:1.0/idProduct", "1") },
	  "" },
	{ "class of the device",
	  { DEVICE_AT("1-1", "ff", "1a6e", "089a"), INTERFACE_AT("1-1", "1-1:1.0", "0e") },
	  "usb-ff_1a6e_089a.present=true\n" },
	{ "all wanted",
	  { DEVICE_AT("1-3", "e0", "8087", "0a2b") },
	  "stopped usb-e0_8087_0a2b.present sources.usb.deviceClassWhitelist\n",
	  .all_devices = true },
	{ "serial in the key",
	  { DEVICE_AT("1-1", "ff", "1a6e", "089a"), FILE_AT(USB "1-1/serial", "A1\n") },
	  "usb-1a6e_A1.present=true\n",
	  .fields = 0xa },
	{ "illegal serial drops the label",
	  { DEVICE_AT("1-1", "ff", "1a6e", "089a"), FILE_AT(USB "1-1/serial", "A 1\n") },
	  "",
	  .fields = 0xa },
	{ "missing attribute counts as empty, as in NFD",
	  { FILE_AT(USB "1-1/bDeviceClass", "ff"), FILE_AT(USB "1-1/idProduct", "089a") },
	  "usb-ff__089a.present=true\n" },
	{ "without a product it is no device",
	  { FILE_AT(USB "1-1/bDeviceClass", "ff"), FILE_AT(USB "1-1/idVendor", "1a6e") },
	  "" },
	{ "unreadable product is unknown",
	  { FILE_AT(USB "1-1/bDeviceClass", "ff"), FILE_AT(USB "1-1/idVendor", "1a6e"),
	    DIR_AT(USB "1-1/idProduct") },
	  "unknown usb-\n" },
	{ "an unreadable interface drops the device",
	  { DEVICE_AT("1-1", "00", "1a6e", "089a"), INTERFACE_AT("1-1", "1-1:1.0", "fe"),
	    DIR_AT(USB "1-1/1-1:1.1/bInterfaceClass"), DEVICE_AT("1-2", "ff", "1", "2") },
	  "usb-ff_1_2.present=true\nunknown usb-\n" },
	{ "an interface that vanishes is skipped",
	  { DEVICE_AT("1-1", "00", "1a6e", "089a"), INTERFACE_AT("1-1", "1-1:1.0", "fe"),
	    LINK_AT(USB "1-1/1-1:1.1", "nowhere") },
	  "usb-fe_1a6e_089a.present=true\n" },
	{ "hostile attribute", { DEVICE_AT("1-1", "ff", "1\nz/evil=1", "089a") }, "" },
	{ "attribute over the cap",
	  { FILE_AT(USB "1-1/bDeviceClass", "ff"), FILE_AT(USB "1-1/idVendor", "1a6e"),
	    FILE_AT(USB "1-1/idProduct",
		    "0123456789012345678901234567890123456789012345678901234567890123"
		    "0123456789012345678901234567890123456789012345678901234567890123") },
	  "unknown usb-\n" },
	{ "empty class", { DEVICE_AT("1-1", "", "1a6e", "089a") }, "" },
};

static void scans(void **state)
{
	scan_check_row(&nfd_usb_scanner, *state);
}

int main(void)
{
	struct unit_suite suite = { .name = "usb" };

	UNIT_ROWS(&suite, scans, rows, name);
	return unit_run(&suite);
}
