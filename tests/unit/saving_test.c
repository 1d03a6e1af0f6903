/* SPDX-License-Identifier: MIT */
/* What tuners with their filters save and load, as the dispatcher has them do
 * it. */
#include "unit/filter_help.h"

#include "core/pack.h"
#include "plugin/floatenv.h"

#define DIM(name, type, value) \
    "\"" name "\": {\"_type\": \"" type "\", \"_value\": " value "}"
#define SPACE                                    \
    "{" DIM("a", "randint", "[0, 60]") ", " DIM( \
        "b", "choice", "[1]") ", " DIM("q", "quniform", "[0, 9, 1]") "}"

struct layer {
    const char *name, *args; /* the tuner first, then the filters, inside out */
};

static void
open_layers(struct stack *s, const struct layer *layers, size_t n)
{
    stack_open(s, layers[0].name, layers[0].args);
    for (size_t i = 1; i < n; i++)
        CHECK_EQ(stack_wrap(s, layers[i].name, layers[i].args), 0);
    CHECK_EQ(stack_space(s, SPACE), 0);
}

/* One call that depends on its number alone; what it answers. */
static void
one_call(struct stack *s, uint64_t i, char *answer, size_t size)
{
    struct tp_result result = {.how = TP_RESULT_FINAL,
                               .value = (double)(i % 17)};
    int rc;

    if (i % 3 == 0) {
        rc = stack_ask(s, i);
        snprintf(answer, size, "%d %s %s", rc, rc == TP_OK ? s->json : "",
                 rc == TP_ERR ? s->err.text : "");
        return;
    }
    for (int k = 0; k < 3; k++)
        s->x[k] = k == 1 ? 0 : (double)(i * 7 % 9);
    if (i % 3 == 1) {
        result.how = TP_RESULT_IMPORTED;
        rc = tuner_tell(s->tuner, TP_NO_ID, s->x, &result, &s->err);
    } else {
        rc = tuner_ended(s->tuner, i - i % 3, s->x, TP_ENDED_FAILED, &s->err);
    }
    snprintf(answer, size, "%d %s", rc, rc == 0 ? "" : s->err.text);
}

static void
calls(struct stack *s, uint64_t from, uint64_t to)
{
    char answer[2048];

    for (uint64_t i = from; i < to; i++)
        one_call(s, i, answer, sizeof answer);
}

static void
check_same_calls(struct stack *a, struct stack *b, uint64_t from, uint64_t to)
{
    char first[2048], second[2048];

    for (uint64_t i = from; i < to; i++) {
        one_call(a, i, first, sizeof first);
        one_call(b, i, second, sizeof second);
        CHECK_STR(second, first);
    }
}

static void
save(struct stack *s, struct buf *out)
{
    buf_init(out, (size_t)64 << 20);
    CHECK_EQ(tuner_save(s->tuner, out, &s->err), 1);
}

static int
load(struct stack *s, const struct buf *state)
{
    struct unpack u = unpack_from(state->data, state->len);
    int rc = tuner_load(s->tuner, &u, &s->err);

    CHECK(rc != 0 || unpack_done(&u));
    return rc;
}

/* After `cut` calls saved and loaded: the same answers, the same bytes. */
static void
check_exchange(const struct layer *layers, size_t n, uint64_t cut, uint64_t end)
{
    struct buf state, again;
    struct stack a, b;

    open_layers(&a, layers, n);
    calls(&a, 0, cut);
    save(&a, &state);
    open_layers(&b, layers, n);
    CHECK_EQ(load(&b, &state), 0);
    save(&b, &again);
    CHECK_EQ(again.len, state.len);
    CHECK(memcmp(again.data, state.data, state.len) == 0);
    check_same_calls(&a, &b, cut, end);
    buf_fini(&state);
    buf_fini(&again);
    stack_close(&a);
    stack_close(&b);
}

TEST(saving_a_tuner_with_its_filters_changes_no_answer)
{
    static const struct layer layers[] = {
        {"random", "{}"},
        {"error", "{\"every\": 5, \"call\": \"ask\"}"},
        {"fallback", "{}"},
        {"dedup", "{}"},
        {"error", "{\"every\": 7, \"call\": \"tell\"}"},
        {"timing", "{}"},
    };

    for (uint64_t cut = 0; cut < 60; cut += 7)
        check_exchange(layers, 6, cut, cut + 60);
}

TEST(saving_a_large_grid_changes_no_answer)
{
    static const struct layer layers[] = {{"grid", "{}"}};

    check_exchange(layers, 1, 300, 600);
    check_exchange(layers, 1, 2400, 2700); /* at its end */
}

