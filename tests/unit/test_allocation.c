// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fails the n-th allocation for each n: the work ends with -ENOMEM or is done, nothing crashes, and
 * under AddressSanitizer nothing leaks. The linker puts the functions below in place of the
 * allocator's for all of our code (-Wl,--wrap), cJSON's hooks do so for cJSON.
 */
#include "config.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <string.h>

#include "api/api_error.h"
#include "api/credentials.h"
#include "api/node_plan.h"
#include "base/yaml_tree.h"
#include "doctor/apt_config.h"
#include "doctor/doctor_report.h"
#include "doctor/toml.h"
#include "labels/hold.h"
#include "labels/key.h"
#include "output/api_run.h"
#include "output/feature_text.h"
#include "output/node_object.h"
#include "output/render.h"
#include "scan/cpu_facts.h"
#include "scan/scan.h"
#include "settings.h"
#include "tests/unit/json_row.h"
#include "tests/unit/labels.h"
#include "tests/unit/scan_text.h"
#include "tests/unit/unit.h"

#define ALLOCATIONS_MAX 20000

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);

static unsigned long countdown; /* 1 fails the next allocation, 0 fails none */
static bool has_failed;

static bool fails(void)
{
	if (countdown == 0 || --countdown != 0)
		return false;
	has_failed = true;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fails() ? NULL : __real_realloc(old, size);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

/* Work under test: 0 or a count when done, -ENOMEM. It frees what it made. */
typedef int work(const void *cookie);

static void fail_each(work *run, const void *cookie)
{
	unsigned long n;

	for (n = 1; n < ALLOCATIONS_MAX; n++) {
		int r;

		has_failed = false;
		countdown = n;
		r = run(cookie);
		countdown = 0;
		if (!has_failed)
			break;
		assert_true(r >= 0 || r == -ENOMEM);
	}
	/* The last round was the one without a failure; at least one came before it. */
	assert_true(n > 1 && n < ALLOCATIONS_MAX);
}

static const struct tree_entry host[] = {
	PCI_AT("0000:01:00.0", "30200", "10DE:27B8", "nvidia"),
	PCI_AT("0000:02:00.0", "20000", "8086:1592", "ice"),
	FILE_AT(TREE_PCI "0000:02:00.0/sriov_totalvfs", "64"),
	PCI_AT("0000:03:00.0", "20000", "15B3:1021", "mlx5_core"),
	FILE_AT(TREE_PCI "0000:03:00.0/infiniband/mlx5_0/fw_ver", "28.39.1002"),
	FILE_AT(TREE_PCI "0000:03:00.0/infiniband/mlx5_0/ports/1/link_layer", "Ethernet"),
	PCI_AT("0000:04:00.0", "C8000", "1D0F:7164", "neuron"),
	FILE_AT("sys/devices/virtual/neuron_device/neuron0/core_count", "2"),
	FILE_AT("sys/bus/usb/devices/1-1/bDeviceClass", "00"),
	FILE_AT("sys/bus/usb/devices/1-1/idVendor", "1a6e"),
	FILE_AT("sys/bus/usb/devices/1-1/idProduct", "089a"),
	FILE_AT("sys/bus/usb/devices/1-1/1-1:1.0/bInterfaceClass", "fe"),
	FILE_AT("sys/module/xe/version", "1.2.3"),
	LINK_AT("sys/module/qaic", "qaic"),
	FILE_AT("sys/module/nvidia/version", "580.1.2"),
	FILE_AT("proc/driver/nvidia/version", "Module 580.1.2"),
	FILE_AT("usr/lib64/libnvidia-ml.so.580.1.2", ""),
	LINK_AT("usr/lib64/libnvidia-ml.so.1", "libnvidia-ml.so.580.1.2"),
	FILE_AT("etc/ld.so.cache", "none"),
	FILE_AT("etc/os-release", "ID=x\nVERSION_ID=1.2\n"),
	FILE_AT("proc/sys/kernel/osrelease", "6.1.0"),
	{ 0 },
};

static int scan_once(const void *cookie)
{
	struct nfd_scan scan;
	int r = nfd_scan_run(&scan, cookie, NULL);

	nfd_scan_done(&scan);
	return r;
}

static void scan_survives(void **state)
{
	struct nfd_scan_options options = scan_options(0);
	const char *tree = tree_new();
	struct nfd_scan_request request = { .root = tree_root(tree, false), .options = &options };

	(void)state;
	tree_fill(tree, host);
	options.label_white_list = unit_text("pci|os_release");
	for (int variant = 0; variant < 4; variant++) {
		request.features = variant & 1;
		request.all_devices = variant & 2;
		fail_each(scan_once, &request);
	}
}

/* What nfd-worker looks at. */
static const struct tree_entry worker_host[] = {
	FILE_AT("proc/sys/kernel/osrelease", "6.1.0"),
	FILE_AT("boot/config-6.1.0", "CONFIG_NO_HZ=y\nCONFIG_A=1\nCONFIG_B=\"x\"\nCONFIG_A=2\n"),
	FILE_AT("proc/modules", "b 1\nib_uverbs 1\nrdma_ucm 1\nb 1\n"),
	PCI_AT("0000:03:00.0", "20000", "15B3:1021", "mlx5_core"),
	FILE_AT(TREE_PCI "0000:03:00.0/sriov_totalvfs", "8"),
	FILE_AT("sys/bus/usb/devices/1-1/bDeviceClass", "ff"),
	FILE_AT("sys/bus/usb/devices/1-1/idProduct", "089a"),
	FILE_AT("lib/modules/6.1.0/modules.builtin", "kernel/c.ko\n"),
	FILE_AT("sys/fs/selinux/enforce", "1"),
	DIR_AT("sys/bus/node/devices/node0"),
	DIR_AT("sys/bus/node/devices/node1"),
	FILE_AT("proc/swaps", "Filename\n/dev/sda\n"),
	FILE_AT("sys/bus/nd/devices/dax0.0/devtype", "nd_dax"),
	FILE_AT("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "1"),
	FILE_AT("sys/class/net/eth0/device/sriov_totalvfs", "1"),
	FILE_AT("sys/class/net/lo/mtu", "65536"),
	FILE_AT("sys/block/sda/queue/rotational", "0"),
	FILE_AT("etc/os-release", "ID=x\nVERSION_ID=1.2\nNAME=\xff\n"),
	FILE_AT("sys/devices/virtual/dmi/id/sys_vendor", "x"),
	FILE_AT("sys/bus/cpu/devices/cpu0/topology/thread_siblings_list", "0,1"),
	FILE_AT("sys/bus/cpu/devices/cpu0/topology/physical_package_id", "0"),
	FILE_AT("sys/devices/system/cpu/intel_pstate/status", "active"),
	FILE_AT("sys/devices/system/cpu/cpufreq/policy0/affected_cpus", "0"),
	FILE_AT("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "powersave"),
	FILE_AT("sys/module/kvm_amd/parameters/sev", "Y"),
	FILE_AT("sys/fs/cgroup/misc.capacity", "sev 1"),
	FILE_AT("proc/cpuinfo", "vendor_id : IBM/S390"),
	FILE_AT("proc/sysinfo", "VM00 Control Program: z/VM"),
	FILE_AT("proc/self/mounts", "resctrl /mnt resctrl rw 0 0"),
	FILE_AT("mnt/info/L3/num_closids", "16"),
	FILE_AT("features.d/a", "a=1\nexample.com/b=2\n# +no-label\na=3\nc\n"),
	FILE_AT("features.d/b", "# +unknown\nc=4\nbad key=1\n"),
	{ 0 },
};

static void worker_scan_survives(void **state)
{
	struct nfd_scan_options options = scan_options(0);
	const char *tree = tree_new();
	struct nfd_scan_request request = { .root = tree_root(tree, false), .options = &options };

	(void)state;
	tree_fill(tree, worker_host);
	options.local.dir = tree_path(tree, "features.d");
	for (int variant = 0; variant < 4; variant++) {
		struct nfd_cpu_facts facts;

		nfd_cpu_facts_init(&facts, variant & 1 ? NFD_CPU_X86_64 : NFD_CPU_S390X);
		facts.rdt = NFD_RDT_L3_ALLOCATION;
		nfd_cpu_add_flag(&facts, "VX");
		request.cpu = &facts;
		request.features = variant & 2;
		fail_each(scan_once, &request);
	}
}

/* Labels and raw features are taken from the scan before. */
static void partial_scan_survives(void **state)
{
	struct nfd_scan_options options = scan_options(0);
	const char *tree = tree_new();
	struct nfd_scan_request request = { .root = tree_root(tree, false),
					    .options = &options,
					    .features = true };
	struct nfd_scan before;

	(void)state;
	tree_fill(tree, worker_host);
	assert_int_equal(nfd_scan_run(&before, &request, NULL), 0);
	request.before = &before;
	request.scanners = nfd_scanners_for_subsystem("usb");
	fail_each(scan_once, &request);
	nfd_scan_done(&before);
}

static int load_once(const void *cookie)
{
	struct nfd_settings settings;
	struct nfd_error err = { 0 };
	int r = nfd_settings_load(&settings, cookie, &err);

	nfd_settings_done(&settings);
	return r;
}

static void settings_survive(void **state)
{
	char *environment[] = { unit_text("NFD_SOURCE_CORE_LABEL_WHITE_LIST=x"), NULL };
	const struct nfd_setting_override override = { "sources.usb.deviceClassWhitelist", "0e,fe",
						       "--set" };
	const char *tree = tree_new();
	const struct nfd_settings_sources sources = {
		.file = tree_path(tree, "f"),
		.file_required = true,
		.environment = environment,
		.override = &override,
		.override_count = 1,
	};

	(void)state;
	tree_file(tree, "f",
		  "core: {sleepInterval: 60s, noPublish: true}\n"
		  "sources: {pci: {deviceClassWhitelist: ['03', '12']}}\n");
	fail_each(load_once, &sources);
}

static int hold_once(const void *cookie)
{
	const struct nfd_hold_options options = { 3000, 60000 };
	const struct nfd_unknowns *unknowns = cookie;
	struct nfd_set start = { 0 }, scanned = { 0 };
	struct nfd_label label = { .value = (char[]){ "1" }, .source = (char[]){ "s" } };
	struct nfd_hold_result result;
	struct nfd_hold hold;
	char key[16];
	int r = 0;

	for (int i = 0; i < 5 && r == 0; i++) {
		snprintf(key, sizeof(key), "%c/k%d", i % 2 ? 'u' : 'k', i);
		label.key = key;
		r = nfd_set_put(&start, &label);
	}
	label.key = (char[]){ "k/new" };
	if (r == 0)
		r = nfd_set_put(&scanned, &label);
	nfd_hold_init(&hold, &options, &start);
	if (r == 0)
		r = nfd_hold_step(&hold, &scanned, unknowns, 0, &result);
	/* On failure it is as it was: five labels, none held. */
	if (r < 0 && hold.count)
		r = -EIO;
	if (r == 0)
		r = nfd_hold_step(&hold, &scanned, unknowns, 10000, &result);
	if (r < 0 && hold.published.count != 5 && hold.published.count != 6 && hold.count)
		r = -EIO;
	nfd_hold_done(&hold);
	nfd_set_done(&scanned);
	return r;
}

static void hold_survives(void **state)
{
	struct nfd_unknowns unknowns = { 0 };

	(void)state;
	assert_int_equal(nfd_unknowns_add(&unknowns, "u/", "reason", false), 0);
	fail_each(hold_once, &unknowns);
	nfd_unknowns_done(&unknowns);
}

static int set_once(const void *cookie)
{
	struct nfd_label label = { .value = (char[]){ "1" },
				   .source = (char[]){ "s" },
				   .stopped_by = (char[]){ "b" } };
	struct nfd_set set = { 0 }, copy = { 0 };
	char key[16];
	int r = 0;

	(void)cookie;
	for (int i = 0; i < 9 && r == 0; i++) {
		size_t before = set.count;

		snprintf(key, sizeof(key), "a/k%d", i * 5 % 9);
		label.key = key;
		label.stopped_by = i % 3 ? NULL : (char[]){ "b" };
		r = nfd_set_put(&set, &label);
		/* On failure the set is as it was. */
		if (r < 0 && (set.count != before || nfd_set_find(&set, key)))
			r = -EIO;
		if (r == 0 && !nfd_set_find(&set, key))
			r = -EIO;
	}
	label.key = (char[]){ "a/k0" };
	label.value = (char[]){ "2" };
	label.stopped_by = NULL;
	if (r == 0)
		r = nfd_set_put(&set, &label);
	if (r == 0)
		r = nfd_set_copy(&set, &copy);
	if (r < 0 && copy.count)
		r = -EIO;
	nfd_set_done(&copy);
	nfd_set_done(&set);
	return r;
}

static void set_survives(void **state)
{
	(void)state;
	fail_each(set_once, NULL);
}

static int text_once(const void *cookie)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	cleanup_set struct nfd_set again = { 0 };
	size_t left_out;
	int64_t expiry_s;
	int r = nfd_feature_text_render(cookie, 1000, &buf, &left_out);

	return r < 0 ? r : nfd_feature_text_parse(buf.data, 0, &again, &expiry_s);
}

static void feature_text_survives(void **state)
{
	cleanup_set struct nfd_set set = labels_set("a/b=1\nc/d=2\ne/f=");

	(void)state;
	fail_each(text_once, &set);
}

static int node_once(const void *cookie)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	cJSON *features = nfd_features_new();
	struct nfd_object_wish wish[2] = {
		{ .kind = NFD_OBJECT_WORKERS, .pod_uid = "u", .features = features },
		{ .kind = NFD_OBJECT_OWN },
	};
	int r = features ? nfd_features_add(features, NFD_FLAGS, "a.b") : -ENOMEM;

	for (size_t i = 0; i < NFD_ARRAY_SIZE(wish); i++) {
		wish[i].node = "node";
		wish[i].namespace = "ns";
		wish[i].set = cookie;
	}
	if (r == 0)
		r = nfd_node_feature_render(wish, NFD_ARRAY_SIZE(wish), &buf, NULL);
	cJSON_Delete(features);
	return r;
}

static void node_object_survives(void **state)
{
	cleanup_set struct nfd_set set = labels_set("a/b=1\nc/d=2");

	(void)state;
	fail_each(node_once, &set);
}

static int json_once(const void *cookie)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	struct nfd_unknowns unknowns = { 0 };
	cJSON *features = cJSON_CreateObject();
	int r = nfd_unknowns_add(&unknowns, "a/", "reason", false);

	if (r == 0 && features) {
		nfd_render_json(cookie, &unknowns, features, &buf);
		r = buf.error;
	}
	cJSON_Delete(features);
	nfd_unknowns_done(&unknowns);
	return r;
}

