/* SPDX-License-Identifier: MIT */
/* pbt.h - population based training: Jaderberg et al., "Population Based
 * Training of Neural Networks", arXiv:1711.09846v2, with truncation selection
 * (section 4.1.1), in two ways:
 *
 * - In rounds, as NNI's PBTTuner: each member's trial trains for a turn and
 *   ends.  When the whole population has ended it is ranked; each of the last
 *   `fraction` copies the state of one of the first `fraction` and explores
 *   from its parameters (explore.h), the others go on with theirs.  The worst
 *   is given out first.  A member whose trial failed is replaced by a copy
 *   too, wherever it ranks, or by a draw of the prior while nobody can be
 *   copied.
 * - Asynchronously, as the paper (algorithm 1): a trial goes on until it is
 *   found, after `interval` results, among the worst of the population as it
 *   stands: it is stopped, and its member goes on as a copy of a better one.
 *   Nobody waits for anybody.  While there are members without a trial, one
 *   that has had its interval makes place for the one that has had least.
 *
 * A member has one trial at a time.  What a trial began with (its `from`) may
 * be released once that trial has reported or ended and nobody else needs it.
 *
 * Memory: 16 bytes a dimension and about 250 more for each member, whatever
 * the number of trials; a call costs O(members), one that ranks O(members *
 * log members).
 *
 * Knows no plugin interface; one thread at a time. */
#ifndef PBT_PBT_H
#define PBT_PBT_H

#include "pbt/explore.h"

struct tp_sink;
struct tp_source;

#define PBT_NO_ID (~(uint64_t)0)
#define PBT_SIZE_MAX 100000

struct pbt_settings {
    size_t size;     /* members: 1 to PBT_SIZE_MAX */
    double factor;   /* see explore.h */
    double resample; /* probability */
    double fraction; /* 0 to 1, of the population: the best, and the worst;
                        nobody is both */
    bool async;
    uint64_t interval;   /* a turn, in intermediate results; in rounds 0: it
                            ends when the trial does */
    uint64_t max_budget; /* in intermediate results; 0: no end */
};

/* What a member's next trial is, or its latest was. */
enum pbt_kind {
    PBT_FRESH, /* a draw of the prior, or a point from elsewhere */
    PBT_ON,    /* the same point, from its own state */
    PBT_COPY   /* from another one's state and near its point */
};

enum pbt_state {
    PBT_IDLE, /* has no trial, and is to be given one */
    PBT_OUT,  /* has one */
    PBT_DONE  /* in rounds: until the next one; else for good */
};

enum pbt_verdict { PBT_GO, PBT_STOP, PBT_PAUSE, PBT_FINISH };

/* Where a state lies, as NNI's folders have it: ROOT/MEMBER/TURN. */
struct pbt_place {
    uint64_t member, turn;
};

struct pbt_member {
    double *x;    /* of the latest trial */
    double *base; /* what it was explored from */
    double score; /* higher is better; -infinity for NaN */
    bool scored;  /* rounds: in this one */
    enum pbt_state state;
    enum pbt_kind kind;       /* of the next trial when idle, else the latest */
    enum pbt_verdict verdict; /* on the latest trial */
    uint64_t id;              /* the latest trial, or PBT_NO_ID */
    uint64_t from;            /* what it began with, or PBT_NO_ID */
    struct pbt_place save, load;
    bool started; /* has reported or ended */
    bool told;    /* has a final result */
    bool heard;   /* has reported `latest` */
    double latest;
    uint64_t used;         /* results along its line, so far */
    uint64_t since;        /* asynchronous: of those, when its turn began */
    uint64_t order;        /* rounds: when it was scored */
    uint64_t rank;         /* at its latest ranking, from 0, the best */
    uint64_t donor;        /* PBT_COPY: the member that it copies */
    uint64_t before;       /* rounds: its trial of the round before */
    struct pbt_place kept; /* ... and where that saved */
};

/* A trial handed out, and how it came about. */
struct pbt_answer {
    double *x; /* the caller's */
    enum pbt_kind kind;
    uint64_t member, donor;
    uint64_t from; /* PBT_NO_ID: begins anew */
    struct pbt_place load, save;
    uint64_t budget;     /* results along the line; 0: none */
    uint64_t turn;       /* 0 first */
    bool imported;       /* PBT_FRESH: from elsewhere */
    const double *base;  /* PBT_COPY: explored from; until the next call */
    uint64_t donor_rank; /* PBT_COPY */
    uint64_t rank;       /* PBT_COPY, PBT_ON: before this turn */
};

