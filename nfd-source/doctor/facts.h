/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What several checks of doctor need to know of the host, read once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "doctor/disk_module.h"
#include "doctor/holds.h"
#include "doctor/kernel_log.h"
#include "doctor/packages.h"
#include "doctor/processes.h"
#include "doctor/runtime_config.h"
#include "scan/nvidia.h"
#include "scan/nvml.h"
#include "scan/pci_bus.h"

struct nfd_doctor;
struct nfd_doctor_options;

/* One NVIDIA GPU: PCI, and what the driver says of it. */
struct nfd_gpu_facts {
	char address[NFD_PCI_ADDRESS_SIZE];
	uint16_t device; /* PCI device id */
	char driver[64]; /* that holds it; "" for none */
	bool is_virtual; /* a virtual function */
	bool is_unresponsive;
	bool has_information; /* proc/driver/nvidia/gpus/<address>/information is there */
	bool is_excluded;     /* "GPU Excluded: Yes" */
	int minor;            /* "Device Minor"; -1: not known */
	char model[96];       /* "Model"; "" when not known */
};

enum nfd_package_manager {
	NFD_MANAGER_UNKNOWN,
	NFD_MANAGER_APT,
	NFD_MANAGER_DNF,
	NFD_MANAGER_ZYPPER
};

struct nfd_doctor_facts {
	struct nfd_gpu_facts *gpu; /* array of @gpu_count, by address; owned */
	size_t gpu_count;
	size_t other_gpus;         /* GPUs of other vendors */
	char pci_reason[200];      /* why the bus could not be read; "" when it could */
	bool is_tegra, is_wsl;     /* GPUs that are no PCI devices */
	char platform_source[128]; /* file that says so */

	char kernel[128];                /* release of the running kernel; "" when unknown */
	struct nfd_nvidia_module module; /* loaded; @module.version "" for none */
	bool is_loaded;                  /* sys/module/nvidia is there */
	struct nfd_nvidia_libraries libraries;
	bool has_driver_container; /* the library in force is the driver container's */
	struct nfd_disk_module disk_module;

	bool is_partial; /* only some folders of the host are below the root */
	bool is_foreign; /* os-release is there and names no system: the files are not a host's */
	char distro[32], distro_like[64], distro_version[32], codename[32];
	enum nfd_package_manager manager;
	struct nfd_packages packages; /* of the driver set, by dpkg */
	struct nfd_holds holds;
	int64_t boot_s; /* seconds since 1970; 0 when unknown */
	struct nfd_kernel_log log;
	struct nfd_processes processes;
	struct nfd_runtime_config runtime;
	bool has_nri; /* the runtime takes NRI plugins, as the toolkit's, which injects by CDI */
	size_t cdi_specs; /* CDI specifications of NVIDIA's that are there */

	cJSON *node;          /* what node-read gave; NULL: not asked or failed; owned */
	char node_why[400];   /* why it is not there */
	struct nfd_nvml nvml; /* owned */
};

/**
 * nfd_doctor_facts_read() - read all.
 * @facts: filled; to be given to nfd_doctor_facts_done() also after a failure.
 * Return: 0, also when facts stayed unknown; -ENOMEM.
 */
int nfd_doctor_facts_read(struct nfd_doctor_facts *facts, const struct nfd_doctor_options *options)
	nfd_must_check;

/**
 * nfd_doctor_facts_done() - free; a zeroed one is fine.
 */
void nfd_doctor_facts_done(struct nfd_doctor_facts *facts);

/**
 * nfd_node_label() - label of the Node.
 * Return: borrowed; NULL when it has none, or the Node is not known.
 */
const char *nfd_node_label(const struct nfd_doctor_facts *facts, const char *key);
