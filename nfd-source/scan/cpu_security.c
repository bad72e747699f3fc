// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is enabled on this host, and how many keys there are. Numbers of keys get no label.
 */
#include "config.h"

#include "scan/cpu_security.h"

#include <errno.h>
#include <string.h>

#include "base/parse.h"
#include "scan/cpu_element.h"

#define AMD_PARAMETERS "sys/module/kvm_amd/parameters/"
#define TDX_PARAMETER "sys/module/kvm_intel/parameters/tdx"
#define UV_HOST "sys/firmware/uv/prot_virt_host"
#define CAPACITY_MAX 65536

static const char *const capacity_files[] = {
	"sys/fs/cgroup/misc.capacity",
	"sys/fs/cgroup/misc/misc.capacity",
};

static const struct nfd_cpu_element sgx = { "security", "sgx.enabled", "security.sgx.enabled" };
static const struct nfd_cpu_element sgx_epc = { "security", "sgx.epc", NULL };
static const struct nfd_cpu_element tdx_guest = { "security", "tdx.protected",
						  "security.tdx.protected" };

/* Switches of the kernel. */
static const struct {
	enum nfd_cpu_arch arch;
	const char *path;
	const char *exact; /* content that means "on"; NULL: a first byte of '1' or 'Y' does */
	const char *keys;  /* its lines in misc.capacity begin so; NULL: none */
	struct nfd_cpu_element enabled;
	struct nfd_cpu_element key_count;
} switches[] = {
	{ NFD_CPU_X86_64,
	  TDX_PARAMETER,
	  "Y\n",
	  "tdx",
	  { "security", "tdx.enabled", "security.tdx.enabled" },
	  { "security", "tdx.total_keys", NULL } },
	{ NFD_CPU_X86_64,
	  AMD_PARAMETERS "sev",
	  NULL,
	  "sev",
	  { "security", "sev.enabled", "security.sev.enabled" },
	  { "security", "sev.asids", NULL } },
	{ NFD_CPU_X86_64,
	  AMD_PARAMETERS "sev_es",
	  NULL,
	  "sev_es",
	  { "security", "sev.es.enabled", "security.sev.es.enabled" },
	  { "security", "sev.encrypted_state_ids", NULL } },
	{ NFD_CPU_X86_64,
	  AMD_PARAMETERS "sev_snp",
	  NULL,
	  NULL,
	  { "security", "sev.snp.enabled", "security.sev.snp.enabled" },
	  { NULL, NULL, NULL } },
	{ NFD_CPU_S390X,
	  UV_HOST,
	  "1\n",
	  NULL,
	  { "security", "se.enabled", "security.se.enabled" },
	  { NULL, NULL, NULL } },
};

/* The number on the first line that begins with a resource; upstream's quirk: a longer name has it too. */
static int find_capacity(char *text, const char *resource, int64_t *ret)
{
	char *save = NULL, *number;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (strncmp(line, resource, strlen(resource)) != 0)
			continue;
		number = strchr(line, ' ');
		if (!number)
			return -EINVAL;
		number++;
		number[strcspn(number, " \r")] = '\0';
		return nfd_parse_int(number, ret);
	}
	return -ENOENT;
}

static void add_capacity(struct nfd_scan *scan, const char *resource,
			 const struct nfd_cpu_element *element)
{
	ssize_t len = -ENOENT;
	int64_t number;

	for (size_t i = 0; i < NFD_ARRAY_SIZE(capacity_files) && len < 0; i++) {
		cleanup_free char *text = NULL;

		len = nfd_root_read_alloc(scan->root, capacity_files[i], CAPACITY_MAX, &text);
		if (len == -ENOMEM)
			scan->error = -ENOMEM;
		if (len >= 0 && find_capacity(text, resource, &number) == 0 && number >= 0)
			nfd_cpu_put_number(scan, element, (uint64_t)number, capacity_files[i]);
	}
}

/* Whether a switch is on: 1, 0, negative errno. */
static int is_on(const struct nfd_root *root, const char *path, const char *exact)
{
	char text[8] = "";
	ssize_t len = nfd_root_read_start(root, path, text, sizeof(text));

	if (len < 0)
		return (int)len;
	if (exact)
		return (size_t)len == strlen(exact) && memcmp(text, exact, (size_t)len) == 0;
	return len > 0 && (text[0] == '1' || text[0] == 'Y');
}

static void add_switch(struct nfd_scan *scan, size_t i)
{
	int on = is_on(scan->root, switches[i].path, switches[i].exact);

	if (on < 0)
		nfd_cpu_failed(scan, &switches[i].enabled, switches[i].path, on);
	if (on <= 0)
		return;
	nfd_cpu_put(scan, &switches[i].enabled, "true", switches[i].path);
	if (switches[i].keys)
		add_capacity(scan, switches[i].keys, &switches[i].key_count);
}

void nfd_cpu_security(struct nfd_scan *scan)
{
	if (scan->cpu && scan->cpu->sgx_epc_bytes > 0) {
		nfd_cpu_put(scan, &sgx, "true", "CPUID");
		nfd_cpu_put_number(scan, &sgx_epc, scan->cpu->sgx_epc_bytes, "CPUID");
	}
	if (nfd_cpu_has(scan->cpu, "TDX_GUEST"))
		nfd_cpu_put(scan, &tdx_guest, "true", "CPUID");
	for (size_t i = 0; i < NFD_ARRAY_SIZE(switches); i++)
		if (nfd_cpu_may_be(scan, switches[i].arch))
			add_switch(scan, i);
}