TEST(saving_a_large_tally_changes_no_answer)
{
    static const struct layer layers[] = {{"random", "{}"}, {"dedup", "{}"}};

    check_exchange(layers, 2, 900, 1200);
    check_exchange(layers, 2, 1770, 1900); /* all are used up on the way */
}

TEST(saving_takes_the_whole_list_of_a_batch)
{
    static const char list[] =
        "{\"c\": {\"_type\": \"choice\", \"_value\": [{\"p\": 1}, {\"p\": 2}, "
        "{\"p\": 1}, {\"p\": 3}, {\"p\": 1}]}}";
    struct stack s[2];
    struct buf state;

    for (int i = 0; i < 2; i++) {
        struct json *doc = json_parse(list, strlen(list), 0, NULL);
        struct problems problems;

        stack_open(&s[i], "batch", "{}");
        problems_init(&problems);
        s[i].space = space_parse(json_root(doc), &problems);
        problems_fini(&problems);
        json_free(doc);
        CHECK_EQ(space_make_whole(s[i].space, NULL), 0);
        CHECK_EQ(tuner_space(s[i].tuner, s[i].space, NULL), 0);
    }
    s[0].x[0] = 2;
    CHECK_EQ(stack_tell(&s[0], TP_NO_ID, TP_RESULT_IMPORTED), 0);
    CHECK_EQ(stack_ask(&s[0], 0), TP_OK);
    CHECK_STR(s[0].json, "{\"p\": 2}");
    save(&s[0], &state);
    CHECK_EQ(load(&s[1], &state), 0);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(stack_ask(&s[i], 1), TP_OK);
        CHECK_STR(s[i].json, "{\"p\": 1}");
        CHECK_EQ(stack_ask(&s[i], 2), TP_OK);
        CHECK_STR(s[i].json, "{\"p\": 3}");
        CHECK_EQ(stack_ask(&s[i], 3), TP_OK);
        CHECK_STR(s[i].json, "{\"p\": 1}");
        CHECK_EQ(stack_ask(&s[i], 4), TP_DONE);
        stack_close(&s[i]);
    }
    buf_fini(&state);
}

/* 0, and nothing appended. */
static void
check_not_saved(struct stack *s)
{
    struct unpack u = unpack_from("", 0);
    struct buf out;

    buf_init(&out, 4096);
    buf_add_text(&out, "before");
    CHECK_EQ(tuner_save(s->tuner, &out, &s->err), 0);
    CHECK_STR(buf_text(&out), "before");
    CHECK_STR(s->err.text, "");
    CHECK_EQ(tuner_load(s->tuner, &u, &s->err), -1);
    buf_fini(&out);
}

TEST(saving_is_not_for_who_has_no_save)
{
    static const struct layer tuner[] = {{"never", "{}"}, {"log", "{}"}};
    static const struct layer filter[] = {
        {"random", "{}"}, {"badfilter", "{\"how\": \"slow\"}"}, {"log", "{}"}};
    struct stack s;

    open_layers(&s, tuner, 2);
    check_not_saved(&s);
    CHECK_STR(s.err.text,
              "tuner never: load: it, or one of its filters, has none");
    stack_close(&s);
    open_layers(&s, filter, 3);
    check_not_saved(&s);
    stack_close(&s);
    stack_open(&s, "random", "{}"); /* and no space */
    check_not_saved(&s);
    CHECK_STR(s.err.text, "tuner random: load: it has no search space");
    stack_close(&s);
}

/* The state of the layers `from` is no state for the layers `to`. */
static void
check_refused(const struct layer *from, const struct layer *to, size_t n,
              const char *why)
{
    struct buf state;
    struct stack a, b;

    open_layers(&a, from, n);
    calls(&a, 0, 10);
    save(&a, &state);
    open_layers(&b, to, n);
    CHECK_EQ(load(&b, &state), -1);
    CHECK_EQ(b.err.code, ERR_PLUGIN);
    CHECK_STR(b.err.text, why);
    buf_fini(&state);
    stack_close(&a);
    stack_close(&b);
}

TEST(saving_is_for_the_same_layers_only)
{
    static const struct layer random[] = {{"random", "{}"}, {"log", "{}"}};
    static const struct layer bare[] = {{"random", "{}"}};
    static const struct layer seed[] = {{"random", "{\"seed\": 6}"}};
    static const struct layer grid[] = {{"grid", "{}"}, {"log", "{}"}};
    static const struct layer timed[] = {{"random", "{}"}, {"timing", "{}"}};

    check_refused(bare, seed, 1,
                  "tuner random: the snapshot holds tuner random, version 1, "
                  "seed 5; expected version 1, seed 6");
    check_refused(random, grid, 2,
                  "tuner grid: the snapshot holds tuner random, version 1, "
                  "seed 5; expected version 1, seed 5");
    check_refused(random, timed, 2,
                  "filter timing: the snapshot holds filter log, version 1, "
                  "seed 5; expected version 1, seed 5");
}

