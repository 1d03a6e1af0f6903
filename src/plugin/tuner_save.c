/* SPDX-License-Identifier: MIT */
/* Saving: each filter, the outermost first, then the tuner. */
#include "core/buf.h"
#include "core/err.h"
#include "core/pack.h"
#include "plugin/filter.h"
#include "plugin/state.h"
#include "plugin/tuner.h"
#include "plugin/tuner_state.h"
#include "space/space.h"

#include <stdlib.h>

static bool
can_save(const struct tuner *t)
{
    for (const struct filter *f = t->filters; f != NULL; f = f->inner)
        if (f->ops->save == NULL)
            return false;
    return t->ops->save != NULL && t->space != NULL;
}

/* A point of the space and its key: others when the space is another one, or
 * this build samples or compares points otherwise, so that what was saved
 * would mean something else. */
static int
fingerprint(const struct tuner *t, uint64_t key[2], struct err *err)
{
    double *x = malloc((space_dims(t->space)->n_dims + 1) * sizeof *x);

    if (x == NULL)
        return err_set(err, ERR_MEMORY, "%s: out of memory", t->instance.title);
    space_sample(t->space, 0, 0, x);
    space_key(t->space, x, key);
    free(x);
    return 0;
}

static int
save_layers(struct tuner *t, struct buf *out, struct err *err)
{
    uint64_t key[2];

    if (fingerprint(t, key, err) != 0)
        return -1;
    pack_u64(out, key[0]);
    pack_u64(out, key[1]);
    for (struct filter *f = t->filters; f != NULL; f = f->inner)
        if (state_save(&f->instance, f->ops->save, out, err) != 0)
            return -1;
    return state_save(&t->instance, t->ops->save, out, err);
}

int
tuner_save(struct tuner *t, struct buf *out, struct err *err)
{
    size_t len = out->len;

    if (t->barred)
        return tuner_refuse_call(t, "save", err);
    if (!can_save(t))
        return 0;
    if (save_layers(t, out, err) == 0)
        return 1;
    out->len = len;
    return -1;
}

int
tuner_load(struct tuner *t, struct unpack *state, struct err *err)
{
    uint64_t key[2], saved[2];

    if (tuner_may_call(t, "load", err) != 0)
        return -1;
    if (!can_save(t))
        return err_set(err, ERR_PLUGIN,
                       "%s: load: it, or one of its filters, has none",
                       t->instance.title);
    if (fingerprint(t, key, err) != 0)
        return -1;
    for (int i = 0; i < 2; i++)
        saved[i] = unpack_u64(state);
    if (state->failed || saved[0] != key[0] || saved[1] != key[1])
        return err_set(err, ERR_PLUGIN,
                       "%s: the snapshot is of another search space, or of a "
                       "tunepipe that compares points otherwise",
                       t->instance.title);
    for (struct filter *f = t->filters; f != NULL; f = f->inner)
        if (state_load(&f->instance, f->ops->load, state, err) != 0)
            return -1;
    return state_load(&t->instance, t->ops->load, state, err);
}