static void json_survives(void **state)
{
	cleanup_set struct nfd_set set = labels_set("a/b=1\nc/d=2");

	(void)state;
	fail_each(json_once, &set);
}

static int yaml_tree_once(const void *cookie)
{
	cJSON *tree = NULL;
	int r = nfd_yaml_tree_parse(cookie, strlen(cookie), "f", &tree, NULL);

	cJSON_Delete(tree);
	return r;
}

static void yaml_tree_survives(void **state)
{
	(void)state;
	fail_each(yaml_tree_once, "a: &x {b: [c, true, ~]}\nd: *x\ne: [*x, {f: g}]\n");
}

static int toml_once(const void *cookie)
{
	cJSON *tree = NULL;
	int r = nfd_toml_parse(cookie, "f", &tree, NULL);

	if (r < 0 && tree)
		r = -EIO;
	cJSON_Delete(tree);
	return r;
}

static void toml_survives(void **state)
{
	(void)state;
	fail_each(toml_once, "a.b = [1, 'x', {c = \"\\u00e9\"}]\n[[d]]\ne = \"\"\"f\"\"\"\n[d.g]\n"
			     "h = true\n");
}

static int apt_config_once(const void *cookie)
{
	struct nfd_apt_config config = { 0 };
	int r = nfd_apt_config_parse(&config, cookie);

	nfd_apt_config_done(&config);
	return r;
}

