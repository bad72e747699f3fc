// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * run: the daemon in the foreground.
 */
#include "config.h"

#include "cmd/cmd.h"
#include "cmd/daemon.h"

static int run(struct nfd_context *context)
{
	struct nfd_daemon daemon;
	struct nfd_error err = { 0 };
	int r;

	r = nfd_daemon_init(&daemon, context, &err);
	if (r == 0)
		r = nfd_daemon_run(&daemon, &err);
	nfd_daemon_done(&daemon);
	if (r < 0) {
		nfd_log(NFD_LOG_ERROR, "the daemon ended", "error", nfd_error_text(&err), NULL);
		return NFD_EXIT_FAILED;
	}
	return NFD_EXIT_DONE;
}

const struct nfd_command nfd_cmd_run = {
	.name = "run",
	.summary = "publish, follow the hardware, stay in the foreground",
	.reads_host = true,
	.run = run,
};
