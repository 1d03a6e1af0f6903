/* SPDX-License-Identifier: MIT */
#include "check/calls_score.h"

#include "check/calls.h"
#include "check/calls_around.h"
#include "plugin/loader.h"
#include "space/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the samples; no trial has such a seed. */
#define SEED ((uint64_t)1 << 63)

static void
score(struct calls *c, uint64_t id, double *const points[2],
      double *const lent[2])
{
    size_t bytes = space_dims(c->space)->n_dims * sizeof(double);
    const double *given[2] = {lent[0], lent[1]};
    double out[3] = {NAN, NAN, 0.5};
    int rc;

    for (int i = 0; i < 2; i++)
        memcpy(lent[i], points[i], bytes);
    calls_enter(c, "score", id);
    rc = c->setup->plugin->tuner.score(c->self, given, 2, out);
    calls_leave(c, "score");
    calls_expect_ok(c, "score", rc);
    if (out[2] != 0.5)
        calls_fail(c, "score wrote behind the n numbers of out");
    for (int i = 0; i < 2; i++)
        if (memcmp(lent[i], points[i], bytes) != 0)
            calls_fail(c, "score changed a point it was lent: work on a copy");
}

void
calls_score(struct calls *c, uint64_t id, const double *x)
{
    const struct plugin *p = c->setup->plugin;
    double *points[2] = {NULL, NULL}, *lent[2] = {NULL, NULL};

    if (p->kind != PLUGIN_TUNER || p->tuner.score == NULL || !c->setup->asked)
        return;
    for (int i = 0; i < 2; i++) {
        points[i] = calls_new_point(c);
        lent[i] = calls_new_point(c);
    }
    if (points[0] != NULL && points[1] != NULL && lent[0] != NULL &&
        lent[1] != NULL) {
        memcpy(points[0], x, space_dims(c->space)->n_dims * sizeof *x);
        space_sample(c->space, SEED, id, points[1]);
        if (space_check(c->space, points[1], NULL) == 0)
            score(c, id, points, lent);
    }
    for (int i = 0; i < 2; i++) {
        free(points[i]);
        free(lent[i]);
    }
}
