// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Walks sys/class/drm once, adds up what the cards say, and writes the lists in the hook's forms:
 * cards in byte order of their names, and a list that is longer than a value in several labels.
 */
#include "config.h"

#include "scan/intel_gpu.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/strbuf.h"

#define DRM "sys/class/drm"
#define PATH_SIZE 128
#define MILLICORES_PER_GPU 1000
#define NUMA_MAX INT16_MAX
/* Digits of a card's number: DRM has 20 bits of minor numbers. */
#define NUMBER_DIGITS 7
/* A node has tens of GPUs, and some hundreds of virtual functions; more is no GPU node. */
#define CARDS_MAX 1024
#define MEMORY_MAX (UINT64_C(1) << 44) /* bytes of one tile */

enum fact { CARDS, NUMBERS, MILLICORES, TILES, MEMORY, NUMA, FACTS };
#define ALL_FACTS ((1U << FACTS) - 1)

static const char *const keys[FACTS] = {
	[CARDS] = NFD_INTEL_GPU "cards",           [NUMBERS] = NFD_INTEL_GPU "gpu-numbers",
	[MILLICORES] = NFD_INTEL_GPU "millicores", [TILES] = NFD_INTEL_GPU "tiles",
	[MEMORY] = NFD_INTEL_GPU "memory.max",     [NUMA] = NFD_INTEL_GPU "numa-gpu-map",
};

struct card {
	char number[NUMBER_DIGITS + 1]; /* as its name has it */
	int numa;                       /* -1: none */
};

struct cards {
	struct card *card; /* array of @count; owned */
	size_t count;
	unsigned int tiles;
	uint64_t memory;       /* bytes */
	bool hides_memory;     /* a card on xe, which states no size */
	unsigned int left_out; /* bits by enum fact: not to be written */
};

/* Length of "<stem><digits>" behind the stem, 0 for any other name. */
static size_t number_length(const char *name, const char *stem)
{
	size_t len = strlen(stem), digits;

	if (strncmp(name, stem, len) != 0)
		return 0;
	digits = strspn(name + len, "0123456789");
	return digits <= NUMBER_DIGITS && name[len + digits] == '\0' ? digits : 0;
}

/* A failed read takes the labels that need it away; other than "not there" keeps published ones. */
static void fail(struct nfd_scan *scan, struct cards *cards, unsigned int facts, const char *path,
		 int code)
{
	if (nfd_root_is_absent(code))
		return;
	cards->left_out |= facts;
	for (unsigned int fact = 0; fact < FACTS; fact++)
		if (facts & 1U << fact)
			nfd_scan_failed(scan, keys[fact], path, code);
}

/* An attribute as text. Returns false when the card does not have it or it cannot be read. */
static bool read_text(struct nfd_scan *scan, struct cards *cards, unsigned int facts,
		      const char *card, const char *attribute, char ret[32])
{
	char path[PATH_SIZE];
	ssize_t len;

	snprintf(path, sizeof(path), DRM "/%s/%s", card, attribute);
	len = nfd_root_read_line(scan->root, path, ret, 32);
	if (len < 0)
		fail(scan, cards, facts, path, (int)len);
	return len >= 0;
}

/* Folders "<stem><number>" in one of a card's folders. */
static unsigned int count_folders(struct nfd_scan *scan, struct cards *cards, const char *card,
				  const char *folder, const char *stem)
{
	cleanup_names struct nfd_names names = { 0 };
	unsigned int count = 0;
	char path[PATH_SIZE];
	int r;

	snprintf(path, sizeof(path), DRM "/%s/%s", card, folder);
	r = nfd_root_list(scan->root, path, &names);
	if (r == -ENOMEM)
		scan->error = r;
	else if (r < 0)
		fail(scan, cards, 1U << TILES | 1U << MEMORY, path, r);
	for (size_t i = 0; i < names.count; i++)
		count += number_length(names.name[i], stem) > 0;
	return count;
}

