// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The input is a file in memory, so nothing has to be pumped into the child. Its end comes by a
 * pidfd; where the kernel has none (before 5.3, or a filter) its output's end is followed by polling.
 */
#include "config.h"

#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/write.h"

#define POLL_MS 20
#define LAST_WAIT_MS 1000

int nfd_child_init(struct nfd_child *child, struct nfd_error *err)
{
	*child = (struct nfd_child){ .pid_fd = -1, .output_fd = -1 };
	/* A parent that ignores it hands that on, and then the kernel reaps our children itself. */
	signal(SIGCHLD, SIG_DFL);
	child->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (child->poll_fd < 0) {
		int code = -errno;

		return nfd_error_set(err, code, "cannot make an epoll descriptor: %s",
				     nfd_errno_text(code));
	}
	return 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* With all that it started. */
static void kill_group(const struct nfd_child *child)
{
	if (kill(-child->pid, SIGKILL) < 0)
		kill(child->pid, SIGKILL);
}

/*
 * Reaps it if it is dead. What it started goes first: as long as it is a zombie, its process group
 * cannot be anybody else's.
 */
static bool reap(struct nfd_child *child)
{
	siginfo_t info = { 0 };
	int r;

	if (child->pid == 0)
		return true;
	do
		r = waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT);
	while (r < 0 && errno == EINTR);
	if (r == 0 && info.si_pid == 0)
		return false;
	/* After a failure (somebody else reaped it) its group may be anybody's. */
	if (r == 0) {
		kill_group(child);
		waitpid(child->pid, NULL, 0);
	}
	if (child->end == NFD_CHILD_RUNNING) {
		child->end = info.si_code == CLD_EXITED ? NFD_CHILD_EXITED : NFD_CHILD_CRASHED;
		child->status = info.si_status;
	}
	child->pid = 0;
	close_fd(&child->pid_fd);
	return true;
}

void nfd_child_done(struct nfd_child *child)
{
	int64_t end_ms = nfd_clock_monotonic_ms() + LAST_WAIT_MS;

	if (child->pid) {
		struct pollfd dead = { .fd = child->pid_fd, .events = POLLIN };

		kill_group(child);
		while (!reap(child) && nfd_clock_monotonic_ms() < end_ms)
			poll(&dead, 1, child->pid_fd < 0 ? 1 : LAST_WAIT_MS);
	}
	close_fd(&child->pid_fd);
	close_fd(&child->output_fd);
	close_fd(&child->poll_fd);
	nfd_strbuf_done(&child->output);
}

/* A daemon may have been started without standard descriptors: ours must not take their place. */
static int above_standard(int fd)
{
	int moved;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(fd);
	return moved;
}

static int input_file(const struct nfd_child_command *command)
{
	cleanup_close int fd = above_standard(memfd_create("nfd-source-input", MFD_CLOEXEC));
	int r;

	if (fd < 0)
		return -errno;
	r = nfd_write_all(fd, command->input, command->input_len);
	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = -errno;
	return r < 0 ? r : TAKE_FD(fd);
}

static int spawn(const struct nfd_child_command *command, int input, int output, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	int r;

	sigemptyset(&none);
	sigfillset(&all);
	r = posix_spawn_file_actions_init(&actions);
	if (r)
		return -r;
	r = posix_spawnattr_init(&attributes);
	if (r) {
		posix_spawn_file_actions_destroy(&actions);
		return -r;
	}
	r = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	if (!r)
		r = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	if (!r && command->quiet)
		r = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY,
						     0);
	/* Signals that our loop takes by descriptor are blocked, and SIGPIPE is ignored. */
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
						      POSIX_SPAWN_SETPGROUP);
	if (!r)
		r = posix_spawn(ret_pid, command->path, &actions, &attributes, command->argv,
				command->envp);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

/* What posix_spawn() does between the processes. Returns only when it cannot. */
static void become(const struct nfd_child_command *command, int input, int output)
{
	sigset_t none;
	int null;

	setpgid(0, 0);
	sigemptyset(&none);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	null = command->quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : STDERR_FILENO;
	if (dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
	    dup2(null, STDERR_FILENO) < 0)
		return;
	/* A kernel without it leaves them open, to a process that knows of none. */
	syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);
	_exit(command->run(command->cookie));
}

static int copy(const struct nfd_child_command *command, int input, int output, pid_t *ret_pid)
{
	pid_t pid = fork();

	if (pid == 0) {
		become(command, input, output);
		_exit(EXIT_FAILURE);
	}
	if (pid < 0)
		return -errno;
	/* By both, so that it has its group whoever runs first. */
	setpgid(pid, pid);
	*ret_pid = pid;
	return 0;
}

static void watch(const struct nfd_child *child, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (fd >= 0)
		epoll_ctl(child->poll_fd, EPOLL_CTL_ADD, fd, &event);
}

