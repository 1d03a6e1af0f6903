/* SPDX-License-Identifier: MIT */
/* outcome.h - how a trial's process ended, from the wrapper's `exit`
 * (trial/files.h). */
#ifndef TRIAL_OUTCOME_H
#define TRIAL_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct packs;

enum outcome_kind {
    OUTCOME_LOST, /* there is no exit file: nobody knows */
    OUTCOME_EXITED,
    OUTCOME_SIGNALLED,
    OUTCOME_UNSTARTED,
    OUTCOME_DECLARED, /* who ran it says that it failed, and why */
};

struct outcome {
    enum outcome_kind kind;
    int number;         /* exit status or signal */
    char text[256];     /* UNSTARTED, DECLARED: why; LOST: the last line of its
                           wrapper */
    bool out_of_memory; /* set by the caller who finds that it lacked memory */
    bool abandoned; /* the wrapper has ended it, because no manager came back */
    /* The wrapper has ended it, because of a signal to the wrapper. */
    bool told;
    bool machine_failed; /* set by its runner: not the trial's doing */
    bool alone; /* no manager lived when it ended, or at any time since that
                   signal */
    int64_t started_ns, ended_ns; /* see trial/files.h; 0: not known */
    uint64_t maxrss_kb, user_us, system_us;
    uint64_t memory_peak, oom_kills; /* of its control group; 0: not measured */
    uint64_t reported, printed;      /* bytes of its metrics and its stdout */
    char node[64];                   /* where it ran, if not here; "" */
    uint64_t wrapper; /* its number; 0: the text is not whole, or one of an
                         earlier version */
};

/* Takes the text of an exit file, which it changes, into one that is LOST.  -1:
 * it makes no sense. */
int outcome_parse(char *text, struct outcome *out, struct err *err);
/* Reads the exit file of a trial's folder.  -1 when there is one that makes no
 * sense; *out is then LOST. */
int outcome_read(const char *folder, struct outcome *out, struct err *err);
/* Reads that file where it may be packed (pack/packs.h); k NULL: in the folder
 * alone. */
int outcome_read_of(struct packs *k, const char *folder, struct outcome *out,
                    struct err *err);

/* Whether the folder holds less of its end, or of what the trial had reported
 * or printed by then, than there was: the power was lost before that was on
 * stable storage. */
bool outcome_is_torn(const char *folder, const struct outcome *o);

/* Whether SIGHUP, SIGINT or SIGTERM ended the trial, as a batch system or a
 * terminal sends them to all processes of a job. */
bool outcome_by_signal(const struct outcome *o);
/* Whether the end tells nothing about the trial: its wrapper vanished, or ended
 * it because no manager was there, or a signal ended it while it had none. */
bool outcome_is_moot(const struct outcome *o);

#endif
