/* SPDX-License-Identifier: MIT */
/* orphans.h - the processes of a trial whose wrapper was killed: nobody's
 * children any more, they are known by the session the wrapper made for them
 * or by TUNEPIPE_TRIAL_DIR in their environment.  Who has left the one and
 * cleared the other is not found; nor is another user's.  One thread. */
#ifndef RUNNER_LOCAL_ORPHANS_H
#define RUNNER_LOCAL_ORPHANS_H

#include "core/map.h"

#include <stdbool.h>
#include <sys/types.h>

/* SIGKILL to all of them, again until no new one is found.  `folder` is the
 * trial's, absolute; `wrapper` was its wrapper's id (0: not known), best not
 * waited for yet: then the id cannot be a stranger's session. */
void orphans_kill(const char *folder, pid_t wrapper);

/* What lives of an experiment, looked at once, so that not each of many lost
 * trials costs a look at all processes.  A zeroed one has not looked. */
struct orphans {
    bool looked;
    struct map found; /* folders of trials; sessions, as numbers */
};

/* The same as orphans_kill() for one whose wrapper died in another manager's
 * time: `home` is the folder with its wrapper.pid. */
void orphans_kill_old(struct orphans *o, const char *folder, const char *home);
void orphans_fini(struct orphans *o);

/* The wrapper of the phase whose folder this is, and when it began, by what it
 * wrote there (TRIAL_WRAPPER_PID).  0: it has written nothing. */
pid_t orphans_wrapper(const char *home, unsigned long long *start);

#endif
