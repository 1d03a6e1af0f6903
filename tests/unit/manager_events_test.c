/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/err.h"
#include "json.h"
#include "manager/events.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* What a listener of these tests does when it hears something. */
struct ear {
    struct events *bus;
    const char *mark; /* appended to heard */
    char *heard;      /* of all ears, in their order */
    bool fails, emits;
    uint64_t removes; /* by number; 0: nobody */
    struct ear *adds;
    int over; /* 1 + enum events_over */
    char json[512];
};

static const struct event_field nothing[] = {EVENT_FIELDS_END};

static int
hear(void *ctx, const struct event *e, struct err *err)
{
    struct ear *ear = ctx;

    strcat(ear->heard, ear->mark);
    snprintf(ear->json, sizeof ear->json, "%s", e->json);
    if (ear->emits)
        events_emit(ear->bus, EVENT_METRIC, nothing);
    if (ear->removes != 0)
        CHECK(events_off(ear->bus, ear->removes));
    if (ear->adds != NULL)
        CHECK(events_on(ear->bus, "*", "added", hear, ear->adds, NULL) != 0);
    ear->adds = NULL;
    return ear->fails ? err_set(err, ERR_INPUT, "no ear for that") : 0;
}

static uint64_t
listen_once(struct events *b, const char *glob, struct ear *ear)
{
    return events_listen(
        b,
        &(struct events_listener){
            .glob = glob, .who = "a", .hear = hear, .ctx = ear, .times = 1},
        NULL);
}

static void
over(void *ctx, enum events_over why)
{
    struct ear *ear = ctx;

    CHECK_EQ(ear->over, 0);
    ear->over = 1 + (int)why;
}

static void
complain(void *ctx, const char *text)
{
    strcat(ctx, text);
    strcat(ctx, "\n");
}

TEST(manager_events_reach_who_listens_by_glob)
{
    char heard[64] = "";
    struct events b;
    struct ear ended = {.bus = &b, .mark = "e", .heard = heard};
    struct ear any = {.bus = &b, .mark = "t", .heard = heard};
    uint64_t id;

    events_init(&b, NULL, NULL);
    CHECK(events_on(&b, "trial.ended", "a", hear, &ended, NULL) != 0);
    id = events_on(&b, "trial.*", "b", hear, &any, NULL);
    CHECK(id != 0);
    events_emit(&b, EVENT_TRIAL_STARTED, nothing);
    events_emit(&b, EVENT_TRIAL_ENDED, nothing);
    events_emit(&b, EVENT_METRIC, nothing);
    CHECK_STR(heard, "tet");
    CHECK(events_off(&b, id));
    CHECK(!events_off(&b, id));
    events_emit(&b, EVENT_TRIAL_ENDED, nothing);
    CHECK_STR(heard, "tete");
    events_close(&b);
}

TEST(manager_events_carry_their_fields_as_json)
{
    const struct event_field fields[] = {
        EVENT_TEXT("trial", "00\"7"),
        EVENT_TEXT("why", NULL),
        EVENT_NUMBER("value", 0.5),
        EVENT_NUMBER("latest", NAN),
        EVENT_COUNT("attempt", 3),
        EVENT_BOOL("ok", true),
        EVENT_JSON("parameters", "{\"x\": [1]}"),
        EVENT_FIELDS_END,
    };
    char heard[64] = "";
    struct events b;
    struct ear ear = {.bus = &b, .mark = "x", .heard = heard};
    struct jval v, one;
    const char *text;
    struct json *doc;
    double value;

    events_init(&b, NULL, NULL);
    events_on(&b, "best", "a", hear, &ear, NULL);
    events_emit(&b, EVENT_BEST, fields);
    doc = json_parse(ear.json, strlen(ear.json), JSON_UNIQUE, NULL);
    CHECK(doc != NULL);
    v = json_root(doc);
    CHECK(jval_get(v, "event", &one) && jval_string(one, &text, NULL));
    CHECK_STR(text, "best");
    CHECK(jval_get(v, "time", &one) && jval_number(one, &value));
    CHECK(jval_get(v, "trial", &one) && jval_string(one, &text, NULL));
    CHECK_STR(text, "00\"7");
    CHECK(!jval_get(v, "why", &one));
    CHECK(jval_get(v, "value", &one) && jval_number(one, &value));
    CHECK(value == 0.5);
    CHECK(jval_get(v, "latest", &one) && jval_type(one) == JSON_NULL);
    CHECK(jval_get(v, "parameters", &one) && jval_count(one) == 1);
    json_free(doc);
    events_close(&b);
}

TEST(manager_events_cost_nothing_when_nobody_listens)
{
    char heard[64] = "";
    struct events b;
    struct ear ear = {.bus = &b, .mark = "x", .heard = heard};

    events_init(&b, NULL, NULL);
    events_emit(&b, EVENT_METRIC, NULL); /* the fields are not looked at */
    CHECK(listen_once(&b, "best", &ear) != 0);
    events_emit(&b, EVENT_METRIC, NULL);
    CHECK_EQ(b.written, 0);
    events_emit(&b, EVENT_BEST, nothing);
    CHECK_EQ(b.written, 1);
    CHECK(!events_wanted(&b, EVENT_BEST)); /* it was for once */
    events_emit(&b, EVENT_BEST, NULL);
    CHECK_EQ(b.written, 1);
    events_close(&b);
}

