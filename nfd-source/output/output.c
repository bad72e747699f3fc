// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of outputs: a new one is one file and one line here.
 */
#include "config.h"

#include "output/output.h"

static const struct nfd_output *const outputs[] = {
	&nfd_feature_output,
};

const struct nfd_output *const *nfd_outputs(size_t *ret_count)
{
	*ret_count = NFD_ARRAY_SIZE(outputs);
	return outputs;
}
