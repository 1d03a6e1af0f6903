/* SPDX-License-Identifier: MIT */
#include "check/saving.h"

#include "check/answers.h"
#include "check/assessor_orders.h"
#include "check/calls.h"
#include "check/spaces.h"
#include "check/tuner_orders.h"
#include "core/buf.h"
#include "numerics/random.h"
#include "plugin/loader.h"

#include <stdio.h>

#define ANSWERS_MAX ((size_t)256 << 20)
#define RANDOM_ORDERS 4
#define LENGTH 40 /* of a random order */
#define SEED 7

bool
saving_is_possible(const struct plugin *p)
{
    return layer_saves(p);
}

/* A random life: see the letters in tuner_orders.c and assessor_orders.c. */
static void
make_order(enum plugin_kind kind, uint64_t number, char out[LENGTH + 1])
{
    static const char tuner[] = "aaaaaaFFFeeexpPcNIiCdst";
    static const char assessor[] = "rrrrrrrrggnieefsc";
    struct random_stream s = random_stream(SEED, RANDOM_TEST, number, kind);
    bool assesses = kind == PLUGIN_ASSESSOR;
    const char *letters = assesses ? assessor : tuner;
    size_t n = (assesses ? sizeof assessor : sizeof tuner) - 1;

    for (uint32_t i = 0; i < LENGTH; i++) {
        uint64_t bits = random_bits(&s, i);

        out[i] = letters[bits % n];
        if (assesses && i % 2 == 0)
            out[i] = (char)('0' + bits % 10);
        else if (i == 0)
            out[i] = 's';
    }
    out[LENGTH] = '\0';
}

/* In the i-th space; an assessor has none. */
static int
run_random(const struct calls_setup *setup, const struct spaces *s, size_t i,
           size_t n_orders, const char *title, struct err *err)
{
    enum plugin_kind kind = setup->plugin->kind;

    for (size_t k = 0; k < n_orders; k++) {
        char order[LENGTH + 1];
        int rc;

        make_order(kind, i * RANDOM_ORDERS + k, order);
        if (kind == PLUGIN_ASSESSOR)
            rc = assessor_order(setup, order, err);
        else
            rc = tuner_order(setup, order, title, s->at[i].space,
                             s->at[(i + 1) % s->n].space, err);
        if (rc != 0)
            return -1;
    }
    return 0;
}

static int
run(const struct calls_setup *setup, const struct spaces *s, size_t i,
    const char *title, struct err *err)
{
    if (setup->plugin->kind == PLUGIN_ASSESSOR
            ? assessor_orders(setup, err) != 0
            : tuner_orders(setup, title, s->at[i].space,
                           s->at[(i + 1) % s->n].space, err) != 0)
        return -1;
    return run_random(setup, s, i, RANDOM_ORDERS, title, err);
}

static int
compare(struct buf *plain, struct buf *saved, struct err *err)
{
    if (buf_check(plain, "answers", err) != 0 ||
        buf_check(saved, "answers", err) != 0)
        return -1;
    if (answers_compare(buf_text(plain), buf_text(saved), err) == 0)
        return 0;
    return err_place(err, "it answers otherwise after save, or after load of "
                          "what was saved");
}

static int
run_twice(const struct calls_setup *plain, const struct spaces *s, size_t i,
          struct err *err)
{
    struct calls_setup first = *plain, second = *plain;
    struct buf answers[2];
    char title[160];
    int rc;

    snprintf(title, sizeof title, "%s%s%s", s->at[i].title,
             plain->mood == INNER_GIVES ? "" : ", ",
             inner_mood_text(plain->mood));
    buf_init(&answers[0], ANSWERS_MAX);
    buf_init(&answers[1], ANSWERS_MAX);
    first.answers = &answers[0];
    second.answers = &answers[1];
    second.saving = CALLS_SAVED;
    second.saving_every = 2;
    rc = run(&first, s, i, title, err) == 0 &&
                 run(&second, s, i, title, err) == 0
             ? compare(&answers[0], &answers[1], err)
             : -1;
    buf_fini(&answers[0]);
    buf_fini(&answers[1]);
    return rc;
}

static int
run_damaged(const struct calls_setup *plain, const struct spaces *s, size_t i,
            struct err *err)
{
    struct calls_setup setup = *plain;

    setup.saving = CALLS_DAMAGED;
    setup.saving_every = 6;
    return run_random(&setup, s, i, 1, s->at[i].title, err);
}

/* Around a layer that does not always give a point, two spaces will do; an
 * assessor, which has none, gets other random orders each time. */
int
saving_check(const struct calls_setup *plain, const struct spaces *spaces,
             struct err *err)
{
    enum plugin_kind kind = plain->plugin->kind;
    int moods = kind == PLUGIN_FILTER ? INNER_MOODS : 1;
    size_t n = kind == PLUGIN_ASSESSOR ? 4 : spaces->n;

    for (int mood = 0; mood < moods; mood++) {
        struct calls_setup setup = *plain;

        setup.mood = (enum inner_mood)mood;
        for (size_t i = 0; i < (mood == INNER_GIVES ? n : 2); i++)
            if (run_twice(&setup, spaces, i, err) != 0 ||
                run_damaged(&setup, spaces, i, err) != 0)
                return -1;
    }
    return 0;
}
