// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The interface of linux/landlock.h, stated here: the headers of a build machine are often older than
 * the kernels that the program meets. Numbers never change.
 */
#include "config.h"

#include "base/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

#define ASK_VERSION 1U
#define RULE_BENEATH 1
#define RIGHT(bit) (UINT64_C(1) << (bit))
#define NET_BIND_TCP RIGHT(0)
#define ABI_NET 4

struct ruleset {
	uint64_t files, net; /* rights that are refused where no rule grants them */
};

struct beneath {
	uint64_t rights;
	int32_t fd;
} __attribute__((packed));

enum { ON_FOLDERS = 1, ON_FILES = 2, FOR_FILES = 4, FOR_DEVICES = 8 };

static const struct {
	unsigned int bit, abi, flags;
} rights[] = {
	{ 1, 1, ON_FOLDERS | ON_FILES | FOR_FILES | FOR_DEVICES },  /* WRITE_FILE */
	{ 4, 1, ON_FOLDERS | FOR_FILES },                           /* REMOVE_DIR */
	{ 5, 1, ON_FOLDERS | FOR_FILES },                           /* REMOVE_FILE */
	{ 6, 1, ON_FOLDERS },                                       /* MAKE_CHAR */
	{ 7, 1, ON_FOLDERS | FOR_FILES },                           /* MAKE_DIR */
	{ 8, 1, ON_FOLDERS | FOR_FILES },                           /* MAKE_REG */
	{ 9, 1, ON_FOLDERS },                                       /* MAKE_SOCK */
	{ 10, 1, ON_FOLDERS },                                      /* MAKE_FIFO */
	{ 11, 1, ON_FOLDERS },                                      /* MAKE_BLOCK */
	{ 12, 1, ON_FOLDERS },                                      /* MAKE_SYM */
	{ 13, 2, ON_FOLDERS | FOR_FILES },                          /* REFER */
	{ 14, 3, ON_FOLDERS | ON_FILES | FOR_FILES | FOR_DEVICES }, /* TRUNCATE */
	{ 15, 5, ON_FOLDERS | ON_FILES | FOR_DEVICES },             /* IOCTL_DEV */
};

static uint64_t rights_with(unsigned int flags, int abi)
{
	uint64_t mask = 0;

	for (size_t i = 0; i < NFD_ARRAY_SIZE(rights); i++)
		if (rights[i].abi <= (unsigned int)abi && (rights[i].flags & flags) == flags)
			mask |= RIGHT(rights[i].bit);
	return mask;
}

int nfd_landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, ASK_VERSION);

	return abi > 0 ? (int)abi : 0;
}

static int fail(struct nfd_error *err, const char *what, const char *path)
{
	int code = -errno;

	return nfd_error_set(err, code, "%s%s%s: %s", what, *path ? " " : "", path,
			     nfd_errno_text(code));
}

static int add_rule(int ruleset, const struct nfd_landlock_rule *rule, int abi,
		    struct nfd_error *err)
{
	cleanup_close int fd = open(rule->path, O_PATH | O_CLOEXEC);
	unsigned int flags = rule->use == NFD_LANDLOCK_FILES ? FOR_FILES : FOR_DEVICES;
	struct beneath beneath = { .fd = fd };
	struct stat status;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd < 0 || fstat(fd, &status) < 0)
		return fail(err, "cannot open for Landlock", rule->path);
	flags |= S_ISDIR(status.st_mode) ? ON_FOLDERS : ON_FILES;
	beneath.rights = rights_with(flags, abi);
	if (syscall(SYS_landlock_add_rule, ruleset, RULE_BENEATH, &beneath, 0) < 0)
		return fail(err, "Landlock refuses a rule for", rule->path);
	return 0;
}

int nfd_landlock_restrict(const struct nfd_landlock_rule *rules, size_t count,
			  struct nfd_error *err)
{
	int abi = nfd_landlock_abi();
	struct ruleset set = { .files = rights_with(0, abi),
			       .net = abi >= ABI_NET ? NET_BIND_TCP : 0 };
	/* An older kernel refuses a struct that is longer than its own. */
	size_t size = abi >= ABI_NET ? sizeof(set) : sizeof(set.files);
	cleanup_close int fd = -1;
	int r = 0;

	if (abi == 0)
		return nfd_error_set(err, -EOPNOTSUPP, "this kernel has no Landlock");
	if (abi < NFD_LANDLOCK_ABI_LEAST)
		return nfd_error_set(err, -EOPNOTSUPP,
				     "Landlock %d of this kernel allows no renaming between "
				     "folders; Linux 5.19 does",
				     abi);
	fd = (int)syscall(SYS_landlock_create_ruleset, &set, size, 0);
	if (fd < 0)
		return fail(err, "Landlock refuses its ruleset", "");
	for (size_t i = 0; i < count && r == 0; i++)
		r = add_rule(fd, &rules[i], abi, err);
	if (r < 0)
		return r;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_landlock_restrict_self, fd, 0) < 0)
		return fail(err, "Landlock does not take effect", "");
	return 0;
}
