// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What several commands do with their context.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/write.h"
#include "cmd/cmd.h"

const char *nfd_context_option(const struct nfd_context *context, const char *name)
{
	for (size_t i = 0; i < context->command->option_count; i++)
		if (strcmp(context->command->option[i].name, name) == 0)
			return context->value[i];
	return NULL;
}

/* A helper beside us in a build tree, else where it was installed. */
static void find_helper(const char *name, char ret[PATH_MAX])
{
	size_t size = strlen(name) + 1;
	ssize_t len = readlink("/proc/self/exe", ret, PATH_MAX - size - 1);
	char *slash;

	ret[len > 0 ? len : 0] = '\0';
	slash = strrchr(ret, '/');
	if (slash) {
		memcpy(slash + 1, name, size);
		if (access(ret, X_OK) == 0)
			return;
	}
	snprintf(ret, PATH_MAX, NFD_LIBEXECDIR "/%s", name);
}

void nfd_context_settle(struct nfd_context *context)
{
	find_helper("nfd-source-api", context->helper);
	find_helper("nfd-source-nvml", context->nvml_helper);
	context->place = (struct nfd_api_place){
		.helper = context->helper,
		.root_path = context->root_path,
		.environment = context->sources.environment,
		.node_name = context->settings.core.node_name,
		.node_origin = nfd_settings_origin(&context->settings, "core.nodeName"),
		.unconfined = context->settings.confinement == NFD_MODE_OFF,
		.spread_ms = context->place.spread_ms,
		.quiet_until_ms = context->place.quiet_until_ms,
	};
	context->settings.outputs.api.place = &context->place;
	context->settings.scan.node_name = context->settings.core.node_name;
}

int nfd_print(const struct nfd_strbuf *buf)
{
	int r;

	if (buf->error) {
		nfd_log(NFD_LOG_ERROR, "out of memory", NULL);
		return NFD_EXIT_FAILED;
	}
	r = nfd_write_all(STDOUT_FILENO, nfd_strbuf_text(buf), buf->len);
	if (r < 0) {
		nfd_log(NFD_LOG_ERROR, "cannot write to standard output", "error",
			nfd_errno_text(r), NULL);
		return NFD_EXIT_FAILED;
	}
	return NFD_EXIT_DONE;
}
