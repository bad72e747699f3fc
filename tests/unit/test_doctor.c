// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * doctor/doctor: the tables, the rules of the verdict, and how each end of NVML's process is judged.
 */
#include "config.h"

#include "doctor/doctor.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

#define GPU_AT(driver) PCI_AT("0000:3b:00.0", "30200", "10DE:27B8", driver)
#define LIB "usr/lib/x86_64-linux-gnu/libnvidia-ml.so"
#define LIBRARY_AT(version) \
	FILE_AT(LIB "." version, "\177ELF\002"), LINK_AT(LIB ".1", "libnvidia-ml.so." version)
#define MODULE_AT(version) FILE_AT("sys/module/nvidia/version", version "\n")
#define NVML_DEADLINE_MS 300

static char *const environment[] = { (char[]){ "PATH=/usr/bin:/bin" }, NULL };

/* A doctor of a tree, and all that it borrows. */
struct patient {
	struct nfd_doctor doctor;
	struct nfd_doctor_options options;
	struct nfd_output_options outputs;
	struct nfd_api_place place;
};

static struct patient *examine(const char *tree, const char *nvml_helper)
{
	struct patient *patient = unit_bytes(sizeof(*patient));
	struct nfd_error err = { 0 };

	patient->place = (struct nfd_api_place){ .root_path = tree,
						 .environment = environment,
						 .node_name = "" };
	patient->outputs.api.place = &patient->place;
	patient->outputs.feature_file.dir = unit_text("%s/features.d", tree);
	patient->options = (struct nfd_doctor_options){ .root = tree_root(tree, false),
							.outputs = &patient->outputs,
							.nvml_helper = nvml_helper,
							.nvml_deadline_ms = NVML_DEADLINE_MS };
	assert_int_equal(nfd_doctor_run(&patient->doctor, &patient->options, &err), 0);
	return patient;
}

static enum nfd_verdict verdict_of(const struct nfd_doctor *doctor, const char *id)
{
	const struct nfd_row *rows;
	size_t count, i = 0;

	rows = nfd_rows(&count);
	while (i < count && strcmp(rows[i].id, id) != 0)
		i++;
	assert_true(i < count);
	return doctor->diagnosis[i].verdict;
}

static const struct nfd_diagnosis *diagnosis_of(const struct nfd_doctor *doctor, const char *id)
{
	const struct nfd_row *rows;
	size_t count, i = 0;

	rows = nfd_rows(&count);
	while (i < count && strcmp(rows[i].id, id) != 0)
		i++;
	assert_true(i < count);
	return &doctor->diagnosis[i];
}

static void tables(void **state)
{
	const struct nfd_link *links;
	const struct nfd_row *rows;
	size_t count, link_count;

	(void)state;
	links = nfd_links(&link_count);
	rows = nfd_rows(&count);
	for (size_t i = 0; i < link_count; i++)
		assert_true(links[i].name && links[i].summary && links[i].run);
	for (size_t i = 0; i < count; i++) {
		assert_true(rows[i].link < link_count);
		assert_true(i == 0 || rows[i].link >= rows[i - 1].link);
		assert_int_equal(strncmp(rows[i].id, "GPU-", 4), 0);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(rows[i].id, rows[k].id);
		/* It becomes a value of a metric's label and a line for people. */
		for (const char *c = rows[i].help; *c; c++)
			assert_true(*c >= ' ' && *c <= '~' && *c != '"' && *c != '\\');
	}
	for (size_t i = 1; i < link_count; i++)
		assert_true(links[i].apart >= links[i - 1].apart);
	assert_string_equal(nfd_verdict_name(NFD_VERDICT_NOT_CHECKED), "not-checked");
}

