/* SPDX-License-Identifier: MIT */
/* Each part of a dispatcher's state, packed and read again: what comes back
 * goes on as the original does. */
#include "save_help.h"

#include "core/idset.h"
#include "command.h"
#include "dispatcher/series.h"
#include "dispatcher/marks.h"
#include "dispatcher/owed.h"
#include "dispatcher/policy.h"
#include "dispatcher/reunion.h"
#include "dispatcher/side.h"
#include "dispatcher/trials.h"

#include <math.h>

/* void * for each of them. */
#define KIND(name, type, make, drop)                                   \
    static void *name##_make(void)                                     \
    {                                                                  \
        return make;                                                   \
    }                                                                  \
    static void name##_drop(void *x)                                   \
    {                                                                  \
        drop;                                                          \
    }                                                                  \
    static void name##_pack(const void *x, struct buf *out)            \
    {                                                                  \
        name##_save((const type *)x, out);                             \
    }                                                                  \
    static int name##_unpack(void *x, struct unpack *in)               \
    {                                                                  \
        return name##_load((type *)x, in);                             \
    }                                                                  \
    static const struct saved name##_kind = {name##_make, name##_pack, \
                                             name##_unpack, name##_drop};

KIND(idset, struct idset, calloc(1, sizeof(struct idset)),
     (idset_fini(x), free(x)))
KIND(owed, struct owed, calloc(1, sizeof(struct owed)), (owed_fini(x), free(x)))
KIND(series, struct series_map, series_map_new(), series_map_free(x))
KIND(trials, struct trials, trials_new(), trials_free(x))
KIND(marks, struct marks, marks_new(), marks_free(x))

TEST(save_a_set_of_ids)
{
    struct idset s = {0}, *twin;
    struct buf empty = saved_bytes(&idset_kind, &s), bytes;

    CHECK_EQ(empty.len, 8);
    for (uint64_t id = 0; id < 400; id += 1 + id % 7)
        CHECK_EQ(idset_add(&s, id), 0);
    CHECK_EQ(idset_add(&s, 100000), 0);
    twin = saved_twin(&idset_kind, &s);
    CHECK_EQ(idset_count(twin), idset_count(&s));
    for (uint64_t id = 0; id < 100100; id++)
        CHECK(idset_has(twin, id) == idset_has(&s, id));
    CHECK_EQ(idset_add(twin, 1 << 20), 0);
    idset_drop(twin);
    s.words[100000 / 64] = 0; /* no trace of what was there once */
    bytes = saved_bytes(&idset_kind, &s);
    CHECK_EQ(bytes.len, 8 + 8 * (400 / 64 + 1));
    saved_survives_damage(&idset_kind, &s, 1000);
    buf_fini(&bytes);
    buf_fini(&empty);
    idset_fini(&s);
}

TEST(save_what_is_owed)
{
    struct owed o = {0}, *twin;

    CHECK_EQ(owed_end(&o), 0);
    owed_drop(saved_twin(&owed_kind, &o));
    CHECK_EQ(owed_add(&o, 3, 2), 0);
    CHECK_EQ(owed_add(&o, 9, 1), 0);
    CHECK_EQ(owed_add(&o, 20, 70000), 0);
    owed_pop(&o);
    CHECK_EQ(owed_end(&o), 70020);
    twin = saved_twin(&owed_kind, &o);
    CHECK_EQ(twin->total, o.total);
    while (o.total > 0) {
        CHECK_EQ(owed_first(twin), owed_first(&o));
        owed_pop(twin);
        owed_pop(&o);
    }
    owed_drop(twin);
    CHECK_EQ(owed_add(&o, 3, 2), 0);
    CHECK_EQ(owed_add(&o, 9, 1), 0);
    saved_survives_damage(&owed_kind, &o, 1000);
    owed_fini(&o);
}

TEST(save_what_is_owed_out_of_order_is_damaged)
{
    static const uint64_t bad[][4] = {
        {3, 2, 4, 1}, {3, 0, 9, 1}, {3, UINT64_MAX, 9, 1}};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct buf b;

        buf_init(&b, 1024);
        pack_u64(&b, 2);
        for (int k = 0; k < 4; k++)
            pack_u64(&b, bad[i][k]);
        CHECK(!saved_reads(&owed_kind, b.data, b.len));
        buf_fini(&b);
    }
}