/* Bytes of one tile; 0 for a card that has none of its own or does not tell. */
static uint64_t read_memory(struct nfd_scan *scan, struct cards *cards, const char *card)
{
	char path[PATH_SIZE], text[32];
	uint64_t bytes = 0;

	if (!read_text(scan, cards, 1U << MEMORY, card, "lmem_total_bytes", text))
		return 0;
	if (nfd_parse_uint(text, MEMORY_MAX, &bytes) < 0) {
		snprintf(path, sizeof(path), DRM "/%s/lmem_total_bytes", card);
		fail(scan, cards, 1U << MEMORY, path, -EBADMSG);
	}
	return bytes;
}

static void add_tiles(struct nfd_scan *scan, struct cards *cards, const char *card)
{
	unsigned int on_i915 = count_folders(scan, cards, card, "gt", "gt");
	unsigned int on_xe = count_folders(scan, cards, card, "device", "tile");
	unsigned int tiles = on_i915 + on_xe > 0 ? on_i915 + on_xe : 1;

	cards->tiles += tiles;
	cards->memory += read_memory(scan, cards, card) * tiles;
	cards->hides_memory |= on_xe > 0;
}

static int read_numa(struct nfd_scan *scan, struct cards *cards, const char *card)
{
	uint64_t node;
	char text[32];

	if (!read_text(scan, cards, 1U << NUMA, card, "device/numa_node", text) ||
	    nfd_parse_uint(text, NUMA_MAX, &node) < 0)
		return -1;
	return (int)node;
}

static bool is_wanted(struct nfd_scan *scan, struct cards *cards, const char *card)
{
	char text[32];

	if (number_length(card, "card") == 0 ||
	    !read_text(scan, cards, ALL_FACTS, card, "device/vendor", text) ||
	    strcmp(text, "0x8086") != 0)
		return false;
	return !read_text(scan, cards, ALL_FACTS, card, "device/sriov_numvfs", text) ||
	       strcmp(text, "0") == 0;
}

static void add_card(struct nfd_scan *scan, struct cards *cards, const char *name)
{
	struct card *bigger = realloc(cards->card, (cards->count + 1) * sizeof(*cards->card));

	if (!bigger) {
		scan->error = -ENOMEM;
		return;
	}
	cards->card = bigger;
	snprintf(bigger[cards->count].number, sizeof(bigger->number), "%.*s", NUMBER_DIGITS,
		 name + strlen("card"));
	bigger[cards->count].numa = read_numa(scan, cards, name);
	add_tiles(scan, cards, name);
	cards->count++;
}

static void read_cards(struct nfd_scan *scan, struct cards *cards)
{
	cleanup_names struct nfd_names names = { 0 };
	int r = nfd_root_list(scan->root, DRM, &names);

	if (r == -ENOMEM)
		scan->error = r;
	else if (r < 0)
		fail(scan, cards, ALL_FACTS, DRM, r);
	for (size_t i = 0; i < names.count && scan->error == 0; i++) {
		if (!is_wanted(scan, cards, names.name[i]))
			continue;
		if (cards->count == CARDS_MAX) {
			fail(scan, cards, ALL_FACTS, DRM, -E2BIG);
			return;
		}
		add_card(scan, cards, names.name[i]);
	}
}

/* Length of the part of a list that fits, cut behind a letter or digit. */
static size_t part_length(const char *text, size_t max)
{
	size_t len = strlen(text);

	if (len <= max)
		return len;
	for (len = max; len > 0 && !isalnum((unsigned char)text[len - 1]);)
		len--;
	return len;
}

static void put_joined(struct nfd_strbuf *list, const struct cards *cards, const char *stem)
{
	for (size_t i = 0; i < cards->count; i++)
		nfd_strbuf_printf(list, "%s%s%s", i ? "." : "", stem, cards->card[i].number);
}

static void put_names(struct nfd_strbuf *list, const struct cards *cards)
{
	put_joined(list, cards, "card");
}

