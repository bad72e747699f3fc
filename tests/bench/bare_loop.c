// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The reads that no scan of a PCI bus can leave out, and nothing else: one uevent per function, and
 * sriov_totalvfs of those whose class is white-listed. The measure for our own scan.
 * Usage: bare_loop SYSFS_DEVICES_DIR
 */
#include "config.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int read_file(int dirfd, const char *name, const char *attribute, char *buf, size_t size)
{
	char path[512];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", name, attribute);
	fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	len = read(fd, buf, size - 1);
	close(fd);
	buf[len > 0 ? len : 0] = '\0';
	return len < 0 ? -1 : 0;
}

/* The default white list: 02 03 0b40 12, as the uevent file writes a class (no leading zero). */
static int is_white_listed(const char *uevent)
{
	const char *class = strstr(uevent, "PCI_CLASS=");
	unsigned long code = class ? strtoul(class + strlen("PCI_CLASS="), NULL, 16) : 0;

	return code >> 16 == 0x02 || code >> 16 == 0x03 || code >> 8 == 0x0b40 ||
	       code >> 16 == 0x12;
}

int main(int argc, char **argv)
{
	DIR *dir = argc == 2 ? opendir(argv[1]) : NULL;
	unsigned long functions = 0, capable = 0;
	struct dirent *entry;
	char buf[4096];

	if (!dir) {
		fprintf(stderr, "usage: bare_loop SYSFS_DEVICES_DIR\n");
		return 2;
	}
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.' ||
		    read_file(dirfd(dir), entry->d_name, "uevent", buf, sizeof(buf)) < 0)
			continue;
		functions++;
		if (is_white_listed(buf) &&
		    read_file(dirfd(dir), entry->d_name, "sriov_totalvfs", buf, sizeof(buf)) == 0)
			capable++;
	}
	printf("%lu functions, %lu capable of SR-IOV\n", functions, capable);
	closedir(dir);
	return 0;
}
