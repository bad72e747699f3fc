// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The only file that includes <pci/pci.h>. libpci reports every failure by a callback that must not
 * return, and its default ends the process. So each call into it runs inside a function that has
 * no other work and no cleanup attributes, and the callback jumps back there.
 */
#include "config.h"

#include "scan/pci_library.h"

#include <errno.h>
#include <limits.h>
#include <pci/pci.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PCI_SLOTS "sys/bus/pci/slots"

struct nfd_pci_library {
	struct pci_access *access;
	const struct nfd_root *root;
};

/* libpci's callback has no cookie, so the place to jump to cannot live anywhere else. */
static _Thread_local struct {
	jmp_buf place;
	char text[256];
} trap;

static void __attribute__((noreturn)) on_error(char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(trap.text, sizeof(trap.text), fmt, args);
	va_end(args);
	longjmp(trap.place, 1);
}

static void on_message(char *fmt, ...)
{
	(void)fmt; /* warnings and debug text: nothing a person could act on */
}

static int guarded_init(struct pci_access *access)
{
	if (setjmp(trap.place))
		return -EIO;
	pci_init(access);
	return 0;
}

static int guarded_fill(struct pci_dev *device)
{
	if (setjmp(trap.place))
		return -EIO;
	pci_fill_info(device, PCI_FILL_NUMA_NODE);
	return 0;
}

static int guarded_device(struct nfd_pci_library *library, const struct nfd_pci_function *function,
			  struct pci_dev **ret)
{
	if (setjmp(trap.place))
		return -EIO;
	*ret = pci_get_dev(library->access, (int)function->domain, function->bus,
			   function->device_number, function->function_number);
	return 0;
}

static void guarded_lookup(struct nfd_pci_library *library, const struct nfd_pci_function *function,
			   struct nfd_pci_description *ret)
{
	if (setjmp(trap.place))
		return;
	pci_lookup_name(library->access, ret->device, sizeof(ret->device),
			PCI_LOOKUP_VENDOR | PCI_LOOKUP_DEVICE, (int)function->vendor,
			(int)function->device);
	pci_lookup_name(library->access, ret->class_name, sizeof(ret->class_name), PCI_LOOKUP_CLASS,
			(int)(function->class_code >> 8));
}

static char *guarded_model(struct nfd_pci_library *library, const struct nfd_pci_function *function,
			   char *buf, size_t size)
{
	if (setjmp(trap.place))
		return NULL;
	return pci_lookup_name(library->access, buf, (int)size,
			       PCI_LOOKUP_DEVICE | PCI_LOOKUP_NO_NUMBERS, (int)function->vendor,
			       (int)function->device);
}

static void guarded_cleanup(struct pci_access *access)
{
	if (setjmp(trap.place))
		return;
	pci_cleanup(access);
}

int nfd_pci_library_open(const struct nfd_root *root, struct nfd_pci_library **ret,
			 struct nfd_error *err)
{
	char path[PATH_MAX];
	struct nfd_pci_library *library;
	int r = nfd_root_exists(root, NFD_PCI_DEVICES);

	if (r <= 0)
		return nfd_error_set(err, r < 0 ? r : -ENOENT, "there is no \"%s\"",
				     NFD_PCI_DEVICES);
	library = calloc(1, sizeof(*library));
	if (!library)
		return nfd_error_set(err, -ENOMEM, "out of memory");
	library->root = root;
	library->access = pci_alloc();
	library->access->error = on_error;
	library->access->warning = on_message;
	library->access->debug = on_message;
	/* An automatic choice would fall on to port I/O and /dev/mem. */
	library->access->method = PCI_ACCESS_SYS_BUS_PCI;
	snprintf(path, sizeof(path), "%s/sys/bus/pci", root->path);
	pci_set_param(library->access, (char *)"sysfs.path", path);
	r = guarded_init(library->access);
	if (r < 0) {
		/* What pci_init() left half done cannot be cleaned up safely; it happens once. */
		free(library);
		return nfd_error_set(err, r, "libpci: %s", trap.text);
	}
	*ret = library;
	return 0;
}

/* libpci opens paths by itself, so a link that leaves the root must be found before. */
static bool is_inside_root(const struct nfd_root *root, const char *address)
{
	char path[PATH_MAX], inside[PATH_MAX];
	struct stat outside_st, inside_st;

	snprintf(path, sizeof(path), NFD_PCI_DEVICES "/%s", address);
	if (nfd_root_resolve(root, path, inside, sizeof(inside)) < 0 ||
	    fstatat(root->fd, inside, &inside_st, 0) < 0 ||
	    fstatat(root->fd, path, &outside_st, 0) < 0)
		return false;
	return inside_st.st_dev == outside_st.st_dev && inside_st.st_ino == outside_st.st_ino;
}

/*
 * The physical slot whose address is the device's. libpci fills it in only for devices that it found
 * in a scan of the whole bus, and such a scan ends at the first stray name.
 */
static void find_slot(const struct nfd_root *root, const char *address,
		      struct nfd_pci_description *ret)
{
	cleanup_names struct nfd_names names = { 0 };
	char path[PATH_MAX], text[NFD_PCI_ADDRESS_SIZE];

	if (nfd_root_list(root, PCI_SLOTS, &names) < 0)
		return;
	for (size_t i = 0; i < names.count; i++) {
		size_t len;

		snprintf(path, sizeof(path), PCI_SLOTS "/%s/address", names.name[i]);
		if (nfd_root_read_line(root, path, text, sizeof(text)) < 0)
			continue;
		/* The slot's address has no function number. */
		len = strlen(text);
		if (len && strncmp(address, text, len) == 0 && address[len] == '.')
			snprintf(ret->slot, sizeof(ret->slot), "%s", names.name[i]);
	}
}

static int describe_place(struct nfd_pci_library *library, const struct nfd_pci_function *function,
			  struct nfd_pci_description *ret)
{
	struct pci_dev *device = NULL;
	char address[NFD_PCI_ADDRESS_SIZE];
	int r;

	nfd_pci_format_address(function, address);
	find_slot(library->root, address, ret);
	if (!is_inside_root(library->root, address))
		return -EIO;
	r = guarded_device(library, function, &device);
	if (r < 0 || !device)
		return -EIO;
	r = guarded_fill(device);
	if (r == 0 && device->known_fields & PCI_FILL_NUMA_NODE)
		ret->numa_node = device->numa_node;
	pci_free_dev(device);
	return r;
}

int nfd_pci_library_describe(struct nfd_pci_library *library,
			     const struct nfd_pci_function *function,
			     struct nfd_pci_description *ret)
{
	*ret = (struct nfd_pci_description){ .numa_node = -1 };
	snprintf(ret->device, sizeof(ret->device), "Device %04x:%04x", function->vendor,
		 function->device);
	snprintf(ret->class_name, sizeof(ret->class_name), "Class %04x", function->class_code >> 8);
	if (!library)
		return 0;
	guarded_lookup(library, function, ret);
	return describe_place(library, function, ret);
}

void nfd_pci_library_model(struct nfd_pci_library *library, const struct nfd_pci_function *function,
			   char *ret, size_t size)
{
	/* Of the real size: libpci answers a name that does not fit by a text of its own. */
	char buf[256];
	const char *name = guarded_model(library, function, buf, sizeof(buf));

	snprintf(ret, size, "%s", name ? name : "");
}

void nfd_pci_library_close(struct nfd_pci_library *library)
{
	if (!library)
		return;
	guarded_cleanup(library->access);
	free(library);
}
