// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program for the kernel's packet filter, made of a table of numbers. Not by libseccomp: that takes 2 ms
 * for our 270 calls, more than all else that a helper does (docs/dependencies.md).
 */
#include "config.h"

#include "base/call_filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

enum {
	NFD_CALLS_ALWAYS = 0,
#ifdef SANITIZED
	CALLS_OF_SANITIZERS = NFD_CALLS_ALWAYS,
#else
	CALLS_OF_SANITIZERS = 1 << 15, /* nobody's group */
#endif
};

struct call {
	uint32_t number;
	uint16_t group; /* 0: always */
};

static const struct call calls[] = {
#include "base/call_numbers.h"
};

/* The architecture that this program is built for, as the kernel tells it to a filter. */
#if defined(__x86_64__) && !defined(__ILP32__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__i386__)
#define ARCHITECTURE AUDIT_ARCH_I386
#elif defined(__aarch64__) && defined(__AARCH64EL__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__arm__) && defined(__ARMEL__)
#define ARCHITECTURE AUDIT_ARCH_ARM
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
#define ARCHITECTURE AUDIT_ARCH_PPC64LE
#elif defined(__s390x__)
#define ARCHITECTURE AUDIT_ARCH_S390X
#else
#define ARCHITECTURE 0
#endif

/* Numbers from here on are x32's, which shares the architecture of x86-64. */
#define X32_NUMBERS 0x40000000

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
	uint32_t family;
} families[] = {
	{ NFD_CALLS_ALWAYS, AF_UNIX },
	{ NFD_CALLS_ALWAYS, AF_NETLINK },
	{ NFD_CALLS_NETWORK, AF_INET },
	{ NFD_CALLS_NETWORK, AF_INET6 },
};

/* Four for each run of numbers, at most one for each call, and what stands around them. */
#define PROGRAM_MAX (4 * NFD_ARRAY_SIZE(calls) + 32)

struct program {
	struct sock_filter step[PROGRAM_MAX];
	unsigned short count;
};

static void add(struct program *program, uint16_t code, uint8_t if_true, uint8_t if_false,
		uint32_t operand)
{
	program->step[program->count++] = (struct sock_filter){ code, if_true, if_false, operand };
}

static void load(struct program *program, size_t offset)
{
	add(program, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

/* The low half of an argument: flags and families have no more. */
static void load_argument(struct program *program, unsigned int at)
{
	size_t offset = offsetof(struct seccomp_data, args) + at * sizeof(uint64_t);

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	offset += sizeof(uint32_t);
#endif
	load(program, offset);
}

static void allow(struct program *program)
{
	add(program, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
}

static void refuse(struct program *program)
{
	add(program, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | ENOSYS);
}

/* Lets the loaded word through when it is @value. */
static void allow_if(struct program *program, uint32_t value)
{
	add(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, value);
	allow(program);
}

static bool is_wanted(unsigned int group, unsigned int groups)
{
	return group == NFD_CALLS_ALWAYS || (group & groups) != 0;
}

/* Calls of another architecture (a 32-bit program) are refused too, and not punished. */
static void check_architecture(struct program *program)
{
	load(program, offsetof(struct seccomp_data, arch));
	add(program, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, ARCHITECTURE);
	refuse(program);
	load(program, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
	add(program, BPF_JMP | BPF_JGE | BPF_K, 0, 1, X32_NUMBERS);
	refuse(program);
#endif
}

static void check_clone(struct program *program)
{
	add(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 5, __NR_clone);
	load_argument(program, CLONE_FLAGS);
	add(program, BPF_ALU | BPF_AND | BPF_K, 0, 0, NAMESPACES);
	allow_if(program, 0);
	refuse(program);
}

static void check_socket(struct program *program, unsigned int groups)
{
	unsigned short start = program->count;

	/* Where the jump leads is known once the families are there. */
	add(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, __NR_socket);
	load_argument(program, 0);
	for (size_t i = 0; i < NFD_ARRAY_SIZE(families); i++)
		if (is_wanted(families[i].group, groups))
			allow_if(program, families[i].family);
	refuse(program);
	program->step[start].jf = (uint8_t)(program->count - start - 1);
}

static int compare_numbers(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static size_t collect(unsigned int groups, uint32_t ret[NFD_ARRAY_SIZE(calls)])
{
	size_t count = 0;

	for (size_t i = 0; i < NFD_ARRAY_SIZE(calls); i++)
		if (is_wanted(calls[i].group, groups))
			ret[count++] = calls[i].number;
	qsort(ret, count, sizeof(*ret), compare_numbers);
	return count;
}

/*
 * Runs of numbers in ascending order: one comparison passes a run. The kernel tries the program with every
 * number when it is set, so its length is time of every start.
 */
static void check_numbers(struct program *program, unsigned int groups)
{
	uint32_t number[NFD_ARRAY_SIZE(calls)];
	size_t count = collect(groups, number);

	for (size_t first = 0, end; first < count; first = end) {
		for (end = first + 1; end < count && number[end] == number[end - 1] + 1; end++)
			;
		add(program, BPF_JMP | BPF_JGT | BPF_K, 3, 0, number[end - 1]);
		add(program, BPF_JMP | BPF_JGE | BPF_K, 0, 1, number[first]);
		allow(program);
		refuse(program);
	}
	refuse(program);
}

static void make(struct program *program, unsigned int groups)
{
	check_architecture(program);
	check_clone(program);
	check_socket(program, groups);
	check_numbers(program, groups);
}

int nfd_call_filter_apply(unsigned int groups, struct nfd_error *err)
{
	struct program program = { .count = 0 };
	struct sock_fprog filter = { .filter = program.step };

	if (!ARCHITECTURE)
		return nfd_error_set(err, -EOPNOTSUPP,
				     "no filter of system calls is known for this architecture");
	make(&program, groups);
	filter.len = program.count;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	    (syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0 ||
	     /* Where an outer filter knows only the older way. */
	     prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0))
		return 0;
	/* What the kernel, an emulator of one or an outer filter answers instead differs too much to tell more. */
	return nfd_error_set(err, -EOPNOTSUPP, "no filter of system calls can be set here: %s",
			     nfd_errno_text(-errno));
}
