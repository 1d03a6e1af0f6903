/* SPDX-License-Identifier: MIT */
/* reunion.h - how the tuner's side meets a manager of NNI's that is started
 * again, and one that loses suggestions itself.  PROTOCOL.md, "A manager that
 * is started again".
 *
 * One that is started again says IN, all finished trials (FD), from NNI 2.10 on
 * the unfinished ones (AD), and asks for trials (GE).  What of that is on
 * record is not told to the tuner a second time; what is not counts; a
 * suggestion that is in neither is lost, and given out again unless it has run.
 *
 * NNI 3.0 gives a trial that asks for its parameters the oldest ones that
 * nobody has taken, whatever it was launched for.  Behind a trial that dies
 * before it asks, each gets those of the one before, and the last suggestion
 * has nobody to run it until one more trial is launched.  The id in EN says
 * what the trial was launched for: when each suggestion was named by an end,
 * nothing runs, and one without an end of its own is lost.
 *
 * The steps are the same for a plugin and for a program; each lends its hands
 * in a struct reunion_ops.  The default worker's alone. */
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
    /* The tuner is a program.  It has ended with the manager before: of what is
     * lost the next one knows nothing, and may propose it again. */
    bool program;
    /* Appends the search space that the tuner has, as JSON. */
    void (*write_space)(const void *side, struct buf *out);
    /* Forgets what is owed, as this manager does not wait for it, takes the
     * search space of the IN where it is another one, and answers the IN. */
    void (*begin_again)(void *side, const struct command *cmd, bool same);
    /* Appends the parameters that a trial received, as JSON. */
    void (*write_parameters)(const void *side, const struct trial *trial,
                             struct buf *out);
    /* Imports an element of FD.  -1: err says why not. */
    int (*import)(void *side, struct jval entry, struct err *err);
    /* The i-th element of FD could not be used; NULL: that is passed over. */
    void (*refuse)(void *side, size_t i, struct err *err);
    /* Tells the tuner the result of a trial that has none, and its end. */
    void (*tell)(void *side, struct trial *trial, const char *job,
                 double value);
    void (*end)(void *side, struct trial *trial, const struct trial_end *end);
    /* Gives out again a lost suggestion, whose id was `was`. */
    void (*give)(void *side, const struct trial *trial, uint64_t was);
};

struct reunion {
    const struct reunion_ops *ops;
    struct side *side;
    struct trials *trials;

    /* A manager that is started again (policy nni). */
    struct ledger ledger;
    bool restarted;     /* a further manager has begun and not yet asked */
    bool fed;           /* its FD came */
    bool advised;       /* its AD came */
    struct idset kept;  /* suggestions that its AD names */
    struct idset retry; /* suggestions that are to be given out again */
    uint64_t n_retry;

    /* What this manager may lose (policy again). */
    struct map numbers, labels; /* suggestions that no end has named */
    struct idset lost;          /* suggestions that nobody runs */
    uint64_t n_lost;
};

/* Borrows all until reunion_fini(). */
void reunion_init(struct reunion *r, const struct reunion_ops *ops,
                  struct side *side, struct trials *trials);
void reunion_fini(struct reunion *r);

/* As trials_refuse_result() and trials_refuse_end(), of a manager that may run
 * one suggestion more than once. */
const char *reunion_refuse_result(const struct reunion *r,
                                  const struct metric *m, struct trial **out,
                                  bool *late);
const char *reunion_refuse_end(const struct reunion *r,
                               const struct trial_end *end, struct trial **out,
                               bool *late);
/* A metric or an end says that the job runs that trial. */
void reunion_ran(struct reunion *r, const char *job, const struct trial *trial);

/* A suggestion was given out; label: NULL where it has none. */
void reunion_launch(struct reunion *r, uint64_t id, const char *label);

/* ---- the steps, in the order in which a manager takes them ---- */

/* IN while there is a search space. */
void reunion_begin(struct reunion *r, const struct command *cmd);

struct reunion_count {
    size_t all, told, known; /* elements of FD; told to the tuner; on record */
};

/* FD. */
struct reunion_count reunion_import(struct reunion *r,
                                    const struct command *cmd);

/* AD came. */
void reunion_advise(struct reunion *r);

enum reunion_record {
    RECORD_USERS,    /* the user's own trial */
    RECORD_NUMBER,   /* *trial, which is out, by its number */
    RECORD_LABEL,    /* *trial, which is out, by its label */
    RECORD_FINISHED, /* a trial that had its result and its end */
    RECORD_UNKNOWN,
};

/* What a record of AD tells of. */
enum reunion_record reunion_read(const struct reunion *r, struct jval record,
                                 struct trial **trial);
/* The manager runs that suggestion, as its AD says. */
void reunion_keep(struct reunion *r, uint64_t id, const char *label);

/* The first GE of a further manager: sorts out what is lost. */
void reunion_lose(struct reunion *r, const struct command *cmd);
/* Gives out again the oldest lost suggestion: what was lost with the manager
 * before as `id`, what this one lost under its own id; `id` is burnt.  False:
 * there is nothing. */
bool reunion_give_again(struct reunion *r, uint64_t id);

/* Behind an end (cmd): how many suggestions this manager turns out to have
 * lost. */
size_t reunion_seek_lost(struct reunion *r, const struct command *cmd);

/* As pack.h: into a new one, -1: err tells. */
void reunion_save(const struct reunion *r, struct buf *out);
int reunion_load(struct reunion *r, struct unpack *in, struct err *err);

#endif
