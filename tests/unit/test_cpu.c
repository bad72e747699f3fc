// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/cpu and the files that it is made of: labels and raw features (spec nfd.md 2.1, 3).
 */
#include "config.h"

#include "scan/cpu.h"

#include "scan/cpu_facts.h"
#include "tests/unit/scan_text.h"
#include "tests/unit/unit.h"

#define CPU0 "sys/bus/cpu/devices/cpu0/"
#define CPU1 "sys/bus/cpu/devices/cpu1/"
#define SYSTEM "sys/devices/system/cpu/"
#define POLICY SYSTEM "cpufreq/policy"
#define KVM_AMD "sys/module/kvm_amd/parameters/"
#define KVM_INTEL "sys/module/kvm_intel/parameters/"
#define MAX_CSTATE "sys/module/intel_idle/parameters/max_cstate"
#define MISC "sys/fs/cgroup/misc.capacity"
#define RESCTRL "info/L3/num_closids"

#define SIBLINGS "topology/thread_siblings_list"
#define SOCKET "topology/physical_package_id"

static const struct nfd_cpu_facts intel = {
	.arch = NFD_CPU_X86_64,
	.vendor_id = "Intel",
	.family = 6,
	.model = 143,
	.hypervisor = "none",
	.flag = { "SSE", "AVX", "AVX10" },
	.flag_count = 3,
	.avx10_version = 2,
	.base_mhz = 2000,
};
#define INTEL_MODEL \
	"cpu-model.family=6\ncpu-model.hypervisor=none\ncpu-model.id=143\ncpu-model.vendor_id=Intel\n"
#define INTEL_MODEL_FEATURE "attributes cpu.model vendor_id=Intel family=6 id=143 hypervisor=none\n"

static const struct nfd_cpu_facts guest = {
	.arch = NFD_CPU_X86_64,
	.vendor_id = "VendorUnknown",
	.hypervisor = "_Shanghai_",
	.flag = { "SGX", "TDX_GUEST" },
	.flag_count = 2,
	.rdt = NFD_RDT_MONITORING | NFD_RDT_BANDWIDTH_MONITORING | NFD_RDT_L3_ALLOCATION |
	       NFD_RDT_L2_ALLOCATION | NFD_RDT_OCCUPANCY | NFD_RDT_BANDWIDTH_ALLOCATION,
	.sgx_epc_bytes = 4394586112,
};
#define GUEST_LABELS                                                                         \
	"cpu-cpuid.SGX=true\ncpu-cpuid.TDX_GUEST=true\ncpu-model.family=0\ncpu-model.id=0\n" \
	"cpu-model.vendor_id=VendorUnknown\ncpu-security.sgx.enabled=true\n"                 \
	"cpu-security.tdx.protected=true\n"
#define GUEST_FEATURES(rdt)                                                                    \
	"flags cpu.cpuid SGX TDX_GUEST\nattributes cpu.cpuid\nattributes cpu.model "           \
	"vendor_id=VendorUnknown family=0 id=0 hypervisor=_Shanghai_\nattributes cpu.pstate\n" \
	"attributes cpu.rdt RDTMON=true RDTCMT=true RDTMBM=true RDTL3CA=true RDTL2CA=true "    \
	"RDTMBA=true" rdt "\nattributes cpu.security sgx.enabled=true sgx.epc=4394586112 "     \
	"tdx.protected=true\nattributes cpu.topology\nattributes cpu.coprocessor\n"            \
	"attributes cpu.sst\n"

static const struct nfd_cpu_facts arm = {
	.arch = NFD_CPU_ARM64,
	.vendor_id = "ARM",
	.family = 15,
	.model = 53379,
	.hypervisor = "none",
	.flag = { "FP", "ASIMD" },
	.flag_count = 2,
};
#define ARM_LABELS                                                       \
	"cpu-cpuid.ASIMD=true\ncpu-cpuid.FP=true\ncpu-model.family=15\n" \
	"cpu-model.hypervisor=none\ncpu-model.id=53379\ncpu-model.vendor_id=ARM\n"

static const struct nfd_cpu_facts power = {
	.arch = NFD_CPU_PPC64LE,
	.vendor_id = "VendorUnknown",
	.hypervisor = "none",
	.flag = { "POWER5+", "VSX" },
	.flag_count = 2,
};

