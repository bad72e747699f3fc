/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Environment variables from the array that main was given; getenv is banned, because it reads a
 * global.
 */
#pragma once

/**
 * nfd_environment_value() - value of a variable.
 * @environment: "NAME=value", NULL-terminated; NULL for none.
 * Return: borrowed; NULL when it is not set.
 */
const char *nfd_environment_value(char *const *environment, const char *name);
