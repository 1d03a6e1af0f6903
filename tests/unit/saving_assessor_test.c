/* SPDX-License-Identifier: MIT */
/* What assessors save and load, as the dispatcher has them do it. */
#include "plugin/assessor.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/pack.h"
#include "plugin/paths.h"
#include "t.h"

#include <stdio.h>
#include <string.h>

#define TRIALS 8
#define STEPS 40

struct judged {
    struct assessor *assessor;
    double values[TRIALS][STEPS];
    struct tp_history histories[TRIALS];
    void *slots[TRIALS];
    bool over[TRIALS];
};

static struct plugin_paths *
all_paths(void)
{
    char folders[1024];

    snprintf(folders, sizeof folders, "%s:", t_build("tests/plugins"));
    snprintf(folders + strlen(folders), sizeof folders - strlen(folders), "%s",
             t_build("plugins"));
    return plugin_paths_new(folders, NULL);
}

static void
judged_open(struct judged *j, const struct plugin_paths *paths,
            const char *name)
{
    static const struct jval no_args; /* null */
    struct err err = {0};

    memset(j, 0, sizeof *j);
    j->assessor = assessor_new(paths, name, no_args, 5, NULL, &err);
    CHECK_STR(err.text, "");
    for (size_t i = 0; i < TRIALS; i++)
        j->histories[i] = (struct tp_history){
            .trial = i, .values = j->values[i], .slot = &j->slots[i]};
}

/* The living, in the order of their numbers. */
static size_t
judged_living(struct judged *j, const struct tp_history *out[TRIALS])
{
    size_t n = 0;

    for (size_t i = 0; i < TRIALS; i++)
        if (j->histories[i].n > 0 && !j->over[i])
            out[n++] = &j->histories[i];
    return n;
}

static int
judged_save(struct judged *j, struct buf *out, struct err *err)
{
    const struct tp_history *living[TRIALS];
    size_t n = judged_living(j, living);

    return assessor_save(j->assessor, living, n, out, err);
}

static int
judged_load(struct judged *j, const struct buf *state, struct err *err)
{
    const struct tp_history *living[TRIALS];
    size_t n = judged_living(j, living);
    struct unpack u = unpack_from(state->data, state->len);
    int rc = assessor_load(j->assessor, living, n, &u, err);

    CHECK(rc != 0 || unpack_done(&u));
    return rc;
}

/* Trial i % TRIALS reports a value, or ends; the verdict. */
static struct tp_verdict
judged_call(struct judged *j, size_t i)
{
    struct tp_verdict v = {.value = 0};
    size_t id = i % TRIALS;
    struct tp_history *h = &j->histories[id];

    if (j->over[id])
        return v;
    if (h->n == STEPS || i % (37 + id) == 36) {
        if (h->n > 0)
            CHECK_EQ(assessor_ended(j->assessor, h, TP_TRIAL_SUCCEEDED, NULL),
                     0);
        j->over[id] = h->n > 0;
        return v;
    }
    j->values[id][h->n++] = (double)((i * 31 + id * 7) % 101);
    CHECK_EQ(assessor_assess(j->assessor, h, &v, NULL), 0);
    return v;
}

static void
check_exchange(const struct plugin_paths *paths, const char *name, size_t cut)
{
    struct judged a, b;
    struct buf state, again;
    struct err err = {0};

    judged_open(&a, paths, name);
    judged_open(&b, paths, name);
    for (size_t i = 0; i < cut; i++)
        judged_call(&a, i);
    buf_init(&state, 1 << 20);
    buf_init(&again, 1 << 20);
    CHECK_EQ(judged_save(&a, &state, &err), 1);
    memcpy(b.values, a.values, sizeof b.values);
    memcpy(b.over, a.over, sizeof b.over);
    for (size_t i = 0; i < TRIALS; i++)
        b.histories[i].n = a.histories[i].n;
    CHECK_EQ(judged_load(&b, &state, &err), 0);
    CHECK_STR(err.text, "");
    CHECK_EQ(judged_save(&b, &again, &err), 1);
    CHECK_EQ(again.len, state.len);
    CHECK(memcmp(again.data, state.data, state.len) == 0);
    for (size_t i = cut; i < TRIALS * (STEPS + 1); i++) {
        struct tp_verdict v = judged_call(&a, i), w = judged_call(&b, i);

        CHECK_EQ(v.decision, w.decision);
        CHECK(memcmp(&v.value, &w.value, sizeof v.value) == 0);
        CHECK(memcmp(&v.threshold, &w.threshold, sizeof v.threshold) == 0);
    }
    assessor_free(a.assessor);
    assessor_free(b.assessor);
    buf_fini(&state);
    buf_fini(&again);
}

TEST(saving_an_assessor_changes_no_verdict)
{
    struct plugin_paths *paths = all_paths();

    for (size_t cut = 0; cut < 300; cut += 23) {
        check_exchange(paths, "medianstop", cut);
        check_exchange(paths, "auto", cut);
        check_exchange(paths, "missaver_assessor", cut);
    }
    plugin_paths_free(paths);
}

TEST(saving_an_assessor_without_save_is_none)
{
    struct plugin_paths *paths = all_paths();
    struct judged j;
    struct buf out;
    struct err err = {0};

    judged_open(&j, paths, "stops_at");
    buf_init(&out, 4096);
    CHECK_EQ(judged_save(&j, &out, &err), 0);
    CHECK_EQ(out.len, 0);
    CHECK_EQ(judged_load(&j, &out, &err), -1);
    CHECK_STR(err.text, "assessor stops_at: load: it has none");
    assessor_free(j.assessor);
    buf_fini(&out);
    plugin_paths_free(paths);
}

TEST(saving_of_other_trials_is_refused_and_leaves_no_slot)
{
    struct plugin_paths *paths = all_paths();
    struct judged a, b;
    struct buf state;
    struct err err = {0};

    judged_open(&a, paths, "medianstop");
    judged_open(&b, paths, "medianstop");
    for (size_t i = 0; i < 20; i++)
        judged_call(&a, i);
    buf_init(&state, 1 << 20);
    CHECK_EQ(judged_save(&a, &state, &err), 1);
    for (size_t i = 0; i < TRIALS; i++)
        b.histories[i].n = 1; /* a's have reported more */
    CHECK_EQ(judged_load(&b, &state, &err), -1);
    CHECK_STR(err.text, "assessor medianstop: load: what a running trial "
                        "reported is damaged");
    for (size_t i = 0; i < TRIALS; i++)
        CHECK(b.slots[i] == NULL);
    assessor_free(a.assessor);
    assessor_free(b.assessor);
    buf_fini(&state);
    plugin_paths_free(paths);
}
