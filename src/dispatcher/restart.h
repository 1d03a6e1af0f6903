/* SPDX-License-Identifier: MIT */
/* restart.h - a manager of NNI's that is started again, as the tuner's side
 * sees it.  It says IN, all finished trials (FD), from NNI 2.10 on the
 * unfinished ones (AD), and asks for trials (GE).  What of that is on record
 * is not told to the tuner a second time; what is not counts; a suggestion
 * that is in neither is lost, and given out again unless it has run.
 * PROTOCOL.md, "A manager that is started again".
 *
 * The default worker's alone. */
#ifndef DISPATCHER_RESTART_H
#define DISPATCHER_RESTART_H

#include "core/buf.h"
#include "core/idset.h"
#include "dispatcher/ledger.h"

#include <stdbool.h>
#include <stdint.h>

struct command;
struct metric;
struct trial;
struct trials;

/* A zeroed one is that of a first manager. */
struct restart {
    struct ledger ledger;
    bool on;            /* a further manager has begun and not yet asked */
    bool fed;           /* its FD came */
    bool advised;       /* its AD came */
    struct idset kept;  /* suggestions that its AD names */
    struct idset again; /* suggestions that are to be given out again */
    uint64_t n_again;
};

void restart_fini(struct restart *r);

/* IN came while there is a search space. */
void restart_begin(struct restart *r);

/* A metric or an end says that the job runs that trial.  -1: out of memory. */
int restart_ran(struct restart *r, const char *job, const struct trial *trial);

/* Whether a final result is of a trial that runs a suggestion once more: behind
 * a resumption, or, under policy again, another job. */
bool restart_is_second_run(const struct restart *r, const struct metric *m,
                           bool again);

/* AD came. */
void restart_advise(struct restart *r);
/* It names that one.  -1: out of memory. */
int restart_keep(struct restart *r, uint64_t id);

/* The first GE: ends it.  The trials that are lost by their ids, an array to
 * be freed; NULL: out of memory. */
struct trial **restart_lost(struct restart *r, struct trials *trials,
                            size_t *n);

/* Whether a lost trial may not have run: it has no result, and its manager
 * did not outlive it, or it never reported (cmd is that GE). */
bool restart_is_unrun(const struct restart *r, const struct trial *trial,
                      const struct command *cmd);

/* It is to be given out again.  -1: out of memory. */
int restart_repeat(struct restart *r, uint64_t id);
/* The oldest one that is; n_again > 0. */
uint64_t restart_next(struct restart *r);

/* As pack.h: into a zeroed one, -1: damaged, or out of memory. */
void restart_save(const struct restart *r, struct buf *out);
int restart_load(struct restart *r, struct unpack *in);

/* ---- one FD ---- */

struct reunion {
    struct restart *restart;
    struct trials *trials;
    bool all_new;      /* it is not a further manager's first one */
    struct map used;   /* keys of imports -> how many came by */
    struct map points; /* parameters -> a trial without a result */
    bool has_points;
    struct buf key;
    /* Appends a trial's parameters as JSON. */
    void (*write)(const void *ctx, const struct trial *trial, struct buf *out);
    const void *ctx;
};

enum reunion_word {
    REUNION_NEW,    /* to be imported */
    REUNION_KNOWN,  /* it is on record */
    REUNION_TRIAL,  /* *out is the trial: it succeeded with that value, of
                       which the tuner may have been told */
    REUNION_MEMORY, /* out of memory */
};

/* -1: out of memory; reunion_fini() is to be called all the same. */
int reunion_begin(struct reunion *u, struct restart *r, struct trials *trials,
                  const struct command *cmd,
                  void (*write)(const void *, const struct trial *,
                                struct buf *),
                  const void *ctx);
enum reunion_word reunion_judge(struct reunion *u, struct jval entry,
                                struct trial **out);
void reunion_fini(struct reunion *u);

#endif
