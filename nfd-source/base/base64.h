/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Base64 (RFC 4648), as kubeconfig files carry certificates. Reading only.
 */
#pragma once

#include <stddef.h>

#include "base/macros.h"

/**
 * nfd_base64_decode() - bytes of a base64 text.
 * @text:    NUL-terminated; white space between digits is passed over, padding may be missing.
 * @ret:     receives the bytes and a NUL that does not count; untouched on failure. Owner: caller.
 * @ret_len: number of bytes.
 * Return: 0; -EINVAL when it holds anything else; -ENOMEM.
 */
int nfd_base64_decode(const char *text, char **ret, size_t *ret_len) nfd_must_check;
