// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * base/child: text in, text out, limits, and nothing that stays behind. What is waited for is the
 * child's own descriptor, never a time.
 */
#include "config.h"

#include "base/child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

#define LONG_MS 60000
#define MIB (1024 * 1024)

static char *const variables[] = { (char[]){ "PATH=/usr/bin:/bin" }, (char[]){ "MARK=made" },
				   NULL };

/* A shell that runs @script; takes up to 2 MiB of output. */
static struct nfd_child_command shell(const char *script)
{
	char **argv = unit_bytes(4 * sizeof(*argv));

	argv[0] = unit_text("sh");
	argv[1] = unit_text("-c");
	argv[2] = unit_text("%s", script);
	return (struct nfd_child_command){ .path = "/bin/sh",
					   .argv = argv,
					   .envp = variables,
					   .output_max = 2 * MIB,
					   .deadline_ms = LONG_MS,
					   .quiet = true };
}

static void run(struct nfd_child *child, const struct nfd_child_command *command)
{
	assert_int_equal(nfd_child_init(child, NULL), 0);
	assert_int_equal(nfd_child_start(child, command, NULL), 0);
	nfd_child_wait(child);
}

static const struct {
	const char *name, *script, *input;
	size_t output_max;
	enum nfd_child_end end;
	int status;
	const char *output; /* NULL: not compared */
	int code;           /* of nfd_child_check() */
	const char *words;
} rows[] = {
	{ "nothing", ":", "", 100, NFD_CHILD_EXITED, 0, "", 0, "" },
	{ "input is output", "cat", "in\n", 100, NFD_CHILD_EXITED, 0, "in\n", 0, "" },
	{ "input is not read", "echo out", "in", 100, NFD_CHILD_EXITED, 0, "out\n", 0, "" },
	{ "status", "echo words; exit 7", "", 100, NFD_CHILD_EXITED, 7, "words\n", -EIO,
	  "it ended with status 7" },
	{ "greatest status", "exit 255", "", 100, NFD_CHILD_EXITED, 255, "", -EIO, "255" },
	{ "signal", "echo last; kill -TERM $$", "", 100, NFD_CHILD_CRASHED, SIGTERM, "last\n", -EIO,
	  "it was ended by signal 15" },
	{ "kills itself", "kill -KILL $$", "", 100, NFD_CHILD_CRASHED, SIGKILL, "", -EIO,
	  "signal 9" },
	{ "abort", "kill -ABRT $$", "", 100, NFD_CHILD_CRASHED, SIGABRT, "", -EIO, "signal 6" },
	{ "output at the cap", "printf 12345", "", 5, NFD_CHILD_EXITED, 0, "12345", 0, "" },
	{ "output over the cap", "printf 123456", "", 5, NFD_CHILD_FLOOD, 0, NULL, -EFBIG,
	  "it wrote more than 5 bytes" },
	{ "flood without end", "while :; do echo flood; done", "", 100000, NFD_CHILD_FLOOD, 0, NULL,
	  -EFBIG, "100000" },
	{ "no output allowed, none", ":", "", 0, NFD_CHILD_EXITED, 0, "", 0, "" },
	{ "no output allowed, one byte", "printf 1", "", 0, NFD_CHILD_FLOOD, 0, NULL, -EFBIG, "" },
	{ "closes its output first", "exec >&-; exec cat >/dev/null", "x", 100, NFD_CHILD_EXITED, 0,
	  "", 0, "" },
	{ "environment is the one given", "echo $MARK", "", 100, NFD_CHILD_EXITED, 0, "made\n", 0,
	  "" },
	{ "standard error is no output", "echo no >&2", "", 100, NFD_CHILD_EXITED, 0, "", 0, "" },
	{ "in a process group of its own", "test $(cut -d' ' -f5 /proc/$$/stat) = $$", "", 100,
	  NFD_CHILD_EXITED, 0, "", 0, "" },
	{ "no other descriptors",
	  "for i in 3 4 5 6 7 8 9; do test -e /proc/$$/fd/$i && echo $i; done; :", "", 100,
	  NFD_CHILD_EXITED, 0, "", 0, "" },
	{ "a grandchild holds the pipe", "sleep 1000 & echo out", "", 100, NFD_CHILD_EXITED, 0,
	  "out\n", 0, "" },
};

