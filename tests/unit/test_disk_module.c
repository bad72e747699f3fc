// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * doctor/disk_module: the module's path in modules.dep, and its version from a hostile ELF file.
 */
#include "config.h"

#include "doctor/disk_module.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

#define RELEASE "6.8.0-48-generic"
#define MODULES "lib/modules/" RELEASE "/"
#define DEP MODULES "modules.dep"

/* A kernel module: header, section names, .modinfo, section table. @info has NULs; @size bytes. */
struct module {
	Elf64_Ehdr head;
	char names[24]; /* "", ".shstrtab", ".modinfo" */
	char info[64];
	Elf64_Shdr section[3];
};

static struct module make_module(const char *info, size_t size)
{
	struct module module = {
		.head = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				       EV_CURRENT },
			  .e_type = ET_REL,
			  .e_shoff = offsetof(struct module, section),
			  .e_ehsize = sizeof(Elf64_Ehdr),
			  .e_shentsize = sizeof(Elf64_Shdr),
			  .e_shnum = 3,
			  .e_shstrndx = 1 },
		.names = "\0.shstrtab\0.modinfo",
		.section = { { 0 },
			     { .sh_name = 1,
			       .sh_type = SHT_STRTAB,
			       .sh_offset = offsetof(struct module, names),
			       .sh_size = 20 },
			     { .sh_name = 11,
			       .sh_type = SHT_PROGBITS,
			       .sh_offset = offsetof(struct module, info),
			       .sh_size = size } },
	};

	assert_true(size <= sizeof(module.info));
	memcpy(module.info, info, size);
	return module;
}

/* In exactly @size bytes, so that a read behind them is found. */
static const char *version_of(const void *data, size_t size)
{
	char version[NFD_NVIDIA_VERSION_SIZE] = "unset";
	char *exact = malloc(size ? size : 1);

	assert_non_null(exact);
	memcpy(exact, data, size);
	nfd_modinfo_version(exact, size, version);
	free(exact);
	return unit_text("%s", version);
}

#define INFO(text) text, sizeof(text) - 1

static const struct {
	const char *name, *info;
	size_t size;
	const char *version;
} info_rows[] = {
	{ "empty", INFO(""), "" },
	{ "alone", INFO("version=580.126.09\0"), "580.126.09" },
	{ "among others", INFO("license=NVIDIA\0version=580.1.2\0srcversion=ABC\0"), "580.1.2" },
	{ "other keys", INFO("srcversion=1\0vermagic=2\0versions=3\0xversion=4\0"), "" },
	{ "padding", INFO("\0\0\0version=580.1.2\0\0"), "580.1.2" },
	{ "without NUL at the end", INFO("version=580.1.2"), "580.1.2" },
	{ "empty value", INFO("version=\0x=1\0"), "" },
	{ "the first one", INFO("version=1.2\0version=3.4\0"), "1.2" },
	{ "in a value", INFO("description=version=1.2\0"), "" },
	{ "as long as fits", INFO("version=1234567890123456789012345678901\0"),
	  "1234567890123456789012345678901" },
	{ "too long", INFO("version=12345678901234567890123456789012\0"), "" },
	{ "cut key", INFO("version"), "" },
};

static void reads_modinfo(void **state)
{
	const __typeof__(info_rows[0]) *row = *state;
	struct module module = make_module(row->info, row->size);

	assert_string_equal(version_of(&module, sizeof(module)), row->version);
}

/* Each row puts one hostile value into a good file. */
#define SPOIL(field, value)                                                       \
	{                                                                         \
#field " = " #value, offsetof(struct module, field),              \
			sizeof(((struct module *)NULL)->field), (uint64_t)(value) \
	}

