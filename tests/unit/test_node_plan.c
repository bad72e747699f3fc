// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * api/node_plan (design 5.3): a Node and what we want → what to apply, hand over, leave alone. In rows
 * "F/" stands for NFD's prefix of label keys.
 */
#include "config.h"

#include "api/node_plan.h"

#include <string.h>

#include "tests/unit/json_row.h"
#include "tests/unit/unit.h"

#define US "nfd-source"
#define OWN(labels) \
	"{'manager':'" US "','operation':'Apply','fieldsV1':{'f:metadata':{'f:labels':" labels "}}}"
#define OTHER(manager, labels)                           \
	"{'manager':'" manager "','operation':'Update'," \
	"'fieldsV1':{'f:metadata':{'f:labels':" labels "}}}"
#define NFD(list) "'annotations':{'nfd.node.kubernetes.io/feature-labels':'" list "'}"
#define INSTANCE(list) "'annotations':{'x.nfd.node.kubernetes.io/feature-labels':'" list "'}"

/* NULL lists are empty, NULL objects too. */
static const struct {
	const char *name, *metadata, *labels;
	bool bring, nfd_gone;
	const char *leave, *keep;
	/* The plan. */
	const char *want, *hand_over, *changed, *withdrawn, *missing, *left, *conflicts, *owned;
} rows[] = {
	{ .name = "nothing wanted, nothing there",
	  .metadata = "{}",
	  .labels = "{}",
	  .bring = true },
	{ .name = "missing, bring",
	  .metadata = "{'labels':{'other':'x'}}",
	  .labels = "{'F/a':'1','F/b':'2'}",
	  .bring = true,
	  .want = "{'F/a':'1','F/b':'2'}",
	  .changed = "['F/a','F/b']" },
	{ .name = "missing, wait",
	  .metadata = "{}",
	  .labels = "{'F/a':'1','F/b':'2'}",
	  .missing = "['F/a','F/b']" },
	{ .name = "there with our value, not ours: arrived",
	  .metadata = "{'labels':{'F/a':'1'}}",
	  .labels = "{'F/a':'1'}",
	  .bring = true },
	{ .name = "an admin's same value is left alone",
	  .metadata =
		  "{'labels':{'F/a':'1'},'managedFields':[" OTHER("kubectl", "{'f:F/a':{}}") "]}",
	  .labels = "{'F/a':'1'}",
	  .bring = true },
	{ .name = "there with another value, nobody's, bring",
	  .metadata = "{'labels':{'F/a':'0'}}",
	  .labels = "{'F/a':'1'}",
	  .bring = true,
	  .want = "{'F/a':'1'}",
	  .changed = "['F/a']" },
	{ .name = "there with another value, wait",
	  .metadata = "{'labels':{'F/a':'0'}}",
	  .labels = "{'F/a':'1'}",
	  .missing = "['F/a']" },
	{ .name = "another manager owns another value",
	  .metadata =
		  "{'labels':{'F/a':'0'},'managedFields':[" OTHER("kubectl", "{'f:F/a':{}}") "]}",
	  .labels = "{'F/a':'1','F/b':'1'}",
	  .bring = true,
	  .want = "{'F/b':'1'}",
	  .changed = "['F/b']",
	  .conflicts = "[{'key':'F/a','message':'\\'kubectl\\' owns it with the value \\'0\\''}]" },
	{ .name = "ours by update is another manager",
	  .metadata = "{'labels':{'F/a':'0'},'managedFields':[" OTHER(US, "{'f:F/a':{}}") "]}",
	  .labels = "{'F/a':'1'}",
	  .bring = true,
	  .conflicts = "[{'key':'F/a','message':'\\'" US "\\' owns it with the value \\'0\\''}]" },
	{ .name = "owned and right",
	  .metadata = "{'labels':{'F/a':'1'},'managedFields':[" OWN("{'f:F/a':{}}") "]}",
	  .labels = "{'F/a':'1'}",
	  .want = "{'F/a':'1'}",
	  .owned = "['F/a']" },
	{ .name = "owned and changed, though NFD is waited for",
	  .metadata = "{'labels':{'F/a':'0'},'managedFields':[" OWN("{'f:F/a':{}}") "]}",
	  .labels = "{'F/a':'1'}",
	  .want = "{'F/a':'1'}",
	  .changed = "['F/a']",
	  .owned = "['F/a']" },
	{ .name = "owned but gone from the Node",
	  .metadata = "{'managedFields':[" OWN("{'f:F/a':{}}") "]}",
	  .labels = "{'F/a':'1'}",
	  .want = "{'F/a':'1'}",
	  .changed = "['F/a']",
	  .owned = "['F/a']" },
	{ .name = "owned and unwanted",
	  .metadata = "{'labels':{'F/a':'1','F/b':'1'},"
		      "'managedFields':[" OWN("{'.':{},'f:F/a':{},'f:F/b':{}}") "]}",
	  .labels = "{'F/a':'1'}",
	  .want = "{'F/a':'1'}",
	  .withdrawn = "['F/b']",
	  .owned = "['F/a','F/b']" },
	{ .name = "owned, one missing, wait: the owned stays in the apply",
	  .metadata = "{'labels':{'F/a':'1'},'managedFields':[" OWN("{'f:F/a':{}}") "]}",
	  .labels = "{'F/a':'1','F/b':'1'}",
	  .want = "{'F/a':'1'}",
	  .missing = "['F/b']",
	  .owned = "['F/a']" },
	{ .name = "take all away",
	  .metadata = "{'labels':{'F/a':'1','F/b':'2'},'managedFields':[" OWN(
		  "{'f:F/a':{},'f:F/b':{}}") "]}",
	  .labels = "{}",
	  .bring = true,
	  .withdrawn = "['F/a','F/b']",
	  .owned = "['F/a','F/b']" },
	{ .name = "unknown facts stay",
	  .metadata = "{'labels':{'F/pci-1':'1','F/usb-1':'1'},'managedFields':[" OWN(
		  "{'f:F/pci-1':{},'f:F/usb-1':{}}") "]}",
	  .labels = "{}",
	  .keep = "['F/pci-',7]",
	  .want = "{'F/pci-1':'1'}",
	  .withdrawn = "['F/usb-1']",
	  .owned = "['F/pci-1','F/usb-1']" },
	{ .name = "unknown facts that are not on the Node go",
	  .metadata = "{'managedFields':[" OWN("{'f:F/pci-1':{}}") "]}",
	  .labels = "{}",
	  .keep = "['F/pci-']",
	  .withdrawn = "['F/pci-1']",
	  .owned = "['F/pci-1']" },
	{ .name = "unknown facts stay as they are, also others' of us",
	  .metadata = "{'labels':{'F/pci-1':'2'},'managedFields':[" OWN("{'f:F/pci-1':{}}") "]}",
	  .labels = "{'F/pci-1':'1'}",
	  .keep = "['F/pci-']",
	  .want = "{'F/pci-1':'1'}",
	  .changed = "['F/pci-1']",
	  .owned = "['F/pci-1']" },
	{ .name = "NFD lists it, bare name",
	  .metadata = "{'labels':{'F/a':'1'}," NFD("x,a,y") "}",
	  .labels = "{'F/a':'1'}",
	  .bring = true },
	{ .name = "NFD lists it, full name",
	  .metadata = "{'labels':{'vendor.com/a':'1'}," NFD("vendor.com/a") "}",
	  .labels = "{'vendor.com/a':'1'}",
	  .bring = true },
	{ .name = "NFD lists it, NFD's prefix written out",
	  .metadata = "{'labels':{'F/a':'0'}," NFD("F/a") "}",
	  .labels = "{'F/a':'1'}",
	  .bring = true,
	  .left = "['F/a']" },
	{ .name = "NFD lists a bare name: not that of another prefix",
	  .metadata = "{" NFD("a") "}",
	  .labels = "{'vendor.com/a':'1'}",
	  .bring = true,
	  .want = "{'vendor.com/a':'1'}",
	  .changed = "['vendor.com/a']" },
	{ .name = "NFD lists names that only begin or end so",
	  .metadata = "{" NFD("aa,xa,a.b,") "}",
	  .labels = "{'F/a':'1'}",
	  .bring = true,
	  .want = "{'F/a':'1'}",
	  .changed = "['F/a']" },
	{ .name = "NFD lists it with another value",
	  .metadata = "{'labels':{'F/a':'0'}," NFD("a") "}",
	  .labels = "{'F/a':'1'}",
	  .bring = true,
	  .left = "['F/a']" },
	{ .name = "NFD lists it, but it is not there",
	  .metadata = "{" NFD("a") "}",
	  .labels = "{'F/a':'1'}",
	  .bring = true,
	  .left = "['F/a']" },
	{ .name = "NFD of an instance lists it",
	  .metadata = "{'labels':{'F/a':'1'}," INSTANCE("a") "}",
	  .labels = "{'F/a':'1'}",
	  .bring = true },
	{ .name = "another annotation that ends so",
	  .metadata = "{'annotations':{'xnfd.node.kubernetes.io/feature-labels':'a'}}",
	  .labels = "{'F/a':'1'}",
	  .bring = true,
	  .want = "{'F/a':'1'}",
	  .changed = "['F/a']" },
	{ .name = "hand-over",
	  .metadata = "{'labels':{'F/a':'1','F/b':'1'}," NFD("a") ",'managedFields':[" OWN(
		  "{'f:F/a':{},'f:F/b':{}}") "]}",
	  .labels = "{'F/a':'1','F/b':'1'}",
	  .want = "{'F/b':'1'}",
	  .hand_over = "['F/a']",
	  .owned = "['F/a','F/b']" },
	{ .name = "hand-over of an unwanted one: NFD decides",
	  .metadata =
		  "{'labels':{'F/a':'1'}," NFD("a") ",'managedFields':[" OWN("{'f:F/a':{}}") "]}",
	  .labels = "{}",
	  .hand_over = "['F/a']",
	  .owned = "['F/a']" },
	{ .name = "NFD is gone: its annotation is a leftover",
	  .metadata = "{'labels':{'F/a':'0','F/b':'1'}," NFD("a,b") ",'managedFields':[" OWN(
		  "{'f:F/b':{}}") "]}",
	  .labels = "{'F/a':'1','F/b':'1'}",
	  .bring = true,
	  .nfd_gone = true,
	  .want = "{'F/a':'1','F/b':'1'}",
	  .changed = "['F/a']",
	  .owned = "['F/b']" },
	{ .name = "left out: not sent",
	  .metadata = "{}",
	  .labels = "{'F/a':'1','F/b':'1'}",
	  .bring = true,
	  .leave = "['F/a',7,null]",
	  .want = "{'F/b':'1'}",
	  .changed = "['F/b']" },
	{ .name = "left out though it is ours: taken away",
	  .metadata = "{'labels':{'F/a':'0'},'managedFields':[" OWN("{'f:F/a':{}}") "]}",
	  .labels = "{'F/a':'1'}",
	  .leave = "['F/a']",
	  .withdrawn = "['F/a']",
	  .owned = "['F/a']" },
	{ .name = "empty value",
	  .metadata = "{'labels':{'F/a':''}}",
	  .labels = "{'F/a':'','F/b':''}",
	  .bring = true,
	  .want = "{'F/b':''}",
	  .changed = "['F/b']" },
	/* What a hostile or broken server may send. */
	{ .name = "labels are a list",
	  .metadata = "{'labels':['F/a']}",
	  .labels = "{'F/a':'1'}",
	  .bring = true,
	  .want = "{'F/a':'1'}",
	  .changed = "['F/a']" },
	{ .name = "a label is a number",
	  .metadata = "{'labels':{'F/a':1}}",
	  .labels = "{'F/a':'1'}",
	  .bring = true,
	  .want = "{'F/a':'1'}",
	  .changed = "['F/a']" },
	{ .name = "annotations are a list",
	  .metadata = "{'annotations':['a','b']}",
	  .labels = "{'F/a':'1'}",
	  .bring = true,
	  .want = "{'F/a':'1'}",
	  .changed = "['F/a']" },
	{ .name = "annotations are a text",
	  .metadata = "{'annotations':'nfd.node.kubernetes.io/feature-labels'}",
	  .labels = "{'F/a':'1'}",
	  .bring = true,
	  .want = "{'F/a':'1'}",
	  .changed = "['F/a']" },
	{ .name = "the annotation is no text",
	  .metadata = "{'annotations':{'nfd.node.kubernetes.io/feature-labels':7}}",
	  .labels = "{'F/a':'1'}",
	  .bring = true,
	  .want = "{'F/a':'1'}",
	  .changed = "['F/a']" },
	{ .name = "managedFields are a text",
	  .metadata = "{'managedFields':'x'}",
	  .labels = "{'F/a':'1'}",
	  .bring = true,
	  .want = "{'F/a':'1'}",
	  .changed = "['F/a']" },
	{ .name = "managedFields hold anything",
	  .metadata = "{'labels':{'F/a':'0'},'managedFields':[7,null,'x',[],{},"
		      "{'manager':7,'fieldsV1':{'f:metadata':{'f:labels':{'f:F/a':{}}}}}]}",
	  .labels = "{'F/a':'1'}",
	  .bring = true,
	  .want = "{'F/a':'1'}",
	  .changed = "['F/a']" },
	{ .name = "our fields are a list",
	  .metadata = "{'managedFields':[" OWN("['f:F/a',7]") "]}",
	  .labels = "{'F/a':'1'}",
	  .bring = true,
	  .want = "{'F/a':'1'}",
	  .changed = "['F/a']" },
	{ .name = "our fields are a text",
	  .metadata = "{'managedFields':[" OWN("'f:F/a'") "]}",
	  .labels = "{'F/a':'1'}",
	  .bring = true,
	  .want = "{'F/a':'1'}",
	  .changed = "['F/a']" },
	{ .name = "our fields hold odd names",
	  .metadata = "{'managedFields':[" OWN("{'.':{},'f':{},'':{},'k:x':{},'f:':{}}") "]}",
	  .labels = "{}",
	  .withdrawn = "['']",
	  .owned = "['']" },
	{ .name = "metadata is a list",
	  .metadata = "[]",
	  .labels = "{'F/a':'1'}",
	  .missing = "['F/a']" },
};

