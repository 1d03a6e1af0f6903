/* SPDX-License-Identifier: MIT */
#include "dispatcher/outbox.h"

#include "core/wake.h"
#include "dispatcher_help.h"

#include <poll.h>
#include <pthread.h>

static bool
signalled(const struct wake *w)
{
    struct pollfd p = {.fd = w->fd, .events = POLLIN};
    bool is = poll(&p, 1, 0) == 1;

    wake_drain(w);
    return is;
}

static struct emission
emission(uint64_t cause, const char *payload)
{
    return (struct emission){.cause = cause,
                             .code = CMD_NEW_TRIAL,
                             .payload = payload,
                             .len = strlen(payload)};
}

TEST(outbox_is_a_fifo_that_copies)
{
    struct wake w;
    struct err err;
    struct outbox *o;
    struct emission *f, *next;
    char text[] = "one";
    struct emission e;

    CHECK_EQ(wake_open(&w, &err), 0);
    o = outbox_new(&w, &err);
    CHECK(o != NULL);
    e = emission(1, text);
    outbox_add(o, &e);
    memset(text, 'x', 3);
    e = emission(2, "");
    outbox_emitter(o).emit(outbox_emitter(o).ctx, &e);
    CHECK(outbox_bytes(o) >= 3 + 2 * sizeof *f);
    f = outbox_take_all(o);
    CHECK_EQ(outbox_bytes(o), 0);
    CHECK_EQ(f->cause, 1);
    CHECK(f->len == 3 && memcmp(f->payload, "one", 3) == 0);
    next = f->next;
    CHECK_EQ(next->cause, 2);
    CHECK_EQ(next->len, 0);
    CHECK(next->next == NULL);
    free(next);
    free(f);
    CHECK(outbox_take_all(o) == NULL);
    CHECK(!outbox_failed(o));
    outbox_free(o);
    outbox_free(NULL);
    wake_close(&w);
}

TEST(outbox_wakes_when_it_stops_being_empty)
{
    struct wake w;
    struct err err;
    struct outbox *o;
    struct emission *f;
    struct emission e = emission(1, "x");

    CHECK_EQ(wake_open(&w, &err), 0);
    o = outbox_new(&w, &err);
    CHECK(!signalled(&w));
    outbox_add(o, &e);
    CHECK(signalled(&w));
    outbox_add(o, &e); /* the writer has not come by yet */
    CHECK(!signalled(&w));
    f = outbox_take_all(o);
    free(f->next);
    free(f);
    outbox_add(o, &e);
    CHECK(signalled(&w));
    outbox_free(o); /* and what is in it */
    wake_close(&w);
}

#define EACH 30000

struct adder {
    pthread_t thread;
    struct outbox *outbox;
    enum sender sender;
};

static void *
run_adder(void *arg)
{
    struct adder *s = arg;

    for (uint64_t i = 0; i < EACH; i++) {
        struct emission e = emission(i, "payload");

        e.sender = s->sender;
        outbox_add(s->outbox, &e);
    }
    return NULL;
}

/* A reader that sleeps on `wake` alone gets everything, in order. */
TEST(outbox_loses_no_wake_up)
{
    struct adder s[2] = {{.sender = SENDER_DEFAULT},
                         {.sender = SENDER_ASSESSOR}};
    uint64_t seen[2] = {0};
    struct wake w;
    struct err err;
    struct outbox *o;

    CHECK_EQ(wake_open(&w, &err), 0);
    o = outbox_new(&w, &err);
    for (int i = 0; i < 2; i++) {
        s[i].outbox = o;
        CHECK_EQ(pthread_create(&s[i].thread, NULL, run_adder, &s[i]), 0);
    }
    while (seen[0] + seen[1] < 2 * EACH) {
        struct pollfd p = {.fd = w.fd, .events = POLLIN};
        struct emission *next;

        CHECK_EQ(poll(&p, 1, -1), 1);
        wake_drain(&w);
        for (struct emission *f = outbox_take_all(o); f != NULL; f = next) {
            next = f->next;
            CHECK_EQ(f->cause, seen[f->sender]++);
            free(f);
        }
    }
    pthread_join(s[0].thread, NULL);
    pthread_join(s[1].thread, NULL);
    CHECK_EQ(outbox_bytes(o), 0);
    outbox_free(o);
    wake_close(&w);
}
