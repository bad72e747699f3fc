// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/network: spec nfd.md 2.4 and 3.
 */
#include "config.h"

#include "scan/network.h"

#include "tests/unit/scan_text.h"
#include "tests/unit/unit.h"

#define NET "sys/class/net/"
#define EMPTY "instances network.device\ninstances network.virtual\n"

static const struct scan_row rows[] = {
	{ "no network", { DIR_AT("sys/class") }, "", .features = "" },
	{ "no interfaces", { DIR_AT(NET) }, "", .features = EMPTY },
	{ "a device and a virtual interface",
	  { DIR_AT(NET "eth0/device"), FILE_AT(NET "eth0/operstate", "up\n"),
	    FILE_AT(NET "eth0/speed", "25000\n"), FILE_AT(NET "eth0/mtu", "1500\n"),
	    FILE_AT(NET "lo/operstate", "unknown\n"), FILE_AT(NET "lo/mtu", "65536\n") },
	  "",
	  .features = "instance network.device name=eth0 operstate=up speed=25000 mtu=1500\n"
		      "instance network.virtual name=lo operstate=unknown mtu=65536\n" },
	{ "SR-IOV is possible",
	  { FILE_AT(NET "eth0/device/sriov_totalvfs", "64\n"),
	    FILE_AT(NET "eth0/device/sriov_numvfs", "0\n") },
	  "network-sriov.capable=true\n",
	  .features = "instance network.device name=eth0 sriov_numvfs=0 sriov_totalvfs=64\n"
		      "instances network.virtual\n" },
	{ "SR-IOV is in use, seen at the second interface",
	  { DIR_AT(NET "eth0/device"), FILE_AT(NET "eth1/device/sriov_totalvfs", "64\n"),
	    FILE_AT(NET "eth1/device/sriov_numvfs", "8\n") },
	  "network-sriov.capable=true\nnetwork-sriov.configured=true\n",
	  .features = "instance network.device name=eth0\n"
		      "instance network.device name=eth1 sriov_numvfs=8 sriov_totalvfs=64\n"
		      "instances network.virtual\n" },
	{ "no virtual functions at all",
	  { FILE_AT(NET "eth0/device/sriov_totalvfs", "0\n") },
	  "",
	  .features = "instance network.device name=eth0 sriov_totalvfs=0\n"
		      "instances network.virtual\n" },
	{ "counts that are no numbers",
	  { FILE_AT(NET "eth0/device/sriov_totalvfs", "x\n"),
	    FILE_AT(NET "eth0/device/sriov_numvfs", "-1\n") },
	  "",
	  .features = "instance network.device name=eth0 sriov_numvfs=-1 sriov_totalvfs=x\n"
		      "instances network.virtual\n" },
	{ "a virtual interface has no SR-IOV",
	  { FILE_AT(NET "br0/sriov_totalvfs", "8\n"), FILE_AT(NET "br0/mtu", "1500\n") },
	  "",
	  .features = "instances network.device\n"
		      "instance network.virtual name=br0 mtu=1500\n" },
	{ "bonding_masters is no interface",
	  { FILE_AT(NET "bonding_masters", "bond0\n"), DIR_AT(NET "bond0") },
	  "",
	  .features = "instances network.device\ninstance network.virtual name=bond0\n" },
	{ "the device is gone",
	  { LINK_AT(NET "eth0/device", "../nowhere") },
	  "",
	  .features = "instances network.device\ninstance network.virtual name=eth0\n" },
	{ "the device cannot be told",
	  { LINK_AT(NET "eth0/device", "device") },
	  "unknown network-sriov.\n",
	  .features = "instances network.device\ninstance network.virtual name=eth0\n" },
	{ "a count is not readable",
	  { DIR_AT(NET "eth0/device/sriov_numvfs"),
	    FILE_AT(NET "eth0/device/sriov_totalvfs", "8\n") },
	  "network-sriov.capable=true\nunknown network-sriov.\n",
	  .features = "instance network.device name=eth0 sriov_totalvfs=8\n"
		      "instances network.virtual\n" },
	{ "a speed that is not readable is no fact that is missed",
	  { DIR_AT(NET "eth0/speed"), DIR_AT(NET "eth0/device") },
	  "",
	  .features = "instance network.device name=eth0\ninstances network.virtual\n" },
	{ "interfaces are not readable",
	  { LINK_AT("sys/class/net", "net") },
	  "unknown network-sriov.\n",
	  .features = "" },
};

static void scans(void **state)
{
	scan_check_row(&nfd_network_scanner, *state);
}

int main(void)
{
	struct unit_suite suite = { .name = "network" };

	UNIT_ROWS(&suite, scans, rows, name);
	return unit_run(&suite);
}