static const struct nfd_cpu_facts mainframe = {
	.arch = NFD_CPU_S390X,
	.vendor_id = "VendorUnknown",
	.hypervisor = "none",
};
#define NO_MAINFRAME \
	"cpu-model.family=0\ncpu-model.hypervisor=none\ncpu-model.id=0\ncpu-model.vendor_id=VendorUnknown\n"

struct row {
	const char *name;
	const struct nfd_cpu_facts *cpu; /* NULL: another's root */
	struct tree_entry tree[16];      /* ends with a zeroed entry */
	const char *text;                /* see scan_text_request() */
	const char *features;            /* lines behind it; NULL: nobody asked */
	const char *black, *white;       /* one flag each; NULL: an empty list */
};

static const struct row flag_rows[] = {
	{ "no list",
	  &intel,
	  { DIR_AT("sys") },
	  "cpu-cpuid.AVX=true\ncpu-cpuid.AVX10=true\ncpu-cpuid.AVX10_VERSION=2\n"
	  "cpu-cpuid.SSE=true\n" INTEL_MODEL },
	{ "black list",
	  &intel,
	  { DIR_AT("sys") },
	  "cpu-cpuid.AVX=true\nstopped cpu-cpuid.AVX10 sources.cpu.cpuid.attributeBlacklist\n"
	  "cpu-cpuid.AVX10_VERSION=2\ncpu-cpuid.SSE=true\n" INTEL_MODEL,
	  .black = "AVX10" },
	{ "case matters",
	  &intel,
	  { DIR_AT("sys") },
	  "cpu-cpuid.AVX=true\ncpu-cpuid.AVX10=true\ncpu-cpuid.AVX10_VERSION=2\n"
	  "cpu-cpuid.SSE=true\n" INTEL_MODEL,
	  .black = "avx10" },
	{ "white list",
	  &intel,
	  { DIR_AT("sys") },
	  "stopped cpu-cpuid.AVX sources.cpu.cpuid.attributeWhitelist\n"
	  "stopped cpu-cpuid.AVX10 sources.cpu.cpuid.attributeWhitelist\n"
	  "cpu-cpuid.AVX10_VERSION=2\ncpu-cpuid.SSE=true\n" INTEL_MODEL,
	  .white = "SSE" },
	{ "the white list alone counts, and the features know no lists",
	  &intel,
	  { DIR_AT("sys") },
	  "stopped cpu-cpuid.AVX sources.cpu.cpuid.attributeWhitelist\n"
	  "stopped cpu-cpuid.AVX10 sources.cpu.cpuid.attributeWhitelist\n"
	  "cpu-cpuid.AVX10_VERSION=2\ncpu-cpuid.SSE=true\n" INTEL_MODEL,
	  "flags cpu.cpuid SSE AVX AVX10\nattributes cpu.cpuid AVX10_VERSION=2\n" INTEL_MODEL_FEATURE
	  "attributes cpu.pstate\nattributes cpu.rdt\nattributes cpu.security\n"
	  "attributes cpu.topology\nattributes cpu.coprocessor\nattributes cpu.sst\n",
	  .black = "SSE",
	  .white = "SSE" },
	{ "a guest: no legal hypervisor, protection, RDT without classes",
	  &guest,
	  { DIR_AT("sys") },
	  GUEST_LABELS,
	  GUEST_FEATURES("") },
	{ "RDT's classes",
	  &guest,
	  { FILE_AT("sys/fs/resctrl/" RESCTRL, "16\n") },
	  GUEST_LABELS,
	  GUEST_FEATURES(" RDTL3CA_NUM_CLOSID=15") },
	{ "RDT's classes elsewhere",
	  &guest,
	  { FILE_AT("proc/self/mounts", "tmpfs / tmpfs rw 0 0\nresctrl /mnt/r resctrl rw 0 0\n"),
	    FILE_AT("mnt/r/" RESCTRL, "4\n") },
	  GUEST_LABELS,
	  GUEST_FEATURES(" RDTL3CA_NUM_CLOSID=3") },
	{ "RDT's classes are no number",
	  &guest,
	  { FILE_AT("sys/fs/resctrl/" RESCTRL, "many\n") },
	  GUEST_LABELS,
	  GUEST_FEATURES("") },
	{ "arm64: no features of x86",
	  &arm,
	  { FILE_AT(SYSTEM "intel_pstate/status", "active\n"),
	    FILE_AT(SYSTEM "cpuidle/current_driver", "intel_idle\n"), FILE_AT(MAX_CSTATE, "9\n"),
	    FILE_AT(CPU0 "cpufreq/base_frequency", "9000000\n"), FILE_AT(CPU0 SIBLINGS, "0\n"),
	    FILE_AT(CPU0 SOCKET, "0\n"), FILE_AT(KVM_AMD "sev", "Y\n"),
	    FILE_AT("sys/firmware/uv/prot_virt_host", "1\n"),
	    FILE_AT("sys/devices/vio/ibm,compression-v1/nx_gzip_caps", "") },
	  "cpu-cpuid.ASIMD=true\ncpu-cpuid.FP=true\ncpu-hardware_multithreading=false\n"
	  "cpu-model.family=15\ncpu-model.hypervisor=none\ncpu-model.id=53379\n"
	  "cpu-model.vendor_id=ARM\n",
	  "flags cpu.cpuid FP ASIMD\n"
	  "attributes cpu.model vendor_id=ARM family=15 id=53379 hypervisor=none\n"
	  "attributes cpu.pstate\nattributes cpu.rdt\nattributes cpu.security\n"
	  "attributes cpu.topology hardware_multithreading=false socket_count=1\n"
	  "attributes cpu.coprocessor\nattributes cpu.cstate\nattributes cpu.sst\n" },
	{ "ppc64le: an illegal name is a feature alone",
	  &power,
	  { FILE_AT("sys/devices/vio/ibm,compression-v1/nx_gzip_caps/x", "") },
	  "cpu-coprocessor.nx_gzip=true\ncpu-cpuid.VSX=true\n" NO_MAINFRAME,
	  "flags cpu.cpuid POWER5+ VSX\nattributes cpu.model vendor_id=VendorUnknown family=0 "
	  "id=0 hypervisor=none\nattributes cpu.pstate\nattributes cpu.rdt\n"
	  "attributes cpu.security\nattributes cpu.topology\n"
	  "attributes cpu.coprocessor nx_gzip=true\nattributes cpu.cstate\n"
	  "attributes cpu.sst\n" },
	{ "another's root", NULL, { DIR_AT("sys") }, "" },
};

