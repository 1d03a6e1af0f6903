/* SPDX-License-Identifier: MIT */
/* bands.h - Hyperband's brackets as they run: which configuration is started
 * or promoted next, with what budget, and when a round is over.  Table and
 * papers: table.h.
 *
 * - Bracket s_max comes first, then s_max - 1 down to 0, then s_max again.  A
 *   bracket of n configurations, drawn by whoever asks, is ready when it is
 *   opened; what is ready is given out in the order in which it became so.
 * - When nothing is ready the next bracket is opened: at once, or when the one
 *   before has begun its last round, or when that has finished (enum
 *   bands_order).  Until then, BANDS_LATER.
 * - A round is over when as many trials have ended as it has, however they
 *   ended.  Those that reported anything are ranked by their latest value, the
 *   final one being later than any; ties by who reported first; NaN last.  With
 *   several costs by front and crowding, as front.h has them.  The
 *   best n_{i+1}, or as many as there are, become ready for the next round;
 *   with none the bracket is over.
 * - A trial has used its budget at the first value of a step from budget - 1
 *   on; what it reports behind that, but for a final value, is not looked at.
 *
 * Memory: of each bracket that is not over, 112 bytes and 8 a dimension for
 * each trial of its round, with several costs 8 more and 8 a cost.  A call
 * costs O(open brackets + log(trials)), a round's end O(trials log(trials)).
 *
 * Points are arrays of n_dims doubles, whatever they mean.  Knows no plugin
 * interface; one thread at a time. */
#ifndef TUNERS_BANDS_BANDS_H
#define TUNERS_BANDS_BANDS_H

#include "bands/table.h"

#include <stdbool.h>
#include <stddef.h>

struct prior;
struct tp_sink;
struct tp_source;

#define BANDS_NO_ID (~(uint64_t)0)

enum bands_order {
    BANDS_PARALLEL, /* brackets overlap: no slot is ever idle */
    BANDS_BEGUN,    /* the one before has begun its last round */
    BANDS_FINISHED  /* the one before is over */
};

struct bands_options {
    struct bands_table table;
    enum bands_order order;
    bool maximize;
    uint64_t limit; /* brackets; 0: endless */

    /* Nobody goes on from this trial.  Called by bands_ask and bands_ended,
     * never of the trial that they are called for. */
    void (*release)(void *ctx, uint64_t id);
    void *ctx;
};

enum {
    BANDS_REPORTED = 1, /* has a value */
    BANDS_FINAL = 2,    /* which is final */
    BANDS_USED = 4,     /* its budget */
    BANDS_ENDED = 8
};

/* One trial of a round. */
struct bands_slot {
    uint64_t id;    /* BANDS_NO_ID: not given out yet */
    uint64_t n;     /* its configuration's number, counted over all */
    uint64_t flags; /* BANDS_REPORTED ... */
    uint64_t turn;  /* REPORTED: so many of the round had done so before */
    uint64_t step;  /* REPORTED: of value */
    double value;   /* REPORTED: as it was */

    /* Promoted: from which trial, which was the rank-th (from 1) of `of` that
     * had reported, with `before`; the last one promoted had `cut`. */
    uint64_t from; /* BANDS_NO_ID: first round */
    uint64_t rank, of;
    double before, cut;
};

struct bands_bracket {
    uint64_t seq;   /* so many were opened before it */
    uint64_t first; /* n of its first configuration */
    uint64_t ready; /* this round's place among what became ready */
    unsigned s, round;
    uint64_t size;            /* trials of this round */
    size_t n_given;           /* so many of them were given out */
    size_t n_ended;           /* and so many have ended */
    size_t n_reported, room;  /* and have a value; room for slots */
    struct bands_slot *slots; /* first round: n_given, else all */
    double *x;                /* of the slots */
    double *costs;            /* of them: violation, costs; NULL: one value */
};

struct bands_out {
    uint64_t id;
    struct bands_bracket *bracket;
    size_t slot;
};

/* Members are for bands*.c. */
struct bands {
    struct bands_options options;
    size_t n_costs; /* of a result; 0: it is one value.  To be set before the
                       first bands_space() */
    size_t n_dims;
    struct bands_bracket **open; /* in the order of seq */
    size_t n_open, open_room;
    struct bands_out *out; /* trials of unfinished rounds, by id */
    size_t n_out, out_room;
    uint64_t *stale; /* to be released */
    size_t n_stale;
    uint64_t next_seq, next_n, next_ready;
    uint64_t begun;      /* brackets that count against the limit */
    uint64_t last_id;    /* asked for last, or BANDS_NO_ID */
    uint64_t again;      /* and again so often */
    uint64_t ending;     /* whose end is being told, or BANDS_NO_ID */
    const double *costs; /* of what is being told: bands_lend() */
    double violation;
};

enum { BANDS_ERROR = -1, BANDS_JOB = 0, BANDS_LATER = 1, BANDS_DONE = 2 };

/* What to run.  Valid until the next call. */
struct bands_job {
    const struct bands_bracket *bracket;
    const struct bands_slot *slot;
    uint64_t hyperband; /* how many times s went down to 0 before */
    uint64_t budget;
    double *x;      /* promoted: the point; else to be filled by the caller */
    uint64_t again; /* so often was this id asked for before */
};

/* NULL when out of memory. */
struct bands *bands_new(const struct bands_options *options);
void bands_free(struct bands *b);

/* A new space: open brackets are given up and do not count; numbers go on.
 * -1: out of memory, nothing has changed. */
int bands_space(struct bands *b, size_t n_dims);

/* BANDS_JOB fills *job; asked again for an id, it is the same one. */
int bands_ask(struct bands *b, uint64_t id, struct bands_job *job);

/* The job of a trial whose round is not over; false: it has none. */
bool bands_find(const struct bands *b, uint64_t id, struct bands_job *job);

/* Where there are several costs: those of what is told next, lent until then,
 * and how far it is beyond limits; NULL: it has none, and is worse than all. */
void bands_lend(struct bands *b, const double *costs, double violation);

/* Whether its budget is used up; x is kept, as in what follows. */
bool bands_metric(struct bands *b, uint64_t id, const double *x, double value,
                  uint64_t step);
void bands_final(struct bands *b, uint64_t id, const double *x, double value);

/* -1: out of memory; what was to be done is done with the next bands_ask. */
int bands_ended(struct bands *b, uint64_t id, const double *x);

/* The budget of the job's round is the greatest. */
static inline bool
bands_is_last(const struct bands_job *job)
{
    return job->bracket->round == job->bracket->s;
}

/* The brackets, as values in a row. */
void bands_save(const struct bands *b, const struct tp_sink *sink);

/* Right after bands_space(); points have to be of the prior.  NULL, or what
 * was wrong: then b may only be freed. */
const char *bands_load(struct bands *b, const struct prior *prior,
                       const struct tp_source *source);

#endif