/* "F/" at the beginning of a word becomes NFD's prefix. */
static const char *expand(const char *text)
{
	const char *out = "";
	const char *at;

	while ((at = strstr(text, "F/")) != NULL) {
		out = unit_text("%s%.*sfeature.node.kubernetes.io/", out, (int)(at - text), text);
		text = at + 2;
	}
	return unit_text("%s%s", out, text);
}

static cJSON *expanded(const char *text)
{
	return text ? json_new(expand(text)) : NULL;
}

static void assert_list(const cJSON *list, const char *expected, const char *empty)
{
	assert_string_equal(json_text(list), expand(expected ? expected : empty));
}

static void plans(void **state)
{
	const __typeof__(rows[0]) *row = *state;
	const struct nfd_node_wish wish = {
		.labels = expanded(row->labels),
		.leave = expanded(row->leave),
		.keep = expanded(row->keep),
		.bring = row->bring,
		.nfd_gone = row->nfd_gone,
	};
	struct nfd_node_plan plan;

	assert_int_equal(nfd_node_plan_make(&plan, expanded(row->metadata), &wish, US), 0);
	assert_list(plan.want, row->want, "{}");
	assert_list(plan.hand_over, row->hand_over, "[]");
	assert_list(plan.changed, row->changed, "[]");
	assert_list(plan.withdrawn, row->withdrawn, "[]");
	assert_list(plan.missing, row->missing, "[]");
	assert_list(plan.left, row->left, "[]");
	assert_list(plan.conflicts, row->conflicts, "[]");
	assert_list(plan.owned, row->owned, "[]");
	assert_int_equal(nfd_node_plan_is_apply(&plan), row->changed || row->withdrawn);
	nfd_node_plan_done(&plan);
	nfd_node_plan_done(&plan);
}