static void runs(void **state)
{
	const __typeof__(rows[0]) *row = *state;
	struct nfd_child_command command = shell(row->script);
	struct nfd_error err = { 0 };
	struct nfd_child child;

	command.input = row->input;
	command.input_len = strlen(row->input);
	command.output_max = row->output_max;
	run(&child, &command);
	assert_int_equal(child.end, row->end);
	assert_int_equal(child.status, row->status);
	if (row->output)
		assert_string_equal(nfd_strbuf_text(&child.output), row->output);
	assert_int_equal(nfd_child_check(&child, "it", &err), row->code);
	unit_assert_contains(err.text, row->words);
	nfd_child_done(&child);
}

/* More than a pipe holds, in both directions at once; NUL bytes pass. */
static void much_passes_through(void **state)
{
	struct nfd_child_command command = shell("exec cat");
	char *input = unit_bytes(MIB);
	struct nfd_child child;

	(void)state;
	for (size_t i = 0; i < MIB; i++)
		input[i] = (char)(i * 31 >> 3);
	command.input = input;
	command.input_len = MIB;
	run(&child, &command);
	assert_int_equal(child.end, NFD_CHILD_EXITED);
	assert_int_equal(child.output.len, MIB);
	assert_memory_equal(child.output.data, input, MIB);
	nfd_child_done(&child);
}

/* Whether every process whose id is in a file is gone, or at most a zombie of init's. */
static void assert_gone(const char *pids)
{
	for (const char *at = pids; at && *at;
	     at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
		pid_t pid = (pid_t)strtol(at, NULL, 10);
		int64_t end_ms = nfd_clock_monotonic_ms() + 10000;

		if (pid <= 0)
			continue;
		/* Killed, but its new parent may take a moment to reap it. */
		while (kill(pid, 0) == 0 && nfd_clock_monotonic_ms() < end_ms) {
			FILE *file = fopen(unit_text("/proc/%d/stat", pid), "re");
			char mark = 'Z';

			if (file && fscanf(file, "%*d (%*[^)]) %c", &mark) != 1)
				mark = 'Z';
			if (file)
				fclose(file);
			if (mark == 'Z' || mark == 'X')
				break;
			poll(NULL, 0, 1);
		}
		assert_true(nfd_clock_monotonic_ms() < end_ms);
	}
}

/* It and what it started note their ids, then hang; its last word says that they have. */
#define FAMILY                                                          \
	"(echo 0 >/dev/null; sh -c 'echo $$ >>%s; exec sleep 1000') & " \
	"(trap '' TERM HUP; echo $$ >>%s; exec sleep 1000) & "          \
	"echo $$ >>%s; while [ $(wc -l <%s) -lt 3 ]; do :; done; echo ready; exec sleep 1000"

static struct nfd_child_command family(const char *pids)
{
	return shell(unit_text(FAMILY, pids, pids, pids, pids));
}

static void deadline_kills_all_of_it(void **state)
{
	const char *tree = tree_new();
	struct nfd_child_command command = family(tree_path(tree, "pids"));
	struct nfd_error err = { 0 };
	struct nfd_child child;

	(void)state;
	command.deadline_ms = 700;
	run(&child, &command);
	assert_int_equal(child.end, NFD_CHILD_DEADLINE);
	assert_int_equal(nfd_child_check(&child, "it", &err), -ETIME);
	assert_string_equal(err.text, "it did not end in time and was killed");
	nfd_child_done(&child);
	assert_gone(tree_read(tree, "pids"));
}

static void wait_until_ready(struct nfd_child *child)
{
	struct pollfd pollfd = { .fd = child->poll_fd, .events = POLLIN };

	while (child->output.len == 0) {
		assert_int_equal(poll(&pollfd, 1, LONG_MS), 1);
		assert_false(nfd_child_step(child, nfd_clock_monotonic_ms()));
	}
	assert_string_equal(nfd_strbuf_text(&child->output), "ready\n");
}

static void done_ends_what_runs(void **state)
{
	const char *tree = tree_new();
	struct nfd_child_command command = family(tree_path(tree, "pids"));
	struct nfd_child child;

	(void)state;
	assert_int_equal(nfd_child_init(&child, NULL), 0);
	assert_int_equal(nfd_child_start(&child, &command, NULL), 0);
	wait_until_ready(&child);
	nfd_child_done(&child);
	assert_int_equal(waitpid(-1, NULL, 0), -1);
	assert_int_equal(errno, ECHILD);
	assert_gone(tree_read(tree, "pids"));
}