static const struct row model_rows[] = {
	{ "s390x: nothing in proc",
	  &mainframe,
	  { DIR_AT("proc") },
	  "cpu-model.family=0\ncpu-model.id=0\ncpu-model.vendor_id=VendorUnknown\n" },
	{ "s390x: z/VM",
	  &mainframe,
	  { FILE_AT("proc/cpuinfo",
		    "vendor_id       : IBM/S390\n# processors    : 2\n\n"
		    "processor 0: version = FF,  identification = 0133E8,  machine = 2964\n"
		    "cpu number      : 0\nidentification  : 0133E8\nmachine         : 2964\n\n"
		    "cpu number      : 1\nidentification  : 1133E8\nmachine         : 3906\n"),
	    FILE_AT("proc/sysinfo", "Manufacturer:         IBM\nLPAR Number: 3\n"
				    "VM00 Control Program: z/VM    7.3.0   \n"
				    "VM01 Control Program: KVM/Linux\n") },
	  "cpu-model.family=0133E8\ncpu-model.hypervisor=z_VM_7.3.0\ncpu-model.id=3906\n"
	  "cpu-model.vendor_id=IBM_S390\n" },
	{ "s390x: LPAR, an identification of zero is none",
	  &mainframe,
	  { FILE_AT("proc/cpuinfo",
		    "vendor_id : IBM/S390\nidentification : 0\nidentification : AB\n"
		    "machine : 0\nno colon\n: \n"),
	    FILE_AT("proc/sysinfo", "Manufacturer: IBM\n") },
	  "cpu-model.family=AB\ncpu-model.hypervisor=none\ncpu-model.id=0\n"
	  "cpu-model.vendor_id=IBM_S390\n" },
	{ "s390x: an empty control program",
	  &mainframe,
	  { FILE_AT("proc/cpuinfo", ""), FILE_AT("proc/sysinfo", "VM00 Control Program:\nx: y\n") },
	  NO_MAINFRAME },
	{ "s390x: unreadable",
	  &mainframe,
	  { DIR_AT("proc/cpuinfo"), DIR_AT("proc/sysinfo") },
	  "unknown cpu-model.\nunknown cpu-model.hypervisor\n" },
	{ "s390x: Secure Execution",
	  &mainframe,
	  { FILE_AT("proc/sysinfo", ""), FILE_AT("sys/firmware/uv/prot_virt_host", "1\n") },
	  "cpu-model.family=0\ncpu-model.hypervisor=none\ncpu-model.id=0\n"
	  "cpu-model.vendor_id=VendorUnknown\ncpu-security.se.enabled=true\n" },
	{ "s390x: Secure Execution off",
	  &mainframe,
	  { FILE_AT("proc/sysinfo", ""), FILE_AT("sys/firmware/uv/prot_virt_host", "10\n") },
	  NO_MAINFRAME },
	{ "arm64 reads no proc",
	  &arm,
	  { FILE_AT("proc/cpuinfo", "vendor_id : IBM/S390\n"), DIR_AT("proc/sysinfo") },
	  ARM_LABELS },
};

