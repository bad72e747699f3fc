// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs a command once and prints its wall time and its CPU time in microseconds, its peak memory in kB
 * and its exit status. A small parent matters: the kernel counts the parent's memory of before the exec.
 * Usage: measure COMMAND [ARGUMENT]...
 */
#include "config.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static long long cpu_us(const struct rusage *usage)
{
	return (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000LL +
	       usage->ru_utime.tv_usec + usage->ru_stime.tv_usec;
}

int main(int argc, char **argv)
{
	posix_spawn_file_actions_t actions;
	struct rusage usage;
	long long start;
	int status;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	for (int fd = 0; fd <= 2; fd++)
		posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	start = now_us();
	if (argc < 2 || posix_spawnp(&pid, argv[1], &actions, NULL, argv + 1, environ) != 0 ||
	    wait4(pid, &status, 0, &usage) != pid) {
		fprintf(stderr, "usage: measure COMMAND [ARGUMENT]...\n");
		return 2;
	}
	printf("%lld %lld %ld %d\n", now_us() - start, cpu_us(&usage), usage.ru_maxrss,
	       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}
