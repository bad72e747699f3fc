// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A rename waits until the window of the last one is over; a touch closes a window in which nothing
 * new came.
 */
#include "config.h"

#include "output/spacing.h"

enum nfd_spacing_action nfd_spacing_next(const struct nfd_spacing *spacing, int64_t now_ms,
					 int64_t *ret_due_ms)
{
	int64_t open_ms = spacing->renamed ? spacing->renamed_ms + NFD_SPACING_MS : now_ms;

	*ret_due_ms = INT64_MAX;
	if (!spacing->pending && !spacing->touch_due)
		return NFD_SPACING_NOTHING;
	if (now_ms < open_ms) {
		*ret_due_ms = open_ms;
		return NFD_SPACING_NOTHING;
	}
	return spacing->pending ? NFD_SPACING_RENAME : NFD_SPACING_TOUCH;
}

void nfd_spacing_done(struct nfd_spacing *spacing, enum nfd_spacing_action action, int64_t now_ms)
{
	if (action == NFD_SPACING_RENAME) {
		spacing->renamed = true;
		spacing->renamed_ms = now_ms;
		spacing->pending = false;
		spacing->touch_due = true;
	} else if (action == NFD_SPACING_TOUCH) {
		spacing->touch_due = false;
	}
}