static const struct row topology_rows[] = {
	{ "one thread a core",
	  NULL,
	  { FILE_AT(CPU0 SIBLINGS, "0\n"), FILE_AT(CPU0 SOCKET, "0\n"),
	    FILE_AT(CPU1 SIBLINGS, "1\n"), FILE_AT(CPU1 SOCKET, "0\n") },
	  "cpu-hardware_multithreading=false\n" },
	{ "a comma",
	  NULL,
	  { FILE_AT(CPU0 SIBLINGS, "0,2\n"), FILE_AT(CPU0 SOCKET, "0\n"),
	    FILE_AT(CPU1 SIBLINGS, "1\n"), FILE_AT(CPU1 SOCKET, "0\n") },
	  "cpu-hardware_multithreading=true\n" },
	{ "a dash",
	  NULL,
	  { FILE_AT(CPU0 SIBLINGS, "0-1\n"), FILE_AT(CPU0 SOCKET, "0\n") },
	  "cpu-hardware_multithreading=true\n" },
	{ "an offline CPU hides it all",
	  NULL,
	  { FILE_AT(CPU0 SIBLINGS, "0-1\n"), FILE_AT(CPU0 SOCKET, "0\n"), DIR_AT(CPU1 "power") },
	  "" },
	{ "a CPU without a package hides it all",
	  NULL,
	  { FILE_AT(CPU0 SIBLINGS, "0-1\n"), FILE_AT(CPU0 SOCKET, "0\n"),
	    FILE_AT(CPU1 SIBLINGS, "0-1\n") },
	  "" },
	{ "no CPU",
	  NULL,
	  { DIR_AT("sys/bus/cpu/devices") },
	  "cpu-hardware_multithreading=false\n" },
	{ "no bus", NULL, { DIR_AT("sys/bus") }, "" },
	{ "unreadable", NULL, { DIR_AT(CPU0 SIBLINGS) }, "unknown cpu-hardware_multithreading\n" },
	{ "unreadable bus",
	  NULL,
	  { LINK_AT("sys/bus/cpu/devices", "devices") },
	  "unknown cpu-hardware_multithreading\n" },
	{ "sockets are a feature alone",
	  NULL,
	  { FILE_AT(CPU0 SIBLINGS, "0\n"), FILE_AT(CPU0 SOCKET, "0\n"),
	    FILE_AT(CPU1 SIBLINGS, "1\n"), FILE_AT(CPU1 SOCKET, " 36 \n"),
	    FILE_AT("sys/bus/cpu/devices/cpu2/" SIBLINGS, "2\n"),
	    FILE_AT("sys/bus/cpu/devices/cpu2/" SOCKET, "36\n") },
	  "cpu-hardware_multithreading=false\n",
	  "flags cpu.cpuid\nattributes cpu.cpuid\nattributes cpu.model\n"
	  "attributes cpu.pstate\nattributes cpu.rdt\nattributes cpu.security\n"
	  "attributes cpu.topology hardware_multithreading=false socket_count=2\n"
	  "attributes cpu.coprocessor\nattributes cpu.sst\n" },
};

#define STATUS(text) FILE_AT(SYSTEM "intel_pstate/status", text)
#define NO_TURBO(text) FILE_AT(SYSTEM "intel_pstate/no_turbo", text)
#define POLICY_AT(number, cpus, governor)              \
	FILE_AT(POLICY number "/affected_cpus", cpus), \
		FILE_AT(POLICY number "/scaling_governor", governor)

