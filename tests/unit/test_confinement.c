// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * base/landlock, base/call_filter, cmd/daemon_confine: what a process can no longer do. Each case is a
 * child of its own, because nothing of it can be undone.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/call_filter.h"
#include "base/landlock.h"
#include "cmd/daemon_confine.h"
#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

/* Results of a child beside errno of what it tried. */
enum { DONE = 0, NOT_CONFINED = 200 };

typedef int attempt_fn(const char *tree);

static int result(int r)
{
	return r < 0 ? errno : DONE;
}

/* Runs @confine and then @attempt in a child; returns what that gave. */
static int try(int (*confine)(const char *tree), attempt_fn *attempt, const char *tree)
{
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(confine(tree) < 0 ? NOT_CONFINED : attempt(tree));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Writing. */

static int below_out(const char *tree)
{
	const struct nfd_landlock_rule rules[] = {
		{ .path = tree_path(tree, "out"), .use = NFD_LANDLOCK_FILES },
		{ .path = tree_path(tree, "nowhere"), .use = NFD_LANDLOCK_FILES },
		{ .path = "/dev/null", .use = NFD_LANDLOCK_DEVICES },
	};

	return nfd_landlock_restrict(rules, NFD_ARRAY_SIZE(rules), NULL);
}

static int open_for_writing(const char *path, int flags)
{
	return result(open(path, O_WRONLY | O_CLOEXEC | flags, 0600));
}

static int make_inside(const char *tree)
{
	return open_for_writing(tree_path(tree, "out/new"), O_CREAT);
}

static int rename_inside(const char *tree)
{
	return result(rename(tree_path(tree, "out/stage/file"), tree_path(tree, "out/file")));
}

static int remove_inside(const char *tree)
{
	return unlink(tree_path(tree, "out/stage/file")) < 0 ?
		       errno :
		       result(rmdir(tree_path(tree, "out/stage")));
}

static int link_inside(const char *tree)
{
	return result(symlink("x", tree_path(tree, "out/link")));
}

static int fifo_inside(const char *tree)
{
	return result(mkfifo(tree_path(tree, "out/fifo"), 0600));
}

static int read_outside(const char *tree)
{
	return result(open(tree_path(tree, "other/file"), O_RDONLY | O_CLOEXEC));
}

static int write_outside(const char *tree)
{
	return open_for_writing(tree_path(tree, "other/file"), 0);
}

static int make_outside(const char *tree)
{
	return open_for_writing(tree_path(tree, "other/new"), O_CREAT);
}

static int truncate_outside(const char *tree)
{
	return result(truncate(tree_path(tree, "other/file"), 0));
}

static int remove_outside(const char *tree)
{
	return result(unlink(tree_path(tree, "other/file")));
}

static int rename_outside(const char *tree)
{
	return result(rename(tree_path(tree, "out/stage/file"), tree_path(tree, "other/file")));
}

static int write_by_link(const char *tree)
{
	return open_for_writing(tree_path(tree, "out/to-other"), 0);
}

static int write_null(const char *tree)
{
	(void)tree;
	return open_for_writing("/dev/null", 0);
}

static int write_zero(const char *tree)
{
	(void)tree;
	return open_for_writing("/dev/zero", 0);
}

static int in_a_child(const char *tree)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(write_outside(tree));
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) :
								      NOT_CONFINED;
}

static int listen_tcp(const char *tree)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)tree;
	return fd < 0 ? errno : result(bind(fd, (struct sockaddr *)&any, sizeof(any)));
}

