/* SPDX-License-Identifier: MIT */
/* outcome.h - how a trial's process ended, from the wrapper's `exit`
 * (trial/files.h). */
#ifndef TRIAL_OUTCOME_H
#define TRIAL_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

struct err;

enum outcome_kind {
    OUTCOME_LOST, /* no such file: nobody knows */
    OUTCOME_EXITED,
    OUTCOME_SIGNALLED,
    OUTCOME_UNSTARTED,
};

struct outcome {
    enum outcome_kind kind;
    int number;         /* exit status or signal */
    char text[256];     /* UNSTARTED: why; LOST: its wrapper's last words */
    bool out_of_memory; /* set by whoever finds that it was short of it */
    bool abandoned;     /* the wrapper ended it, because no manager came back */
    bool told;          /* the wrapper ended it, because it got a signal */
    bool alone;         /* no manager lived when it ended, or at any time since
                           it had got that signal */
    int64_t started_ns, ended_ns; /* see trial/files.h; 0: not known */
    uint64_t maxrss_kb, user_us, system_us;
    uint64_t memory_peak, oom_kills; /* of its control group; 0: none */
};

/* -1 when there is such a file and it cannot be understood; *out is LOST. */
int outcome_read(const char *folder, struct outcome *out, struct err *err);

/* Whether SIGHUP, SIGINT or SIGTERM ended it, as a batch system or a terminal
 * sends them to all that is within. */
bool outcome_by_signal(const struct outcome *o);
/* Whether the end tells nothing of the trial: its wrapper vanished, or ended it
 * for want of a manager, or a signal did while it had none. */
bool outcome_is_moot(const struct outcome *o);

#endif
