/* SPDX-License-Identifier: MIT */
#include "dispatcher/gauge.h"

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

TEST(gauge_holds_above_the_limit_and_goes_on_at_half)
{
    struct wake w;
    struct err err;
    struct gauge g;

    CHECK_EQ(wake_open(&w, &err), 0);
    gauge_init(&g, 100, &w);
    CHECK(!gauge_holds(&g, 0));
    gauge_add(&g, 100);
    CHECK(!gauge_holds(&g, 0));
    CHECK(gauge_holds(&g, 1)); /* what the outbox holds counts, too */
    CHECK(gauge_holds(&g, 0)); /* now until half of it */
    gauge_subtract(&g, 49);
    CHECK(!signalled(&w));
    CHECK(gauge_holds(&g, 0));
    gauge_subtract(&g, 1);
    CHECK(signalled(&w));
    CHECK(!gauge_holds(&g, 0));
    gauge_subtract(&g, 1);
    CHECK(!signalled(&w)); /* nobody waits */
    wake_close(&w);
}

TEST(gauge_lets_one_thing_greater_than_the_limit_pass)
{
    struct wake w;
    struct err err;
    struct gauge g;

    CHECK_EQ(wake_open(&w, &err), 0);
    for (size_t most = 0; most < 3; most++) {
        gauge_init(&g, most, &w);
        CHECK(!gauge_holds(&g, 0));
        gauge_add(&g, 1000);
        CHECK(gauge_holds(&g, 0));
        gauge_subtract(&g, 1000);
        CHECK(signalled(&w));
        CHECK(!gauge_holds(&g, 0));
    }
    wake_close(&w);
}

#define ROUNDS 50000

struct taker {
    struct gauge *gauge;
    struct queue *queue;
};

static void *
take(void *arg)
{
    struct taker *t = arg;
    struct command *cmd = NULL;

    while ((cmd = queue_pop(t->queue, cmd)) != NULL)
        gauge_subtract(t->gauge, cmd->cost);
    return NULL;
}

/* A reader that holds and sleeps on `wake` alone is always woken. */
TEST(gauge_loses_no_wake_up)
{
    struct wake w;
    struct err err;
    struct gauge g;
    struct taker t = {&g, NULL};
    pthread_t thread;
    uint64_t state = 3;
    size_t length;

    CHECK_EQ(wake_open(&w, &err), 0);
    gauge_init(&g, 50, &w);
    t.queue = queue_new("test", &err);
    CHECK_EQ(pthread_create(&thread, NULL, take, &t), 0);
    for (int i = 1; i <= ROUNDS; i++) {
        struct chain c = {0};
        struct command *cmd = help_command((uint64_t)i);

        while (gauge_holds(&g, 0)) {
            struct pollfd p = {.fd = w.fd, .events = POLLIN};

            CHECK_EQ(poll(&p, 1, -1), 1);
            wake_drain(&w);
        }
        cmd->cost = 1 + help_below(&state, 120);
        gauge_add(&g, cmd->cost);
        chain_add(&c, cmd);
        queue_push(t.queue, &c, &length);
    }
    queue_close(t.queue);
    pthread_join(thread, NULL);
    CHECK_EQ(atomic_load(&g.bytes), 0);
    queue_free(t.queue);
    wake_close(&w);
}
