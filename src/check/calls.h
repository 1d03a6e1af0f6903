/* SPDX-License-Identifier: MIT */
/* calls.h - one plugin object under test: every callback is called through
 * here, with memory lent for exactly as long as promised, and all it does is
 * checked and written down.
 *
 * The first thing that is wrong sticks (`broken`, `err`); later calls do
 * nothing, so that whoever makes many calls looks once at the end.  One
 * thread. */
#ifndef CHECK_CALLS_H
#define CHECK_CALLS_H

struct calls;
#include "check/inner.h"
#include "core/err.h"
#include "tunepipe/assessor.h"
#include "tunepipe/tuner.h"

#include <stdbool.h>

struct arguments;
struct buf;
struct fake_host;
struct plugin;
struct space;
struct surroundings;

/* How often one call may call the host for each parameter, and once more. */
#define CALLS_HOST_MAX ((uint64_t)1 << 21)

/* What has been seen; may lie in memory shared with another process, which
 * reads it when this one has died. */
struct calls_seen {
    char now[512]; /* the callback being called, and where; "": none */
    uint64_t taken, refused; /* spaces */
    char refusal[256];       /* what the plugin said of the last refused one */
    uint64_t points, laters, dones; /* answers to ask */
    uint64_t verdicts;              /* of an assessor */
    uint64_t loads, damaged, refused_states;
    bool endless;     /* it called the host so often that it was ended */
    size_t state_max; /* bytes of the longest state that was saved */
};

/* What is done with what the object knows in between its calls. */
enum calls_saving {
    CALLS_NOT_SAVED,
    CALLS_SAVED,  /* saved; and each second time, loaded into a new object,
                     which writes the same again and takes its place */
    CALLS_DAMAGED /* saved, and damaged for new objects that are thrown away */
};

struct calls_setup {
    const struct plugin *plugin;
    const char *args;           /* JSON; NULL: the defaults */
    struct calls_seen *seen;    /* never NULL */
    bool asked;                 /* somebody wants to know why */
    struct surroundings *watch; /* compared after each call; or NULL */
    struct buf *answers;        /* gets a line an answer; or NULL */
    bool objectives; /* a tuner that takes several values is told of two, and
                        of a limit; else of none */
    bool may_fail;   /* ask: no point of the space, or an error that says why */
    enum inner_mood mood; /* of what lies inside a filter */
    enum calls_saving saving;
    unsigned saving_every; /* about so many calls there is a rest; 0: never */
};

struct calls {
    const struct calls_setup *setup;
    struct fake_host *host;
    struct arguments *args;
    const struct space *space; /* the current one; NULL: none */
    struct tp_space *lent;
    struct inner *inner;          /* of a filter; else NULL */
    struct objectives_told *told; /* lent until destroy; NULL: none */
    struct given *given;          /* points of this space; calls.c's */
    void *self;
    uint64_t rests;
    char place[256]; /* where we are, for messages: set by the caller */
    bool broken;
    struct err err;
};

/* create and config.  calls_close() is called in any case. */
void calls_open(struct calls *c, const struct calls_setup *setup);

/* destroy.  0, or -1 with what went wrong first. */
int calls_close(struct calls *c, struct err *err);

/* Something is wrong with what a callback did: "WHAT; PLACE". */
void calls_fail(struct calls *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* TP_OK; TP_ERR also when it refuses the space, which it may: the caller then
 * gives it the one before.  What follows is of tuners and filters; TP_ERR also
 * when what lies inside a filter failed. */
int calls_space(struct calls *c, const struct space *space);

/* TP_OK: *x is a valid point, to be freed; else NULL. */
int calls_ask(struct calls *c, uint64_t id, double **x);

void calls_tell(struct calls *c, uint64_t id, const double *x, int how,
                double value);
void calls_ended(struct calls *c, uint64_t id, const double *x, int how);

/* Tells a point that was never asked for: a sample of the prior. */
void calls_tell_foreign(struct calls *c, uint64_t draw_id, int how);

/* An assessor's.  values is copied for the call. */
int calls_assess(struct calls *c, const struct tp_history *h);
void calls_trial_ended(struct calls *c, const struct tp_history *h, int how);

/* Between two calls: what setup->saving says, for a plugin that can be saved.
 * living[0..n-1] is an assessor's; their slots may be changed. */
void calls_rest(struct calls *c, const struct tp_history *const *living,
                size_t n);

/* Of a tuner that wants to know. */
void calls_plan(struct calls *c, uint64_t trials);

/* A tuner's, which has a metric. */
void calls_metric(struct calls *c, uint64_t id, const double *x,
                  const struct tp_metric *metric);
/* Whether it has them; living is an assessor's. */
bool layer_saves(const struct plugin *p);
/* Whether it is a tuner that takes several values. */
bool calls_takes_several(const struct plugin *p);

#endif
