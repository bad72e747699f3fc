// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the helper prints, from its pipe to the words about the Node. cat stands in for the helper.
 */
#include "config.h"

#include <poll.h>
#include <string.h>

#include "base/clock.h"
#include "output/node_view.h"
#include "tests/fuzz/fuzz.h"

static void print_result(struct nfd_api_run *run, const uint8_t *data, size_t size)
{
	static char name[] = "cat";
	static char *const argv[] = { name, NULL };
	static char *const environment[] = { NULL };
	const struct nfd_child_command command = { .path = "/bin/cat",
						   .argv = argv,
						   .envp = environment,
						   .input = (const char *)data,
						   .input_len = size,
						   .output_max = 1024 * 1024,
						   .deadline_ms = 60000 };

	FUZZ_CHECK(nfd_child_start(&run->child, &command, NULL) == 0);
}

static void view(cJSON *result, bool late)
{
	struct nfd_node_view view = { .schedule = { .served = NFD_SERVED_YES, .after_ms = 1000 },
				      .result = result,
				      .late = late };

	nfd_node_view_report(&view);
	FUZZ_CHECK(view.fault_count <= NFD_NODE_FAULTS_MAX && view.words[0]);
	for (size_t i = 0; i < view.fault_count; i++)
		FUZZ_CHECK(view.fault[i].id[0] && view.fault[i].text[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nfd_api_place place = { .node_name = "node", .node_origin = "here" };
	const struct nfd_api_options options = { .place = &place };
	struct nfd_node_view failed = { 0 };
	struct nfd_api_answer answer;
	struct nfd_api_run run;

	FUZZ_CHECK(nfd_api_run_init(&run, 60000, NULL) == 0);
	print_result(&run, data, size);
	while (!nfd_api_run_step(&run, &options, nfd_clock_monotonic_ms(), &answer)) {
		struct pollfd pollfd = { .fd = run.child.poll_fd, .events = POLLIN };

		poll(&pollfd, 1, 1000);
	}
	FUZZ_CHECK(answer.failed || cJSON_IsObject(answer.result));
	FUZZ_CHECK(run.counts.failures == answer.failed && run.failures == answer.failed);
	if (answer.failed)
		nfd_node_view_fail(&failed, &place, &answer);
	view(answer.result, false);
	view(answer.result, true);
	nfd_api_answer_done(&answer);
	nfd_api_run_done(&run);
	return 0;
}