/* The made clock alone decides about the deadline. */
static void step_takes_the_callers_clock(void **state)
{
	struct nfd_child_command command = shell("echo ready; exec sleep 1000");
	struct nfd_child child;

	(void)state;
	assert_int_equal(nfd_child_init(&child, NULL), 0);
	assert_int_equal(nfd_child_due_ms(&child), INT64_MAX);
	assert_false(nfd_child_step(&child, INT64_MAX));
	assert_int_equal(nfd_child_start(&child, &command, NULL), 0);
	wait_until_ready(&child);
	assert_int_equal(nfd_child_due_ms(&child), child.due_ms);
	assert_true(child.due_ms > nfd_clock_monotonic_ms() &&
		    child.due_ms <= nfd_clock_monotonic_ms() + LONG_MS);
	assert_false(nfd_child_step(&child, child.due_ms - 1));
	assert_int_equal(child.end, NFD_CHILD_RUNNING);
	assert_true(nfd_child_step(&child, child.due_ms));
	assert_int_equal(child.end, NFD_CHILD_DEADLINE);
	assert_false(nfd_child_step(&child, child.due_ms));
	assert_string_equal(nfd_strbuf_text(&child.output), "ready\n");
	nfd_child_done(&child);
}

static void poll_fd_tells_of_the_end(void **state)
{
	struct nfd_child_command command = shell("exec >&-; exit 3");
	struct nfd_child child;
	struct pollfd pollfd = { .events = POLLIN };

	(void)state;
	assert_int_equal(nfd_child_init(&child, NULL), 0);
	pollfd.fd = child.poll_fd;
	assert_int_equal(poll(&pollfd, 1, 0), 0);
	assert_int_equal(nfd_child_start(&child, &command, NULL), 0);
	do {
		int64_t wait_ms = nfd_child_due_ms(&child) - nfd_clock_monotonic_ms();

		/* Without a pidfd the end is found by polling. */
		assert_true(poll(&pollfd, 1, (int)wait_ms) == 1 || child.pid_fd < 0);
	} while (!nfd_child_step(&child, nfd_clock_monotonic_ms()));
	assert_int_equal(child.end, NFD_CHILD_EXITED);
	assert_int_equal(child.status, 3);
	assert_int_equal(nfd_child_due_ms(&child), INT64_MAX);
	/* Nothing to do any more. */
	assert_int_equal(poll(&pollfd, 1, 0), 0);
	nfd_child_done(&child);
}

static const struct {
	const char *name, *path;
	int code;
} start_rows[] = {
	{ "missing", "missing", -ENOENT },
	{ "folder", "folder", -EACCES },
	{ "not to be run", "file", -EACCES },
	{ "no format", "odd", -ENOEXEC },
	{ "below a file", "file/x", -ENOTDIR },
	{ "empty", "", -EACCES },
	{ "loop", "loop", -ELOOP },
};

static void start_fails(void **state)
{
	const __typeof__(start_rows[0]) *row = *state;
	const struct tree_entry entries[] = {
		DIR_AT("folder"), FILE_AT("file", ""), LINK_AT("loop", "loop"), { 0 }
	};
	const char *tree = tree_new();
	struct nfd_child_command command = shell("");
	struct nfd_error err = { 0 };
	struct nfd_child child;

	tree_fill(tree, entries);
	tree_program(tree, "odd", "");
	tree_file(tree, "odd", "\x01\x02");
	command.path = tree_path(tree, row->path);
	assert_int_equal(nfd_child_init(&child, NULL), 0);
	assert_int_equal(nfd_child_start(&child, &command, &err), row->code);
	unit_assert_contains(err.text, unit_text("cannot start \"%s\": ", command.path));
	assert_int_equal(child.pid, 0);
	/* It can be used again. */
	command.path = "/bin/sh";
	assert_int_equal(nfd_child_start(&child, &command, NULL), 0);
	nfd_child_wait(&child);
	assert_int_equal(child.end, NFD_CHILD_EXITED);
	nfd_child_done(&child);
}

static void second_start_is_busy(void **state)
{
	struct nfd_child_command command = shell("exec sleep 1000");
	struct nfd_error err = { 0 };
	struct nfd_child child;
	pid_t pid;

	(void)state;
	assert_int_equal(nfd_child_init(&child, NULL), 0);
	assert_int_equal(nfd_child_start(&child, &command, NULL), 0);
	pid = child.pid;
	assert_int_equal(nfd_child_start(&child, &command, &err), -EBUSY);
	assert_int_equal(child.pid, pid);
	unit_assert_contains(err.text, "/bin/sh");
	nfd_child_done(&child);
}

