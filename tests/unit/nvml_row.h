/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows "tree and report of NVML → labels of NVIDIA", and the pieces that such rows are made of.
 */
#pragma once

#include "tests/unit/scan_text.h"

#define N "nvidia.com/"
#define A0 "0000:3b:00.0"
#define A1 "0000:af:00.0"
#define A2 "0000:d8:00.0"
#define L4_AT(address) PCI_AT(address, "30200", "10DE:27B8", "nvidia")
#define HARDWARE FILE_AT("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme\n\n")
#define DMI FILE_AT("sys/class/dmi/id/product_name", "PowerEdge R750 (SKU=1)\n")
#define MODULE                                                \
	FILE_AT("sys/module/nvidia/version", "580.126.09\n"), \
		FILE_AT("sys/module/nvidia/refcnt", "1\n")
#define INFORMATION(address, model, excluded)                      \
	FILE_AT("proc/driver/nvidia/gpus/" address "/information", \
		"Model: \t\t " model                               \
		"\nIRQ:   \t\t 130\nDevice Minor: \t 0\nGPU Excluded:\t " excluded "\n")

#define REPORT(devices)                                                                     \
	"{\"schema\":1,\"init\":{\"code\":0,\"text\":\"\"},\"nvmlVersion\":\"580.126.09\"," \
	"\"driverVersion\":\"580.126.09\",\"cudaVersion\":13000,\"devices\":[" devices "]}"
#define CARD(bus, name, rest)                                          \
	"{\"index\":0,\"name\":\"" name "\",\"busId\":\"00000000:" bus \
	":00.0\",\"uuid\":\"GPU-x\"" rest "}"
#define GB(n) ",\"memoryBytes\":" n
#define CC(major, minor) ",\"computeMajor\":" #major ",\"computeMinor\":" #minor
#define L4(bus) CARD(bus, "NVIDIA L4", GB("24152899584") CC(8, 9) ",\"virtualization\":0")
#define MIG_OFF ",\"migMode\":0,\"migPending\":0"
#define MIG_ON(list) ",\"migMode\":1,\"migPending\":1,\"mig\":[" list "]"
#define PART(profile, mb)                                                                       \
	"{\"profile\":\"" profile "\",\"memoryMb\":" mb ",\"multiprocessors\":16,"              \
	"\"gpuInstanceSlices\":1,\"computeInstanceSlices\":2,\"copyEngines\":3,\"decoders\":4," \
	"\"encoders\":0,\"jpegEngines\":5,\"ofaEngines\":6}"
#define H200(bus, mig) CARD(bus, "NVIDIA H200", GB("150754820096") CC(9, 0) mig)
#define FAILED(call) \
	",\"failures\":[{\"call\":\"" call "\",\"code\":999,\"text\":\"Unknown Error\"}]"
#define FABRIC(state, status, uuid, clique)                                                \
	",\"fabric\":{\"state\":" #state ",\"status\":" #status ",\"clusterUuid\":\"" uuid \
	"\",\"cliqueId\":" #clique "}"
#define U1 "0A1B2C3D-1111-2222-3333-444455556666"
#define U2 "0a1b2c3d-1111-2222-3333-444455556667"
#define U0 "00000000-0000-0000-0000-000000000000"

#define SLICE_GPU "sharing:\n  timeSlicing:\n    resources:\n    - {name: gpu, replicas: 4}\n"
#define RENAMED                                                                 \
	"sharing:\n  timeSlicing:\n    renameByDefault: true\n    resources:\n" \
	"    - {name: gpu, replicas: 4}\n"
#define MPS_GPU "sharing:\n  mps:\n    resources:\n    - {name: gpu, replicas: 10}\n"
#define SLICE_MIG                                    \
	"sharing:\n  timeSlicing:\n    resources:\n" \
	"    - {name: nvidia.com/mig-1g.18gb, replicas: 3}\n"

#define DRIVER                                                                          \
	N "cuda.driver-version.full=580.126.09\n" N "cuda.driver-version.major=580\n" N \
	  "cuda.driver-version.minor=126\n" N "cuda.driver-version.revision=09\n" N     \
	  "cuda.driver.major=580\n" N "cuda.driver.minor=126\n" N "cuda.driver.rev=09\n"
#define CUDA                                                                       \
	N "cuda.runtime-version.full=13.0\n" N "cuda.runtime-version.major=13\n" N \
	  "cuda.runtime-version.minor=0\n" N "cuda.runtime.major=13\n" N "cuda.runtime.minor=0\n"

struct nvml_row {
	const char *name;
	struct tree_entry tree[12];
	const char *report; /* NULL: NVML was not asked */
	int strategy;       /* enum nfd_mig_strategy, of the settings */
	const char *config; /* text of gpu-feature-discovery's file; NULL for none */
	/* Words; lines of @text with none of them are left out. NULL takes all with "nvidia.com/". */
	const char *about;
	const char *text; /* as of scan_text(), in any order */
};

/**
 * nvml_check_row() - run the scanner of NVIDIA's labels on a row and compare.
 */
void nvml_check_row(const struct nvml_row *row);
