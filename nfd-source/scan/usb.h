/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * USB devices: usb-<fields>.present, as NFD's usb source (spec nfd.md 2.6).
 */
#pragma once

#include "scan/scanner.h"

extern const struct nfd_scanner nfd_usb_scanner;

/* Names that sources.usb.deviceLabelFields takes, in the order they have in a key. */
#define NFD_USB_FIELDS 4
extern const char *const nfd_usb_field_names[NFD_USB_FIELDS + 1]; /* NULL-terminated */
