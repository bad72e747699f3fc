/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a GPU is a virtual one of NVIDIA's (vGPU), as a guest sees it: a capability in its PCI
 * configuration space says so (spec gpu-stack.md 1.6).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "scan/nvidia_report.h"
#include "scan/scanner.h"

#define NFD_PCI_CONFIG_SIZE 256

struct nfd_vgpu {
	bool is_vgpu;
	char version[11]; /* of the driver on the host, "460.16"; "" when not stated */
	char branch[11];  /* "r460_00"; likewise */
};

/**
 * nfd_vgpu_parse() - look for the capability.
 * @config: conventional configuration space, any bytes.
 * @ret:    filled.
 */
void nfd_vgpu_parse(const uint8_t config[NFD_PCI_CONFIG_SIZE], struct nfd_vgpu *ret);

/**
 * nfd_nvidia_vgpu_labels() - add nvidia.com/vgpu.present, .host-driver-version and -branch.
 * @scan:   changed. On hardware (proc/cpuinfo has flags, and not "hypervisor") no file of a device is opened.
 *          Else reads config of every NVIDIA GPU that is not suspended.
 * @report: what NVML knows of virtualization stands in where config shows its first 64 bytes only.
 */
void nfd_nvidia_vgpu_labels(struct nfd_scan *scan, const struct nfd_nvidia_report *report);
