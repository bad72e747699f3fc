// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Flat documents of texts, so they are written straight into the buffer; every text is escaped by
 * nfd_strbuf_put_quoted().
 */
#include "config.h"

#include "output/render.h"

void nfd_render_text(const struct nfd_set *set, struct nfd_strbuf *buf)
{
	for (size_t i = 0; i < set->count; i++)
		if (!set->label[i].stopped_by)
			nfd_strbuf_printf(buf, "%s=%s\n", set->label[i].key, set->label[i].value);
}

static void put_member(struct nfd_strbuf *buf, bool *first, const char *name, const char *value)
{
	nfd_strbuf_puts(buf, *first ? "\n    " : ",\n    ");
	*first = false;
	nfd_strbuf_put_quoted(buf, name);
	nfd_strbuf_puts(buf, ": ");
	nfd_strbuf_put_quoted(buf, value);
}

static void put_labels(const struct nfd_set *set, const char *name, bool sources,
		       struct nfd_strbuf *buf)
{
	bool first = true;

	nfd_strbuf_printf(buf, "  \"%s\": {", name);
	for (size_t i = 0; i < set->count; i++) {
		const struct nfd_label *label = &set->label[i];
		const char *value = sources ? label->source : label->value;

		if (!label->stopped_by && value)
			put_member(buf, &first, label->key, value);
	}
	nfd_strbuf_puts(buf, first ? "},\n" : "\n  },\n");
}

void nfd_render_json(const struct nfd_set *set, const struct nfd_unknowns *unknowns,
		     struct nfd_strbuf *buf)
{
	bool first = true;

	nfd_strbuf_puts(buf, "{\n  \"schema\": 1,\n");
	put_labels(set, "labels", false, buf);
	put_labels(set, "sources", true, buf);
	nfd_strbuf_puts(buf, "  \"unknown\": [");
	for (size_t i = 0; i < unknowns->count; i++) {
		if (unknowns->unknown[i].doubt)
			continue;
		nfd_strbuf_puts(buf, first ? "\n    {\"keys\": " : ",\n    {\"keys\": ");
		first = false;
		nfd_strbuf_put_quoted(buf, unknowns->unknown[i].prefix);
		nfd_strbuf_puts(buf, ", \"reason\": ");
		nfd_strbuf_put_quoted(buf, unknowns->unknown[i].reason);
		nfd_strbuf_puts(buf, "}");
	}
	nfd_strbuf_puts(buf, first ? "]\n}\n" : "\n  ]\n}\n");
}