static void apt_config_survives(void **state)
{
	(void)state;
	fail_each(apt_config_once, "A { B \"1\"; C { \"x\"; \"y\"; }; };\n#clear A::C;\nD \"2\";");
}

/* A report is whole, or an error: one that lacks a field would be taken for a healthy node. */
static int report_once(const void *cookie)
{
	const struct nfd_doctor *doctor = cookie;
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	cJSON *json;
	int r;

	nfd_report_json(doctor, &buf);
	r = buf.error;
	if (r == 0) {
		/* Where none failed so far, none is to fail here. */
		countdown = 0;
		json = cJSON_Parse(nfd_strbuf_text(&buf));
		if (cJSON_GetArraySize(json) != 5)
			r = -EIO;
		cJSON_Delete(json);
	}
	return r;
}

static void doctor_report_survives(void **state)
{
	static const struct nfd_output_options outputs;
	static const struct nfd_doctor_options options = { .outputs = &outputs };
	struct nfd_doctor doctor = { .options = &options };
	struct nfd_diagnosis *found;
	size_t count;

	(void)state;
	nfd_rows(&count);
	doctor.diagnosis = calloc(count + 1, sizeof(*doctor.diagnosis));
	assert_non_null(doctor.diagnosis);
	found = nfd_find(&doctor, "GPU-DRV-MISMATCH", NFD_VERDICT_CRITICAL, "cause");
	nfd_prove(&doctor, found, "path", "value");
	nfd_advise(&doctor, found, "fix");
	fail_each(report_once, &doctor);
	nfd_doctor_done(&doctor);
}

