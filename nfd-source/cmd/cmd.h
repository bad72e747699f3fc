/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a command is, and what it is given. --help, the man page and the completion are compared
 * with these tables in the tests.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/root.h"
#include "scan/cpu_facts.h"
#include "scan/nvml.h"
#include "scan/vendor.h"
#include "settings.h"

enum { NFD_EXIT_DONE = 0, NFD_EXIT_FAILED = 1, NFD_EXIT_USAGE = 2, NFD_EXIT_UNDECIDED = 3 };

#define NFD_OPTIONS_MAX 8
#define NFD_OVERRIDES_MAX 64

struct nfd_option {
	const char *name;           /* long name without dashes */
	char letter;                /* short form, or 0 */
	const char *argument;       /* name of the argument in help; NULL for none */
	const char *const *choices; /* allowed arguments, NULL-terminated; or NULL */
	const char *help;
	const char *setting;       /* setting that it overrides; or NULL */
	const char *setting_value; /* value for that setting when it has no argument */
};

struct nfd_context;

struct nfd_command {
	const char *name;
	const char *summary;
	const char *operand; /* name of the operand in help, in brackets when optional; or NULL */
	const struct nfd_option *option; /* array of @option_count; own options */
	size_t option_count;
	bool reads_host;                         /* wants context->root */
	int (*run)(struct nfd_context *context); /* exit code */
};

struct nfd_context {
	const struct nfd_command *command;
	const char
		*value[NFD_OPTIONS_MAX]; /* by position in command->option; "" without argument */
	const char *operand;             /* NULL when not given */
	const char *root_path;
	struct nfd_root root;
	struct nfd_settings settings;
	struct nfd_settings_sources sources; /* to load the settings again */
	struct nfd_api_place place;          /* what the API outputs know of us */
	char helper[PATH_MAX];               /* path of nfd-source-api */
	char nvml_helper[PATH_MAX];          /* path of nfd-source-nvml */
	struct nfd_vendors vendors;          /* of the last scan: who writes their labels */
	struct nfd_nvml nvml;                /* of the last scan: what NVML said; owned */
	struct nfd_cpu_facts cpu;            /* see nfd_context_cpu() */
	bool cpu_is_known;
	struct nfd_setting_override override[NFD_OVERRIDES_MAX];
};

/**
 * nfd_context_option() - argument of an own option.
 * @name: long name; must be in the command's table.
 * Return: borrowed; NULL when not given; "" for an option without argument.
 */
const char *nfd_context_option(const struct nfd_context *context, const char *name);

/**
 * nfd_context_settle() - connect freshly loaded settings with where we run: the helper's path, root,
 * environment and Node name for the outputs that use the API server.
 * @context: settings, sources and root_path are set.
 */
void nfd_context_settle(struct nfd_context *context);

enum nfd_scan_flag {
	NFD_SCAN_FEATURES = 1, /* collect raw features */
	NFD_SCAN_ALL = 2,      /* keep devices outside the class white lists */
	NFD_SCAN_QUICK =
		4, /* start no NVML, which may take long: what it would tell stays unknown */
	NFD_SCAN_VENDORS = 8, /* look at the hardware of every vendor, whoever writes its labels */
};

struct nfd_scan;

/**
 * nfd_context_scan() - scan with the context's root and settings; failures and facts that stayed
 * unknown are logged. Files decide who writes the vendors' labels: @context->vendors tells.
 * @scan:  filled; owner: caller, nfd_scan_done() also after a failure.
 * @flags: enum nfd_scan_flag, joined by |.
 * Return: 0; negative errno, logged.
 */
int nfd_context_scan(struct nfd_context *context, struct nfd_scan *scan, unsigned int flags)
	nfd_must_check;

/**
 * nfd_context_ask_vendors() - let the API server decide too, where an output talks to it: labels that a
 * vendor's own program writes leave the scan. Without an answer it stays as it is.
 * @scan:  of nfd_context_scan().
 * @flags: as it got them.
 * Return: 0; negative errno, logged.
 */
int nfd_context_ask_vendors(struct nfd_context *context, struct nfd_scan *scan, unsigned int flags)
	nfd_must_check;

/**
 * nfd_context_cpu() - what this processor says of itself, asked once a process.
 * Return: borrowed; NULL when the root is another host's (a recorded one): its sys is no sysfs.
 */
const struct nfd_cpu_facts *nfd_context_cpu(struct nfd_context *context);

/**
 * nfd_context_worker_pid() - an nfd-worker among the processes of this host. Looks at each of them.
 * Return: pid; 0 when none is seen.
 */
int nfd_context_worker_pid(const struct nfd_context *context);

/**
 * nfd_context_prepare_scan() - settle what the scan options take from the outputs, which come and go:
 * other programs' feature files are ours to read where we write none.
 */
void nfd_context_prepare_scan(struct nfd_context *context);

/**
 * nfd_context_nvml_place() - how this process asks NVML for a scan. A daemon starts nfd-source-nvml, so that
 * what it loads is in no copy of the daemon; a command that ends anyway saves the start of a program.
 */
struct nfd_nvml_place nfd_context_nvml_place(const struct nfd_context *context, bool is_daemon);

/**
 * nfd_print() - write a text to stdout and check that it got there.
 * @buf: a sticky error of it is reported too.
 * Return: NFD_EXIT_DONE; NFD_EXIT_FAILED, logged.
 */
int nfd_print(const struct nfd_strbuf *buf);

/**
 * nfd_commands() - the table of commands.
 */
const struct nfd_command *const *nfd_commands(size_t *ret_count);

/**
 * nfd_global_options() - options that every command takes.
 */
const struct nfd_option *nfd_global_options(size_t *ret_count);

extern const struct nfd_command nfd_cmd_scan;
extern const struct nfd_command nfd_cmd_publish;
extern const struct nfd_command nfd_cmd_run;
extern const struct nfd_command nfd_cmd_settings;
extern const struct nfd_command nfd_cmd_doctor;
extern const struct nfd_command nfd_cmd_explain;
extern const struct nfd_command nfd_cmd_status;
extern const struct nfd_command nfd_cmd_record;
extern const struct nfd_command nfd_cmd_prepare;
extern const struct nfd_command nfd_cmd_cleanup;
extern const struct nfd_command nfd_cmd_version;
extern const struct nfd_command nfd_cmd_help;
