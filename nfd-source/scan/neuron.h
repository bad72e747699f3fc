/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scanner of AWS Neuron accelerators.
 */
#pragma once

#include "scan/scanner.h"

extern const struct nfd_scanner nfd_neuron_scanner;