static int find_once(const void *cookie)
{
	struct nfd_doctor doctor = { .options = cookie };
	struct nfd_diagnosis *found;
	size_t count;
	int r;

	nfd_rows(&count);
	doctor.diagnosis = calloc(count + 1, sizeof(*doctor.diagnosis));
	if (!doctor.diagnosis)
		return -ENOMEM;
	found = nfd_find(&doctor, "GPU-HW-XID", NFD_VERDICT_WARNING, "cause");
	nfd_prove(&doctor, found, "path", "value");
	nfd_prove(&doctor, found, "path", "value");
	nfd_advise(&doctor, found, "fix");
	nfd_advise(&doctor, found, "fix");
	r = doctor.error;
	nfd_doctor_done(&doctor);
	return r;
}

static void finding_survives(void **state)
{
	static const struct nfd_output_options outputs;
	static const struct nfd_doctor_options options = { .outputs = &outputs };

	(void)state;
	fail_each(find_once, &options);
}

static int kubeconfig_once(const void *cookie)
{
	cleanup_api_error struct nfd_api_error err = { 0 };
	struct nfd_credentials credentials;
	int r = nfd_credentials_read(&credentials, cookie, &err);

	nfd_credentials_done(&credentials);
	return r;
}

static void credentials_survive(void **state)
{
	char *environment[] = { unit_text("KUBERNETES_SERVICE_HOST=h"),
				unit_text("KUBERNETES_SERVICE_PORT=443"), NULL };
	const char *tree = tree_new();
	struct nfd_credential_source source = { .kubeconfig = "/config",
						.root = tree,
						.service_account_dir = "/",
						.environment = environment };

	(void)state;
	tree_file(tree, "token", "abc");
	tree_file(tree, "ca.crt", "CA");
	tree_file(tree, "namespace", "ns");
	tree_file(tree, "config",
		  "contexts: [{context: {namespace: ns}}]\n"
		  "clusters: [{cluster: {server: 'https://h', certificate-authority: ca.crt}}]\n"
		  "users: [{user: {tokenFile: token, client-certificate-data: Q0E=,"
		  " client-key-data: Q0E=}}]\n");
	fail_each(kubeconfig_once, &source);
	source.kubeconfig = NULL;
	fail_each(kubeconfig_once, &source);
}

