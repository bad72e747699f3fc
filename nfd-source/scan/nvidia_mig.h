/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Labels of GPUs that are partitioned (MIG), by the strategies single and mixed.
 */
#pragma once

#include "scan/gfd.h"

/**
 * nfd_gfd_put_partitions() - add mig.strategy, and what the strategy in force has for partitions: none
 * nothing; single: gpu.* of the one profile, or of an invalid setup; mixed: mig-<profile>.* of each.
 * @gfd: with a good report.
 * Return: whether the gpu.* labels are those of partitions, or stay unknown: those of whole GPUs must not
 *         be written.
 */
bool nfd_gfd_put_partitions(struct nfd_gfd *gfd);
