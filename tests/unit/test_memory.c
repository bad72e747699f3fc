// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/memory: spec nfd.md 2.3 and 3.
 */
#include "config.h"

#include "scan/memory.h"

#include "tests/unit/scan_text.h"
#include "tests/unit/unit.h"

#define NODE "sys/bus/node/devices/"
#define ND "sys/bus/nd/devices/"
#define HUGE "sys/kernel/mm/hugepages/"
#define HEADING "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"

/* What a tree without these things has. */
#define NO_NV "instances memory.nv\n"
#define NO_HUGEPAGES "attributes memory.hugepages enabled=false\n"

static const struct scan_row rows[] = {
	{ "nothing is there", { DIR_AT("sys") }, "", .features = NO_HUGEPAGES NO_NV },
	{ "one node is no NUMA",
	  { DIR_AT(NODE "node0") },
	  "",
	  .features = "attributes memory.numa is_numa=false node_count=1\n" NO_HUGEPAGES NO_NV },
	{ "two nodes",
	  { DIR_AT(NODE "node0"), DIR_AT(NODE "node1") },
	  "memory-numa=true\n",
	  .features = "attributes memory.numa is_numa=true node_count=2\n" NO_HUGEPAGES NO_NV },
	{ "nodes are not readable",
	  { FILE_AT("x", ""), LINK_AT("sys/bus/node/devices", "devices") },
	  "unknown memory-numa\n",
	  .features = NO_HUGEPAGES NO_NV },
	{ "no swap",
	  { FILE_AT("proc/swaps", HEADING) },
	  "",
	  .features = "attributes memory.swap enabled=false\n" NO_HUGEPAGES NO_NV },
	{ "swap",
	  { FILE_AT("proc/swaps", HEADING "/dev/sda2 partition 8388604 0 -2\n") },
	  "memory-swap=true\n",
	  .features = "attributes memory.swap enabled=true\n" NO_HUGEPAGES NO_NV },
	{ "blank lines are no swap",
	  { FILE_AT("proc/swaps", "\n" HEADING " \t\n\r\n") },
	  "",
	  .features = "attributes memory.swap enabled=false\n" NO_HUGEPAGES NO_NV },
	{ "an empty list of swaps",
	  { FILE_AT("proc/swaps", "") },
	  "",
	  .features = "attributes memory.swap enabled=false\n" NO_HUGEPAGES NO_NV },
	{ "swaps are not readable",
	  { DIR_AT("proc/swaps") },
	  "unknown memory-swap\n",
	  .features = NO_HUGEPAGES NO_NV },
	{ "no nvdimm on an nd bus", { DIR_AT(ND) }, "", .features = NO_HUGEPAGES NO_NV },
	{ "nvdimm",
	  { FILE_AT(ND "region0/devtype", "nd_pmem\n"), DIR_AT(ND "ndbus0"),
	    FILE_AT(ND "namespace0.0/devtype", "nd_namespace_pmem\n"),
	    FILE_AT(ND "namespace0.0/mode", "fsdax\n") },
	  "memory-nv.present=true\n",
	  .features = NO_HUGEPAGES
	  "instance memory.nv name=namespace0.0 devtype=nd_namespace_pmem mode=fsdax\n"
	  "instance memory.nv name=ndbus0\n"
	  "instance memory.nv name=region0 devtype=nd_pmem\n" },
	{ "nvdimm with dax",
	  { FILE_AT(ND "dax0.0/devtype", "nd_dax\n"), FILE_AT(ND "dax1.0/devtype", "nd_dax\n") },
	  "memory-nv.dax=true\nmemory-nv.present=true\n",
	  .features = NO_HUGEPAGES "instance memory.nv name=dax0.0 devtype=nd_dax\n"
				   "instance memory.nv name=dax1.0 devtype=nd_dax\n" },
	{ "a device type is not readable",
	  { DIR_AT(ND "dax0.0/devtype") },
	  "memory-nv.present=true\nunknown memory-nv.dax\n",
	  .features = NO_HUGEPAGES "instance memory.nv name=dax0.0\n" },
	{ "the nd bus is not readable",
	  { LINK_AT("sys/bus/nd/devices", "devices") },
	  "unknown memory-nv.\n",
	  .features = NO_HUGEPAGES },
	{ "huge pages of all sizes",
	  { FILE_AT(HUGE "hugepages-64kB/nr_hugepages", "0\n"),
	    FILE_AT(HUGE "hugepages-2048kB/nr_hugepages", "512\n"),
	    FILE_AT(HUGE "hugepages-32768kB/nr_hugepages", "0\n"),
	    FILE_AT(HUGE "hugepages-1048576kB/nr_hugepages", "0\n"),
	    FILE_AT(HUGE "hugepages-16777216kB/nr_hugepages", "0\n") },
	  "",
	  .features =
		  "attributes memory.hugepages hugepages-1Gi=0 hugepages-16Gi=0 hugepages-2Mi=512 "
		  "hugepages-32Mi=0 hugepages-64Ki=0 enabled=true\n" NO_NV },
	{ "no huge pages are reserved",
	  { FILE_AT(HUGE "hugepages-2048kB/nr_hugepages", "0\n") },
	  "",
	  .features = "attributes memory.hugepages hugepages-2Mi=0 enabled=false\n" NO_NV },
	{ "a count that cannot be read is empty",
	  { DIR_AT(HUGE "hugepages-2048kB/nr_hugepages"), DIR_AT(HUGE "hugepages-1048576kB") },
	  "",
	  .features = "attributes memory.hugepages hugepages-1Gi= hugepages-2Mi= "
		      "enabled=false\n" NO_NV },
	{ "a count that is no number",
	  { FILE_AT(HUGE "hugepages-2048kB/nr_hugepages", "many\n") },
	  "",
	  .features = "attributes memory.hugepages hugepages-2Mi=many enabled=false\n" NO_NV },
	{ "names that are no sizes",
	  { FILE_AT(HUGE "hugepages-kB/nr_hugepages", "1\n"),
	    FILE_AT(HUGE "hugepages-12MB/nr_hugepages", "1\n"),
	    FILE_AT(HUGE "hugepages--1kB/nr_hugepages", "1\n"),
	    FILE_AT(HUGE "hugepages-1kBx/nr_hugepages", "1\n"),
	    FILE_AT(HUGE "hugepages-1234567890123456kB/nr_hugepages", "1\n"),
	    FILE_AT(HUGE "hugepages-2048kB", "1\n"),
	    FILE_AT(HUGE "hugepages-0kB/nr_hugepages", "0\n"),
	    FILE_AT(HUGE "hugepages-3kB/nr_hugepages", "0\n") },
	  "",
	  .features = "attributes memory.hugepages hugepages-0=0 hugepages-3Ki=0 "
		      "enabled=false\n" NO_NV },
	{ "huge pages are not readable",
	  { FILE_AT("sys/kernel/mm/hugepages", "x") },
	  "",
	  .features = NO_NV },
};

static void scans(void **state)
{
	scan_check_row(&nfd_memory_scanner, *state);
}

int main(void)
{
	struct unit_suite suite = { .name = "memory" };

	UNIT_ROWS(&suite, scans, rows, name);
	return unit_run(&suite);
}