/* ---- series ---- */

static bool
has_early(const struct series *series, uint64_t sequence)
{
    for (size_t i = 0; i < series->n_early; i++)
        if (series->early[i].sequence == sequence)
            return true;
    return false;
}

static void
step_series(struct series_map *h, uint64_t seed)
{
    char job[2] = {(char)('A' + help_below(&seed, 9)), '\0'};
    struct series *series = series_get(h, job);
    uint64_t sequence = series->n + help_below(&seed, 3);

    switch (help_below(&seed, 12)) {
    case 0:
        series_free(series_remove(h, job));
        return;
    case 1:
        series_restart(series, series->attempt + 1);
        return;
    case 2:
        series->stopped = true;
        return;
    default:
        if (!has_early(series, sequence))
            series_enter(series, sequence, (double)help_below(&seed, 100));
    }
}

TEST(save_histories)
{
    struct series_map *h = series_map_new(), *twin;
    struct series **sorted;
    size_t n;

    twin = series_map_new();
    for (uint64_t i = 0; i < 3000; i++) {
        uint64_t seed = i;

        step_series(h, help_random(&seed));
        seed = i;
        step_series(twin, help_random(&seed));
        if (i % 100 == 99) {
            struct series_map *next = saved_twin(&series_kind, twin);

            series_map_free(twin);
            twin = next;
        }
    }
    {
        struct buf a = saved_bytes(&series_kind, h);
        struct buf b = saved_bytes(&series_kind, twin);

        CHECK(a.len == b.len && memcmp(a.data, b.data, a.len) == 0);
        buf_fini(&a);
        buf_fini(&b);
    }
    sorted = series_sorted(twin, &n);
    CHECK(sorted != NULL && n > 1);
    for (size_t i = 1; i < n; i++)
        CHECK(sorted[i - 1]->trial < sorted[i]->trial);
    free(sorted);
    series_map_free(h);
    for (char c = 'A'; c < 'H'; c++)
        series_free(series_remove(twin, (char[]){c, '\0'}));
    saved_survives_damage(&series_kind, twin, 2000);
    series_map_free(twin);
}

/* A value that waits twice would keep the gap before it open for ever. */
TEST(save_histories_with_a_value_twice_are_damaged)
{
    for (uint64_t second = 6; second >= 4; second--) {
        struct buf b;

        buf_init(&b, 1024);
        pack_u64(&b, 1); /* trials, and living ones */
        pack_u64(&b, 1);
        pack_text(&b, "A");
        for (int i = 0; i < 4; i++) /* trial, attempt, stopped, values */
            pack_u64(&b, 0);
        pack_u64(&b, 2);
        pack_u64(&b, 5);
        pack_f64(&b, 0);
        pack_u64(&b, second);
        pack_f64(&b, 0);
        CHECK_EQ(saved_reads(&series_kind, b.data, b.len), second > 5);
        buf_fini(&b);
    }
}

/* ---- trials ---- */

static void
step_trials(struct trials *t, uint64_t i, uint64_t seed)
{
    double x[2] = {(double)i, -0.0};
    struct parameter_id id = {.kind = PARAMETER_NUMBER,
                              .number = help_below(&seed, i + 1)};
    struct trial *trial;
    char label[24];
    bool late;

    snprintf(label, sizeof label, "%" PRIu64 "-x", i);
    if (i % 3 == 0) {
        trial = trials_add(t, i, i % 2 == 0 ? label : NULL, x, i % 3 + i % 2);
        CHECK(trial != NULL);
        trial->tuner_id = i * 7;
        if (i % 5 == 0)
            trial->parameters = strdup("{}");
    }
    if (trials_refuse_result(t, &id, &trial, &late) == NULL &&
        help_below(&seed, 2) == 0) {
        trial->result_told = true;
        trial->foreign = help_below(&seed, 5) == 0;
        trials_settle(t, trial);
    }
    if (trials_refuse_end(t, &id, &trial, &late) == NULL &&
        help_below(&seed, 2) == 0) {
        trial->ended = true;
        trial->unfit = help_below(&seed, 5) == 0;
        trials_settle(t, trial);
    }
}

