/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Log lines on stderr: one line per event, key=value in text form, one JSON object in JSON form.
 * The only module with state of its own: the chosen form and level.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/macros.h"

enum nfd_log_level { NFD_LOG_ERROR, NFD_LOG_WARNING, NFD_LOG_INFO, NFD_LOG_DEBUG };
enum nfd_log_format { NFD_LOG_TEXT, NFD_LOG_JSON };

/**
 * nfd_log_setup() - choose form and level; before that text and info are in force.
 * @format: NFD_LOG_TEXT or NFD_LOG_JSON.
 * @level:  events above this level are dropped.
 */
void nfd_log_setup(enum nfd_log_format format, enum nfd_log_level level);

/**
 * nfd_log_wants() - whether an event of a level would be written.
 * @level: level of the event.
 */
bool nfd_log_wants(enum nfd_log_level level);

/**
 * nfd_log() - write one event.
 * @level:   its level.
 * @message: what happened, a constant sentence without values.
 * @...:     pairs of texts: field name (a-z and _), value (any bytes, escaped; NULL is written as
 *           an empty text), ended by NULL. Never pass a credential.
 */
void nfd_log(enum nfd_log_level level, const char *message, ...) nfd_null_terminated;