static const struct {
	const char *name;
	struct tree_entry tree[8];
	enum nfd_verdict worst;
	bool undecided;
	const char *cause; /* id; NULL for none */
	const char *id;    /* a row, its verdict, and by what it is blocked */
	enum nfd_verdict verdict;
	const char *blocked_by;
} rows[] = {
	{ "nothing mounted",
	  { DIR_AT("etc") },
	  NFD_VERDICT_NOT_CHECKED,
	  true,
	  NULL,
	  "GPU-PCI-NONE",
	  NFD_VERDICT_NOT_CHECKED,
	  NULL },
	{ "empty bus",
	  { DIR_AT("sys/bus/pci/devices") },
	  NFD_VERDICT_NOT_CHECKED,
	  true,
	  NULL,
	  "GPU-PCI-NONE",
	  NFD_VERDICT_NOT_CHECKED,
	  NULL },
	{ "no PCI bus",
	  { DIR_AT("sys/kernel") },
	  NFD_VERDICT_INFO,
	  false,
	  NULL,
	  "GPU-PCI-NONE",
	  NFD_VERDICT_INFO,
	  NULL },
	{ "another vendor's GPU",
	  { PCI_AT("0000:3b:00.0", "38000", "1002:74A1", "amdgpu") },
	  NFD_VERDICT_INFO,
	  false,
	  NULL,
	  "GPU-DRV-ABSENT",
	  NFD_VERDICT_NOT_CHECKED,
	  NULL },
	{ "a driver and no GPU",
	  { MODULE_AT("580.1.2"), FILE_AT("sys/module/nvidia/refcnt", "1") },
	  NFD_VERDICT_CRITICAL,
	  false,
	  "GPU-PCI-NONE",
	  "GPU-PCI-NONE",
	  NFD_VERDICT_CRITICAL,
	  NULL },
	{ "WSL2",
	  { DIR_AT("sys"), FILE_AT("dev/dxg", "") },
	  NFD_VERDICT_INFO,
	  false,
	  NULL,
	  "GPU-PCI-NONE",
	  NFD_VERDICT_INFO,
	  NULL },
	{ "no driver",
	  { PCI_UNBOUND_AT("0000:3b:00.0", "30200", "10DE:27B8") },
	  NFD_VERDICT_CRITICAL,
	  false,
	  "GPU-DRV-ABSENT",
	  "GPU-DRV-ABSENT",
	  NFD_VERDICT_CRITICAL,
	  NULL },
	{ "nouveau",
	  { GPU_AT("nouveau") },
	  NFD_VERDICT_CRITICAL,
	  false,
	  "GPU-DRV-NOUVEAU",
	  "GPU-DRV-NOUVEAU",
	  NFD_VERDICT_CRITICAL,
	  NULL },
	{ "nouveau: what is behind is blocked",
	  { GPU_AT("nouveau"), FILE_AT("etc/containerd/config.toml", "version = 2\n") },
	  NFD_VERDICT_CRITICAL,
	  false,
	  "GPU-DRV-NOUVEAU",
	  "GPU-CRI-NORUNTIME",
	  NFD_VERDICT_CRITICAL,
	  "GPU-DRV-NOUVEAU" },
	{ "passthrough: the chain is the guest's",
	  { GPU_AT("vfio-pci"), FILE_AT("etc/containerd/config.toml", "version = 2\n") },
	  NFD_VERDICT_INFO,
	  false,
	  NULL,
	  "GPU-CRI-NORUNTIME",
	  NFD_VERDICT_NOT_CHECKED,
	  NULL },
	{ "mismatch",
	  { GPU_AT("nvidia"), MODULE_AT("580.126.09"), LIBRARY_AT("580.159.03"),
	    FILE_AT("etc/containerd/config.toml", "version = 2\n"),
	    FILE_AT("proc/driver/nvidia/gpus/0000:3b:00.0/information", "Model: \t NVIDIA L4\n") },
	  NFD_VERDICT_CRITICAL,
	  false,
	  "GPU-DRV-MISMATCH",
	  "GPU-CRI-NORUNTIME",
	  NFD_VERDICT_CRITICAL,
	  "GPU-DRV-MISMATCH" },
	{ "mismatch: pins stand apart",
	  { GPU_AT("nvidia"), MODULE_AT("580.126.09"), LIBRARY_AT("580.159.03"),
	    FILE_AT("proc/driver/nvidia/gpus/0000:3b:00.0/information", "Model: \t NVIDIA L4\n"),
	    FILE_AT("var/lib/dpkg/status",
		    "Package: libnvidia-compute-580\nStatus: install ok installed\nVersion: 580.159.03\n"),
	    FILE_AT("etc/apt/apt.conf.d/20", "APT::Periodic::Unattended-Upgrade \"1\";") },
	  NFD_VERDICT_CRITICAL,
	  false,
	  "GPU-DRV-MISMATCH",
	  "GPU-DRV-UNPINNED",
	  NFD_VERDICT_WARNING,
	  NULL },
};

