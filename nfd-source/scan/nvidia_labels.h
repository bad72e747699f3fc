/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scanner of the labels of gpu-feature-discovery.
 */
#pragma once

#include "scan/scanner.h"

extern const struct nfd_scanner nfd_nvidia_labels_scanner;