TEST(saving_is_for_the_same_space_only)
{
    static const struct layer random[] = {{"random", "{}"}};
    struct buf state;
    struct stack s;

    open_layers(&s, random, 1);
    save(&s, &state);
    CHECK_EQ(load(&s, &state), 0);
    CHECK_EQ(stack_space(&s, "{" DIM("a", "randint", "[0, 61]") "}"), 0);
    CHECK_EQ(load(&s, &state), -1);
    CHECK_HAS(s.err.text, "the snapshot is of another search space");
    buf_fini(&state);
    stack_close(&s);
}

TEST(saving_incomplete_states_are_refused)
{
    static const struct layer layers[] = {{"grid", "{}"}, {"dedup", "{}"}};
    struct buf state;
    struct stack a, b;

    open_layers(&a, layers, 2);
    calls(&a, 0, 90);
    save(&a, &state);
    CHECK(state.len > 24 * 24);
    for (size_t i = 1; i <= 24; i++) {
        struct unpack u = unpack_from(state.data, state.len - i * i);

        open_layers(&b, layers, 2);
        CHECK_EQ(tuner_load(b.tuner, &u, &b.err), -1);
        CHECK_EQ(b.err.code, ERR_PLUGIN);
        stack_close(&b);
    }
    buf_fini(&state);
    stack_close(&a);
}

/* What the test tuner does wrongly in saving, or loading what it saved. */
static void
check_saves_badly(const char *how, const char *why)
{
    char args[64];
    const struct layer layers[] = {{"missaver", args}};
    struct buf state;
    struct stack a, b;
    int rc;

    snprintf(args, sizeof args, "{\"how\": \"%s\"}", how);
    open_layers(&a, layers, 1);
    open_layers(&b, layers, 1);
    calls(&a, 0, 6);
    buf_init(&state, 4096);
    rc = tuner_save(a.tuner, &state, &b.err);
    CHECK(rc == 1 || (rc == -1 && state.len == 0));
    if (rc == 1)
        rc = load(&b, &state);
    CHECK_EQ(rc, -1);
    CHECK_EQ(b.err.code, ERR_PLUGIN);
    CHECK_STR(b.err.text, why);
    buf_fini(&state);
    stack_close(&a);
    stack_close(&b);
}

TEST(saving_names_who_saves_badly)
{
    check_saves_badly("save fails", "tuner missaver: save: there is no pen");
    check_saves_badly("save silent",
                      "tuner missaver: save: failed and did not say why");
    check_saves_badly("save 99", "tuner missaver: save: returned 99, expected "
                                 "TP_OK (0) or TP_ERR (-1)");
    check_saves_badly("load fails", "tuner missaver: load: it cannot read");
    check_saves_badly("leaves", "tuner missaver: load: it left 10 bytes of "
                                "what it had saved");
    check_saves_badly("reads on", "tuner missaver: load: it read more than it "
                                  "had saved and went on");
}

TEST(saving_does_not_change_the_floating_point_environment)
{
    static const struct layer layers[] = {{"flushes", "{}"}};
    struct buf state;
    struct stack s;

    open_layers(&s, layers, 1);
    save(&s, &state);
    CHECK(floatenv_is_default());
    CHECK_EQ(load(&s, &state), 0);
    CHECK(floatenv_is_default());
    buf_fini(&state);
    stack_close(&s);
}

TEST(saving_into_a_full_buffer_fails)
{
    static const struct layer layers[] = {{"grid", "{}"}};
    struct buf out;
    struct stack s;

    open_layers(&s, layers, 1);
    buf_init(&out, 100);
    CHECK_EQ(tuner_save(s.tuner, &out, &s.err), -1);
    CHECK_HAS(s.err.text, "tuner grid: save: ");
    CHECK_EQ(out.len, 0);
    buf_fini(&out);
    stack_close(&s);
}

TEST(saving_is_barred_with_the_rest)
{
    static const struct layer layers[] = {{"grid", "{}"}};
    struct buf out;
    struct stack s;

    open_layers(&s, layers, 1);
    buf_init(&out, 4096);
    tuner_bar(s.tuner, true);
    CHECK_EQ(tuner_save(s.tuner, &out, &s.err), -1);
    CHECK_HAS(s.err.text, "tuner grid: save: not called");
    tuner_bar(s.tuner, false);
    CHECK_EQ(tuner_save(s.tuner, &out, &s.err), 1);
    buf_fini(&out);
    stack_close(&s);
}
