// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A umockdev testbed that obeys lines on standard input: "add SUBSYSTEM NAME
 * [A:KEY=VALUE|E:KEY=VALUE]...", "event SYSPATH ACTION", "remove SYSPATH"; fields are divided by
 * tabs. The first line of its output is the testbed's root, then it answers "ok" to each line,
 * after the event has left. The testbed goes at end of input.
 */
#include <stdio.h>
#include <string.h>
#include <umockdev.h>

#define FIELDS 40

struct list {
	char *text[FIELDS * 2 + 1];
	size_t count;
};

/* "KEY=VALUE" as two entries; attributes of sysfs end with a newline. */
static void append(struct list *list, char *text, const char *end)
{
	char *value = strchr(text, '=');

	if (!value)
		return;
	*value++ = '\0';
	list->text[list->count++] = text;
	list->text[list->count++] = g_strconcat(value, end, NULL);
}

static void add(UMockdevTestbed *testbed, char **field)
{
	struct list attributes = { 0 }, properties = { 0 };

	for (size_t i = 3; field[i]; i++)
		append(field[i][0] == 'A' ? &attributes : &properties, field[i] + 2,
		       field[i][0] == 'A' ? "\n" : "");
	g_free(umockdev_testbed_add_devicev(testbed, field[1], field[2], NULL, attributes.text,
					    properties.text));
}

/* As the kernel does it: off the bus first, then the event, then the folder. */
static void take_away(UMockdevTestbed *testbed, const char *path)
{
	g_autofree char *root = umockdev_testbed_get_root_dir(testbed);
	g_autofree char *subsystem = g_strconcat(root, path, "/subsystem", NULL);
	g_autofree char *bus = g_file_read_link(subsystem, NULL);
	g_autofree char *name = g_path_get_basename(path);
	g_autofree char *bus_name = bus ? g_path_get_basename(bus) : NULL;
	g_autofree char *link =
		g_strdup_printf("%s/sys/bus/%s/devices/%s", root, bus_name ? bus_name : "", name);

	remove(link);
	umockdev_testbed_uevent(testbed, path, "remove");
	umockdev_testbed_remove_device(testbed, path);
}

static void obey(UMockdevTestbed *testbed, char *line)
{
	g_auto(GStrv) field = g_strsplit(g_strchomp(line), "\t", FIELDS);
	guint count = g_strv_length(field);

	if (count >= 3 && strcmp(field[0], "add") == 0)
		add(testbed, field);
	else if (count == 3 && strcmp(field[0], "event") == 0)
		umockdev_testbed_uevent(testbed, field[1], field[2]);
	else if (count == 2 && strcmp(field[0], "remove") == 0)
		take_away(testbed, field[1]);
	else
		g_error("unknown line: %s", line);
}

int main(void)
{
	g_autoptr(UMockdevTestbed) testbed = umockdev_testbed_new();
	g_autofree char *root = umockdev_testbed_get_root_dir(testbed);
	char line[4096];

	printf("%s\n", root);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		obey(testbed, line);
		printf("ok\n");
		fflush(stdout);
	}
	return 0;
}
