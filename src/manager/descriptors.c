/* SPDX-License-Identifier: MIT */
#include "manager/descriptors.h"

#include "control/server.h"
#include "core/err.h"

#include <sys/resource.h>

#define FDS_PER_TRIAL 4 /* its files, beside its runner's */
#define FDS_BESIDES (32 + CONTROL_FDS_MAX)

int
descriptors_allow(uint64_t trials, unsigned runner, struct err *err)
{
    const unsigned each = FDS_PER_TRIAL + runner;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0; /* launching names the trouble */
    if (limit.rlim_max < FDS_BESIDES + each ||
        trials > (limit.rlim_max - FDS_BESIDES) / each)
        return err_set(err, ERR_CONFIG,
                       "trialConcurrency: %llu trials at a time need %u open "
                       "files each, and %d besides; this system allows %llu "
                       "(ulimit -Hn)",
                       (unsigned long long)trials, each, FDS_BESIDES,
                       (unsigned long long)limit.rlim_max);
    if (limit.rlim_cur < trials * each + FDS_BESIDES) {
        limit.rlim_cur = trials * each + FDS_BESIDES;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    return 0;
}