/* ---- launches ---- */

/* A side that notes what it is to give out again. */
struct giving_side {
    struct side side;
    uint64_t given;
};

static void
note_given(void *side, const struct trial *trial, uint64_t was)
{
    CHECK_EQ(trial->id, was);
    ((struct giving_side *)side)->given = was;
}

static void *
reunion_make(void)
{
    static const struct policy policy = {.nni = true, .reissue = true};
    static const struct reunion_ops ops = {.give = note_given};
    static const struct log quiet = {.fd = -1};
    static struct giving_side giver;
    struct reunion *r = malloc(sizeof *r);

    CHECK(r != NULL);
    giver.side = (struct side){.policy = &policy, .log = &quiet};
    reunion_init(r, &ops, &giver.side, NULL);
    return r;
}

static void
reunion_drop(void *x)
{
    reunion_fini(x);
    free(x);
}

static void
reunion_pack(const void *x, struct buf *out)
{
    reunion_save(x, out);
}

static int
reunion_unpack(void *x, struct unpack *in)
{
    struct err err;

    return reunion_load(x, in, &err);
}

static const struct saved reunion_kind = {reunion_make, reunion_pack,
                                          reunion_unpack, reunion_drop};

TEST(save_launches)
{
    static const char name[] = "0-1";
    const struct command seven = {.end.hint = parameter_named(7, NULL)};
    const struct command label = {.end.hint = parameter_named(0, name)};
    struct trials *trials = trials_new();
    struct reunion *r, *twin;
    const double x = 1;
    const struct giving_side *giver;

    r = reunion_make();
    giver = (const struct giving_side *)r->side;
    reunion_launch(r, 7, NULL);
    reunion_launch(r, 8, name);
    CHECK(trials_add(trials, 90, NULL, &x, 1) != NULL);
    CHECK(trials_add(trials, 3, NULL, &x, 1) != NULL);
    twin = saved_twin(&reunion_kind, r);
    twin->trials = trials;
    CHECK_EQ(reunion_seek_lost(twin, &seven), 0);
    CHECK_EQ(reunion_seek_lost(twin, &label), 2);
    CHECK_EQ(reunion_seek_lost(twin, &label), 2); /* they are lost already */
    saved_survives_damage(&reunion_kind, r, 300);
    saved_survives_damage(&reunion_kind, twin, 300);
    reunion_drop(r);
    r = saved_twin(&reunion_kind, twin);
    r->trials = trials;
    CHECK_EQ(r->n_lost, 2);
    CHECK(reunion_give_again(r, 0));
    CHECK_EQ(giver->given, 3);
    CHECK(reunion_give_again(r, 0));
    CHECK_EQ(giver->given, 90);
    CHECK_EQ(r->n_lost, 0);
    CHECK(!reunion_give_again(r, 0));
    trials_free(trials);
    reunion_drop(twin);
    reunion_drop(r);
}

TEST(save_trials)
{
    struct trials *t = trials_new(), *twin = trials_new();

    for (uint64_t i = 0; i < 600; i++) {
        uint64_t seed = i;

        step_trials(t, i, help_random(&seed));
        seed = i;
        step_trials(twin, i, help_random(&seed));
        if (i % 20 == 19) {
            struct trials *next = saved_twin(&trials_kind, twin);

            trials_free(twin);
            twin = next;
        }
        CHECK_EQ(trials_out(t), trials_out(twin));
        CHECK_EQ(trials_n_finished(t), trials_n_finished(twin));
    }
    {
        struct buf a = saved_bytes(&trials_kind, t);
        struct buf b = saved_bytes(&trials_kind, twin);

        CHECK(trials_out(t) > 9 && trials_n_finished(t) > 9);
        CHECK(a.len == b.len && memcmp(a.data, b.data, a.len) == 0);
        buf_fini(&a);
        buf_fini(&b);
    }
    trials_free(t);
    trials_free(twin);
}

static struct trial *
end_without_result(struct trials *t, uint64_t id)
{
    double nowhere = 0;
    struct trial *trial = trials_add(t, id, NULL, &nowhere, 0);

    CHECK(trial != NULL);
    trial->ended = true;
    trials_settle(t, trial);
    return trial;
}

