/* SPDX-License-Identifier: MIT */
/* The filter `dedup`: no parameters twice, as NNI's random and TPE have it.
 *
 * A space in which some continuous parameter is always there repeats nothing:
 * then nothing is stored.  Else the parameters that were given out, imported
 * or added by the user are counted as a trial sees them.  In the place of a
 * duplicate comes the next point of a grid over the space that is not used up
 * and that the layers inside take; when there is none, the space is
 * exhausted.  Where they take hardly any of very many, or hardly two are
 * different, that cannot be told: there the layers inside are asked again. What
 * is promoted goes on with the point it has, and counts as the one that it was.
 */
#include "tunepipe/filter.h"
#include "tunepipe/shell.h"

#include "remaining.h"
#include "tally.h"

#include <stdlib.h>

#define REFUSED_MAX 131072 /* points of the grid, for one trial */
#define AGAIN_MAX 100      /* how often the layers inside are asked again */

/* What is left of the space: walking through a grid with so many equal points
 * has no end. */
enum left { LEFT_SOME, LEFT_NOTHING, LEFT_EQUALS };

struct dedup {
    const struct tp_host *host;
    bool allow;
    uint64_t most; /* how often each set may be given out */
    const struct tp_space *space;
    unsigned refused; /* spaces, one after the other: the second is the one
                         before, which is gone then */
    bool counts;      /* false: nothing can, or need, be done in this space */
    enum left left;
    struct tally tally;
    struct remaining remaining;
    uint64_t last_id, last_key[2]; /* given out last; TP_NO_ID: none */
};

static const struct tp_arg args[] = {
    TP_INT("repeat", 0, 0, 1e9, "how often the same parameters may come again"),
    TP_BOOL("allow", false,
            "true: as often as the tuner likes; this filter does nothing"),
};

static void *
create(const struct tp_host *host)
{
    return tp_new(host, sizeof(struct dedup));
}

static void
destroy(void *vself)
{
    struct dedup *self = vself;

    tally_fini(&self->tally);
    remaining_fini(&self->remaining);
    free(self);
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct dedup *self = vself;

    (void)n;
    self->most = (uint64_t)values[0].integer + 1;
    self->allow = values[1].integer != 0;
    return TP_OK;
}

static bool
can_repeat(const struct tp_space *space)
{
    for (size_t i = 0; i < space->n_dims; i++) {
        const struct tp_dim *d = TP_DIM(space, i);

        if (d->parent == TP_NO_PARENT && remaining_is_continuous(d))
            return false;
    }
    return space->n_dims > 0; /* without parameters all trials are alike */
}

static int
space(void *vself, const struct tp_next *next, const struct tp_space *space_)
{
    struct dedup *self = vself;
    int rc = next->space(next->ctx, space_);
    bool again = self->space != NULL && self->refused == 1;

    if (rc != TP_OK) {
        self->refused++;
        return rc;
    }
    self->refused = 0;
    if (again) { /* the one before, perhaps elsewhere: another was refused */
        self->space = self->remaining.space = space_;
        return TP_OK;
    }
    tally_fini(&self->tally);
    remaining_fini(&self->remaining);
    self->last_id = TP_NO_ID;
    self->left = LEFT_SOME;
    self->counts = !self->allow && can_repeat(space_);
    self->space = space_;
    if (self->counts && remaining_init(&self->remaining, space_) != 0) {
        self->space = NULL;
        return tp_out_of_memory(self->host);
    }
    return TP_OK;
}

/* Asked again, the earlier answer to this id counts no more. */
static int
take_back(struct dedup *self, uint64_t id)
{
    uint64_t *count_1;

    if (self->last_id != id || id == TP_NO_ID)
        return TP_OK;
    self->last_id = TP_NO_ID;
    count_1 = tally_count(&self->tally, self->last_key);
    if (count_1 == NULL)
        return tp_out_of_memory(self->host);
    *count_1 -= 1;
    self->left = LEFT_SOME;
    return TP_OK;
}

/* 1: the point of that key is id's from now on; 0: it was given out often
 * enough. */
static int
take_key(struct dedup *self, uint64_t id, const uint64_t key[2])
{
    uint64_t *count_1;

    count_1 = tally_count(&self->tally, key);
    if (count_1 == NULL)
        return tp_out_of_memory(self->host);
    if (*count_1 > self->most)
        return 0;
    *count_1 += 1;
    self->last_id = id;
    self->last_key[0] = key[0];
    self->last_key[1] = key[1];
    return 1;
}

static int
take(struct dedup *self, uint64_t id, const double *x)
{
    uint64_t key[2];

    if (tp_key(self->host, x, key) == TP_OK)
        return take_key(self, id, key);
    return tp_error(self->host, "it was given no valid point");
}

/* 1: x is the next point of the grid that may be given out; 0: there is none,
 * *is_sure, or none was found.  The grid has been walked once from its first
 * point to its last when its first point comes by for the second time; it is
 * walked again where other continuous values may be taken. */
