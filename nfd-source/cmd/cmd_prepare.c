// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * prepare: features.d for a daemon without root's rights; for an init container, whose image has no chown.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "cmd/cmd.h"

/* One below (uid_t)-1, which chown(2) takes for "leave it". */
#define ID_MAX 4294967294u

/* "UID" or "UID:GID"; the group has the user's number where it is not named. */
static int parse_owner(const char *text, uint64_t *ret_uid, uint64_t *ret_gid)
{
	const char *colon = strchr(text, ':');
	char uid[24];

	snprintf(uid, sizeof(uid), "%.*s", colon ? (int)(colon - text) : (int)strlen(text), text);
	if (nfd_parse_uint(uid, ID_MAX, ret_uid) < 0)
		return -EINVAL;
	*ret_gid = *ret_uid;
	return colon ? nfd_parse_uint(colon + 1, ID_MAX, ret_gid) : 0;
}

static int run(struct nfd_context *context)
{
	const struct nfd_feature_file_options *options = &context->settings.outputs.feature_file;
	struct nfd_feature_file_report report = { 0 };
	struct nfd_error err = { 0 };
	uint64_t uid, gid;
	int r;

	if (parse_owner(context->operand, &uid, &gid) < 0) {
		nfd_log(NFD_LOG_ERROR, "no user to give features.d to", "owner", context->operand,
			"allowed", "UID or UID:GID, as numbers", NULL);
		return NFD_EXIT_USAGE;
	}
	r = nfd_feature_file_give(options, (uid_t)uid, (gid_t)gid, &report, &err);
	if (r < 0) {
		nfd_log(NFD_LOG_ERROR, "cannot prepare features.d", "error", nfd_error_text(&err),
			NULL);
		return NFD_EXIT_FAILED;
	}
	nfd_log(NFD_LOG_INFO, r ? "features.d was given" : "features.d is that user's already",
		"dir", options->dir, "to", context->operand, NULL);
	return NFD_EXIT_DONE;
}

const struct nfd_command nfd_cmd_prepare = {
	.name = "prepare",
	.summary = "make features.d and give it to the daemon's user, UID or UID:GID",
	.operand = "OWNER",
	.run = run,
};