/* It is gone before it is called: what it emits does not come back to it. */
TEST(manager_events_once_is_once)
{
    char heard[64] = "";
    struct events b;
    struct ear once = {.bus = &b, .mark = "o", .heard = heard, .emits = true};
    struct ear on = {.bus = &b, .mark = "x", .heard = heard};

    events_init(&b, NULL, NULL);
    CHECK(listen_once(&b, "metric", &once) != 0);
    CHECK(events_on(&b, "metric", "b", hear, &on, NULL) != 0);
    events_emit(&b, EVENT_METRIC, nothing);
    CHECK_STR(heard, "oxx"); /* once; on hears the inner one, then the outer */
    events_emit(&b, EVENT_METRIC, nothing);
    CHECK_STR(heard, "oxxx");
    events_close(&b);
}

TEST(manager_events_listeners_may_come_and_go_meanwhile)
{
    char heard[64] = "";
    struct events b;
    struct ear late = {.bus = &b, .mark = "l", .heard = heard};
    struct ear first = {.bus = &b, .mark = "1", .heard = heard, .adds = &late};
    struct ear second = {.bus = &b, .mark = "2", .heard = heard};
    struct ear third = {.bus = &b, .mark = "3", .heard = heard};
    uint64_t id;

    events_init(&b, NULL, NULL);
    first.removes = 1 + events_on(&b, "*", "1", hear, &first, NULL);
    id = events_on(&b, "*", "2", hear, &second, NULL);
    CHECK_EQ(id, first.removes);
    CHECK(events_on(&b, "*", "3", hear, &third, NULL) != 0);
    events_emit(&b, EVENT_BEST, nothing);
    CHECK_STR(heard, "13"); /* 2 no more, l not yet */
    first.removes = 0;
    third.removes = 3; /* itself */
    events_emit(&b, EVENT_BEST, nothing);
    CHECK_STR(heard, "1313l");
    events_emit(&b, EVENT_BEST, nothing);
    CHECK_STR(heard, "1313l1l");
    events_close(&b);
}

TEST(manager_events_errors_are_the_listeners)
{
    char heard[64] = "", words[256] = "";
    struct events b;
    struct ear bad = {.bus = &b, .mark = "b", .heard = heard, .fails = true};
    struct ear good = {.bus = &b, .mark = "g", .heard = heard};

    events_init(&b, complain, words);
    CHECK(events_on(&b, "best", "hook best", hear, &bad, NULL) != 0);
    CHECK(events_on(&b, "best", "other", hear, &good, NULL) != 0);
    events_emit(&b, EVENT_BEST, nothing);
    events_emit(&b, EVENT_BEST, nothing);
    CHECK_STR(heard, "bgbg");
    CHECK_STR(words, "hook best: no ear for that\n"
                     "hook best: no ear for that\n");
    events_close(&b);
}

static uint64_t
wait_for(struct events *b, struct ear *ear, uint64_t times, int64_t deadline_ns)
{
    const struct events_listener l = {.glob = "trial.*",
                                      .who = "wait",
                                      .hear = hear,
                                      .over = over,
                                      .ctx = ear,
                                      .times = times,
                                      .deadline_ns = deadline_ns};

    return events_listen(b, &l, NULL);
}

TEST(manager_events_a_wait_that_is_over_leaves)
{
    char heard[64] = "";
    struct events b;
    struct ear two = {.bus = &b, .mark = "2", .heard = heard};
    struct ear late = {.bus = &b, .mark = "l", .heard = heard};
    struct ear ever = {.bus = &b, .mark = "e", .heard = heard};

    events_init(&b, NULL, NULL);
    CHECK(wait_for(&b, &two, 2, 100) != 0);
    CHECK(wait_for(&b, &late, 3, 50) != 0);
    CHECK(wait_for(&b, &ever, 1, 0) != 0);
    CHECK_EQ(events_deadline(&b), 50);
    events_emit(&b, EVENT_TRIAL_ENDED, nothing);
    CHECK_STR(heard, "2le");
    events_expire(&b, 49);
    CHECK_EQ(late.over, 0);
    events_expire(&b, 50);
    CHECK_EQ(late.over, 1 + EVENTS_TIMEOUT);
    CHECK_EQ(events_deadline(&b), 100);
    events_emit(&b, EVENT_TRIAL_ENDED, nothing);
    CHECK_STR(heard, "2le2");
    CHECK_EQ(events_deadline(&b), INT64_MAX);
    CHECK(b.first == NULL && b.wanted == 0); /* nothing is left of them */
    CHECK(wait_for(&b, &ever, 1, 0) != 0);
    events_close(&b);
    CHECK_EQ(two.over, 0); /* it has had what it waited for */
    CHECK_EQ(ever.over, 1 + EVENTS_CLOSED);
    CHECK_EQ(wait_for(&b, &two, 1, 0), 0);
}

TEST(manager_events_names_that_are_none)
{
    struct err err = {0};
    struct events b;

    events_init(&b, NULL, NULL);
    CHECK_EQ(events_on(&b, "trial.endet", "a", hear, NULL, &err), 0);
    CHECK_STR(err.text,
              "'trial.endet' is no event (did you mean 'trial.ended'?)");
    CHECK_EQ(events_on(&b, "job.*", "a", hear, NULL, &err), 0);
    CHECK_STR(err.text, "'job.*' is no event");
    CHECK_EQ(event_names_like("*", NULL), (UINT32_C(1) << EVENT_NAMES) - 1);
    for (int i = 0; i < EVENT_NAMES; i++)
        CHECK_EQ(event_names_like(event_name((enum event_name)i), NULL),
                 UINT32_C(1) << i);
    events_close(&b);
}