static const struct row power_rows[] = {
	{ "passive",
	  NULL,
	  { STATUS("passive\n"), NO_TURBO("0\n"), POLICY_AT("0", "0\n", "schedutil\n") },
	  "cpu-pstate.status=passive\ncpu-pstate.turbo=true\n" },
	{ "active, one governor",
	  NULL,
	  { STATUS("active\n"), NO_TURBO("1\n"), POLICY_AT("0", "0\n", "powersave\n"),
	    POLICY_AT("1", "1 2\n", "powersave\n") },
	  "cpu-pstate.scaling_governor=powersave\ncpu-pstate.status=active\ncpu-pstate.turbo=false\n" },
	{ "governors differ",
	  NULL,
	  { STATUS("active\n"), POLICY_AT("0", "0\n", "powersave\n"),
	    POLICY_AT("1", "1\n", "performance\n"), POLICY_AT("2", "2\n", "powersave\n") },
	  "cpu-pstate.status=active\n" },
	{ "a policy without CPUs, and one without a governor",
	  NULL,
	  { STATUS("active\n"), POLICY_AT("0", " \n", "powersave\n"),
	    POLICY_AT("1", "1\n", "performance\n"), FILE_AT(POLICY "2/affected_cpus", "2\n"),
	    DIR_AT(POLICY "3") },
	  "cpu-pstate.scaling_governor=performance\ncpu-pstate.status=active\n" },
	{ "a policy that cannot be read",
	  NULL,
	  { STATUS("active\n"), DIR_AT(POLICY "0/affected_cpus") },
	  "cpu-pstate.status=active\nunknown cpu-pstate.scaling_governor\n" },
	{ "off", NULL, { STATUS("off\n"), NO_TURBO("0\n"), POLICY_AT("0", "0\n", "x\n") }, "" },
	{ "no driver of Intel's", NULL, { POLICY_AT("0", "0\n", "schedutil\n") }, "" },
	{ "an empty turbo file",
	  NULL,
	  { STATUS("passive\n"), NO_TURBO("") },
	  "cpu-pstate.status=passive\n" },
	{ "unreadable status",
	  NULL,
	  { DIR_AT(SYSTEM "intel_pstate/status"), NO_TURBO("0\n") },
	  "unknown cpu-pstate.\n" },
	{ "unreadable turbo",
	  NULL,
	  { STATUS("passive\n"), DIR_AT(SYSTEM "intel_pstate/no_turbo") },
	  "cpu-pstate.status=passive\nunknown cpu-pstate.turbo\n" },
	{ "C states",
	  NULL,
	  { FILE_AT(SYSTEM "cpuidle/current_driver", "intel_idle\n"), FILE_AT(MAX_CSTATE, "9\n") },
	  "cpu-cstate.enabled=true\n" },
	{ "C states off",
	  NULL,
	  { FILE_AT(SYSTEM "cpuidle/current_driver", "intel_idle\n"), FILE_AT(MAX_CSTATE, "0\n") },
	  "cpu-cstate.enabled=false\n" },
	{ "C states below zero",
	  NULL,
	  { FILE_AT(SYSTEM "cpuidle/current_driver", "intel_idle\n"), FILE_AT(MAX_CSTATE, "-1\n") },
	  "cpu-cstate.enabled=false\n" },
	{ "C states: another driver",
	  NULL,
	  { FILE_AT(SYSTEM "cpuidle/current_driver", "acpi_idle\n"), FILE_AT(MAX_CSTATE, "9\n") },
	  "",
	  "flags cpu.cpuid\nattributes cpu.cpuid\nattributes cpu.model\n"
	  "attributes cpu.pstate\nattributes cpu.rdt\nattributes cpu.security\n"
	  "attributes cpu.topology\nattributes cpu.coprocessor\nattributes cpu.cstate\n"
	  "attributes cpu.sst\n" },
	{ "C states: no driver, and no feature",
	  NULL,
	  { DIR_AT(SYSTEM "cpuidle") },
	  "",
	  "flags cpu.cpuid\nattributes cpu.cpuid\nattributes cpu.model\n"
	  "attributes cpu.pstate\nattributes cpu.rdt\nattributes cpu.security\n"
	  "attributes cpu.topology\nattributes cpu.coprocessor\nattributes cpu.sst\n" },
	{ "C states: no limit",
	  NULL,
	  { FILE_AT(SYSTEM "cpuidle/current_driver", "intel_idle\n") },
	  "" },
	{ "C states: no number",
	  NULL,
	  { FILE_AT(SYSTEM "cpuidle/current_driver", "intel_idle\n"), FILE_AT(MAX_CSTATE, "x\n") },
	  "unknown cpu-cstate.enabled\n" },
	{ "C states: unreadable driver",
	  NULL,
	  { DIR_AT(SYSTEM "cpuidle/current_driver") },
	  "unknown cpu-cstate.enabled\n" },
};