static size_t count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static void many_runs_leave_nothing(void **state)
{
	static const char *const scripts[] = { "echo out", "exit 1", "kill -9 $$",
					       "echo too much for it", "sleep 1000 & echo out" };
	size_t before = count_fds();
	struct nfd_child child;

	(void)state;
	assert_int_equal(nfd_child_init(&child, NULL), 0);
	for (size_t i = 0; i < 200; i++) {
		struct nfd_child_command command = shell(scripts[i % NFD_ARRAY_SIZE(scripts)]);

		command.output_max = 10;
		command.input = "in";
		command.input_len = 2;
		if (i % 10 == 9)
			command.path = "/nowhere";
		if (nfd_child_start(&child, &command, NULL) < 0)
			assert_int_equal(i % 10, 9);
		else
			nfd_child_wait(&child);
		/* One that was killed dies in its own time. */
		while (child.pid)
			nfd_child_step(&child, nfd_clock_monotonic_ms());
		assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
		assert_int_equal(errno, ECHILD);
	}
	nfd_child_done(&child);
	assert_int_equal(count_fds(), before);
	nfd_child_done(&child);
	assert_int_equal(count_fds(), before);
}

/* A daemon blocks what it takes by descriptor and ignores SIGPIPE; a helper must not inherit it. */
static void signals_are_as_usual(void **state)
{
	/* The C library keeps signals 32 and 33 for itself: only the first 28 are looked at. */
	struct nfd_child_command command =
		shell("exec sed -nE 's/^Sig(Blk|Ign):.*(.{7})$/\\1 \\2/p' /proc/self/status");
	struct sigaction old_action, ignore = { .sa_handler = SIG_IGN };
	struct nfd_child child;
	sigset_t set, old;

	(void)state;
	sigfillset(&set);
	assert_int_equal(sigprocmask(SIG_BLOCK, &set, &old), 0);
	assert_int_equal(sigaction(SIGPIPE, &ignore, &old_action), 0);
	run(&child, &command);
	sigaction(SIGPIPE, &old_action, NULL);
	sigprocmask(SIG_SETMASK, &old, NULL);
	assert_string_equal(nfd_strbuf_text(&child.output), "Blk 0000000\nIgn 0000000\n");
	nfd_child_done(&child);
}

/* Who starts us may ignore SIGCHLD, and that is inherited: the kernel then reaps by itself. */
static void ignored_sigchld_is_no_harm(void **state)
{
	struct nfd_child_command command = shell("echo out; exit 0");
	struct sigaction old_action, ignore = { .sa_handler = SIG_IGN };
	enum nfd_child_end end;
	struct nfd_child child;

	(void)state;
	assert_int_equal(sigaction(SIGCHLD, &ignore, &old_action), 0);
	run(&child, &command);
	end = child.end;
	sigaction(SIGCHLD, &old_action, NULL);
	assert_string_equal(nfd_strbuf_text(&child.output), "out\n");
	nfd_child_done(&child);
	assert_int_equal(end, NFD_CHILD_EXITED);
}

/* Exit status of a process without standard descriptors that runs a child: 0 when all is well. */
static int run_without_standard(const struct nfd_child_command *command)
{
	struct nfd_child child;

	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		close(fd);
	if (nfd_child_init(&child, NULL) < 0 || nfd_child_start(&child, command, NULL) < 0)
		return 1;
	nfd_child_wait(&child);
	if (child.end != NFD_CHILD_EXITED || child.status != 0)
		return 2;
	return strcmp(nfd_strbuf_text(&child.output), "through") == 0 ? 0 : 3;
}

