/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the API server is and how we prove who we are: the in-cluster service account here, a
 * kubeconfig in api/kubeconfig. Read afresh in every run, so that rotation needs nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/api_error.h"
#include "base/root.h"

#define NFD_SERVICE_ACCOUNT_DIR "/var/run/secrets/kubernetes.io/serviceaccount"
#define NFD_CREDENTIAL_FILE_MAX (1024 * 1024)

/* Where to look. All borrowed. */
struct nfd_credential_source {
	const char *kubeconfig;          /* path; NULL for the service account */
	const char *root;                /* folder that every file is below; "/" for none */
	const char *service_account_dir; /* NFD_SERVICE_ACCOUNT_DIR, but in tests */
	char *const *environment;        /* "NAME=value", NULL-terminated */
	int64_t end_ms;                  /* nothing may take longer; nfd_clock_monotonic_ms() */
};

struct nfd_blob {
	char *data; /* PEM text; NULL for none; owned */
	size_t len;
};

struct nfd_credentials {
	char *server;       /* "https://host:port[/path]" without slash at the end */
	char *server_name;  /* name in its certificate, when it is not the host; or NULL */
	char *proxy;        /* proxy URL of the kubeconfig; or NULL */
	char *token;        /* bearer token; or NULL */
	char *namespace;    /* our own; or NULL */
	struct nfd_blob ca; /* NULL: the authorities that the system trusts */
	struct nfd_blob certificate, key;
	bool from_plugin; /* a program gave them, and will be asked again when they are refused */
};

/**
 * nfd_credentials_read() - read what is there now.
 * @credentials: filled; to be given to nfd_credentials_done() also after a failure.
 * @source:      borrowed.
 * @err:         kind NFD_API_CREDENTIALS; names file or variable and what is allowed, never a secret.
 * Return: 0; negative errno.
 */
int nfd_credentials_read(struct nfd_credentials *credentials,
			 const struct nfd_credential_source *source, struct nfd_api_error *err)
	nfd_must_check;

/**
 * nfd_credentials_done() - wipe and free; a zeroed one is fine.
 */
void nfd_credentials_done(struct nfd_credentials *credentials);

/**
 * nfd_credentials_name() - how to call them in a message: "kubeconfig …" or "service account".
 */
const char *nfd_credentials_name(const struct nfd_credential_source *source);

/**
 * nfd_credential_file() - read a file that credentials are made of.
 * @path: absolute, below @root.
 * @ret:  receives the content with a NUL behind it; @ret->data is freed first.
 * @err:  names the path.
 * Return: 0; negative errno of open(2); -ENODATA when it is empty.
 */
int nfd_credential_file(const struct nfd_root *root, const char *path, struct nfd_blob *ret,
			struct nfd_api_error *err) nfd_must_check;

/**
 * nfd_credential_token() - take a token: white space around it goes; anything but printable ASCII in
 * it is refused (it becomes a header line).
 * @text: @len bytes and a NUL; changed.
 * @from: where it comes from, for the message.
 * Return: 0; -EINVAL; -ENOMEM.
 */
int nfd_credential_token(struct nfd_credentials *credentials, char *text, size_t len,
			 const char *from, struct nfd_api_error *err) nfd_must_check;
