/* SPDX-License-Identifier: MIT */
#include "supervisor/deaths.h"

#include <signal.h>
#include <stddef.h>

#define TIMES_ALONE 2
#define TIMES_AMONG 3

bool
deaths_is_fault(int signal)
{
    static const int faults[] = {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE};

    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (signal == faults[i])
            return true;
    return false;
}

void
deaths_progress(struct deaths *d)
{
    d->in_vain = 0;
}

bool
deaths_repeat(struct deaths *d, int status, const uint64_t at[LOCKFILE_SLOTS])
{
    bool again = status >= 0 && d->in_vain > 0 && status == d->status;

    d->status = status;
    for (int i = 0; i < LOCKFILE_SLOTS; i++)
        again = again && at[i] == 0;
    return again;
}

static bool
is_poison(const struct deaths *d, const uint64_t at[LOCKFILE_SLOTS], int worker)
{
    bool alone = true;

    for (int i = 0; i < LOCKFILE_SLOTS; i++)
        alone = alone && (i == worker || at[i] == 0);
    return d->times[worker] >= (alone ? TIMES_ALONE : TIMES_AMONG);
}

enum deaths_verdict
deaths_add(struct deaths *d, bool fault, const uint64_t at[LOCKFILE_SLOTS],
           int *worker)
{
    int poison = -1;

    for (int i = 0; fault && i < LOCKFILE_SLOTS; i++) {
        bool command = at[i] != 0 && at[i] < LOCKFILE_LOADING;

        d->times[i] = command && at[i] == d->at[i] ? d->times[i] + 1 : command;
        d->at[i] = command ? at[i] : 0;
        if (poison < 0 && is_poison(d, at, i))
            poison = i;
    }
    if (++d->in_vain > DEATHS_IN_VAIN_MAX)
        return DEATHS_OVER;
    if (poison < 0)
        return DEATHS_RESTART;
    if (at[poison] == 1)
        return DEATHS_OVER;
    *worker = poison;
    d->at[poison] = 0;
    d->times[poison] = 0;
    return DEATHS_SKIP;
}