#define SST_LABELS \
	"cpu-cpuid.AVX=true\ncpu-cpuid.AVX10=true\ncpu-cpuid.AVX10_VERSION=2\ncpu-cpuid.SSE=true\n" INTEL_MODEL
static const struct row sst_rows[] = {
	{ "above the nominal frequency",
	  &intel,
	  { FILE_AT(CPU0 "cpufreq/base_frequency", "2000999\n"),
	    FILE_AT(CPU1 "cpufreq/base_frequency", "2001000\n") },
	  SST_LABELS "cpu-power.sst_bf.enabled=true\n" },
	{ "not above it",
	  &intel,
	  { FILE_AT(CPU0 "cpufreq/base_frequency", "2000999\n"), DIR_AT(CPU1) },
	  SST_LABELS },
	{ "no number",
	  &intel,
	  { FILE_AT(CPU0 "cpufreq/base_frequency", "fast\n") },
	  SST_LABELS "unknown cpu-power.sst_bf.enabled\n" },
	{ "one that is above comes before one without a number",
	  &intel,
	  { FILE_AT(CPU0 "cpufreq/base_frequency", "3000000\n"),
	    FILE_AT(CPU1 "cpufreq/base_frequency", "fast\n") },
	  SST_LABELS "cpu-power.sst_bf.enabled=true\n" },
	{ "CPUID has no frequency",
	  &guest,
	  { FILE_AT(CPU0 "cpufreq/base_frequency", "2000000\n") },
	  GUEST_LABELS },
	{ "another's root has no CPUID",
	  NULL,
	  { FILE_AT(CPU0 "cpufreq/base_frequency", "2000000\n") },
	  "" },
};

static const struct row security_rows[] = {
	{ "TDX", NULL, { FILE_AT(KVM_INTEL "tdx", "Y\n") }, "cpu-security.tdx.enabled=true\n" },
	{ "TDX: exactly that", NULL, { FILE_AT(KVM_INTEL "tdx", "Y") }, "" },
	{ "TDX: 1 is not that", NULL, { FILE_AT(KVM_INTEL "tdx", "1\n") }, "" },
	{ "TDX: a long text is not that",
	  NULL,
	  { FILE_AT(KVM_INTEL "tdx", "Y\nYYYYYYYYYYYYY\n") },
	  "" },
	{ "SEV: Y", NULL, { FILE_AT(KVM_AMD "sev", "Y\n") }, "cpu-security.sev.enabled=true\n" },
	{ "SEV: 1, of older kernels",
	  NULL,
	  { FILE_AT(KVM_AMD "sev", "1\n"), FILE_AT(KVM_AMD "sev_es", "0\n"),
	    FILE_AT(KVM_AMD "sev_snp", "") },
	  "cpu-security.sev.enabled=true\n" },
	{ "SEV: N", NULL, { FILE_AT(KVM_AMD "sev", "N\n") }, "" },
	{ "all of AMD's",
	  NULL,
	  { FILE_AT(KVM_AMD "sev", "Y\n"), FILE_AT(KVM_AMD "sev_es", "Y\n"),
	    FILE_AT(KVM_AMD "sev_snp", "Y\n"), FILE_AT(MISC, "sev 410\nsev_es 99\n") },
	  "cpu-security.sev.enabled=true\ncpu-security.sev.es.enabled=true\n"
	  "cpu-security.sev.snp.enabled=true\n" },
	{ "SEV: unreadable",
	  NULL,
	  { DIR_AT(KVM_AMD "sev") },
	  "unknown cpu-security.sev.enabled\n" },
	{ "keys without TDX are nobody's", NULL, { FILE_AT(MISC, "tdx 15\n") }, "" },
};

#define SECURITY(text)                                                             \
	"flags cpu.cpuid\nattributes cpu.cpuid\nattributes cpu.model\n"            \
	"attributes cpu.pstate\nattributes cpu.rdt\nattributes cpu.security " text \
	"\nattributes cpu.topology\nattributes cpu.coprocessor\nattributes cpu.sst\n"