static const struct {
	const char *name;
	size_t offset, width;
	uint64_t value;
} spoil_rows[] = {
	SPOIL(head.e_ident[0], 'x'),
	SPOIL(head.e_ident[EI_CLASS], ELFCLASS32),
	SPOIL(head.e_ident[EI_CLASS], 0),
	SPOIL(head.e_shoff, 0),
	SPOIL(head.e_shoff, UINT64_MAX),
	SPOIL(head.e_shoff, sizeof(struct module)),
	SPOIL(head.e_shoff, UINT64_MAX - 63),
	SPOIL(head.e_shentsize, 0),
	SPOIL(head.e_shentsize, 40),
	SPOIL(head.e_shnum, 0),
	SPOIL(head.e_shnum, 1),
	SPOIL(head.e_shnum, 2),
	SPOIL(head.e_shstrndx, 3),
	SPOIL(head.e_shstrndx, UINT16_MAX),
	SPOIL(section[1].sh_offset, UINT64_MAX),
	SPOIL(section[1].sh_offset, sizeof(struct module) + 1),
	SPOIL(section[1].sh_size, 0),
	SPOIL(section[1].sh_size, 19),
	SPOIL(section[1].sh_size, UINT64_MAX),
	SPOIL(section[2].sh_name, 10),
	SPOIL(section[2].sh_name, 12),
	SPOIL(section[2].sh_name, 20),
	SPOIL(section[2].sh_name, UINT32_MAX),
	SPOIL(section[2].sh_offset, UINT64_MAX),
	SPOIL(section[2].sh_offset, sizeof(struct module)),
	SPOIL(section[2].sh_size, 0),
	SPOIL(section[2].sh_size, 8),
	SPOIL(section[2].sh_size, UINT64_MAX),
};

static void hostile_file(void **state)
{
	const __typeof__(spoil_rows[0]) *row = *state;
	struct module module = make_module(INFO("version=580.1.2\0"));

	assert_string_equal(version_of(&module, sizeof(module)), "580.1.2");
	memcpy((char *)&module + row->offset, &row->value, row->width);
	assert_string_equal(version_of(&module, sizeof(module)), "");
}

static void many_sections(void **state)
{
	struct module module = make_module(INFO("version=580.1.2\0"));

	(void)state;
	/* More than the file has: those behind it are none, the ones inside still count. */
	module.head.e_shnum = UINT16_MAX;
	assert_string_equal(version_of(&module, sizeof(module)), "580.1.2");
}

static void every_start(void **state)
{
	struct module module = make_module(INFO("version=580.1.2\0"));

	(void)state;
	for (size_t size = 0; size < sizeof(module); size++)
		assert_string_equal(version_of(&module, size), "");
	assert_string_equal(version_of("\177ELF", 4), "");
	assert_string_equal(version_of(unit_repeat('\377', 4096), 4096), "");
}