static void judges(void **state)
{
	const __typeof__(rows[0]) *row = *state;
	const char *tree = tree_new();
	struct nfd_doctor *doctor;
	const char *blocked_by;

	tree_fill(tree, row->tree);
	doctor = &examine(tree, NULL)->doctor;
	assert_int_equal(nfd_doctor_worst(doctor), row->worst);
	assert_int_equal(nfd_doctor_is_undecided(doctor), row->undecided);
	assert_string_equal(doctor->cause ? doctor->cause : "", row->cause ? row->cause : "");
	assert_int_equal(verdict_of(doctor, row->id), row->verdict);
	blocked_by = diagnosis_of(doctor, row->id)->blocked_by;
	assert_string_equal(blocked_by ? blocked_by : "", row->blocked_by ? row->blocked_by : "");
	nfd_doctor_done(doctor);
}

static void a_worse_finding_stays(void **state)
{
	struct patient *patient = examine(tree_new(), NULL);
	struct nfd_doctor *doctor = &patient->doctor;
	struct nfd_diagnosis *found;

	(void)state;
	assert_string_equal(diagnosis_of(doctor, "GPU-HW-XID")->cause, "there is no NVIDIA GPU");
	found = nfd_find(doctor, "GPU-HW-XID", NFD_VERDICT_WARNING, "%s", "first");
	nfd_prove(doctor, found, "p", "%d", 1);
	nfd_advise(doctor, found, "%s", "fix");
	/* An equal one adds what is new to it. */
	found = nfd_find(doctor, "GPU-HW-XID", NFD_VERDICT_WARNING, "second");
	nfd_prove(doctor, found, "p", "1");
	nfd_prove(doctor, found, "q", "2");
	nfd_advise(doctor, found, "fix");
	/* Neither a lesser one nor "not checked" takes its place, and what is said of them is lost. */
	found = nfd_find(doctor, "GPU-HW-XID", NFD_VERDICT_INFO, "third");
	assert_non_null(found);
	nfd_prove(doctor, found, "r", "3");
	nfd_advise(doctor, found, "no fix");
	nfd_skip(doctor, "GPU-HW-XID", "fourth");
	nfd_skip_link(doctor, 2, "fifth");
	assert_string_equal(diagnosis_of(doctor, "GPU-HW-XID")->cause, "first");
	assert_int_equal(diagnosis_of(doctor, "GPU-HW-XID")->evidence_count, 2);
	assert_int_equal(diagnosis_of(doctor, "GPU-HW-XID")->fix_count, 1);
	assert_true(nfd_found(doctor, "GPU-HW-XID", NFD_VERDICT_WARNING));
	assert_false(nfd_found(doctor, "GPU-HW-XID", NFD_VERDICT_CRITICAL));
	/* A worse one does, with evidence of its own. */
	nfd_find(doctor, "GPU-HW-XID", NFD_VERDICT_CRITICAL, "worse");
	assert_string_equal(diagnosis_of(doctor, "GPU-HW-XID")->cause, "worse");
	assert_int_equal(diagnosis_of(doctor, "GPU-HW-XID")->evidence_count, 0);
	assert_int_equal(diagnosis_of(doctor, "GPU-HW-XID")->fix_count, 0);
	/* A row that does not exist takes nothing down. */
	nfd_find(doctor, "GPU-NONE", NFD_VERDICT_CRITICAL, "x");
	assert_string_equal(nfd_doctor_node(doctor), "<node>");
	assert_int_equal(doctor->error, 0);
	nfd_doctor_done(doctor);
	nfd_doctor_done(doctor);
}

#define DEVICES(list) "{\"init\":{\"code\":0,\"text\":\"Success\"},\"devices\":[" list "]}"

