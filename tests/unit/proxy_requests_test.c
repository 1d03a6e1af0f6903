/* SPDX-License-Identifier: MIT */
#include "dispatcher/proxy_requests.h"

#include "t.h"

static void
push(struct proxy_requests *q, uint64_t first, uint64_t count)
{
    struct proxy_request r = {.first = first, .count = count};

    CHECK_EQ(proxy_requests_push(q, r), 0);
}

TEST(proxy_requests_come_out_as_they_went_in)
{
    struct proxy_requests q = {0};
    uint64_t in = 0, out = 0;

    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 7 * round; i++)
            push(&q, in++, 1);
        for (int i = 0; i < 6 * round; i++)
            CHECK_EQ(proxy_requests_pop(&q).first, out++);
    }
    while (q.n > 0) {
        CHECK_EQ(proxy_requests_first(&q)->first, out);
        CHECK_EQ(proxy_requests_pop(&q).first, out++);
    }
    CHECK_EQ(out, in);
    CHECK(proxy_requests_first(&q) == NULL);
    proxy_requests_fini(&q);
}

/* What is served does not wait, nor do ids between two requests. */
TEST(proxy_requests_know_who_waits)
{
    struct proxy_requests q = {0};

    CHECK(!proxy_requests_has(&q, 0));
    push(&q, 3, 4);
    push(&q, 9, 1);
    proxy_requests_first(&q)->served = 1;
    proxy_requests_first(&q)->failed = 1;
    for (uint64_t id = 0; id < 12; id++)
        CHECK_EQ(proxy_requests_has(&q, id), id == 5 || id == 6 || id == 9);
    proxy_requests_pop(&q);
    CHECK(!proxy_requests_has(&q, 5));
    CHECK(proxy_requests_has(&q, 9));
    proxy_requests_fini(&q);
}

/* A million commands at once: in a time that grows with their number alone. */
TEST(proxy_requests_of_a_million)
{
    struct proxy_requests q = {0};

    for (uint64_t i = 0; i < 1000000; i++)
        push(&q, i, 1);
    for (uint64_t i = 0; i < 1000000; i++)
        CHECK_EQ(proxy_requests_pop(&q).first, i);
    CHECK_EQ(q.n, 0);
    proxy_requests_fini(&q);
}
