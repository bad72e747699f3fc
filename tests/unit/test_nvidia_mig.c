// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/nvidia_mig: the strategies none, single and mixed (spec gpu-stack.md 1.5); and cliques.
 */
#include "config.h"

#include "scan/nvidia_mig.h"

#include "tests/unit/nvml_row.h"
#include "tests/unit/unit.h"

static const struct nvml_row rows[] = {
	/* MIG. */
	{ "capable",
	  { HARDWARE },
	  REPORT(L4("3B") "," H200("AF", MIG_OFF)),
	  0,
	  NULL,
	  "mig",
	  N "mig.capable=true\n" },
	{ "none: a partitioned GPU has no replicas",
	  { HARDWARE },
	  REPORT(H200("3B", MIG_ON(PART("1g.18gb", "16384")))),
	  0,
	  SLICE_GPU,
	  "gpu.product gpu.count gpu.repl gpu.shar "
	  "gpu.memory gpu.slices mig",
	  N "gpu.count=1\n" N "gpu.memory=143771\n" N "gpu.product=NVIDIA-H200\n" N
	    "gpu.replicas=0\n" N "gpu.sharing-strategy=none\n" N "mig.capable=true\n" },
	{ "none: whole GPUs of the model decide",
	  { HARDWARE },
	  REPORT(H200("3B", MIG_ON(PART("1g.18gb", "16384"))) "," H200("AF", MIG_OFF)),
	  NFD_MIG_NONE,
	  SLICE_GPU,
	  "gpu.product gpu.count gpu.repl mig.strategy",
	  N "gpu.count=2\n" N "gpu.product=NVIDIA-H200-SHARED\n" N "gpu.replicas=4\n" },
	{ "single without MIG",
	  { HARDWARE },
	  REPORT(H200("3B", MIG_OFF)),
	  NFD_MIG_SINGLE,
	  NULL,
	  "gpu.product gpu.count gpu.memory gpu.slices mig",
	  N "gpu.count=1\n" N "gpu.memory=143771\n" N "gpu.product=NVIDIA-H200\n" N
	    "mig.capable=true\n" N "mig.strategy=single\n" },
	{ "single",
	  { HARDWARE },
	  REPORT(H200("3B",
		      MIG_ON(PART("1g.18gb",
				  "16384") "," PART("1g.18gb",
						    "16384"))) "," H200("AF",
									MIG_ON(PART("1g.18gb",
										    "16384")))),
	  0,
	  "flags:\n  migStrategy: single\n",
	  "/gpu. mig",
	  N "gpu.compute.major=9\n" N "gpu.compute.minor=0\n" N "gpu.count=3\n" N
	    "gpu.engines.copy=3\n" N "gpu.engines.decoder=4\n" N "gpu.engines.encoder=0\n" N
	    "gpu.engines.jpeg=5\n" N "gpu.engines.ofa=6\n" N "gpu.family=hopper\n" N
	    "gpu.machine=unknown\n" N "gpu.memory=16384\n" N "gpu.mode=unknown\n" N
	    "gpu.multiprocessors=16\n" N "gpu.product=NVIDIA-H200-MIG-1g.18gb\n" N
	    "gpu.replicas=1\n" N "gpu.sharing-strategy=none\n" N "gpu.slices.ci=2\n" N
	    "gpu.slices.gi=1\n" N "mig.capable=true\n" N "mig.strategy=single\n" },
	{ "single shared",
	  { HARDWARE },
	  REPORT(H200("3B", MIG_ON(PART("1g.18gb", "16384")))),
	  NFD_MIG_SINGLE,
	  SLICE_GPU,
	  "gpu.product gpu.repl gpu.shar",
	  N "gpu.product=NVIDIA-H200-MIG-1g.18gb-SHARED\n" N "gpu.replicas=4\n" N
	    "gpu.sharing-strategy=time-slicing\n" },
	{ "single: one is empty",
	  { HARDWARE },
	  REPORT(H200("3B", MIG_ON(PART("1g.18gb", "16384"))) "," H200("AF", MIG_ON(""))),
	  NFD_MIG_SINGLE,
	  SLICE_GPU,
	  "gpu.product gpu.count gpu.repl gpu.shar gpu.memory gpu.slices gpu.family mig.s",
	  N "gpu.count=0\n" N "gpu.family=hopper\n" N "gpu.memory=0\n" N
	    "gpu.product=NVIDIA-H200-MIG-INVALID\n" N "gpu.replicas=0\n" N
	    "gpu.sharing-strategy=\n" N "mig.strategy=single\n" },
	{ "single: only some are enabled",
	  { HARDWARE },
	  REPORT(H200("3B", MIG_ON(PART("1g.18gb", "16384"))) "," H200("AF", MIG_OFF)),
	  NFD_MIG_SINGLE,
	  NULL,
	  "gpu.product gpu.count",
	  N "gpu.count=0\n" N "gpu.product=NVIDIA-H200-MIG-INVALID\n" },
	{ "single: two profiles",
	  { HARDWARE },
	  REPORT(H200("3B", MIG_ON(PART("1g.18gb", "16384") "," PART("2g.35gb", "33280")))),
	  NFD_MIG_SINGLE,
	  NULL,
	  "gpu.product gpu.count",
	  N "gpu.count=0\n" N "gpu.product=NVIDIA-H200-MIG-INVALID\n" },
	{ "mixed",
	  { HARDWARE },
	  REPORT(H200("3B", MIG_ON(PART("1g.18gb+me",
					"16384") "," PART("2g.35gb", "33280") "," PART("2g.35gb",
										       "33280")))),
	  NFD_MIG_MIXED,
	  NULL,
	  "gpu.product gpu.repl gpu.count mig",
	  N "gpu.count=1\n" N "gpu.product=NVIDIA-H200\n" N "gpu.replicas=0\n" N
	    "mig-1g.18gb.me.count=1\n" N "mig-1g.18gb.me.engines.copy=3\n" N
	    "mig-1g.18gb.me.engines.decoder=4\n" N "mig-1g.18gb.me.engines.encoder=0\n" N
	    "mig-1g.18gb.me.engines.jpeg=5\n" N "mig-1g.18gb.me.engines.ofa=6\n" N
	    "mig-1g.18gb.me.memory=16384\n" N "mig-1g.18gb.me.multiprocessors=16\n" N
	    "mig-1g.18gb.me.product=NVIDIA-H200-MIG-1g.18gb.me\n" N "mig-1g.18gb.me.replicas=1\n" N
	    "mig-1g.18gb.me.sharing-strategy=none\n" N "mig-1g.18gb.me.slices.ci=2\n" N
	    "mig-1g.18gb.me.slices.gi=1\n" N "mig-2g.35gb.count=2\n" N
	    "mig-2g.35gb.engines.copy=3\n" N "mig-2g.35gb.engines.decoder=4\n" N
	    "mig-2g.35gb.engines.encoder=0\n" N "mig-2g.35gb.engines.jpeg=5\n" N
	    "mig-2g.35gb.engines.ofa=6\n" N "mig-2g.35gb.memory=33280\n" N
	    "mig-2g.35gb.multiprocessors=16\n" N "mig-2g.35gb.product=NVIDIA-H200-MIG-2g.35gb\n" N
	    "mig-2g.35gb.replicas=1\n" N "mig-2g.35gb.sharing-strategy=none\n" N
	    "mig-2g.35gb.slices.ci=2\n" N "mig-2g.35gb.slices.gi=1\n" N "mig.capable=true\n" N
	    "mig.strategy=mixed\n" },
	{ "mixed shared",
	  { HARDWARE },
	  REPORT(H200("3B", MIG_ON(PART("1g.18gb", "16384"))) "," H200("AF", MIG_OFF)),
	  NFD_MIG_MIXED,
	  SLICE_MIG,
	  "gpu.repl gpu.product gpu.count 18gb.product 18gb.repl 18gb.shar",
	  N "gpu.count=2\n" N "gpu.product=NVIDIA-H200\n" N "gpu.replicas=1\n" N
	    "mig-1g.18gb.product=NVIDIA-H200-MIG-1g.18gb-SHARED\n" N "mig-1g.18gb.replicas=3\n" N
	    "mig-1g.18gb.sharing-strategy=time-slicing\n" },
	{ "the settings' strategy goes before the file's",
	  { HARDWARE },
	  REPORT(H200("3B", MIG_OFF)),
	  NFD_MIG_MIXED,
	  "flags:\n  migStrategy: single\n",
	  "mig.strategy",
	  N "mig.strategy=mixed\n" },
	{ "a profile that is none",
	  { HARDWARE },
	  REPORT(H200("3B", MIG_ON(PART("a b/", "1")))),
	  NFD_MIG_MIXED,
	  NULL,
	  "gpu.count mig- gpu.sl",
	  N "gpu.count=1\nunknown " N "gpu.slices.\nunknown " N "mig-\n" },
	{ "single with a partition that is none",
	  { HARDWARE },
	  REPORT(H200("3B", MIG_ON("{}"))),
	  NFD_MIG_SINGLE,
	  NULL,
	  "gpu.count gpu.product gpu.memory mig.",
	  N "mig.capable=true\n" N "mig.strategy=single\nunknown " N "gpu.product\nunknown " N
	    "gpu.count\nunknown " N "gpu.memory\n" },
	{ "a failed call for partitions",
	  { HARDWARE },
	  REPORT(H200("3B", MIG_ON("") FAILED("nvmlDeviceGetMaxMigDeviceCount"))),
	  NFD_MIG_MIXED,
	  NULL,
	  "gpu.count mig-",
	  N "gpu.count=1\nunknown " N "mig-\n" },
	{ "that call matters to no other strategy",
	  { HARDWARE },
	  REPORT(H200("3B", MIG_ON("") FAILED("nvmlDeviceGetMaxMigDeviceCount"))),
	  0,
	  NULL,
	  "gpu.count mig-",
	  N "gpu.count=1\n" },
	/* Cliques. */
	{ "a clique",
	  { HARDWARE },
	  REPORT(CARD("01", "x",
		      FABRIC(3, 0, U1, 7)) "," CARD("02", "x",
						    FABRIC(3, 0, U1, 7)) "," CARD("03", "x", "")),
	  0,
	  NULL,
	  "gpu.clique",
	  N "gpu.clique=0a1b2c3d-1111-2222-3333-444455556666.7\n" },
	{ "two cliques",
	  { HARDWARE },
	  REPORT(CARD("01", "x", FABRIC(3, 0, U1, 7)) "," CARD("02", "x", FABRIC(3, 0, U1, 8))),
	  0,
	  NULL,
	  "gpu.clique",
	  "" },
	{ "two clusters",
	  { HARDWARE },
	  REPORT(CARD("01", "x", FABRIC(3, 0, U1, 7)) "," CARD("02", "x", FABRIC(3, 0, U2, 7))),
	  0,
	  NULL,
	  "gpu.clique",
	  "" },
	{ "fabric in progress",
	  { HARDWARE },
	  REPORT(CARD("01", "x", FABRIC(2, 0, U1, 7))),
	  0,
	  NULL,
	  "gpu.clique",
	  "" },
	{ "fabric failed",
	  { HARDWARE },
	  REPORT(CARD("01", "x", FABRIC(3, 1, U1, 7))),
	  0,
	  NULL,
	  "gpu.clique",
	  "" },
	{ "no cluster",
	  { HARDWARE },
	  REPORT(CARD("01", "x", FABRIC(3, 0, U0, 7))),
	  0,
	  NULL,
	  "gpu.clique",
	  "" },
	{ "cluster is no UUID",
	  { HARDWARE },
	  REPORT(CARD("01", "x", FABRIC(3, 0, "a b", 7))),
	  0,
	  NULL,
	  "gpu.clique",
	  "" },
};

static void scans(void **state)
{
	nvml_check_row(*state);
}

int main(void)
{
	struct unit_suite suite = { .name = "nvidia_mig" };

	UNIT_ROWS(&suite, scans, rows, name);
	return unit_run(&suite);
}
