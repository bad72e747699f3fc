// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One 512-byte header an entry, content padded to 512.
 */
#include "config.h"

#include "cmd/tar.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/write.h"

#define BLOCK 512

struct header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type;
	char link_name[100], magic[6], version[2], user[32], group[32], major[8], minor[8];
	char prefix[155], padding[12];
};

_Static_assert(sizeof(struct header) == BLOCK, "a tar header is one block");

/* Fields need no NUL at the end when full. */
static int put_text(char *field, size_t size, const char *text, size_t len)
{
	if (len > size)
		return -ENAMETOOLONG;
	memcpy(field, text, len);
	return 0;
}

/* A long path is split at a slash into prefix and name. */
static int put_path(struct header *header, const char *path)
{
	size_t len = strlen(path);
	const char *slash;

	if (len <= sizeof(header->name))
		return put_text(header->name, sizeof(header->name), path, len);
	slash = strchr(path + len - sizeof(header->name) - 1, '/');
	if (!slash || !slash[1])
		return -ENAMETOOLONG;
	if (put_text(header->prefix, sizeof(header->prefix), path, (size_t)(slash - path)) < 0)
		return -ENAMETOOLONG;
	return put_text(header->name, sizeof(header->name), slash + 1, strlen(slash + 1));
}

static int put_header(int fd, const char *path, char type, const char *link, size_t size)
{
	struct header header = { .type = type, .magic = "ustar", .version = { '0', '0' } };
	unsigned int sum = 0;
	int r;

	r = put_path(&header, path);
	if (r == 0 && link)
		r = put_text(header.link_name, sizeof(header.link_name), link, strlen(link));
	if (r < 0)
		return r;
	snprintf(header.mode, sizeof(header.mode), "%07o", type == '5' ? 0755U : 0644U);
	snprintf(header.uid, sizeof(header.uid), "%07o", 0U);
	snprintf(header.gid, sizeof(header.gid), "%07o", 0U);
	snprintf(header.size, sizeof(header.size), "%011zo", size);
	snprintf(header.mtime, sizeof(header.mtime), "%011o", 0U);
	memset(header.checksum, ' ', sizeof(header.checksum));
	for (size_t i = 0; i < sizeof(header); i++)
		sum += ((const unsigned char *)&header)[i];
	snprintf(header.checksum, sizeof(header.checksum), "%06o", sum & 0777777);
	return nfd_write_all(fd, &header, sizeof(header));
}

int nfd_tar_file(int fd, const char *path, const char *data, size_t len)
{
	static const char zeros[BLOCK];
	int r;

	r = put_header(fd, path, '0', NULL, len);
	if (r == 0)
		r = nfd_write_all(fd, data, len);
	if (r == 0 && len % BLOCK)
		r = nfd_write_all(fd, zeros, BLOCK - len % BLOCK);
	return r;
}

int nfd_tar_link(int fd, const char *path, const char *target)
{
	return put_header(fd, path, '2', target, 0);
}

int nfd_tar_dir(int fd, const char *path)
{
	return put_header(fd, path, '5', NULL, 0);
}

int nfd_tar_end(int fd)
{
	static const char zeros[2 * BLOCK];

	return nfd_write_all(fd, zeros, sizeof(zeros));
}
