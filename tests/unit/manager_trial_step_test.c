/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "manager/trial_step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BIT(state) (1u << (state))

/* As the manual page calls them. */
static const char *const state_names[] = {
    [TRIAL_WAITING] = "waiting",
    [TRIAL_COPYING] = "waiting, copying",
    [TRIAL_PREPARING] = "preparing",
    [TRIAL_PREPARE_ENDED] = "preparing, ended",
    [TRIAL_PREPARED] = "prepared",
    [TRIAL_RUNNING] = "running",
    [TRIAL_RUN_ENDED] = "running, ended",
    [TRIAL_INTERRUPTED] = "interrupted",
};

static const char *const event_names[TRIAL_EVENTS] = {
    [TRIAL_ON_COPY] = "its checkpoint is copied",
    [TRIAL_ON_COPIED] = "that ends",
    [TRIAL_ON_PREPARE] = "prepareCommand starts",
    [TRIAL_ON_PREPARED] = "that ends well",
    [TRIAL_ON_RUN] = "trialCommand starts",
    [TRIAL_ON_EXIT] = "that ends",
    [TRIAL_ON_STOP] = "assessor",
    [TRIAL_ON_SET_ASIDE] = "tuner",
    [TRIAL_ON_LIMIT] = "limit",
    [TRIAL_ON_CANCEL] = "user",
    [TRIAL_ON_INTERRUPT] = "manager",
    [TRIAL_ON_LEFT] = "manager, its client goes on",
    [TRIAL_ON_DONE] = "says it is done",
    [TRIAL_ON_DEFIANCE] = "reports on",
    [TRIAL_ON_GIVE_UP] = "no place for good",
    [TRIAL_ON_END] = "its files are read",
};

static const char *
name_of(int state)
{
    return (size_t)state < sizeof state_names / sizeof *state_names &&
                   state_names[state] != NULL
               ? state_names[state]
               : trial_state_name((enum trial_state)state);
}

static struct trial_step
look(int state, int event)
{
    struct trial t = {.state = (enum trial_state)state,
                      .stop =
                          event == TRIAL_ON_DEFIANCE ? STOP_PAUSE : STOP_NOT};

    return trial_step(&t, (enum trial_event)event);
}

static bool
is_alike(struct trial_step a, struct trial_step b)
{
    return a.to == b.to && a.effects == b.effects;
}

static void
add_next(struct buf *out, struct trial_step step)
{
    const unsigned ends = BIT(TRIAL_INTERRUPTED) - BIT(TRIAL_SUCCEEDED);
    const char *separator = " --> ";

    if (step.to == ends) {
        buf_add_text(out, " --> any end but interrupted\n");
        return;
    }
    for (int state = 0; state < TRIAL_STATES; state++)
        if (step.to & BIT(state)) {
            buf_printf(out, "%s%s", separator, name_of(state));
            separator = "; ";
        }
    if (step.to == 0)
        buf_add_text(out, step.effects & (TRIAL_PRESS | TRIAL_TERMINATE)
                              ? " it is told to end"
                              : " it is judged by that");
    buf_add_char(out, '\n');
}

/* The table, a line for each state and the events that lead to the same. */
static void
draw(struct buf *out)
{
    for (int state = 0; state < TRIAL_STATES; state++) {
        char name[40];
        bool shown[TRIAL_EVENTS] = {false};

        snprintf(name, sizeof name, "%s\n", name_of(state));
        for (int event = 0; event < TRIAL_EVENTS; event++) {
            struct trial_step step = look(state, event);
            char events[200] = "";

            if (shown[event] || (step.to | step.effects) == 0)
                continue;
            for (int other = event; other < TRIAL_EVENTS; other++) {
                struct trial_step next = look(state, other);

                if (next.to != step.to ||
                    (step.to == 0 && !(step.effects & TRIAL_PRESS) !=
                                         !(next.effects & TRIAL_PRESS)) ||
                    (next.to | next.effects) == 0)
                    continue;
                shown[other] = true;
                snprintf(events + strlen(events),
                         sizeof events - strlen(events), "%s%s",
                         events[0] != '\0' ? ", " : "", event_names[other]);
            }
            buf_printf(out, "%s  %-37s", name, events);
            add_next(out, step);
            name[0] = '\0';
        }
    }
}

TEST(manager_trial_step_is_the_diagram_of_the_manual)
{
    const char *source = getenv("TP_SOURCE");
    struct buf drawn, page;
    struct err err = {0};
    char path[4096];

    buf_init(&drawn, 1 << 16);
    buf_init(&page, 1 << 20);
    draw(&drawn);
    CHECK(source != NULL);
    snprintf(path, sizeof path, "%s/src/cli/man/tunepipe-run.1",
             source != NULL ? source : ".");
    CHECK_EQ(file_read(path, 1 << 20, &page, &err), 0);
    CHECK_HAS(buf_text(&page), buf_text(&drawn));
    buf_fini(&drawn);
    buf_fini(&page);
}