static int
walk(struct dedup *self, const struct tp_next *next, uint64_t id, double *x,
     bool *is_sure)
{
    size_t in_vain = 0, used = 0;
    uint32_t rounds = 0;

    *is_sure = true;
    while (in_vain < REFUSED_MAX) {
        uint64_t key[2];
        int rc = 0;

        rounds += remaining_next(&self->remaining, self->host, id,
                                 rounds > 1 ? rounds - 1 : 0, x);
        if (rounds > 1 && *is_sure)
            return 0;
        /* Far multiples may be beyond the doubles: no point. */
        if (tp_key(self->host, x, key) == TP_OK && next->takes(next->ctx, x)) {
            rc = take_key(self, id, key);
            used++;
        } else {
            in_vain++;
            if (remaining_has_drawn(&self->remaining))
                *is_sure = false;
        }
        if (rc != 0)
            return rc;
        /* A round meets each key once, but for equal choices. */
        in_vain += rounds > 1 || used > 2 * self->tally.keys.n;
    }
    *is_sure = false;
    if (used > 2 * self->tally.keys.n)
        self->left = LEFT_EQUALS;
    return 0;
}

/* Another answer of the layers inside, which is new. */
static int
ask_again(struct dedup *self, const struct tp_next *next, uint64_t id,
          struct tp_suggestion *out)
{
    for (int i = 0; i < AGAIN_MAX; i++) {
        int rc = next->ask(next->ctx, id, out);

        if (rc != TP_OK || out->from_how == TP_PROMOTED)
            return rc;
        rc = take(self, id, out->x);
        if (rc != 0)
            return rc == TP_ERR ? rc : TP_OK;
    }
    return tp_error(self->host,
                    "found no new parameters that the filters inside take, in "
                    "%d points of the grid and %d answers",
                    REFUSED_MAX, AGAIN_MAX);
}

static int
replace(struct dedup *self, const struct tp_next *next, uint64_t id,
        struct tp_suggestion *out)
{
    bool is_sure;
    int rc;

    if (self->left == LEFT_NOTHING)
        return TP_DONE;
    if (self->left == LEFT_EQUALS)
        return ask_again(self, next, id, out);
    rc = walk(self, next, id, out->x, &is_sure);
    if (rc == TP_ERR)
        return rc;
    if (rc == 0 && !is_sure)
        return ask_again(self, next, id, out);
    if (rc == 0) {
        self->left = LEFT_NOTHING;
        return TP_DONE;
    }
    tp_explain(self->host, "those parameters had been given out before: in "
                           "their place the next that are left");
    return TP_OK;
}

static int
ask(void *vself, const struct tp_next *next, uint64_t id,
    struct tp_suggestion *out)
{
    struct dedup *self = vself;
    int rc = next->ask(next->ctx, id, out);

    if (!self->counts)
        return rc;
    if (take_back(self, id) != TP_OK)
        return TP_ERR;
    if (rc != TP_OK || out->from_how == TP_PROMOTED)
        return rc; /* the same again is what it is to be */
    rc = take(self, id, out->x);
    if (rc == 0)
        return replace(self, next, id, out);
    return rc == TP_ERR ? rc : TP_OK;
}

/* What was tried elsewhere counts as given out. */
static int
tell(void *vself, const struct tp_next *next, uint64_t id, const double *x,
     const struct tp_result *result)
{
    struct dedup *self = vself;

    if (self->counts && id == TP_NO_ID && take(self, TP_NO_ID, x) == TP_ERR)
        return TP_ERR;
    return next->tell(next->ctx, id, x, result);
}

/* Whether and what it counts follows from arguments and space. */
static int
save(void *vself, const struct tp_sink *sink)
{
    const struct dedup *self = vself;

    if (!self->counts)
        return TP_OK;
    tp_put_u64(sink, (uint64_t)self->left);
    tp_put_u64(sink, self->last_id);
    tp_put_u64(sink, self->last_key[0]);
    tp_put_u64(sink, self->last_key[1]);
    tally_save(&self->tally, sink);
    remaining_save(&self->remaining, sink);
    return TP_OK;
}

static const char *
load_counts(struct dedup *self, const struct tp_source *source)
{
    uint64_t left;
    const char *why;

    if (tp_get_u64(source, &left) != TP_OK || left > LEFT_EQUALS)
        return "whether all was given out is damaged";
    self->left = (enum left)left;
    tp_get_u64(source, &self->last_id);
    tp_get_u64(source, &self->last_key[0]);
    tp_get_u64(source, &self->last_key[1]);
    why = tally_load(&self->tally, source);
    if (why == NULL && self->last_id != TP_NO_ID &&
        !tally_has(&self->tally, self->last_key))
        return "what was given out last is damaged";
    return why != NULL ? why : remaining_load(&self->remaining, source);
}

/* Behind space(), which has made ready what is counted. */
static int
load(void *vself, const struct tp_source *source)
{
    struct dedup *self = vself;
    const char *why = self->counts ? load_counts(self, source) : NULL;

    return tp_ok_unless(self->host, why);
}

static const struct tp_filter filter = {
    TP_FILTER_HEAD,
    .name = "dedup",
    .doc = "gives out no parameters twice, and ends when all were given out",
    .version = 1,
    .args = TP_ARGS(args),
    .create = create,
    .destroy = destroy,
    .config = config,
    .space = space,
    .ask = ask,
    .tell = tell,
    .save = save,
    .load = load,
};
TP_REGISTER_FILTER(filter)
