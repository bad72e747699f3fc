/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing all of a buffer to a descriptor.
 */
#pragma once

#include <stddef.h>

#include "base/macros.h"

/**
 * nfd_write_all() - write until everything is out; interrupted writes go on.
 * @fd:   borrowed.
 * @data: @len bytes.
 * Return: 0; negative errno of write(2), then a part may be out.
 */
int nfd_write_all(int fd, const void *data, size_t len) nfd_must_check;
