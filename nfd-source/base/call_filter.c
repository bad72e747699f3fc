// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * By name, so that one list fits every architecture: a name that this libseccomp or this architecture
 * does not know is passed over.
 */
#include "config.h"

#include "base/call_filter.h"

#include <errno.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <seccomp.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

/* clang-format off */
static const char always[] =
	/* files */
	"access chdir close close_range copy_file_range creat dup dup2 dup3 faccessat faccessat2 "
	"fadvise64 fadvise64_64 fallocate fchdir fchmod fchmodat fcntl fcntl64 fdatasync flock fstat "
	"fstat64 fstatat64 fstatfs fstatfs64 fsync ftruncate ftruncate64 futimesat getcwd getdents "
	"getdents64 getxattr ioctl lgetxattr _llseek lseek lstat lstat64 mkdir mkdirat newfstatat "
	"open openat openat2 pipe pipe2 pread64 preadv preadv2 pwrite64 pwritev pwritev2 read "
	"readahead readlink readlinkat readv rename renameat renameat2 rmdir sendfile sendfile64 stat "
	"stat64 statfs statfs64 statx sync_file_range truncate truncate64 umask unlink unlinkat utime "
	"utimensat utimensat_time64 utimes write writev "
	/* events */
	"epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 "
	"inotify_add_watch inotify_init inotify_init1 inotify_rm_watch _newselect poll ppoll "
	"ppoll_time64 pselect6 pselect6_time64 select signalfd signalfd4 timerfd_create "
	"timerfd_gettime timerfd_gettime64 timerfd_settime timerfd_settime64 "
	/* sockets: which families, is a rule of its own */
	"accept accept4 bind connect getpeername getsockname getsockopt listen recv recvfrom recvmmsg "
	"recvmmsg_time64 recvmsg send sendmmsg sendmsg sendto setsockopt shutdown socketpair "
	/* memory */
	"brk madvise membarrier memfd_create mincore mlock mlock2 mlockall mmap mmap2 mprotect mremap "
	"mseal msync munlock munlockall munmap map_shadow_stack pkey_alloc pkey_free pkey_mprotect "
	/* threads and the process itself */
	"arch_prctl capget exit exit_group futex futex_time64 futex_waitv get_mempolicy "
	"get_robust_list get_thread_area getcpu getegid getegid32 geteuid geteuid32 getgid getgid32 "
	"getgroups getgroups32 getpgid getpgrp getpid getppid getpriority getrandom getresgid "
	"getresgid32 getresuid getresuid32 getrlimit getrusage getsid gettid getuid getuid32 prctl "
	"prlimit64 restart_syscall riscv_flush_icache riscv_hwprobe rseq sched_get_priority_max "
	"sched_get_priority_min sched_getaffinity sched_getattr sched_getparam sched_getscheduler "
	"sched_setaffinity sched_yield set_robust_list set_thread_area set_tid_address set_tls "
	"setrlimit sysinfo ugetrlimit uname "
	/* signals and time */
	"alarm clock_getres clock_getres_time64 clock_gettime clock_gettime64 clock_nanosleep "
	"clock_nanosleep_time64 getitimer gettimeofday nanosleep pause rt_sigaction rt_sigpending "
	"rt_sigprocmask rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_sigtimedwait_time64 setitimer "
	"sigaction sigaltstack sigprocmask sigreturn sigsuspend tgkill time timer_create timer_delete "
	"timer_getoverrun timer_gettime timer_gettime64 timer_settime timer_settime64 times "
#ifdef SANITIZED
	/* The leak checker stops our threads and looks at them. */
	"fork kill process_vm_readv ptrace tkill wait4 "
#endif
	;

static const char start[] =
	"execve execveat fork kill pidfd_getfd pidfd_open pidfd_send_signal rt_sigqueueinfo "
	"rt_tgsigqueueinfo setpgid setsid tkill vfork wait4 waitid waitpid ";

static const char confine[] =
	"landlock_add_rule landlock_create_ruleset landlock_restrict_self seccomp ";

