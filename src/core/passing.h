/* SPDX-License-Identifier: MIT */
/* passing.h - errors of the system that may pass: there are not enough
 * processes, memory, files or room on a disk just now.  In a header alone,
 * since the wrapper links to nothing. */
#ifndef CORE_PASSING_H
#define CORE_PASSING_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

/* Whether the error of that errno may pass with time. */
static inline bool
errno_passes(int number)
{
    static const int passing[] = {EAGAIN, ENOMEM, EMFILE, ENFILE,
                                  ENOSPC, EDQUOT, EINTR,  ETXTBSY};

    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        if (passing[i] == number)
            return true;
    return false;
}

#endif
