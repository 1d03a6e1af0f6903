/* SPDX-License-Identifier: MIT */
#include "dispatcher/proxy_requests.h"

#include "core/grow.h"

#include <stdlib.h>
#include <string.h>

void
proxy_requests_fini(struct proxy_requests *q)
{
    free(q->items);
    *q = (struct proxy_requests){0};
}

/* Makes room behind the last request: by moving all to the front, where at
 * least half of the array lies free there, so each is moved at most once on
 * average. */
static int
make_room(struct proxy_requests *q)
{
    if (q->at + q->n < q->cap)
        return 0;
    if (q->at > q->n) {
        memmove(q->items, q->items + q->at, q->n * sizeof *q->items);
        q->at = 0;
        return 0;
    }
    return GROW(q->items, q->at + q->n, q->cap);
}

int
proxy_requests_push(struct proxy_requests *q, struct proxy_request r)
{
    if (make_room(q) != 0)
        return -1;
    q->items[q->at + q->n++] = r;
    return 0;
}

struct proxy_request *
proxy_requests_first(const struct proxy_requests *q)
{
    return q->n == 0 ? NULL : &q->items[q->at];
}

struct proxy_request
proxy_requests_pop(struct proxy_requests *q)
{
    struct proxy_request r = q->items[q->at++];

    if (--q->n == 0)
        proxy_requests_fini(q);
    return r;
}

bool
proxy_requests_has(const struct proxy_requests *q, uint64_t id)
{
    size_t low = q->at, high = q->at + q->n;
    const struct proxy_request *r;

    while (low < high) { /* finds the first request behind that with the id */
        size_t mid = low + (high - low) / 2;

        if (q->items[mid].first <= id)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == q->at)
        return false;
    r = &q->items[low - 1];
    return id >= r->first + r->served + r->failed && id < r->first + r->count;
}

uint64_t
proxy_request_left(const struct proxy_request *r)
{
    return r->count - r->served - r->failed;
}

uint64_t
proxy_requests_ids(const struct proxy_requests *q)
{
    uint64_t n = 0;

    for (size_t i = 0; i < q->n; i++)
        n += q->items[q->at + i].count - q->items[q->at + i].served;
    return n;
}
