/* SPDX-License-Identifier: MIT */
/* reunion.h - how the tuner's side meets a manager of NNI's that is started
 * again, or that loses suggestions itself.  PROTOCOL.md, "A manager that is
 * started again".
 *
 * A restarted manager sends IN, all finished trials (FD), from NNI 2.10 on the
 * unfinished ones (AD), and asks for trials (GE).  Results in FD that are on
 * record are not told to the tuner a second time; others count as new ones; a
 * suggestion that neither FD nor AD names is lost, and given out again unless
 * it has run.
 *
 * NNI 3.0 gives a trial that asks for its parameters the oldest ones that
 * nobody has taken, whatever it was launched for.  When a trial dies before it
 * asks, each later trial gets the parameters meant for the one before it, and
 * nobody runs the last suggestion until one more trial is launched.  The id in
 * EN says what the trial was launched for: when each suggestion was named by an
 * end, nothing runs, and a suggestion without an end of its own is lost.
 *
 * The steps are the same for a plugin and for a program; each does its part
 * through a struct reunion_ops.  The default worker's alone. */
#ifndef DISPATCHER_REUNION_H
#define DISPATCHER_REUNION_H

#include "core/idset.h"
#include "core/map.h"
#include "dispatcher/ledger.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct command;
struct err;
struct metric;
struct side;
struct trial;
struct trial_end;
struct trials;
struct unpack;

/* What a plugin's side and a program's do each in its own way. */
struct reunion_ops {
    /* The tuner is a program, and has ended with the earlier manager: its
     * successor knows nothing of lost suggestions, and may propose them
     * again. */
    bool program;
    /* Appends the search space that the tuner was given, as JSON. */
    void (*write_space)(const void *side, struct buf *out);
    /* Forgets the ids that are owed, as this manager does not wait for them,
     * takes the search space of the IN where it is another one, and answers the
     * IN. */
    void (*begin_again)(void *side, const struct command *cmd, bool same);
    /* Appends the parameters that a trial received, as JSON. */
    void (*write_parameters)(const void *side, const struct trial *trial,
                             struct buf *out);
    /* Imports the result in an element of FD.  -1: err says why not. */
    int (*import)(void *side, struct jval entry, struct err *err);
    /* Tells that the i-th element of FD could not be used and why; NULL: such
     * an element is passed over in silence. */
    void (*refuse)(void *side, size_t i, struct err *err);
    /* Tells the tuner the end of a trial, and its result where it has none. */
    void (*tell)(void *side, struct trial *trial, const char *job,
                 double value);
    void (*end)(void *side, struct trial *trial, const struct trial_end *end);
    /* Gives out a lost suggestion again, whose id was `was` before. */
    void (*give)(void *side, const struct trial *trial, uint64_t was);
};

struct reunion {
    const struct reunion_ops *ops;
    struct side *side;
    struct trials *trials;

    /* What matters when a manager is started again (policy nni). */
    struct ledger ledger;
    bool restarted; /* a restarted manager has sent IN and not yet asked (GE) */
    bool fed;       /* its FD has come */
    bool advised;   /* its AD has come */
    struct idset kept;  /* suggestions that its AD names */
    struct idset retry; /* suggestions that are to be given out again */
    uint64_t n_retry;

    /* Which suggestions this manager may lose (policy `reissue`). */
    struct map unnamed_ids,
        unnamed_labels; /* given out, and no EN has named them as
                    what its trial was launched for */
    struct idset lost;  /* those that nobody runs */
    uint64_t n_lost;
};

/* Borrows all until reunion_fini(). */
void reunion_init(struct reunion *r, const struct reunion_ops *ops,
                  struct side *side, struct trials *trials);
void reunion_fini(struct reunion *r);

/* As trials_refuse_result() and trials_refuse_end(), for a manager that may run
 * one suggestion more than once. */
const char *reunion_refuse_result(const struct reunion *r,
                                  const struct metric *m, struct trial **out,
                                  bool *late);
const char *reunion_refuse_end(const struct reunion *r,
                               const struct trial_end *end, struct trial **out,
                               bool *late);
/* Notes that the job runs that trial, as a metric or an end says. */
void reunion_ran(struct reunion *r, const char *job, const struct trial *trial);

/* Notes that a suggestion was given out; label: NULL where it has none. */
void reunion_launch(struct reunion *r, uint64_t id, const char *label);

/* ---- the steps, in the order in which a manager takes them ---- */

/* Handles an IN that comes when there is a search space already. */
void reunion_begin(struct reunion *r, const struct command *cmd);

struct reunion_count {
    /* Elements of FD: in all; told to the tuner; on record. */
    size_t all, told, known;
};

/* Handles an FD. */
struct reunion_count reunion_import(struct reunion *r,
                                    const struct command *cmd);

/* Notes that an AD came. */
void reunion_advise(struct reunion *r);

enum reunion_record {
    RECORD_USERS,    /* a trial that the user added */
    RECORD_NUMBER,   /* *trial, which has not ended, named by its number */
    RECORD_LABEL,    /* *trial, which has not ended, named by its label */
    RECORD_FINISHED, /* a trial that had its result and its end */
    RECORD_UNKNOWN,
};

/* What a record of AD is about. */
enum reunion_record reunion_read(const struct reunion *r, struct jval record,
                                 struct trial **trial);
/* Notes that the manager runs that suggestion, as its AD says. */
void reunion_keep(struct reunion *r, uint64_t id, const char *label);

/* Handles the first GE of a restarted manager: finds the lost suggestions, ends
 * them or marks them to be given out again. */
void reunion_lose(struct reunion *r, const struct command *cmd);
/* Gives out the oldest lost suggestion again: one that an earlier manager lost
 * as `id`, one that this manager lost under its old id, and `id` is then used
 * up.  False: none is lost. */
bool reunion_give_again(struct reunion *r, uint64_t id);

/* Behind a trial's end (cmd): finds suggestions that this manager has lost;
 * returns how many. */
size_t reunion_seek_lost(struct reunion *r, const struct command *cmd);

/* Packs it, and reads it into a new one, as pack.h says; -1: err tells. */
void reunion_save(const struct reunion *r, struct buf *out);
int reunion_load(struct reunion *r, struct unpack *in, struct err *err);

#endif
