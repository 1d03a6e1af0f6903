/* SPDX-License-Identifier: MIT */
/* passing.h - what the system refuses for now: more processes, memory, files or
 * room on a disk than there are just then.  In a header alone, since the
 * wrapper links to nothing. */
#ifndef CORE_PASSING_H
#define CORE_PASSING_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

/* Whether time may help. */
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
