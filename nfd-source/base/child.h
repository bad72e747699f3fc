/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A helper process with a deadline: text in, text out, ended with all that it started, reaped. It
 * never blocks its caller: one descriptor says when to look again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/strbuf.h"

struct nfd_child_command {
	const char *path; /* program; no search in PATH */
	char *const *argv, *const *envp;
	/* NULL, or a function of this program to run instead of that one, in a copy of this process without
	   its descriptors: it saves the start of a program, and returns the exit status. */
	int (*run)(const void *cookie);
	const void *cookie;
	const char *input; /* what it reads on standard input, @input_len bytes; borrowed */
	size_t input_len;
	size_t output_max;   /* more than this on standard output ends it */
	int64_t deadline_ms; /* it is killed so long after the start */
	bool quiet;          /* its standard error goes to /dev/null instead of ours */
};

enum nfd_child_end {
	NFD_CHILD_RUNNING,
	NFD_CHILD_EXITED,   /* @status is its exit status */
	NFD_CHILD_CRASHED,  /* @status is the signal */
	NFD_CHILD_DEADLINE, /* killed: too long */
	NFD_CHILD_FLOOD,    /* killed: too much output */
};

struct nfd_child {
	int poll_fd;   /* readable when there is something to do: see nfd_child_step() */
	pid_t pid;     /* 0: none that we have to reap */
	int pid_fd;    /* -1 where the kernel has none */
	int output_fd; /* -1 once closed */
	size_t output_max;
	int64_t due_ms; /* when it is killed; nfd_clock_monotonic_ms() */
	enum nfd_child_end end;
	int status;
	struct nfd_strbuf output;
};

/**
 * nfd_child_init() - ready for nfd_child_start().
 * @child: filled; to be given to nfd_child_done() also after a failure.
 * SIGCHLD gets its default action, because a process that ignores it cannot reap.
 * Return: 0; errno of epoll_create1(2).
 */
int nfd_child_init(struct nfd_child *child, struct nfd_error *err) nfd_must_check;

/**
 * nfd_child_done() - kill and reap what still runs (waits up to a second for it), free.
 */
void nfd_child_done(struct nfd_child *child);

/**
 * nfd_child_start() - start a program, in a process group of its own.
 * @child:  none may run. An earlier one that could not be killed yet (it hangs in the kernel) makes
 *          this fail, so that such processes do not pile up.
 * @err:    names the program.
 * Return: 0; -EBUSY while an earlier one is not gone; -ENOENT, -EACCES and others of posix_spawn(3).
 */
int nfd_child_start(struct nfd_child *child, const struct nfd_child_command *command,
		    struct nfd_error *err) nfd_must_check;

/**
 * nfd_child_step() - take what it wrote, enforce the limits, reap it. To be called when @child->poll_fd
 * is readable and at nfd_child_due_ms().
 * @now_ms: nfd_clock_monotonic_ms().
 * Return: true when it has ended in this call: @child->end, @child->status and @child->output tell how.
 */
bool nfd_child_step(struct nfd_child *child, int64_t now_ms);

/**
 * nfd_child_due_ms() - when to call nfd_child_step() at the latest.
 * Return: time on nfd_clock_monotonic_ms()'s clock; INT64_MAX when nothing runs.
 */
int64_t nfd_child_due_ms(const struct nfd_child *child);

/**
 * nfd_child_wait() - block until it has ended, at the latest at its deadline.
 */
void nfd_child_wait(struct nfd_child *child);

/**
 * nfd_child_wait_output() - block until it has closed its standard output or ended: for an answer that is
 * whole by itself, whose process need not be waited for. nfd_child_done() ends it.
 * Return: whether it closed its output and runs on.
 */
bool nfd_child_wait_output(struct nfd_child *child);

/**
 * nfd_child_check() - judge how it ended.
 * @name: of the program, for the text.
 * @err:  says what happened.
 * Return: 0 for an exit with status 0; -EIO for another status or a crash; -ETIME for the deadline;
 *         -EFBIG for too much output.
 */
int nfd_child_check(const struct nfd_child *child, const char *name, struct nfd_error *err)
	nfd_must_check;