TEST(save_trials_whose_result_may_still_come_in_the_order_of_their_ends)
{
    struct trials *t = trials_new(), *twin;
    struct parameter_id oldest = {.kind = PARAMETER_NUMBER, .number = 9};
    struct trial *trial;
    bool late;

    end_without_result(t, 9);
    end_without_result(t, 2);
    for (uint64_t id = 10; id < 8 + RESULTLESS_MAX; id++)
        end_without_result(t, id);
    twin = saved_twin(&trials_kind, t);
    CHECK_EQ(trials_out(twin), 0);
    CHECK(trials_refuse_result(twin, &oldest, &trial, &late) == NULL);
    end_without_result(twin, 1); /* one too many: the oldest goes */
    CHECK(trials_find(twin, &oldest) == NULL);
    CHECK(trials_finished(twin, &oldest));
    oldest.number = 2;
    CHECK(trials_find(twin, &oldest) != NULL);
    trials_free(twin);
    trials_free(t);
}

TEST(save_trials_that_are_damaged)
{
    struct trials *t = trials_new();
    double x[1] = {0.5};

    CHECK(trials_add(t, 7, "seven", x, 1) != NULL);
    CHECK(trials_add(t, 8, NULL, x, 1) != NULL);
    end_without_result(t, 2);
    end_without_result(t, 1);
    saved_survives_damage(&trials_kind, t, 4000);
    trials_free(t);
}

/* ---- marks ---- */

/* What one step gives, as text. */
static void
step_marks(struct marks *m, uint64_t i, uint64_t seed, char text[200])
{
    static const char *const labels[] = {"x", "y"};
    char job[2] = {(char)('A' + help_below(&seed, 8)), '\0'};
    struct metric metric = {
        .job = job, .attempt = help_below(&seed, 40) == 0, .has_value = true};
    uint64_t id = help_below(&seed, i + 1);

    metric.parameter = (struct parameter_id){PARAMETER_NUMBER, id, NULL};
    if (id % 7 == 0)
        metric.parameter = (struct parameter_id){
            PARAMETER_LABEL, 0, (char *)(uintptr_t)labels[id % 2]};
    metric.sequence = help_below(&seed, 12);
    metric.value = help_below(&seed, 9) == 0 ? NAN : (double)id;
    switch (help_below(&seed, 8)) {
    case 0: {
        struct trial_end end = {.job = job, .hint = metric.parameter};

        CHECK_EQ(marks_end(m, &end), 0);
        snprintf(text, 200, "%d %d %s %" PRIu64, end.stopped, end.has_marks,
                 end.parameter.label == NULL ? "" : end.parameter.label,
                 end.parameter.number);
        if (end.has_marks)
            snprintf(text + strlen(text), 100, " %g %g %g %" PRIu64,
                     end.latest.value, end.lowest.value, end.highest.value,
                     end.latest.step);
        parameter_clear(&end.parameter);
        return;
    }
    case 1:
        marks_killed(m, job);
        text[0] = '\0';
        return;
    case 2:
        snprintf(text, 200, "%d", marks_final(m, &metric));
        return;
    default:
        snprintf(text, 200, "%d", marks_metric(m, &metric));
    }
}

TEST(save_marks)
{
    struct marks *m = marks_new(), *twin = marks_new();

    marks_issued(m, 2000);
    marks_issued(twin, 2000);
    for (uint64_t i = 0; i < 3000; i++) {
        char text[200], again[200];
        uint64_t seed = i;

        seed = help_random(&seed);
        step_marks(m, i, seed, text);
        step_marks(twin, i, seed, again);
        CHECK_STR(again, text);
        if (i % 50 == 49) {
            struct marks *next = saved_twin(&marks_kind, twin);

            marks_free(twin);
            twin = next;
        }
    }
    marks_free(m);
    marks_free(twin);
}

TEST(save_marks_that_are_damaged)
{
    struct marks *m = marks_new();
    char text[200];

    marks_issued(m, 2000);
    for (uint64_t i = 0; i < 60; i++) {
        uint64_t seed = i + 1000;

        step_marks(m, i, help_random(&seed), text);
    }
    CHECK(help_living(m) > 3);
    saved_survives_damage(&marks_kind, m, 4000);
    marks_free(m);
}