static const char any_program[] =
	"chmod chown chown32 fchown fchown32 fchownat flistxattr fgetxattr fsetxattr io_cancel "
	"io_destroy io_getevents io_setup io_submit lchown lchown32 link linkat listxattr llistxattr "
	"memfd_secret mq_open mq_unlink name_to_handle_at remap_file_pages sched_setattr "
	"sched_setparam sched_setscheduler semctl semget semop semtimedop setfsgid setfsuid setgid "
	"setgroups setpriority setregid setresgid setresuid setreuid setuid shmat shmctl shmdt shmget "
	"splice symlink symlinkat sync syncfs tee vmsplice ";
/* clang-format on */

static const struct {
	unsigned int group; /* 0: always */
	const char *names;  /* each with a blank behind it */
} lists[] = {
	{ 0, always },
	{ NFD_CALLS_START, start },
	{ NFD_CALLS_CONFINE, confine },
	{ NFD_CALLS_ANY_PROGRAM, any_program },
};

/*
 * Threads and children, but no namespaces: an unprivileged user namespace opens doors of the kernel. What
 * clone3 is asked for is out of a filter's sight, so it is not there, and the C library takes clone.
 */
#define NAMESPACES                                                                     \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
	 CLONE_NEWPID | CLONE_NEWNET)
#ifdef __s390x__
#define CLONE_FLAGS 1
#else
#define CLONE_FLAGS 0
#endif

/* Families of sockets. Kernel events need netlink, name services and the log sockets of the host. */
static const struct {
	unsigned int group;
	int family;
} families[] = {
	{ 0, AF_UNIX },
	{ 0, AF_NETLINK },
	{ NFD_CALLS_NETWORK, AF_INET },
	{ NFD_CALLS_NETWORK, AF_INET6 },
};

static bool is_wanted(unsigned int group, unsigned int groups)
{
	return group == 0 || (group & groups) != 0;
}

static int allow_names(scmp_filter_ctx filter, const char *names)
{
	int r = 0;

	while (*names && r == 0) {
		size_t len = strcspn(names, " ");
		char name[32];
		int call;

		snprintf(name, sizeof(name), "%.*s", (int)len, names);
		names += len + 1;
		call = seccomp_syscall_resolve_name(name);
		/* Below 0: not of this architecture. */
		if (call >= 0)
			r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0);
	}
	return r;
}

static int allow_where(scmp_filter_ctx filter, int call, const struct scmp_arg_cmp *argument)
{
	return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, 1, argument);
}

static int allow(scmp_filter_ctx filter, unsigned int groups)
{
	int r = 0;

	for (size_t i = 0; i < NFD_ARRAY_SIZE(lists) && r == 0; i++)
		if (is_wanted(lists[i].group, groups))
			r = allow_names(filter, lists[i].names);
	if (r == 0)
		r = allow_where(filter, SCMP_SYS(clone),
				&(struct scmp_arg_cmp){ .arg = CLONE_FLAGS,
							.op = SCMP_CMP_MASKED_EQ,
							.datum_a = NAMESPACES });
	for (size_t i = 0; i < NFD_ARRAY_SIZE(families) && r == 0; i++)
		if (is_wanted(families[i].group, groups))
			r = allow_where(filter, SCMP_SYS(socket),
					&(struct scmp_arg_cmp){
						.op = SCMP_CMP_EQ,
						.datum_a = (scmp_datum_t)families[i].family });
	return r;
}

int nfd_call_filter_apply(unsigned int groups, struct nfd_error *err)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	int r;

	if (!filter)
		return nfd_error_set(err, -ENOMEM, "no memory for a filter of system calls");
	/* Calls of another architecture (a 32-bit program) are refused too, and not punished. */
	r = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
	if (r == 0)
		r = allow(filter, groups);
	if (r == 0)
		r = seccomp_load(filter);
	seccomp_release(filter);
#ifdef __GLIBC__
	/* Making it takes more memory than all else that a daemon does. */
	malloc_trim(0);
#endif
	if (r == 0)
		return 0;
	/* What the kernel, an emulator of one or an outer filter answers instead differs too much to tell more. */
	return nfd_error_set(err, -EOPNOTSUPP, "no filter of system calls can be set here: %s",
			     nfd_errno_text(r));
}
