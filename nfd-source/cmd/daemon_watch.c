// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Wires the event sources to the debounce. Any doubt (lost events, overflow) concerns every scanner.
 */
#include "config.h"

#include "cmd/daemon_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "scan/nvidia_library.h"
#include "scan/scan.h"

/* Design 6; those that concern no scanner yet are not listened to at all. */
static const char *const subsystems[] = {
	"pci", "usb", "drm", "accel", "module", "drivers", "net", "infiniband", "platform",
};

/* Of NFD's sources alone. Disks of containers come and go, which is nobody's business without those. */
static const char *const source_subsystems[] = { "block", "cpu", "misc", "nd", "node" };

static const char *const library_names[] = { "libnvidia-ml.so", "libcuda.so" };

/* In a user namespace of its own the sender of uevents is nobody, and libudev drops them. */
static bool in_own_user_namespace(void)
{
	cleanup_close int fd = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
	unsigned long inside, outside, count;
	char text[128];
	ssize_t len;

	len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	/* An empty map is that of a namespace that has not got one yet. */
	if (len < 0)
		return false;
	text[len] = '\0';
	return sscanf(text, "%lu %lu %lu", &inside, &outside, &count) != 3 || inside != 0 ||
	       outside != 0 || count != UINT32_MAX;
}

static void note_events(struct nfd_daemon_watch *watch, uint32_t concerns, const char *event)
{
	if (!concerns)
		return;
	watch->event_s = nfd_clock_real_s();
	snprintf(watch->event, sizeof(watch->event), "%s", event);
	nfd_debounce_event(&watch->debounce, concerns, nfd_clock_monotonic_ms());
}

static int on_uevent(void *cookie)
{
	struct nfd_daemon_watch *watch = cookie;
	struct nfd_udev_events events;

	nfd_udev_monitor_read(watch->monitor, &events);
	watch->events += events.count;
	if (events.lost) {
		watch->lost++;
		events.concerns = NFD_SCANNERS_ALL;
		nfd_log(NFD_LOG_DEBUG, "events were lost, everything is scanned again", NULL);
	}
	nfd_log(NFD_LOG_DEBUG, "uevent", "last", events.last, NULL);
	note_events(watch, events.concerns, events.lost ? "events lost" : events.last);
	return watch->changed(watch->cookie);
}

/* What has changed, by whom it concerns. */
static const char *words_for(uint32_t scanners)
{
	if (scanners == (NFD_SCANNERS_ALL & ~NFD_CONCERNS_OUTPUT))
		return "feature files changed";
	if (scanners & nfd_scanners_for_subsystem("module") &
	    nfd_scanners_for_vendor(NFD_VENDOR_NONE))
		return "driver library changed";
	return scanners ? "a vendor's feature file changed" : "feature file changed";
}

static int on_file(void *cookie)
{
	struct nfd_daemon_watch *watch = cookie;
	struct nfd_file_events events;

	nfd_file_watch_read(&watch->files, &events);
	if (events.lost) {
		watch->lost++;
		events.concerns = NFD_SCANNERS_ALL;
	}
	if (events.tree_changed) {
		watch->files_stale = true;
		events.concerns |= nfd_scanners_for_subsystem("module");
	}
	if (events.concerns & ~NFD_CONCERNS_OUTPUT)
		watch->events++;
	note_events(watch, events.concerns,
		    events.lost ? "events lost" :
				  words_for(events.concerns & ~NFD_CONCERNS_OUTPUT));
	return watch->changed(watch->cookie);
}

static size_t add_interest(const char *const *names, size_t name_count,
			   struct nfd_udev_interest *interest, size_t count)
{
	for (size_t i = 0; i < name_count; i++) {
		interest[count].subsystem = names[i];
		interest[count].concerns = nfd_scanners_for_subsystem(names[i]);
		count += interest[count].concerns != 0;
	}
	return count;
}

static int start_monitor(struct nfd_daemon_watch *watch, struct nfd_error *err)
{
	struct nfd_udev_interest
		interest[NFD_ARRAY_SIZE(subsystems) + NFD_ARRAY_SIZE(source_subsystems)];
	size_t count;

	if (in_own_user_namespace())
		return nfd_error_set(err, -EPERM,
				     "no uevents arrive in a user namespace of its own");
	count = add_interest(subsystems, NFD_ARRAY_SIZE(subsystems), interest, 0);
	if (watch->options.sources)
		count = add_interest(source_subsystems, NFD_ARRAY_SIZE(source_subsystems), interest,
				     count);
	return nfd_udev_monitor_new(watch->options.group, interest, count, &watch->monitor, err);
}

