/* SPDX-License-Identifier: MIT */
#include "bands/bands.h"

#include "core/pack.h"
#include "plugin/state.h"
#include "prior/prior.h"
#include "unit/save_help.h"

#include <math.h>

NOT_UNDER_TSAN;

#define N_DIMS 2
#define LIVING_MAX 12

static void
no_release(void *ctx, uint64_t id)
{
    (void)ctx;
    (void)id;
}

static void *
make(void)
{
    struct bands_options options = {.table = bands_table(1, 9, 3),
                                    .release = no_release};
    struct bands *b = bands_new(&options);

    CHECK_EQ(bands_space(b, N_DIMS), 0);
    return b;
}

static void
save(const void *b, struct buf *out)
{
    struct tp_sink sink = state_sink(out);

    bands_save(b, &sink);
}

static int
load(void *b, struct unpack *in)
{
    struct prior_dim dims[N_DIMS] = {
        {.high = 1, .parent = PRIOR_NO_PARENT},
        {.n_choices = 3, .parent = PRIOR_NO_PARENT},
    };
    struct prior prior = {dims, N_DIMS};
    struct tp_source source = state_source(in);

    if (bands_load(b, &prior, &source) != NULL)
        in->failed = true;
    return in->failed ? -1 : 0;
}

static void
drop(void *b)
{
    bands_free(b);
}

static const struct saved kind = {make, save, load, drop};

/* Two that get the same calls; the second is loaded anew before each. */
struct twins {
    struct bands *b, *twin;
    uint64_t random, next_id;
    uint64_t living[LIVING_MAX];
    size_t n_living;
};

static void
reload(struct twins *s)
{
    struct bands *twin = saved_twin(&kind, s->twin);

    bands_free(s->twin);
    s->twin = twin;
}

static void
ask(struct twins *s)
{
    struct bands_job job, other;
    int rc = bands_ask(s->b, s->next_id, &job);

    CHECK_EQ(bands_ask(s->twin, s->next_id, &other), rc);
    if (rc != BANDS_JOB)
        return;
    if (job.slot->from == BANDS_NO_ID) {
        job.x[0] = other.x[0] = (double)(s->next_id % 10) / 10;
        job.x[1] = other.x[1] = (double)(s->next_id % 3);
    }
    CHECK(memcmp(job.x, other.x, N_DIMS * sizeof *job.x) == 0);
    CHECK(memcmp(job.slot, other.slot, sizeof *job.slot) == 0);
    CHECK_EQ(job.budget, other.budget);
    CHECK_EQ(job.bracket->seq, other.bracket->seq);
    s->living[s->n_living++] = s->next_id++;
}

static void
report(struct twins *s, uint64_t id, const double *x)
{
    double value = (double)help_below(&s->random, 5);
    uint64_t step = help_below(&s->random, 12);

    if (help_below(&s->random, 9) == 0)
        value = NAN;
    if (help_below(&s->random, 4) == 0) {
        bands_final(s->b, id, x, value);
        bands_final(s->twin, id, x, value);
        return;
    }
    CHECK_EQ(bands_metric(s->b, id, x, value, step),
             bands_metric(s->twin, id, x, value, step));
}

static void
step(struct twins *s)
{
    size_t i;
    uint64_t id;
    double x[N_DIMS] = {0.5, 1};

    if (s->n_living == 0 ||
        (s->n_living < LIVING_MAX && help_below(&s->random, 4) == 0)) {
        ask(s);
        return;
    }
    i = (size_t)help_below(&s->random, s->n_living);
    id = s->living[i];
    if (help_below(&s->random, 3) > 0) {
        report(s, id, x);
        return;
    }
    CHECK_EQ(bands_ended(s->b, id, x), 0);
    CHECK_EQ(bands_ended(s->twin, id, x), 0);
    s->living[i] = s->living[--s->n_living];
}

static void
run(uint64_t seed, int n_steps)
{
    struct twins s = {.b = make(), .twin = make(), .random = seed};

    for (int i = 0; i < n_steps; i++) {
        step(&s);
        reload(&s);
    }
    CHECK(n_steps < 400 || s.b->next_seq > 3);
    saved_survives_damage(&kind, s.b, 400);
    bands_free(s.b);
    bands_free(s.twin);
}

TEST(bands_go_on_from_what_was_saved)
{
    run(1, 700);
    run(2, 50);
    run(3, 1);
}

/* What memory held before that is had again from the heap. */
static void
soil_heap(int byte)
{
    void *blocks[64];

    for (size_t i = 0; i < 64; i++) {
        blocks[i] = malloc(16 * (i + 1));
        CHECK(blocks[i] != NULL);
        memset(blocks[i], byte, 16 * (i + 1));
    }
    for (size_t i = 0; i < 64; i++)
        free(blocks[i]);
}

/* Saved when the first round of several costs is over, and the second not. */
static void
save_promoted(int byte, struct buf *out)
{
    static const double x[N_DIMS] = {0.5, 1}, costs[2] = {1, 2};
    struct bands *b = make();
    struct bands_job job;

    b->n_costs = 2;
    CHECK_EQ(bands_space(b, N_DIMS), 0);
    for (uint64_t id = 0; id < 9; id++)
        CHECK_EQ(bands_ask(b, id, &job), BANDS_JOB);
    soil_heap(byte);
    for (uint64_t id = 0; id < 9; id++) {
        bands_lend(b, costs, 0);
        bands_final(b, id, x, 1);
        CHECK_EQ(bands_ended(b, id, x), 0);
    }
    save(b, out);
    bands_free(b);
}

TEST(bands_save_no_more_than_they_were_told)
{
    struct buf one, other;

    buf_init(&one, SIZE_MAX / 2);
    buf_init(&other, SIZE_MAX / 2);
    save_promoted(0x11, &one);
    save_promoted(0x22, &other);
    CHECK_EQ(one.len, other.len);
    CHECK(memcmp(one.data, other.data, one.len) == 0);
    buf_fini(&one);
    buf_fini(&other);
}
