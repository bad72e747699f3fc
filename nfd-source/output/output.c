// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of outputs: a new one is one file and one line here. Those that NFD reads come first.
 */
#include "config.h"

#include "output/output.h"

static const struct nfd_output *const outputs[] = {
	&nfd_feature_output,
	&nfd_node_feature_output,
	&nfd_node_labels_output,
};

bool nfd_output_is_barred(const struct nfd_output_options *options, const char **ret_why)
{
	if (options->no_publish)
		*ret_why = "core.noPublish is true";
	return options->no_publish;
}

const struct nfd_output *const *nfd_outputs(size_t *ret_count)
{
	*ret_count = NFD_ARRAY_SIZE(outputs);
	return outputs;
}

bool nfd_outputs_hope(const struct nfd_output_options *options)
{
	const char *why;

	return nfd_feature_output.is_on(options, &why) ||
	       nfd_node_feature_output.is_on(options, &why);
}

bool nfd_outputs_want_features(const struct nfd_output_options *options)
{
	const char *why;

	for (size_t i = 0; i < NFD_ARRAY_SIZE(outputs); i++)
		if (outputs[i]->wants_features && outputs[i]->is_on(options, &why))
			return true;
	return false;
}