static const struct {
	const char *name, *script;
	const char *id; /* of the finding; NULL: all is well */
	enum nfd_verdict verdict;
	const char *cause;
} nvml_rows[] = {
	{ "well", "echo '" DEVICES("{}") "'", NULL, NFD_VERDICT_OK, NULL },
	{ "a device that does not answer", "echo '" DEVICES("{\"error\":{\"code\":15}}") "'",
	  "GPU-NVML-INIT", NFD_VERDICT_WARNING, "NVML sees 0 of the 1 GPUs" },
	{ "fewer devices", "echo '" DEVICES("") "'", "GPU-NVML-INIT", NFD_VERDICT_WARNING,
	  "NVML sees 0 of the 1 GPUs" },
	{ "mismatch",
	  "echo '{\"init\":{\"code\":18,\"text\":\"Driver/library version mismatch\"}}'",
	  "GPU-NVML-INIT", NFD_VERDICT_CRITICAL, "(code 18)" },
	{ "not loaded", "echo '{\"init\":{\"code\":9,\"text\":\"Driver Not Loaded\"}}'",
	  "GPU-NVML-INIT", NFD_VERDICT_CRITICAL, "(code 9)" },
	{ "lost", "echo '{\"init\":{\"code\":15}}'", "GPU-NVML-INIT", NFD_VERDICT_CRITICAL,
	  "(code 15)" },
	{ "unknown code", "echo '{\"init\":{\"code\":999,\"text\":\"Unknown Error\"}}'",
	  "GPU-NVML-INIT", NFD_VERDICT_CRITICAL, "Unknown Error" },
	{ "not loadable", "echo '{\"loadError\":\"invalid ELF header\"}'", "GPU-NVML-INIT",
	  NFD_VERDICT_CRITICAL, "invalid ELF header" },
	{ "no report", "exit 0", "GPU-NVML-INIT", NFD_VERDICT_CRITICAL, "no report" },
	{ "no JSON", "echo hello", "GPU-NVML-INIT", NFD_VERDICT_CRITICAL, "no report" },
	{ "no object", "echo '[1]'", "GPU-NVML-INIT", NFD_VERDICT_CRITICAL, "no report" },
	{ "empty object", "echo '{}'", "GPU-NVML-INIT", NFD_VERDICT_CRITICAL, "makes no sense" },
	{ "other kinds", "echo '{\"init\":[],\"devices\":5,\"loadError\":7}'", "GPU-NVML-INIT",
	  NFD_VERDICT_CRITICAL, "makes no sense" },
	{ "status 1", "exit 1", "GPU-NVML-INIT", NFD_VERDICT_CRITICAL, "fails" },
	{ "crash", "kill -SEGV $$", "GPU-NVML-INIT", NFD_VERDICT_CRITICAL, "crashes" },
	{ "hang", "exec sleep 60", "GPU-NVML-HANG", NFD_VERDICT_CRITICAL, "does not answer" },
	{ "hang after a report", "echo '" DEVICES("{}") "'; exec sleep 60", "GPU-NVML-HANG",
	  NFD_VERDICT_CRITICAL, "does not answer" },
	{ "flood", "exec yes", "GPU-NVML-INIT", NFD_VERDICT_CRITICAL, NULL },
	{ "its words do not reach us", "echo x >&2; echo '" DEVICES("{}") "'", NULL, NFD_VERDICT_OK,
	  NULL },
};

static void judges_nvml(void **state)
{
	static const struct tree_entry host[] = {
		GPU_AT("nvidia"),
		MODULE_AT("580.1.2"),
		FILE_AT("sys/module/nvidia/refcnt", "1"),
		LIBRARY_AT("580.1.2"),
		FILE_AT("proc/driver/nvidia/gpus/0000:3b:00.0/information",
			"Model: \t NVIDIA L4\n"),
		{ 0 },
	};
	static const char *const ids[] = { "GPU-NVML-HANG", "GPU-NVML-INIT" };
	const __typeof__(nvml_rows[0]) *row = *state;
	const char *tree = tree_new(), *errors;
	int64_t start = nfd_clock_monotonic_ms();
	struct nfd_doctor *doctor;

	tree_fill(tree, host);
	unit_capture(2);
	doctor = &examine(tree, tree_program(tree, "nvml", row->script))->doctor;
	errors = unit_captured(2);
	/* The deadline and no more, with room for a slow machine. */
	assert_true(nfd_clock_monotonic_ms() - start < 5000);
	assert_string_equal(errors, "");
	for (size_t i = 0; i < NFD_ARRAY_SIZE(ids); i++) {
		bool is_it = row->id && strcmp(row->id, ids[i]) == 0;
		/* How a start ends is not known where it does not. */
		bool is_behind_a_hang = row->id && strcmp(row->id, ids[0]) == 0 && i == 1;

		assert_int_equal(verdict_of(doctor, ids[i]), is_it ? row->verdict :
							     is_behind_a_hang ?
								     NFD_VERDICT_NOT_CHECKED :
								     NFD_VERDICT_OK);
		if (is_it && row->cause)
			unit_assert_contains(diagnosis_of(doctor, ids[i])->cause, row->cause);
	}
	nfd_doctor_done(doctor);
}

