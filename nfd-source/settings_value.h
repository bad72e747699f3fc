/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of the settings: look-ups in the table, and the one way from a text to a value, whatever
 * its origin. Only the files settings*.c include this.
 */
#pragma once

#include "settings.h"

/**
 * nfd_settings_find() - the setting with a key, letter case ignored as NFD does.
 * Return: entry of the table; NULL when there is none.
 */
const struct nfd_setting *nfd_settings_find(const char *key);

/**
 * nfd_settings_is_section() - whether keys of the table begin with "@key.".
 */
bool nfd_settings_is_section(const char *key);

/**
 * nfd_settings_is_foreign() - whether a key belongs to an nfd-worker.conf but not to us.
 */
bool nfd_settings_is_foreign(const char *key);

/**
 * nfd_settings_position() - position of an entry in the table.
 */
size_t nfd_settings_position(const struct nfd_setting *setting);

/**
 * nfd_settings_refuse_key() - say that a key is unknown and which ones may stand in its place: those
 * of the same section, or of the next above it that there is.
 * Return: -ENOKEY.
 */
int nfd_settings_refuse_key(const char *key, struct nfd_error *err);

/**
 * nfd_setting_is_list() - whether a setting takes several values.
 */
bool nfd_setting_is_list(const struct nfd_setting *setting);

/**
 * nfd_setting_set() - check values and store them.
 * @settings: the setting's field is replaced; untouched on failure.
 * @text:     array of @count values, copied; none means empty.
 * @err:      names the key, the value and what is allowed.
 * Return: 0; -EINVAL; -ERANGE; -ENOMEM.
 */
int nfd_setting_set(struct nfd_settings *settings, const struct nfd_setting *setting,
		    const char *const *text, size_t count, struct nfd_error *err) nfd_must_check;

/**
 * nfd_setting_release() - free what a setting's field owns.
 */
void nfd_setting_release(struct nfd_settings *settings, const struct nfd_setting *setting);

/**
 * nfd_replace_text() - replace an owned text by a copy.
 * Return: 0; -ENOMEM, then the old text stays.
 */
int nfd_replace_text(char **field, const char *text, struct nfd_error *err) nfd_must_check;