static void much_is_fine(void **state)
{
	const struct nfd_node_wish wish = { .labels = expanded("{'F/a':'1'}"), .bring = true };
	const char *key = unit_repeat('k', 100000);
	const cJSON *metadata =
		json_new(unit_text("{'labels':{'%s':'1'},'annotations':{'%s':'%s',"
				   "'nfd.node.kubernetes.io/feature-labels':'%s,%s'},"
				   "'managedFields':[{'manager':'%s'}," OWN("{'f:%s':{}}") "]}",
				   key, key, key, key, unit_repeat(',', 100000), key, key));
	struct nfd_node_plan plan;

	(void)state;
	assert_int_equal(nfd_node_plan_make(&plan, metadata, &wish, US), 0);
	assert_int_equal(cJSON_GetArraySize(plan.changed), 1);
	nfd_node_plan_done(&plan);
}

static const struct {
	const char *name, *metadata;
	bool has;
} has_rows[] = {
	{ "no annotations", "{}", false },
	{ "another", "{'annotations':{'nfd.node.kubernetes.io/master.version':'v1'}}", false },
	{ "NFD's", "{" NFD("") "}", true },
	{ "an instance's", "{" INSTANCE("") "}", true },
	{ "a list", "{'annotations':['nfd.node.kubernetes.io/feature-labels']}", false },
	{ "a text", "{'annotations':'x'}", false },
	{ "metadata is null", "null", false },
};

static void knows_nfd(void **state)
{
	const __typeof__(has_rows[0]) *row = *state;

	assert_int_equal(nfd_node_has_nfd(json_new(row->metadata)), row->has);
}

int main(void)
{
	struct unit_suite suite = { .name = "node_plan" };

	UNIT_ROWS(&suite, plans, rows, name);
	UNIT_CASE(&suite, much_is_fine);
	UNIT_ROWS(&suite, knows_nfd, has_rows, name);
	return unit_run(&suite);
}
