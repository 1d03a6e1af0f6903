/* SPDX-License-Identifier: MIT */
/* object.h - one tuner, most often an advisor (which has the callback metric),
 * in a simulated experiment: the plugin, called as the dispatcher calls it, and
 * all that it says.  Every call looks at what comes back; -1: err tells what
 * was wrong. One thread. */
#ifndef TESTS_SIM_OBJECT_H
#define TESTS_SIM_OBJECT_H

#include "tunepipe/tuner.h"

#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct object;
struct plugin;
struct space;

enum { SIM_DIMS = 16, SIM_EXTRAS = 1024, SIM_DECIDED = 256 };

/* What an ask gave. */
struct suggested {
    int rc; /* TP_OK, TP_LATER, TP_DONE; the rest is there with TP_OK */
    size_t n_dims;
    double x[SIM_DIMS];
    char label[256]; /* "": none */
    double budget;
    uint64_t from;
    int from_how;
    char extras[SIM_EXTRAS]; /* "key=text\n" for each */
};

/* What was decided on other trials. */
struct decided {
    size_t n;
    struct {
        uint64_t id;
        int decision;
    } at[SIM_DECIDED];
};

/* `args` is a JSON object; plugin and space are borrowed until
 * object_free().  NULL: err. */
struct object *object_new(const struct plugin *p, const char *args,
                          uint64_t seed, const struct space *space,
                          struct err *err);
void object_free(struct object *o);

int object_space(struct object *o, const struct space *space, struct err *err);
int object_ask(struct object *o, uint64_t id, struct suggested *out,
               struct err *err);
/* *decision is an enum tp_decision: of what is no advisor, to go on. */
int object_metric(struct object *o, uint64_t id, const double *x,
                  const struct tp_metric *metric, int *decision,
                  struct err *err);
int object_tell(struct object *o, uint64_t id, const double *x,
                const struct tp_result *result, struct err *err);
int object_ended(struct object *o, uint64_t id, const double *x, int how,
                 struct err *err);

/* What the last of the four calls above decided; until the next one. */
const struct decided *object_decided(const struct object *o);

int object_save(struct object *o, struct buf *out, struct err *err);
int object_load(struct object *o, const struct buf *state, struct err *err);

#endif