/* A daemon may be started with its standard descriptors closed. */
static void closed_standard_descriptors(void **state)
{
	struct nfd_child_command command = shell("cat");
	int status = -1;
	pid_t pid;

	(void)state;
	command.input = "through";
	command.input_len = 7;
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(run_without_standard(&command));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* What a copy of this process does instead of another program: standard output tells what it sees. */
static int look_around(const void *cookie)
{
	char text[64];
	ssize_t len = read(STDIN_FILENO, text, sizeof(text));
	sigset_t mask;
	int open_fds = 0;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	for (int fd = STDERR_FILENO + 1; fd < 100; fd++)
		open_fds += fcntl(fd, F_GETFD) >= 0;
	dprintf(STDOUT_FILENO, "%s:%.*s:%d:%d:%d:%d", (const char *)cookie, (int)len, text,
		open_fds, getpgrp() == getpid(), sigismember(&mask, SIGHUP),
		signal(SIGPIPE, SIG_DFL) == SIG_DFL);
	return 5;
}

static int crash(const void *cookie)
{
	(void)cookie;
	raise(SIGKILL);
	return 0;
}

static int hang(const void *cookie)
{
	(void)cookie;
	pause();
	return 0;
}

static const struct {
	const char *name;
	int (*run)(const void *cookie);
	int64_t deadline_ms;
	enum nfd_child_end end;
	int status;
	const char *output;
} copy_rows[] = {
	{ "as a program", look_around, LONG_MS, NFD_CHILD_EXITED, 5, "cookie:in:0:1:0:1" },
	{ "crash", crash, LONG_MS, NFD_CHILD_CRASHED, SIGKILL, "" },
	{ "hang", hang, 50, NFD_CHILD_DEADLINE, 0, "" },
};

static void copies(void **state)
{
	const __typeof__(copy_rows[0]) *row = *state;
	const struct nfd_child_command command = {
		.path = "copy",
		.run = row->run,
		.cookie = "cookie",
		.input = "in",
		.input_len = 2,
		.output_max = 100,
		.deadline_ms = row->deadline_ms,
		.quiet = true,
	};
	struct nfd_child child;
	sigset_t blocked, before;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGHUP);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	signal(SIGPIPE, SIG_IGN);
	run(&child, &command);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	assert_int_equal(child.end, row->end);
	if (row->end != NFD_CHILD_DEADLINE)
		assert_int_equal(child.status, row->status);
	assert_string_equal(nfd_strbuf_text(&child.output), row->output);
	nfd_child_done(&child);
}

/* An answer that is whole is there before its process ends; one that ends without is told, too. */
static void output_is_enough(void **state)
{
	struct nfd_child_command command = shell("echo answer; exec >&-; exec sleep 1000");
	struct nfd_child child;

	(void)state;
	assert_int_equal(nfd_child_init(&child, NULL), 0);
	assert_int_equal(nfd_child_start(&child, &command, NULL), 0);
	assert_true(nfd_child_wait_output(&child));
	assert_string_equal(nfd_strbuf_text(&child.output), "answer\n");
	assert_int_equal(child.end, NFD_CHILD_RUNNING);
	nfd_child_done(&child);
	command = shell("kill -KILL $$");
	assert_int_equal(nfd_child_init(&child, NULL), 0);
	assert_int_equal(nfd_child_start(&child, &command, NULL), 0);
	/* Its output may be seen to end before it does. */
	if (nfd_child_wait_output(&child))
		nfd_child_wait(&child);
	assert_int_equal(child.end, NFD_CHILD_CRASHED);
	nfd_child_done(&child);
}

static void done_of_unused_is_fine(void **state)
{
	struct nfd_child child;

	(void)state;
	assert_int_equal(nfd_child_init(&child, NULL), 0);
	nfd_child_done(&child);
	nfd_child_done(&child);
	assert_int_equal(child.poll_fd, -1);
}

int main(void)
{
	struct unit_suite suite = { .name = "child" };

	UNIT_ROWS(&suite, runs, rows, name);
	UNIT_CASE(&suite, much_passes_through);
	UNIT_CASE(&suite, deadline_kills_all_of_it);
	UNIT_CASE(&suite, done_ends_what_runs);
	UNIT_CASE(&suite, step_takes_the_callers_clock);
	UNIT_CASE(&suite, poll_fd_tells_of_the_end);
	UNIT_ROWS(&suite, start_fails, start_rows, name);
	UNIT_CASE(&suite, second_start_is_busy);
	UNIT_CASE(&suite, many_runs_leave_nothing);
	UNIT_CASE(&suite, signals_are_as_usual);
	UNIT_CASE(&suite, ignored_sigchld_is_no_harm);
	UNIT_CASE(&suite, closed_standard_descriptors);
	UNIT_ROWS(&suite, copies, copy_rows, name);
	UNIT_CASE(&suite, output_is_enough);
	UNIT_CASE(&suite, done_of_unused_is_fine);
	return unit_run(&suite);
}
