/* SPDX-License-Identifier: MIT */
#include "dispatcher/queue.h"

#include "dispatcher_help.h"

#include <pthread.h>
#include <stdatomic.h>

static struct queue *
new_queue(void)
{
    struct err err;
    struct queue *q = queue_new("test", &err);

    CHECK(q != NULL);
    return q;
}

static bool
push(struct queue *q, uint64_t first, uint64_t n, size_t *length)
{
    struct chain c = {0};
    bool open;

    for (uint64_t i = 0; i < n; i++)
        chain_add(&c, help_command(first + i));
    open = queue_push(q, &c, length);
    CHECK(c.first == NULL && c.count == 0);
    return open;
}

static uint64_t
pop(struct queue *q)
{
    struct command *cmd = queue_pop(q, NULL);
    uint64_t arrival = cmd == NULL ? 0 : cmd->arrival;

    command_free(cmd);
    return arrival;
}

TEST(queue_pops_in_order)
{
    struct queue *q = new_queue();
    size_t length;

    CHECK(push(q, 1, 3, &length));
    CHECK_EQ(length, 3);
    CHECK_EQ(pop(q), 1);
    CHECK(push(q, 4, 1, &length));
    CHECK_EQ(length, 3);
    CHECK(push(q, 9, 0, &length)); /* nothing */
    for (uint64_t i = 2; i <= 4; i++)
        CHECK_EQ(pop(q), i);
    CHECK_STR(queue_name(q), "test");
    queue_free(q);
}

TEST(queue_closed_gives_what_it_has_and_takes_nothing)
{
    struct queue *q = new_queue();
    size_t length;

    push(q, 1, 2, &length);
    queue_close(q);
    CHECK(!push(q, 3, 2, &length)); /* freed: the leak checker looks */
    CHECK_EQ(length, 2);
    CHECK_EQ(pop(q), 1);
    CHECK_EQ(pop(q), 2);
    CHECK_EQ(pop(q), 0);
    CHECK_EQ(pop(q), 0);
    queue_free(q);
}

TEST(queue_frees_what_is_left)
{
    struct queue *q = new_queue();
    size_t length;

    push(q, 1, 100, &length);
    queue_free(q);
    queue_free(NULL);
}

TEST(queue_abandoned_tells_what_was_at_work)
{
    struct queue *q = new_queue();
    struct command *busy;
    struct chain left;
    uint64_t arrival;
    size_t length;

    push(q, 1, 3, &length);
    busy = queue_pop(q, NULL);
    left = queue_abandon(q, &arrival);
    CHECK_EQ(arrival, 1);
    CHECK_EQ(left.count, 2);
    CHECK_EQ(left.first->arrival, 2);
    CHECK_EQ(left.last->arrival, 3);
    CHECK_EQ(pop(q), 0); /* closed, and the worker is free again */
    left.first->next = NULL;
    command_free(left.first);
    command_free(left.last);
    command_free(busy);
    left = queue_abandon(q, &arrival);
    CHECK_EQ(arrival, 0);
    CHECK_EQ(left.count, 0);
    queue_free(q);
}

/* ---- threads ---- */

#define PRODUCERS 3
#define EACH 20000

struct producer {
    pthread_t thread;
    struct queue *queue;
    uint64_t base;
};

static void *
produce(void *arg)
{
    struct producer *p = arg;
    uint64_t state = p->base, sent = 0;
    size_t length;

    while (sent < EACH) {
        uint64_t n = 1 + help_below(&state, 7);

        n = n < EACH - sent ? n : EACH - sent;
        push(p->queue, p->base + sent, n, &length);
        sent += n;
    }
    return NULL;
}

/* Nothing is lost, doubled, or overtakes within its producer. */
TEST(queue_keeps_the_order_of_each_of_several_threads)
{
    struct producer p[PRODUCERS];
    uint64_t seen[PRODUCERS] = {0};
    struct queue *q = new_queue();

    for (uint64_t i = 0; i < PRODUCERS; i++) {
        p[i].queue = q;
        p[i].base = (i + 1) * 1000000;
        CHECK_EQ(pthread_create(&p[i].thread, NULL, produce, &p[i]), 0);
    }
    for (int n = 0; n < PRODUCERS * EACH; n++) {
        uint64_t arrival = pop(q), from = arrival / 1000000 - 1;

        CHECK(from < PRODUCERS);
        CHECK_EQ(arrival % 1000000, seen[from]++);
    }
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(p[i].thread, NULL);
    queue_close(q);
    CHECK_EQ(pop(q), 0);
    queue_free(q);
}

struct consumer {
    struct queue *queue;
    atomic_ullong handled; /* the last command that is done */
};

static void *
consume(void *arg)
{
    struct consumer *c = arg;
    struct command *cmd = NULL;

    while ((cmd = queue_pop(c->queue, cmd)) != NULL)
        atomic_store(&c->handled, cmd->arrival);
    return NULL;
}

/* At whatever moment a queue is abandoned, each command is handled, being
 * handled, or left: none falls between. */
TEST(queue_abandoned_in_full_run_loses_nothing)
{
    for (int round = 0; round < 300; round++) {
        struct consumer c = {.queue = new_queue()};
        struct chain left;
        struct command *next;
        pthread_t thread;
        uint64_t busy, expected, n = 200;
        size_t length;

        atomic_init(&c.handled, 0);
        CHECK_EQ(pthread_create(&thread, NULL, consume, &c), 0);
        push(c.queue, 1, n, &length);
        while (atomic_load(&c.handled) < (uint64_t)round % 100)
            continue;
        left = queue_abandon(c.queue, &busy);
        pthread_join(thread, NULL);
        expected = atomic_load(&c.handled) + 1;
        CHECK(busy == 0 || busy == expected - 1);
        CHECK_EQ(left.count, n + 1 - expected);
        for (struct command *cmd = left.first; cmd != NULL; cmd = next) {
            next = cmd->next;
            CHECK_EQ(cmd->arrival, expected++);
            command_free(cmd);
        }
        queue_free(c.queue);
    }
}
