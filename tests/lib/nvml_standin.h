/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the stand-in libnvidia-ml.so.1 share. Structs that cross its border are laid out as
 * NVML's of the same purpose (spec gpu-stack.md 1.7).
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define EXPORT __attribute__((visibility("default")))
#define DEVICES_MAX 64
#define MIG_MAX 7
#define FAILS_MAX 4

enum {
	SUCCESS = 0,
	UNINITIALIZED = 1,
	INVALID_ARGUMENT = 2,
	NOT_SUPPORTED = 3,
	NOT_FOUND = 6,
	INSUFFICIENT_SIZE = 7,
	DRIVER_NOT_LOADED = 9,
	TIMEOUT = 10,
	GPU_IS_LOST = 15,
	VERSION_MISMATCH = 18,
	UNKNOWN = 999,
};

struct fabric {
	unsigned char uuid[16];
	int status;
	uint32_t clique;
	unsigned char state;
};

_Static_assert(sizeof(struct fabric) == 28, "layout of nvmlGpuFabricInfo_t");

struct device;

/* A MIG device, which is also the handle of its GPU instance and of its compute instance. */
struct mig {
	struct device *parent;
	bool is_empty; /* a place that NVML counts and that holds no device */
	unsigned int gpu_profile, compute_profile; /* NVML's indexes */
	unsigned int memory_mb, multiprocessors, copy, decoder, encoder, jpeg, ofa;
};

struct device {
	char address[16], name[96], uuid[96];
	unsigned int ids, subsystem, minor;
	unsigned int memory_mb;
	int compute_major, compute_minor;
	bool has_mig, has_fabric;
	unsigned int mig_current, mig_pending;
	int virtualization; /* -1: not supported */
	struct fabric fabric;
	struct mig mig[MIG_MAX];
	unsigned int mig_count;
	struct {
		char call[64];
		int code;
	} fail[FAILS_MAX];
	unsigned int fail_count;
};

struct state {
	pthread_mutex_t lock;
	int users; /* nvmlInit_v2 without nvmlShutdown */
	struct device device[DEVICES_MAX];
	unsigned int count;
	char version[80]; /* of the module */
};

extern struct state state;

/* Whether NFD_STANDIN_FAULT is that. */
bool has_fault(const char *name);

/* A whole file below the root, NUL-terminated, without white space at its end; -1 without it. */
ssize_t read_below(const char *path, char *ret, size_t size);

/* Fill state.device and state.count from the root. */
void find_devices(void);

/* Whether @device is one that we gave out and @call is to succeed; SUCCESS, or what is wrong. */
int check(const struct device *device, const char *call);

int give_number(unsigned int value, unsigned int *ret);

/* check() and give_number(). */
int check_and_give(const struct device *device, const char *call, unsigned int value,
		   unsigned int *ret);
