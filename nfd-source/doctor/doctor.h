/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks the chain from the PCI bus to the Node and says which link is broken, why, and what to type
 * (design 8, spec gpu-stack.md 4.6 and 6). Reads only; executes nothing of the host.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>

#include "base/error.h"
#include "base/root.h"
#include "doctor/facts.h"
#include "output/output.h"

enum nfd_verdict {
	NFD_VERDICT_OK,
	NFD_VERDICT_NOT_CHECKED,
	NFD_VERDICT_INFO,
	NFD_VERDICT_WARNING,
	NFD_VERDICT_CRITICAL,
};

struct nfd_evidence {
	char *path;  /* file below the root, or API field; owned */
	char *value; /* what stands there; owned */
};

/* What one row of the table says of this host. */
struct nfd_diagnosis {
	enum nfd_verdict verdict;
	const char *blocked_by; /* id of the cause that explains it; NULL for none */
	char *cause; /* one sentence; for "not checked" the reason; NULL when ok; owned */
	struct nfd_evidence *evidence; /* array of @evidence_count; owned */
	size_t evidence_count;
	char **fix; /* commands to paste, in order; array of @fix_count; owned */
	size_t fix_count;
};

/* One link of the chain. */
struct nfd_link {
	const char *name;    /* "driver" */
	const char *summary; /* what holds when it is whole */
	bool apart;          /* not part of the chain: a broken link before does not explain it */
	bool always;         /* looked at also without an NVIDIA GPU */
	void (*run)(struct nfd_doctor *doctor);
};

/* One row of spec gpu-stack.md 6. */
struct nfd_row {
	const char *id;   /* stable, "GPU-DRV-MISMATCH" */
	size_t link;      /* position in nfd_links() */
	const char *help; /* what it finds */
};

struct nfd_doctor_options {
	const struct nfd_root *root;
	const struct nfd_output_options *outputs; /* features.d, credentials */
	const char *library_dir;                  /* as nfd_nvidia_libraries_find() takes it */
	const char *nvml_helper; /* path of nfd-source-nvml; NULL: do not start it */
	int64_t nvml_deadline_ms;
	bool ask_api;         /* ask the API server, where there are credentials */
	const char *dcgm_url; /* of dcgm-exporter on this host; "": do not ask it */
};

struct nfd_doctor {
	const struct nfd_doctor_options *options; /* borrowed */
	struct nfd_doctor_facts facts;
	struct nfd_diagnosis *diagnosis; /* by position in nfd_rows(); owned */
	const char *cause;               /* id of the first broken link; NULL when none is */
	int error;                       /* -ENOMEM: the result is not to be used */
};

/**
 * nfd_links() - the chain, in order.
 */
const struct nfd_link *nfd_links(size_t *ret_count);

/**
 * nfd_rows() - the table of checks, in the order of the chain.
 */
const struct nfd_row *nfd_rows(size_t *ret_count);

/**
 * nfd_doctor_run() - examine a host.
 * @doctor:  filled; to be given to nfd_doctor_done() also after a failure.
 * @options: borrowed, must outlive @doctor.
 * Return: 0; -ENOMEM.
 */
int nfd_doctor_run(struct nfd_doctor *doctor, const struct nfd_doctor_options *options,
		   struct nfd_error *err) nfd_must_check;

/**
 * nfd_doctor_done() - free; a zeroed one is fine.
 */
void nfd_doctor_done(struct nfd_doctor *doctor);

/**
 * nfd_doctor_worst() - the worst verdict of all rows; a row that was not checked counts as ok, unless
 * it cannot even be told whether there is a GPU.
 */
enum nfd_verdict nfd_doctor_worst(const struct nfd_doctor *doctor);

/**
 * nfd_doctor_is_undecided() - whether it cannot even be told if there is a GPU.
 */
bool nfd_doctor_is_undecided(const struct nfd_doctor *doctor);

/**
 * nfd_verdict_name() - "ok", "not-checked", "info", "warning", "critical".
 */
const char *nfd_verdict_name(enum nfd_verdict verdict);

/*
 * For the checks.
 */

/**
 * nfd_find() - state a finding. A worse one of the same id stays; to one of the same verdict further
 * evidence and commands are added.
 * @id:  of nfd_rows().
 * @fmt: the cause, one sentence.
 * Return: what further evidence and fixes are added to; never NULL (a scratch one when memory ran
 *         out or a worse one stands).
 */
struct nfd_diagnosis *nfd_find(struct nfd_doctor *doctor, const char *id, enum nfd_verdict verdict,
			       const char *fmt, ...) nfd_printf_like(4, 5);

/**
 * nfd_skip() - state that a row was not checked, and why; a finding stays.
 */
void nfd_skip(struct nfd_doctor *doctor, const char *id, const char *fmt, ...)
	nfd_printf_like(3, 4);

/**
 * nfd_skip_link() - state that for every row of a link that has no finding.
 * @link: position in nfd_links().
 */
void nfd_skip_link(struct nfd_doctor *doctor, size_t link, const char *reason);

/**
 * nfd_found() - whether a row has a finding of at least this verdict.
 */
bool nfd_found(const struct nfd_doctor *doctor, const char *id, enum nfd_verdict least);

/**
 * nfd_prove() - add evidence.
 * @path: as it reads below the root, or the field of an API object.
 * @fmt:  what stands there.
 */
void nfd_prove(struct nfd_doctor *doctor, struct nfd_diagnosis *diagnosis, const char *path,
	       const char *fmt, ...) nfd_printf_like(4, 5);

/**
 * nfd_advise() - add a command to paste.
 */
void nfd_advise(struct nfd_doctor *doctor, struct nfd_diagnosis *diagnosis, const char *fmt, ...)
	nfd_printf_like(3, 4);

/**
 * nfd_advise_drain() - add the command that empties the node.
 * nfd_advise_undrain() - add the one that takes pods again.
 */
void nfd_advise_drain(struct nfd_doctor *doctor, struct nfd_diagnosis *diagnosis);
void nfd_advise_undrain(struct nfd_doctor *doctor, struct nfd_diagnosis *diagnosis);

/**
 * nfd_advise_reload() - add the commands that load the installed module: reload, or reboot.
 */
void nfd_advise_reload(struct nfd_doctor *doctor, struct nfd_diagnosis *diagnosis);

/**
 * nfd_doctor_node() - name of our Node for commands; "<node>" when it is not known.
 */
const char *nfd_doctor_node(const struct nfd_doctor *doctor);

/* The links; one file each. */
void nfd_check_presence(struct nfd_doctor *doctor);
void nfd_check_driver(struct nfd_doctor *doctor);
void nfd_check_start(struct nfd_doctor *doctor);
void nfd_check_devices(struct nfd_doctor *doctor);
void nfd_check_library(struct nfd_doctor *doctor);
void nfd_check_nvml(struct nfd_doctor *doctor);
void nfd_check_fabric(struct nfd_doctor *doctor);
void nfd_check_runtime(struct nfd_doctor *doctor);
void nfd_check_cdi(struct nfd_doctor *doctor);
void nfd_check_operator(struct nfd_doctor *doctor);
void nfd_check_plugin(struct nfd_doctor *doctor);
void nfd_check_node(struct nfd_doctor *doctor);
void nfd_check_dcgm(struct nfd_doctor *doctor);
void nfd_check_labels(struct nfd_doctor *doctor);
void nfd_check_pins(struct nfd_doctor *doctor);
void nfd_check_leftovers(struct nfd_doctor *doctor);