#define SEV FILE_AT(KVM_AMD "sev", "Y\n")
static const struct row capacity_rows[] = {
	{ "TDX",
	  NULL,
	  { FILE_AT(KVM_INTEL "tdx", "Y\n"), FILE_AT(MISC, "sev 1\ntdx 15\n") },
	  "cpu-security.tdx.enabled=true\n",
	  SECURITY("tdx.enabled=true tdx.total_keys=15") },
	{ "SEV and ES",
	  NULL,
	  { SEV, FILE_AT(KVM_AMD "sev_es", "Y\n"), FILE_AT(MISC, "sev 410\nsev_es 99\n") },
	  "cpu-security.sev.enabled=true\ncpu-security.sev.es.enabled=true\n",
	  SECURITY(
		  "sev.enabled=true sev.asids=410 sev.es.enabled=true sev.encrypted_state_ids=99") },
	{ "a longer name that comes first, as with NFD",
	  NULL,
	  { SEV, FILE_AT(MISC, "sev_es 99\nsev 410\n") },
	  "cpu-security.sev.enabled=true\n",
	  SECURITY("sev.enabled=true sev.asids=99") },
	{ "cgroup v1",
	  NULL,
	  { SEV, FILE_AT("sys/fs/cgroup/misc/misc.capacity", "sev 7 x\n") },
	  "cpu-security.sev.enabled=true\n",
	  SECURITY("sev.enabled=true sev.asids=7") },
	{ "the first file counts, with nothing in it",
	  NULL,
	  { SEV, FILE_AT(MISC, ""), FILE_AT("sys/fs/cgroup/misc/misc.capacity", "sev 7\n") },
	  "cpu-security.sev.enabled=true\n",
	  SECURITY("sev.enabled=true") },
	{ "max",
	  NULL,
	  { SEV, FILE_AT(MISC, "sev max\n") },
	  "cpu-security.sev.enabled=true\n",
	  SECURITY("sev.enabled=true") },
	{ "two blanks",
	  NULL,
	  { SEV, FILE_AT(MISC, "sev  4\n") },
	  "cpu-security.sev.enabled=true\n",
	  SECURITY("sev.enabled=true") },
	{ "no number",
	  NULL,
	  { SEV, FILE_AT(MISC, "sev\nsev 4\n") },
	  "cpu-security.sev.enabled=true\n",
	  SECURITY("sev.enabled=true") },
	{ "below zero",
	  NULL,
	  { SEV, FILE_AT(MISC, "sev -4\n") },
	  "cpu-security.sev.enabled=true\n",
	  SECURITY("sev.enabled=true") },
	{ "zero",
	  NULL,
	  { SEV, FILE_AT(MISC, "sev 0\r\n") },
	  "cpu-security.sev.enabled=true\n",
	  SECURITY("sev.enabled=true sev.asids=0") },
};

static void scans(void **state)
{
	const struct row *row = *state;
	struct nfd_scan_options options = scan_options(0);
	char *black[] = { (char *)row->black }, *white[] = { (char *)row->white };
	struct nfd_scan_request request = {
		.options = &options,
		.cpu = row->cpu,
		.features = row->features != NULL,
	};
	const char *tree = tree_new();

	options.cpu.flag_black_list = (struct nfd_texts){ black, row->black ? 1 : 0 };
	options.cpu.flag_white_list = (struct nfd_texts){ white, row->white ? 1 : 0 };
	tree_fill(tree, row->tree);
	for (int no_openat2 = 0; no_openat2 <= 1; no_openat2++) {
		request.root = tree_root(tree, no_openat2);
		assert_string_equal(scan_text_request(&nfd_cpu_scanner, &request),
				    unit_text("%s%s", row->text,
					      row->features ? row->features : ""));
	}
}

int main(void)
{
	struct unit_suite suite = { .name = "cpu" };

	UNIT_ROWS(&suite, scans, flag_rows, name);
	UNIT_ROWS(&suite, scans, model_rows, name);
	UNIT_ROWS(&suite, scans, topology_rows, name);
	UNIT_ROWS(&suite, scans, power_rows, name);
	UNIT_ROWS(&suite, scans, sst_rows, name);
	UNIT_ROWS(&suite, scans, security_rows, name);
	UNIT_ROWS(&suite, scans, capacity_rows, name);
	return unit_run(&suite);
}