static const struct {
	const char *name;
	struct tree_entry tree[4];
	bool is_there;
	const char *path, *other_kernel;
	int error;
} dep_rows[] = {
	{ "nothing", { DIR_AT("lib") }, false, "", "", -ENOENT },
	{ "no module",
	  { FILE_AT(DEP, "kernel/fs/ext4/ext4.ko: kernel/lib/crc16.ko\n") },
	  false,
	  "",
	  "",
	  0 },
	{ "empty", { FILE_AT(DEP, "") }, false, "", "", 0 },
	{ "DKMS",
	  { FILE_AT(DEP, "a/b.ko:\nupdates/dkms/nvidia.ko: kernel/x.ko\nc/d.ko:\n") },
	  true,
	  MODULES "updates/dkms/nvidia.ko",
	  "",
	  0 },
	{ "missing newline",
	  { FILE_AT(DEP, "extra/nvidia.ko:") },
	  true,
	  MODULES "extra/nvidia.ko",
	  "",
	  0 },
	{ "no colon", { FILE_AT(DEP, "extra/nvidia.ko") }, true, MODULES "extra/nvidia.ko", "", 0 },
	{ "zstd",
	  { FILE_AT(DEP, "extra/nvidia.ko.zst:\n") },
	  true,
	  MODULES "extra/nvidia.ko.zst",
	  "",
	  0 },
	{ "xz",
	  { FILE_AT(DEP, "extra/nvidia.ko.xz:\n") },
	  true,
	  MODULES "extra/nvidia.ko.xz",
	  "",
	  0 },
	{ "gzip",
	  { FILE_AT(DEP, "extra/nvidia.ko.gz:\n") },
	  true,
	  MODULES "extra/nvidia.ko.gz",
	  "",
	  0 },
	{ "other names",
	  { FILE_AT(
		  DEP,
		  "a/nvidia-uvm.ko: a/nvidia.ko\na/xnvidia.ko:\na/nvidia.ko.bak:\na/nvidia.k:\n") },
	  false,
	  "",
	  "",
	  0 },
	{ "another kernel has one",
	  { FILE_AT(DEP, "a/b.ko:\n"),
	    FILE_AT("lib/modules/6.8.0-45/modules.dep", "e/nvidia.ko:\n") },
	  false,
	  "",
	  "6.8.0-45",
	  0 },
	{ "the running kernel before another",
	  { FILE_AT(DEP, "e/nvidia.ko:\n"),
	    FILE_AT("lib/modules/6.8.0-45/modules.dep", "e/nvidia.ko:\n") },
	  true,
	  MODULES "e/nvidia.ko",
	  "",
	  0 },
	{ "this kernel has no folder",
	  { FILE_AT("lib/modules/6.8.0-45/modules.dep", "e/nvidia.ko:\n") },
	  false,
	  "",
	  "6.8.0-45",
	  -ENOENT },
	{ "folder", { DIR_AT(DEP) }, false, "", "", -EISDIR },
	{ "loop", { LINK_AT(DEP, "modules.dep") }, false, "", "", -ELOOP },
	{ "hostile bytes",
	  { FILE_AT(DEP, "\377/nvidia.ko:\n") },
	  true,
	  MODULES "\377/nvidia.ko",
	  "",
	  0 },
};

static void finds_module(void **state)
{
	const __typeof__(dep_rows[0]) *row = *state;
	const char *tree = tree_new();
	struct nfd_disk_module module;

	tree_fill(tree, row->tree);
	nfd_disk_module_find(tree_root(tree, false), RELEASE, &module);
	assert_int_equal(module.is_there, row->is_there);
	assert_string_equal(module.path, row->path);
	assert_string_equal(module.other_kernel, row->other_kernel);
	assert_int_equal(module.error, row->error);
	assert_string_equal(module.version, "");
}

static void reads_version(void **state)
{
	struct module file = make_module(INFO("version=580.126.09\0"));
	const char *tree = tree_new();
	struct nfd_disk_module module;

	(void)state;
	tree_file(tree, DEP, "updates/dkms/nvidia.ko:\n");
	tree_bytes(tree, MODULES "updates/dkms/nvidia.ko", &file, sizeof(file));
	nfd_disk_module_find(tree_root(tree, false), RELEASE, &module);
	assert_string_equal(module.version, "580.126.09");
	nfd_disk_module_find(tree_root(tree, false), "", &module);
	assert_false(module.is_there);
	tree_file(tree, DEP, unit_text("%s/nvidia.ko:\n", unit_repeat('x', 5000)));
	nfd_disk_module_find(tree_root(tree, false), RELEASE, &module);
	assert_true(module.is_there && !module.version[0]);
}

int main(void)
{
	struct unit_suite suite = { .name = "disk_module" };

	UNIT_ROWS(&suite, reads_modinfo, info_rows, name);
	UNIT_ROWS(&suite, hostile_file, spoil_rows, name);
	UNIT_CASE(&suite, many_sections);
	UNIT_CASE(&suite, every_start);
	UNIT_ROWS(&suite, finds_module, dep_rows, name);
	UNIT_CASE(&suite, reads_version);
	return unit_run(&suite);
}