static void put_numbers(struct nfd_strbuf *list, const struct cards *cards)
{
	put_joined(list, cards, "");
}

/* The lowest node above @above that has a card; -1 when there is none. */
static int next_numa(const struct cards *cards, int above)
{
	int next = -1;

	for (size_t i = 0; i < cards->count; i++) {
		int numa = cards->card[i].numa;

		if (numa > above && (next < 0 || numa < next))
			next = numa;
	}
	return next;
}

/* "0-0.1_1-2.3": cards 0 and 1 at node 0, 2 and 3 at node 1. */
static void put_numa_map(struct nfd_strbuf *list, const struct cards *cards)
{
	const char *between = "";

	for (int node = next_numa(cards, -1); node >= 0; node = next_numa(cards, node)) {
		nfd_strbuf_printf(list, "%s%d", between, node);
		between = "-";
		for (size_t i = 0; i < cards->count; i++) {
			if (cards->card[i].numa != node)
				continue;
			nfd_strbuf_printf(list, "%s%s", between, cards->card[i].number);
			between = ".";
		}
		between = "_";
	}
}

/*
 * A list as its readers put it together again: "KEY", "KEY2", "KEY3", where each but the first part
 * begins with a Z that is not part of the list.
 */
static void add_parts(struct nfd_scan *scan, enum fact fact, const char *text)
{
	size_t max = NFD_LABEL_VALUE_MAX, len;

	for (unsigned int part = 1; *text; part++, text += len, max = NFD_LABEL_VALUE_MAX - 1) {
		char value[NFD_LABEL_VALUE_SIZE], suffix[16] = "";
		const struct nfd_finding finding = { .rank = NFD_RANK_NORMAL,
						     .value = value,
						     .path = DRM };

		len = part_length(text, max);
		snprintf(value, sizeof(value), "%s%.*s", part > 1 ? "Z" : "", (int)len, text);
		if (part > 1)
			snprintf(suffix, sizeof(suffix), "%u", part);
		nfd_scan_label(scan, &finding, "%s%s", keys[fact], suffix);
		/* The list of names is the hook's oldest label and never got more parts. */
		if (fact == CARDS)
			return;
	}
}

static void add_list(struct nfd_scan *scan, const struct cards *cards, enum fact fact,
		     void (*put)(struct nfd_strbuf *list, const struct cards *cards))
{
	cleanup_strbuf struct nfd_strbuf list = { 0 };

	if (cards->left_out & 1U << fact)
		return;
	put(&list, cards);
	if (list.error < 0)
		scan->error = list.error;
	else
		add_parts(scan, fact, nfd_strbuf_text(&list));
}

static void add_number(struct nfd_scan *scan, const struct cards *cards, enum fact fact,
		       uint64_t number)
{
	char value[24];
	const struct nfd_finding finding = { .rank = NFD_RANK_NORMAL, .value = value, .path = DRM };

	if (cards->left_out & 1U << fact)
		return;
	snprintf(value, sizeof(value), "%" PRIu64, number);
	nfd_scan_label(scan, &finding, "%s", keys[fact]);
}

void nfd_intel_gpu_add(struct nfd_scan *scan)
{
	struct cards cards = { 0 };

	read_cards(scan, &cards);
	if (cards.count > 0 && scan->error == 0) {
		add_list(scan, &cards, CARDS, put_names);
		add_list(scan, &cards, NUMBERS, put_numbers);
		add_list(scan, &cards, NUMA, put_numa_map);
		add_number(scan, &cards, MILLICORES, MILLICORES_PER_GPU * cards.count);
		add_number(scan, &cards, TILES, cards.tiles);
		/* A sum that lacks a card is no sum; cards without memory of their own add none. */
		if (cards.memory > 0 && !cards.hides_memory)
			add_number(scan, &cards, MEMORY, cards.memory);
	}
	free(cards.card);
}