static const struct {
	const char *name;
	struct tree_entry tree[6];
	const char *reason;
} no_nvml_rows[] = {
	{ "no library", { GPU_AT("nvidia"), MODULE_AT("580.1.2") }, "there is no library" },
	{ "not loaded", { GPU_AT("nvidia"), LIBRARY_AT("580.1.2") }, "is not loaded" },
};

static void nvml_is_not_started(void **state)
{
	const __typeof__(no_nvml_rows[0]) *row = *state;
	const char *tree = tree_new();
	struct nfd_doctor *doctor;

	tree_fill(tree, row->tree);
	doctor = &examine(tree, tree_program(tree, "nvml", "exit 1"))->doctor;
	assert_int_equal(verdict_of(doctor, "GPU-NVML-INIT"), NFD_VERDICT_NOT_CHECKED);
	unit_assert_contains(diagnosis_of(doctor, "GPU-NVML-INIT")->cause, row->reason);
	nfd_doctor_done(doctor);
}

/* A hostile host: every file that is read holds rubbish; nothing crashes. */
static void hostile_host(void **state)
{
	static const char *const files[] = {
		"proc/stat",
		"proc/sys/kernel/osrelease",
		"etc/os-release",
		"sys/module/nvidia/version",
		"proc/driver/nvidia/version",
		"proc/driver/nvidia/params",
		"proc/devices",
		"proc/driver/nvidia/gpus/0000:3b:00.0/information",
		"var/lib/dpkg/status",
		"var/log/apt/history.log",
		"var/log/kern.log",
		"etc/containerd/config.toml",
		"etc/crio/crio.conf",
		"etc/docker/daemon.json",
		"etc/cdi/nvidia.yaml",
		"var/lib/kubelet/device-plugins/kubelet_internal_checkpoint",
		"etc/ld.so.cache",
		"run/nvidia/validations/driver-ready",
		"features.d/x",
		"proc/7/comm",
		"proc/7/stat",
		"proc/7/cmdline",
		"etc/apt/preferences",
		"etc/apt/apt.conf",
		"etc/zypp/locks",
		"etc/dnf/versionlock.toml",
		"var/log/fabricmanager.log",
	};
	static const char *const contents[] = {
		"",
		"\n",
		"\377\376\001",
		"x\nbtime 9223372036854775807\n",
		"{\"Data\":5}",
		"[[[[[[[[",
		"a: &x [*x]\n",
		"containerd",
		"-1",
		"99999999999999999999999999",
	};

	(void)state;
	for (size_t k = 0; k < NFD_ARRAY_SIZE(contents); k++) {
		static const struct tree_entry gpu[] = { GPU_AT("nvidia"),
							 LIBRARY_AT("580.1.2"),
							 { 0 } };
		const char *tree = tree_new();
		struct nfd_doctor *doctor;

		tree_fill(tree, gpu);
		for (size_t i = 0; i < NFD_ARRAY_SIZE(files); i++)
			tree_file(tree, files[i], contents[k]);
		doctor = &examine(tree, NULL)->doctor;
		assert_int_equal(doctor->error, 0);
		nfd_doctor_done(doctor);
		tree_remove_all();
	}
}

int main(void)
{
	struct unit_suite suite = { .name = "doctor" };

	UNIT_CASE(&suite, tables);
	UNIT_ROWS(&suite, judges, rows, name);
	UNIT_CASE(&suite, a_worse_finding_stays);
	UNIT_ROWS(&suite, judges_nvml, nvml_rows, name);
	UNIT_ROWS(&suite, nvml_is_not_started, no_nvml_rows, name);
	UNIT_CASE(&suite, hostile_host);
	return unit_run(&suite);
}