static const char metadata_text[] =
	"{\"labels\":{\"a/b\":\"0\",\"a/c\":\"1\",\"a/d\":\"1\",\"a/e\":\"1\"},"
	"\"annotations\":{\"nfd.node.kubernetes.io/feature-labels\":\"a/d,a/f\"},"
	"\"managedFields\":[{\"manager\":\"x\",\"operation\":\"Update\",\"fieldsV1\":"
	"{\"f:metadata\":{\"f:labels\":{\"f:a/b\":{}}}}},"
	"{\"manager\":\"us\",\"operation\":\"Apply\",\"fieldsV1\":"
	"{\"f:metadata\":{\"f:labels\":{\"f:a/c\":{},\"f:a/d\":{},\"f:a/e\":{}}}}}]}";

static int plan_once(const void *cookie)
{
	struct nfd_node_plan plan;
	int r = nfd_node_plan_make(&plan, ((const cJSON *const *)cookie)[0],
				   &(struct nfd_node_wish){
					   .labels = ((const cJSON *const *)cookie)[1],
					   .bring = true },
				   "us");

	nfd_node_plan_done(&plan);
	return r;
}

static void node_plan_survives(void **state)
{
	const cJSON *input[] = {
		json_keep(cJSON_Parse(metadata_text)),
		json_new("{'a/b':'1','a/c':'2','a/d':'1','a/f':'1','a/g':'1'}"),
	};

	(void)state;
	fail_each(plan_once, input);
}

