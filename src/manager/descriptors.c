/* SPDX-License-Identifier: MIT */
#include "manager/descriptors.h"

#include "control/server.h"
#include "core/err.h"

#include <sys/resource.h>

#define FDS_PER_TRIAL 6
#define FDS_BESIDES (32 + CONTROL_FDS_MAX)

int
descriptors_allow(uint64_t trials, struct err *err)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0; /* launching names the trouble */
    if (limit.rlim_max < FDS_BESIDES + FDS_PER_TRIAL ||
        trials > (limit.rlim_max - FDS_BESIDES) / FDS_PER_TRIAL)
        return err_set(err, ERR_CONFIG,
                       "trialConcurrency: %llu trials at a time need %d open "
                       "files each, and %d besides; this system allows %llu "
                       "(ulimit -Hn)",
                       (unsigned long long)trials, FDS_PER_TRIAL, FDS_BESIDES,
                       (unsigned long long)limit.rlim_max);
    if (limit.rlim_cur < trials * FDS_PER_TRIAL + FDS_BESIDES) {
        limit.rlim_cur = trials * FDS_PER_TRIAL + FDS_BESIDES;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    return 0;
}
