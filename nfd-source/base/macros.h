/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attributes, array size, and the cleanup helpers that every other file uses.
 * Depends on libc only; holds no state.
 */
#pragma once

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NFD_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define nfd_printf_like(fmt, args) __attribute__((format(printf, fmt, args)))
#define nfd_must_check __attribute__((warn_unused_result))
#define nfd_null_terminated __attribute__((sentinel))

/* Cleanup attributes: declare and initialise on one line, hand over with TAKE_PTR or TAKE_FD. */
#define cleanup_free __attribute__((cleanup(nfd_cleanup_free)))
#define cleanup_close __attribute__((cleanup(nfd_cleanup_close)))
#define cleanup_closedir __attribute__((cleanup(nfd_cleanup_closedir)))
#define cleanup_fclose __attribute__((cleanup(nfd_cleanup_fclose)))

#define TAKE_PTR(p)                             \
	({                                      \
		__typeof__(p) *nfd_p_ = &(p);   \
		__typeof__(p) nfd_v_ = *nfd_p_; \
		*nfd_p_ = NULL;                 \
		nfd_v_;                         \
	})

#define TAKE_FD(fd)                 \
	({                          \
		int nfd_fd_ = (fd); \
		(fd) = -1;          \
		nfd_fd_;            \
	})

static inline void nfd_cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void nfd_cleanup_close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void nfd_cleanup_closedir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

static inline void nfd_cleanup_fclose(FILE **file)
{
	if (*file)
		fclose(*file);
}

static inline int64_t nfd_min64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}