/* What is done of a reason to end, by the state: the bits of trial_effect, in
 * their order, as letters. */
TEST(manager_trial_step_does_what_the_state_asks_for)
{
    static const struct {
        enum trial_state state;
        const char *stop, *set_aside, *limit, *cancel, *interrupt;
    } rows[] = {
        {TRIAL_WAITING, "s", "s", "", "c", "l"},
        {TRIAL_COPYING, "s", "s", "", "c", "l"},
        {TRIAL_PREPARING, "rp", "rp", "rp", "rp", "rp"},
        {TRIAL_PREPARE_ENDED, "", "", "", "rh", "l"},
        {TRIAL_PREPARED, "s", "s", "", "c", "l"},
        {TRIAL_RUNNING, "frhp", "rhp", "frp", "frp", "frhp"},
        {TRIAL_RUN_ENDED, "rh", "rh", "", "rh", "l"},
        {TRIAL_SUCCEEDED, "", "", "", "", ""},
        {TRIAL_INTERRUPTED, "", "", "", "", ""},
    };
    static const char letters[] = "frhptscl";

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const want[] = {rows[i].stop, rows[i].set_aside,
                                    rows[i].limit, rows[i].cancel,
                                    rows[i].interrupt};

        for (int e = 0; e < 5; e++) {
            unsigned does = look((int)rows[i].state, TRIAL_ON_STOP + e).effects;
            char got[sizeof letters] = "";

            for (size_t bit = 0; letters[bit] != '\0'; bit++)
                if (does & (1u << bit))
                    got[strlen(got)] = letters[bit];
            CHECK_STR(got, want[e]);
        }
    }
}

TEST(manager_trial_step_keeps_the_first_reason_to_end)
{
    static const struct trial_step nothing;
    struct trial t = {.state = TRIAL_RUNNING, .stop = STOP_ASSESSOR};

    for (int event = TRIAL_ON_STOP; event <= TRIAL_ON_INTERRUPT; event++)
        CHECK(is_alike(trial_step(&t, (enum trial_event)event), nothing));
    t.stop = STOP_INTERRUPT; /* any other takes its place */
    for (int event = TRIAL_ON_STOP; event <= TRIAL_ON_CANCEL; event++)
        CHECK(trial_step(&t, (enum trial_event)event).effects & TRIAL_RECORD);
    CHECK(is_alike(trial_step(&t, TRIAL_ON_INTERRUPT), nothing));
    t.state = TRIAL_RUN_ENDED; /* it is left, whatever was to become of it */
    for (t.stop = STOP_NOT; t.stop < STOP_REASONS; t.stop++)
        CHECK_EQ(trial_step(&t, TRIAL_ON_INTERRUPT).effects, TRIAL_LEAVE);
}

TEST(manager_trial_step_presses_whoever_does_not_end)
{
    struct trial t = {.state = TRIAL_RUNNING, .stop = STOP_PAUSE};

    CHECK_EQ(trial_step(&t, TRIAL_ON_DEFIANCE).effects, TRIAL_TERMINATE);
    t.stop = STOP_ASSESSOR; /* it may not have read its answer yet */
    CHECK_EQ(trial_step(&t, TRIAL_ON_DEFIANCE).effects, 0);
    CHECK_EQ(trial_step(&t, TRIAL_ON_CANCEL).effects, 0);
    t.due[TRIAL_DUE_TERM].place = 1; /* it was given time to end by itself */
    CHECK_EQ(trial_step(&t, TRIAL_ON_CANCEL).effects, TRIAL_TERMINATE);
    CHECK_EQ(trial_step(&t, TRIAL_ON_LIMIT).effects, 0);
    t.state = TRIAL_RUN_ENDED;
    CHECK_EQ(trial_step(&t, TRIAL_ON_CANCEL).effects, 0);
}

TEST(manager_trial_step_leads_from_no_end)
{
    for (int from = TRIAL_SUCCEEDED; from < TRIAL_STATES; from++)
        for (int event = 0; event < TRIAL_EVENTS; event++) {
            CHECK_EQ(look(from, event).to, 0);
            CHECK_EQ(look(from, event).effects, 0);
        }
    for (int stop = STOP_NOT + 1; stop < STOP_REASONS; stop++) {
        int event = (int)trial_event_of((enum trial_stop)stop);

        CHECK(event >= TRIAL_ON_STOP && event <= TRIAL_ON_INTERRUPT);
    }
}