int nfd_child_start(struct nfd_child *child, const struct nfd_child_command *command,
		    struct nfd_error *err)
{
	cleanup_close int input = -1;
	cleanup_close int read_end = -1;
	cleanup_close int write_end = -1;
	int pipe_fds[2], r;

	if (!reap(child))
		return nfd_error_set(err, -EBUSY, "an earlier \"%s\" cannot be killed: it hangs",
				     command->path);
	input = input_file(command);
	r = input < 0 ? input : pipe2(pipe_fds, O_CLOEXEC) < 0 ? -errno : 0;
	if (r == 0) {
		read_end = above_standard(pipe_fds[0]);
		write_end = above_standard(pipe_fds[1]);
		if (read_end < 0 || write_end < 0 || fcntl(read_end, F_SETFL, O_NONBLOCK) < 0)
			r = -errno;
	}
	if (r == 0)
		r = (command->run ? copy : spawn)(command, input, write_end, &child->pid);
	if (r < 0) {
		child->pid = 0;
		return nfd_error_set(err, r, "cannot start \"%s\": %s", command->path,
				     nfd_errno_text(r));
	}
	nfd_strbuf_done(&child->output);
	close_fd(&child->output_fd);
	child->output_fd = TAKE_FD(read_end);
	child->pid_fd = (int)syscall(SYS_pidfd_open, child->pid, 0);
	child->output_max = command->output_max;
	child->due_ms = nfd_clock_monotonic_ms() + command->deadline_ms;
	child->end = NFD_CHILD_RUNNING;
	watch(child, child->output_fd);
	watch(child, child->pid_fd);
	return 0;
}

static void read_output(struct nfd_child *child)
{
	char part[4096];
	ssize_t n;

	while (child->output_fd >= 0 && child->output.len <= child->output_max) {
		n = read(child->output_fd, part, sizeof(part));
		if (n > 0)
			nfd_strbuf_add(&child->output, part, (size_t)n);
		else if (n < 0 && errno == EINTR)
			continue;
		else if (n < 0 && errno == EAGAIN)
			return;
		else
			close_fd(&child->output_fd);
	}
}

bool nfd_child_step(struct nfd_child *child, int64_t now_ms)
{
	bool dead;

	if (child->end != NFD_CHILD_RUNNING || child->pid == 0) {
		reap(child);
		return false;
	}
	dead = reap(child);
	/* After its death, too: the last words are in the pipe. */
	read_output(child);
	if (child->output.len > child->output_max || child->output.error)
		child->end = NFD_CHILD_FLOOD;
	else if (!dead && now_ms >= child->due_ms)
		child->end = NFD_CHILD_DEADLINE;
	else if (!dead)
		return false;
	close_fd(&child->output_fd);
	if (!dead) {
		kill_group(child);
		reap(child);
	}
	return true;
}

int64_t nfd_child_due_ms(const struct nfd_child *child)
{
	if (child->pid == 0)
		return INT64_MAX;
	if (child->pid_fd < 0 && (child->output_fd < 0 || child->end != NFD_CHILD_RUNNING))
		return nfd_clock_monotonic_ms() + POLL_MS;
	return child->end == NFD_CHILD_RUNNING ? child->due_ms : INT64_MAX;
}

/* Waits until it has ended, or with @output until its output has. */
static void wait_for(struct nfd_child *child, bool output)
{
	struct pollfd pollfd = { .fd = child->poll_fd, .events = POLLIN };

	for (;;) {
		int64_t now_ms = nfd_clock_monotonic_ms();
		int64_t wait_ms;

		if (nfd_child_step(child, now_ms) || child->end != NFD_CHILD_RUNNING ||
		    (output && child->output_fd < 0))
			return;
		wait_ms = nfd_child_due_ms(child) - now_ms;
		poll(&pollfd, 1, wait_ms < 0 ? 0 : (int)nfd_min64(wait_ms, 60000));
	}
}

void nfd_child_wait(struct nfd_child *child)
{
	wait_for(child, false);
}

bool nfd_child_wait_output(struct nfd_child *child)
{
	wait_for(child, true);
	return child->end == NFD_CHILD_RUNNING;
}

int nfd_child_check(const struct nfd_child *child, const char *name, struct nfd_error *err)
{
	switch (child->end) {
	case NFD_CHILD_EXITED:
		if (child->status == 0)
			return 0;
		return nfd_error_set(err, -EIO, "%s ended with status %d", name, child->status);
	case NFD_CHILD_CRASHED:
		return nfd_error_set(err, -EIO, "%s was ended by signal %d", name, child->status);
	case NFD_CHILD_FLOOD:
		return nfd_error_set(err, -EFBIG, "%s wrote more than %zu bytes", name,
				     child->output_max);
	case NFD_CHILD_DEADLINE:
	case NFD_CHILD_RUNNING:
		break;
	}
	return nfd_error_set(err, -ETIME, "%s did not end in time and was killed", name);
}
