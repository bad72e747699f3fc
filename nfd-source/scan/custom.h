/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The static rules of NFD's custom source: rdma.capable and rdma.available (spec nfd.md 2.9). The rules
 * of its configuration are a language of their own and not read: NodeFeatureRules have the same.
 */
#pragma once

#include "scan/scanner.h"

extern const struct nfd_scanner nfd_custom_scanner;