enum pbt_ask { PBT_POINT, PBT_LATER, PBT_OVER };

/* What came of an intermediate result. */
struct pbt_judgement {
    enum pbt_verdict verdict;
    bool ranked; /* and then: */
    uint64_t rank, cut;
    double limit; /* PBT_STOP: the score of the last one who is not stopped */
};

/* A point from elsewhere. */
struct pbt_start {
    double *x;
    double value;
};

/* Members are for pbt's own files. */
struct pbt {
    struct pbt_settings set;
    struct prior_random random;
    struct explore_space space;
    struct pbt_member *members; /* set.size */
    struct pbt_start *starts;   /* the best first; room for set.size */
    size_t n_starts;
    uint64_t *ranking; /* members, the best first; set.size */
    size_t n_donors;   /* rounds: the first so many of it may be copied */
    size_t n_given;    /* rounds: the last so many have been given out */
    uint64_t first;    /* the first turn's number: 0, but for a second space */
    uint64_t turn;     /* rounds: this one's */
    uint64_t n_scored; /* results that a member was scored by */
    uint64_t last_id;  /* asked for last, or PBT_NO_ID ... */
    uint64_t again;    /* ... and again so often */
    void (*release)(void *ctx, uint64_t id); /* nobody needs its state */
    void *release_ctx;
};

/* NULL when out of memory. */
struct pbt *pbt_new(const struct pbt_settings *set, struct prior_random random);
void pbt_free(struct pbt *p);

/* A new space: the population begins anew.  Takes what space holds when it
 * succeeds; -1 when out of memory: nothing has changed. */
int pbt_space(struct pbt *p, struct explore_space *space);

/* Fills out (and out->x, n_dims long) for a new id, or anew for one that is
 * out. */
enum pbt_ask pbt_ask(struct pbt *p, uint64_t id, struct pbt_answer *out);

/* An intermediate result; `used`: those along its line, this one included. */
struct pbt_judgement pbt_metric(struct pbt *p, uint64_t id, const double *x,
                                double value, uint64_t used);

/* A final result; x is what was run. */
void pbt_tell(struct pbt *p, uint64_t id, const double *x, double value);

/* A result from elsewhere: among the best, a member that begins anew begins
 * there. */
void pbt_import(struct pbt *p, const double *x, double value);

enum pbt_end { PBT_END_WELL, PBT_END_BADLY, PBT_END_PAUSED };

void pbt_ended(struct pbt *p, uint64_t id, const double *x, enum pbt_end how);

/* ---- for pbt's own files ---- */

/* How many of the population are the best; and the worst. */
size_t pbt_n_best(const struct pbt *p);
size_t pbt_n_worst(const struct pbt *p);

void pbt_score(struct pbt *p, struct pbt_member *m, double value);

/* Sorts p->ranking: the best first, of equals who was scored first, those
 * without a score last.  Returns how many have one. */
size_t pbt_rank(struct pbt *p);

/* One of n: the donor of the trial `id`. */
size_t pbt_pick(const struct pbt *p, uint64_t id, size_t n);

/* Makes m's next trial a copy of d's state as it is in `place`, which the trial
 * `from` wrote. */
void pbt_copy(struct pbt *p, struct pbt_member *m, const struct pbt_member *d,
              uint64_t from, struct pbt_place place);

/* The two ways, for pbt.c; `next` is NULL when there is nobody to be given a
 * trial, `prepare` says what the trial `id` begins with. */
struct pbt_way {
    void (*begin)(struct pbt *p);
    struct pbt_member *(*next)(struct pbt *p);
    void (*prepare)(struct pbt *p, struct pbt_member *m, uint64_t id);
    uint64_t (*budget)(const struct pbt *p);
    struct pbt_judgement (*metric)(struct pbt *p, struct pbt_member *m,
                                   double value, uint64_t used);
    void (*ended)(struct pbt *p, struct pbt_member *m, enum pbt_end how);
};

extern const struct pbt_way pbt_rounds, pbt_async;

/* The population, as values in a row. */
void pbt_save(const struct pbt *p, const struct tp_sink *sink);

/* After pbt_space().  NULL, or what was wrong; then p may only be freed. */
const char *pbt_load(struct pbt *p, const struct tp_source *source);

#endif
