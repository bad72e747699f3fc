/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report of nfd-source-nvml as checked values. It comes from a process that talked to a driver: no
 * number, text or length in it is taken unseen.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scan/nvml.h"
#include "scan/pci_bus.h"
#include "scan/nvidia_library.h"

#define NFD_NVIDIA_GPUS_MAX 256

enum nfd_nvidia_answer {
	NFD_NVIDIA_NOT_ASKED, /* no driver, or a setting */
	NFD_NVIDIA_MISSING, /* a driver, but no library or device nodes: not mounted, or on its way */
	NFD_NVIDIA_PENDING, /* it is being asked */
	NFD_NVIDIA_SICK,    /* the driver or the library does not answer as it should */
	NFD_NVIDIA_GOOD,
};

/* Facts of NVML that a failed call leaves open; bits. */
enum nfd_nvidia_fact {
	NFD_NVIDIA_DRIVER = 1 << 0,  /* version of the driver */
	NFD_NVIDIA_CUDA = 1 << 1,    /* version of CUDA */
	NFD_NVIDIA_MODEL = 1 << 2,   /* of a GPU: its name, or all of it */
	NFD_NVIDIA_MEMORY = 1 << 3,  /* of a GPU */
	NFD_NVIDIA_COMPUTE = 1 << 4, /* of a GPU: compute capability */
	NFD_NVIDIA_MIG_MODE = 1 << 5,
	NFD_NVIDIA_MIG = 1 << 6, /* the partitions of a GPU */
	NFD_NVIDIA_PCI = 1 << 7, /* address of a GPU */
	NFD_NVIDIA_FABRIC = 1 << 8,
};

struct nfd_nvidia_gpu {
	char name[96];                   /* model; "" with NFD_NVIDIA_MODEL in @failed */
	struct nfd_pci_function address; /* its address alone; all ones when not known */
	uint64_t memory_bytes;           /* 0 when not known */
	int major, minor;                /* compute capability; 0 when not known */
	int mig_mode;                    /* 1: enabled; 0: not; -1: not capable of MIG */
	int virtualization;  /* 0 none, 1 passed through, 2 vGPU, 3 and 4 host; -1 not known */
	bool is_attached;    /* to a fabric of GPUs that is complete */
	char cluster[37];    /* UUID in lower case; "" when not attached */
	uint32_t clique;     /* within it */
	const cJSON *mig;    /* array of partitions, borrowed from the report; may be NULL */
	unsigned int failed; /* enum nfd_nvidia_fact */
};

struct nfd_nvidia_report {
	enum nfd_nvidia_answer answer;
	char why[512];                        /* in words; "" when all is well */
	char driver[NFD_NVIDIA_VERSION_SIZE]; /* "" when not stated */
	unsigned int cuda;                    /* 12080 is 12.8; 0 when not stated */
	struct nfd_nvidia_gpu *gpu; /* array of @count by address, without display helpers; owned */
	size_t count;
	unsigned int failed; /* of the system and of all GPUs */
};

/**
 * nfd_nvidia_report_read() - check what NVML said.
 * @nvml: borrowed, must outlive @ret; NULL: it was not asked.
 * @ret:  filled; owner: caller, nfd_nvidia_report_done().
 * Return: 0; -ENOMEM.
 */
int nfd_nvidia_report_read(const struct nfd_nvml *nvml, struct nfd_nvidia_report *ret)
	nfd_must_check;

/**
 * nfd_nvidia_report_done() - free; a zeroed one is fine.
 */
void nfd_nvidia_report_done(struct nfd_nvidia_report *report);

/**
 * nfd_nvidia_is_display() - whether a model is the display helper of a DGX Station, which no workload gets.
 */
bool nfd_nvidia_is_display(const char *model);

/**
 * nfd_nvidia_same_address() - whether two functions have one address.
 */
bool nfd_nvidia_same_address(const struct nfd_pci_function *a, const struct nfd_pci_function *b);