/* A Status without memory is a failure all the same: what is noted is the status. */
static int status_once(const void *cookie)
{
	cleanup_api_error struct nfd_api_error err = { 0 };
	cJSON *list = cJSON_CreateArray(), *object;
	int r = list ? 0 : -ENOMEM;

	if (nfd_api_error_status(&err, 409, "PATCH x", cookie) != -EEXIST)
		r = -EIO;
	if (r == 0)
		r = nfd_api_error_conflicts(&err, list);
	object = nfd_api_error_object(&err);
	if (r >= 0 && !object)
		r = -ENOMEM;
	cJSON_Delete(object);
	cJSON_Delete(list);
	return r;
}

static void status_survives(void **state)
{
	(void)state;
	fail_each(status_once, "{\"message\":\"m\",\"details\":{\"causes\":[{\"field\":"
			       "\".metadata.labels.a/b\",\"message\":\"m\"}]}}");
}

static int exchange_once(const void *cookie)
{
	cJSON *result = NULL;
	int r = nfd_api_exchange(cookie, cJSON_CreateObject(), &result, NULL);

	/* A result that cannot be kept in memory is none. */
	if (r == -EIO && has_failed)
		r = -ENOMEM;
	cJSON_Delete(result);
	return r;
}

static void request_survives(void **state)
{
	const char *tree = tree_new();
	char *environment[] = { NULL };
	struct nfd_api_place place = { .helper = tree_program(tree, "helper", "echo '{}'"),
				       .root_path = tree,
				       .environment = environment,
				       .node_name = "n" };
	const struct nfd_api_options options = { .kubeconfig = unit_text("/config"),
						 .proxy = unit_text("http://p"),
						 .deadline_ms = 60000,
						 .place = &place };

	(void)state;
	fail_each(exchange_once, &options);
}

int main(void)
{
	struct unit_suite suite = { .name = "allocation" };
	cJSON_Hooks hooks = { .malloc_fn = __wrap_malloc, .free_fn = free };

	cJSON_InitHooks(&hooks);
	UNIT_CASE(&suite, scan_survives);
	UNIT_CASE(&suite, worker_scan_survives);
	UNIT_CASE(&suite, partial_scan_survives);
	UNIT_CASE(&suite, settings_survive);
	UNIT_CASE(&suite, hold_survives);
	UNIT_CASE(&suite, set_survives);
	UNIT_CASE(&suite, feature_text_survives);
	UNIT_CASE(&suite, node_object_survives);
	UNIT_CASE(&suite, json_survives);
	UNIT_CASE(&suite, yaml_tree_survives);
	UNIT_CASE(&suite, toml_survives);
	UNIT_CASE(&suite, apt_config_survives);
	UNIT_CASE(&suite, doctor_report_survives);
	UNIT_CASE(&suite, finding_survives);
	UNIT_CASE(&suite, credentials_survive);
	UNIT_CASE(&suite, node_plan_survives);
	UNIT_CASE(&suite, status_survives);
	UNIT_CASE(&suite, request_survives);
	return unit_run(&suite);
}
