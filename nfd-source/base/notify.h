/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words to the service manager over systemd's notification socket. The protocol is one datagram;
 * libsystemd would bring five libraries into every start.
 */
#pragma once

#include <stdint.h>

/**
 * nfd_notify() - send a state such as "READY=1"; nothing happens outside a service manager.
 * @socket: value of $NOTIFY_SOCKET: a path, or an abstract name that begins with '@'; NULL or "" for
 *          none.
 * @state:  lines "NAME=value".
 * Return: 0; negative errno of the socket.
 */
int nfd_notify(const char *socket, const char *state);

/**
 * nfd_notify_watchdog_ms() - how often the manager wants to hear from us.
 * @usec: value of $WATCHDOG_USEC; NULL for none.
 * @pid:  value of $WATCHDOG_PID; NULL or our own pid counts.
 * Return: milliseconds, half of what is allowed; 0 for never.
 */
int64_t nfd_notify_watchdog_ms(const char *usec, const char *pid);