int nfd_daemon_watch_init(struct nfd_daemon_watch *watch, struct nfd_loop *loop,
			  const struct nfd_daemon_watch_options *options,
			  nfd_loop_callback *changed, void *cookie, struct nfd_error *err)
{
	int r;

	*watch = (struct nfd_daemon_watch){
		.files = { .fd = -1 }, .options = *options, .changed = changed, .cookie = cookie
	};
	watch->since_s = nfd_clock_real_s();
	if (start_monitor(watch, err) < 0)
		snprintf(watch->reason, sizeof(watch->reason), "%s", nfd_error_text(err));
	if (nfd_file_watch_init(&watch->files, err) < 0)
		nfd_log(NFD_LOG_WARNING, "cannot watch files", "error", nfd_error_text(err), NULL);
	r = watch->monitor ?
		    nfd_loop_add(loop, nfd_udev_monitor_fd(watch->monitor), on_uevent, watch, err) :
		    0;
	if (r == 0 && watch->files.fd >= 0)
		r = nfd_loop_add(loop, watch->files.fd, on_file, watch, err);
	return r;
}

void nfd_daemon_watch_done(struct nfd_daemon_watch *watch, struct nfd_loop *loop)
{
	if (watch->monitor)
		nfd_loop_remove(loop, nfd_udev_monitor_fd(watch->monitor));
	nfd_loop_remove(loop, watch->files.fd);
	nfd_udev_monitor_free(watch->monitor);
	nfd_file_watch_done(&watch->files);
	watch->monitor = NULL;
}

/* Absolute path of a folder below the root, its links resolved as far as it exists. */
static void absolute(const struct nfd_root *root, const char *path, char *ret, size_t size)
{
	char real[PATH_MAX];
	const char *base = strcmp(root->path, "/") == 0 ? "" : root->path;

	if (nfd_root_resolve(root, path, real, sizeof(real)) < 0)
		snprintf(real, sizeof(real), "%s", path);
	snprintf(ret, size, "%s/%s", base, real);
}

/* A folder in which a library can come or go. */
static void watch_folder(struct nfd_daemon_watch *watch, const struct nfd_root *root,
			 const char *path)
{
	char full[PATH_MAX];

	absolute(root, path, full, sizeof(full));
	for (size_t n = 0; n < NFD_ARRAY_SIZE(library_names); n++)
		nfd_file_watch_add(&watch->files, full, library_names[n],
				   nfd_scanners_for_subsystem("module"));
}

static void watch_libraries(struct nfd_daemon_watch *watch, const struct nfd_root *root)
{
	uint32_t concerns = nfd_scanners_for_subsystem("module");
	const char *const *roots, *const *dirs;
	char path[PATH_MAX], full[PATH_MAX];
	size_t root_count, dir_count;

	roots = nfd_nvidia_driver_roots(&root_count);
	dirs = nfd_nvidia_library_dirs(&dir_count);
	for (size_t r = 0; r < root_count; r++) {
		/* Folders of a driver root that is not there would all wait for the same name. */
		if (roots[r][0] && nfd_root_exists(root, roots[r]) != 1) {
			absolute(root, roots[r], full, sizeof(full));
			nfd_file_watch_add(&watch->files, full, library_names[0], concerns);
			continue;
		}
		for (size_t d = 0; d < dir_count; d++) {
			snprintf(path, sizeof(path), "%s%s%s", roots[r], roots[r][0] ? "/" : "",
				 dirs[d]);
			watch_folder(watch, root, path);
		}
	}
}

/* Whether vendors' own programs write there too. */
static void watch_labellers(struct nfd_daemon_watch *watch, const char *dir)
{
	for (int i = NFD_VENDOR_NONE + 1; i < NFD_VENDOR_COUNT; i++) {
		const struct nfd_labeller *labeller = nfd_labeller((enum nfd_vendor)i);

		for (const char *const *name = labeller->files; *name; name++)
			nfd_file_watch_add(&watch->files, dir, *name,
					   nfd_scanners_for_vendor((enum nfd_vendor)i));
	}
}

/* A label that a file no longer gives may be one that any other scanner gives. */
static void watch_feature_files(struct nfd_daemon_watch *watch,
				const struct nfd_scan_options *options)
{
	if (options->local.dir && options->vendor.labels[NFD_VENDOR_NFD] != NFD_VENDOR_OFF)
		nfd_file_watch_add(&watch->files, options->local.dir, "", NFD_SCANNERS_ALL);
}

void nfd_daemon_watch_files(struct nfd_daemon_watch *watch, const struct nfd_root *root,
			    const struct nfd_scan_options *options,
			    const struct nfd_feature_file_options *output)
{
	const char *library_dir = options->nvidia_library_dir;

	if (watch->files.fd < 0)
		return;
	nfd_file_watch_clear(&watch->files);
	watch->files_stale = false;
	nfd_file_watch_add(&watch->files, output->dir, output->name, NFD_CONCERNS_OUTPUT);
	watch_feature_files(watch, options);
	watch_labellers(watch, output->dir);
	if (library_dir && *library_dir)
		watch_folder(watch, root, library_dir + strspn(library_dir, "/"));
	else
		watch_libraries(watch, root);
}