static const struct {
	const char *name;
	attempt_fn *attempt;
	int ends, abi; /* from which version of Landlock on */
} writing_rows[] = {
	{ "make inside", make_inside, DONE },
	{ "rename inside", rename_inside, DONE },
	{ "remove inside", remove_inside, DONE },
	{ "no link inside", link_inside, EACCES },
	{ "no fifo inside", fifo_inside, EACCES },
	{ "read outside", read_outside, DONE },
	{ "write outside", write_outside, EACCES },
	{ "make outside", make_outside, EACCES },
	{ "truncate outside", truncate_outside, EACCES, 3 },
	{ "remove outside", remove_outside, EACCES },
	{ "rename to the outside", rename_outside, EACCES },
	{ "write through a link", write_by_link, EACCES },
	{ "the null device", write_null, DONE },
	{ "another device", write_zero, EACCES },
	{ "a child", in_a_child, EACCES },
	{ "listen", listen_tcp, EACCES, 4 },
};

static void make_places(const char *tree)
{
	static const struct tree_entry places[] = {
		FILE_AT("out/stage/file", "new"),
		LINK_AT("out/to-other", "../other/file"),
		FILE_AT("other/file", "old"),
		{ 0 },
	};

	tree_fill(tree, places);
}

static void writing_is_restricted(void **state)
{
	const typeof(writing_rows[0]) *row = *state;
	const char *tree = tree_new();

	make_places(tree);
	if (nfd_landlock_abi() < NFD_LANDLOCK_ABI_LEAST || nfd_landlock_abi() < row->abi)
		skip();
	assert_int_equal(try(below_out, row->attempt, tree), row->ends);
}

/* System calls. */

static int nothing_more(const char *tree)
{
	(void)tree;
	return nfd_call_filter_apply(0, NULL);
}

static int with_network(const char *tree)
{
	(void)tree;
	return nfd_call_filter_apply(NFD_CALLS_NETWORK, NULL);
}

static int with_start(const char *tree)
{
	(void)tree;
	return nfd_call_filter_apply(NFD_CALLS_START | NFD_CALLS_ANY_PROGRAM, NULL);
}

static int twice(const char *tree)
{
	int r = nfd_call_filter_apply(NFD_CALLS_CONFINE | NFD_CALLS_START, NULL);

	(void)tree;
	return r < 0 ? r : nfd_call_filter_apply(0, NULL);
}

/* A kernel without Landlock and filters: an outer filter stands in for it. */
static int old_kernel(const char *tree)
{
	struct sock_filter step[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_seccomp, 5, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_landlock_create_ruleset, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_prctl, 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 2, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
	};
	struct sock_fprog filter = { .len = NFD_ARRAY_SIZE(step), .filter = step };

	(void)tree;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) < 0)
		return -errno;
	return 0;
}

static int say_unsupported(const char *tree)
{
	struct nfd_error err = { 0 };

	(void)tree;
	return nfd_call_filter_apply(0, &err) == -EOPNOTSUPP && strstr(err.text, "can be set") &&
			       nfd_landlock_restrict(NULL, 0, &err) == -EOPNOTSUPP &&
			       strstr(err.text, "no Landlock") ?
		       DONE :
		       NOT_CONFINED;
}

static int do_mount(const char *tree)
{
	return result(mount("none", tree, "tmpfs", 0, NULL));
}

static int do_unshare(const char *tree)
{
	(void)tree;
	return result(unshare(CLONE_NEWUSER));
}

static int do_clone_namespace(const char *tree)
{
	long pid = syscall(SYS_clone, (long)CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);

	(void)tree;
	if (pid == 0)
		_exit(0);
	return result((int)pid);
}

static int do_fork(const char *tree)
{
	pid_t pid = fork();

	(void)tree;
	if (pid == 0)
		_exit(0);
	return pid < 0 ? errno : DONE;
}

static int do_execute(const char *tree)
{
	char name[] = "true";
	char *argv[] = { name, NULL };

	(void)tree;
	execve("/bin/true", argv, NULL);
	return errno;
}

static int open_socket(int family)
{
	return result(socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
}

static int do_internet(const char *tree)
{
	(void)tree;
	return open_socket(AF_INET);
}

static int do_local(const char *tree)
{
	(void)tree;
	return open_socket(AF_UNIX);
}

static int do_packet(const char *tree)
{
	(void)tree;
	return open_socket(AF_PACKET);
}

static int do_keyring(const char *tree)
{
	(void)tree;
	return result((int)syscall(SYS_keyctl, 0, -1, 0));
}

#ifdef __x86_64__
/* getpid of the x32 architecture, which is marked by this bit. */
static int do_other_architecture(const char *tree)
{
	(void)tree;
	return result((int)syscall(0x40000000 | SYS_getpid));
}
#endif

static int do_file(const char *tree)
{
	return open_for_writing(tree_path(tree, "new"), O_CREAT);
}

static int privileges_are_gone(const char *tree)
{
	(void)tree;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? DONE : NOT_CONFINED;
}

static const struct {
	const char *name;
	int (*confine)(const char *tree);
	attempt_fn *attempt;
	int ends;
} call_rows[] = {
	{ "files", nothing_more, do_file, DONE },
	{ "children", nothing_more, do_fork, DONE },
	{ "no new privileges", nothing_more, privileges_are_gone, DONE },
	{ "mount", nothing_more, do_mount, ENOSYS },
	{ "mount, with all groups", with_start, do_mount, ENOSYS },
	{ "unshare", with_start, do_unshare, ENOSYS },
	{ "namespace by clone", with_start, do_clone_namespace, ENOSYS },
	{ "keyring", with_start, do_keyring, ENOSYS },
	{ "program", nothing_more, do_execute, ENOSYS },
	{ "program, allowed", with_start, do_execute, DONE },
#ifdef __x86_64__
	{ "another architecture", nothing_more, do_other_architecture, ENOSYS },
#endif
	{ "local socket", nothing_more, do_local, DONE },
	{ "internet", nothing_more, do_internet, ENOSYS },
	{ "internet, allowed", with_network, do_internet, DONE },
	{ "raw packets", with_network, do_packet, ENOSYS },
	{ "a second filter counts too", twice, do_execute, ENOSYS },
	{ "a kernel without", old_kernel, say_unsupported, DONE },
};

static void calls_are_filtered(void **state)
{
	const typeof(call_rows[0]) *row = *state;

	assert_int_equal(try(row->confine, row->attempt, tree_new()), row->ends);
}

/* The daemon. */

struct stage {
	struct nfd_settings settings;
	struct nfd_confinement confinement;
};

static void set_paths(struct stage *stage, const char *features, const char *status)
{
	stage->settings.outputs.feature_file.dir = unit_text("%s", features);
	stage->settings.outputs.node_labels.mode = NFD_LABELS_OFF;
	stage->settings.outputs.node_feature.mode = NFD_MODE_OFF;
	stage->settings.status_path = unit_text("%s", status);
	stage->settings.metrics_path = unit_text("%s", "");
}

/* What runs in the child of a case; asserts do not work there. */
static int waits_and_begins(const char *tree)
{
	struct stage stage = { 0 };
	bool waited;

	set_paths(&stage, tree_path(tree, "nfd/features.d"), tree_path(tree, "out/status.json"));
	if (nfd_confinement_begin(&stage.confinement, &stage.settings, NULL) < 0)
		return 1;
	waited = stage.confinement.waits && !stage.confinement.landlock &&
		 strstr(stage.confinement.landlock_reason, "waits until") != NULL;
	if (!waited || mkdir(tree_path(tree, "nfd"), 0755) < 0)
		return 2;
	if (nfd_confinement_step(&stage.confinement, &stage.settings, NULL) < 0)
		return 3;
	if (!stage.confinement.landlock || stage.confinement.folder_count != 2)
		return 4;
	if (mkdir(tree_path(tree, "nfd/features.d"), 0755) < 0)
		return 5;
	return write_outside(tree) == EACCES ? DONE : 6;
}

static int covers_what_it_had(const char *tree)
{
	struct stage stage = { 0 };
	struct nfd_error err = { 0 };

	set_paths(&stage, tree_path(tree, "out/features.d"), tree_path(tree, "out/status.json"));
	if (nfd_confinement_begin(&stage.confinement, &stage.settings, &err) < 0 ||
	    !nfd_confinement_covers(&stage.confinement, &stage.settings, &err))
		return 1;
	stage.settings.outputs.node_labels.mode = NFD_LABELS_ALWAYS;
	if (nfd_confinement_covers(&stage.confinement, &stage.settings, &err) ||
	    !strstr(err.text, "network"))
		return 2;
	stage.settings.outputs.node_labels.mode = NFD_LABELS_OFF;
	stage.settings.metrics_path = unit_text("%s", tree_path(tree, "other/x.prom"));
	if (nfd_confinement_covers(&stage.confinement, &stage.settings, &err) ||
	    !strstr(err.text, "restart"))
		return 3;
	return DONE;
}

static int off_is_off(const char *tree)
{
	struct stage stage = { 0 };

	set_paths(&stage, tree_path(tree, "out/features.d"), tree_path(tree, "out/status.json"));
	stage.settings.confinement = NFD_MODE_OFF;
	if (nfd_confinement_begin(&stage.confinement, &stage.settings, NULL) < 0 ||
	    nfd_confinement_step(&stage.confinement, &stage.settings, NULL) < 0 ||
	    !nfd_confinement_covers(&stage.confinement, &stage.settings, NULL))
		return 1;
	return write_outside(tree) == DONE && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 ? DONE :
											    2;
}

static int auto_goes_without(const char *tree)
{
	struct stage stage = { 0 };

	if (old_kernel(tree) < 0)
		return 1;
	set_paths(&stage, tree_path(tree, "out/features.d"), tree_path(tree, "out/status.json"));
	if (nfd_confinement_begin(&stage.confinement, &stage.settings, NULL) < 0)
		return 2;
	return stage.confinement.calls_reason[0] && stage.confinement.landlock_reason[0] &&
			       !stage.confinement.waits && write_outside(tree) == DONE ?
		       DONE :
		       3;
}

static int on_refuses(const char *tree)
{
	struct stage stage = { 0 };
	struct nfd_error err = { 0 };

	if (old_kernel(tree) < 0)
		return 1;
	set_paths(&stage, tree_path(tree, "out/features.d"), tree_path(tree, "out/status.json"));
	stage.settings.confinement = NFD_MODE_ON;
	if (nfd_confinement_begin(&stage.confinement, &stage.settings, &err) != -EOPNOTSUPP)
		return 2;
	return strstr(err.text, "confinement.mode: on") ? DONE : 3;
}

static const struct {
	const char *name;
	attempt_fn *attempt;
} daemon_rows[] = {
	{ "waits for folders", waits_and_begins },
	{ "a reload cannot widen it", covers_what_it_had },
	{ "off", off_is_off },
	{ "auto without a kernel's help", auto_goes_without },
	{ "on without a kernel's help", on_refuses },
};

static int not_at_all(const char *tree)
{
	(void)tree;
	return 0;
}

static void daemon_confines_itself(void **state)
{
	const typeof(daemon_rows[0]) *row = *state;
	const char *tree = tree_new();

	if (nfd_landlock_abi() < NFD_LANDLOCK_ABI_LEAST)
		skip();
	make_places(tree);
	assert_int_equal(try(not_at_all, row->attempt, tree), DONE);
}

int main(void)
{
	struct unit_suite suite = { .name = "confinement" };

	UNIT_ROWS(&suite, writing_is_restricted, writing_rows, name);
	UNIT_ROWS(&suite, calls_are_filtered, call_rows, name);
	UNIT_ROWS(&suite, daemon_confines_itself, daemon_rows, name);
	return unit_run(&suite);
}
