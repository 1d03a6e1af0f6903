/* SPDX-License-Identifier: MIT */
/* proxy_requests.h - a queue of requests (GE) that a tuner's program has not
 * served yet; their ids rise from the first to the last.  Each call but the
 * last two takes constant time, however long the queue is. */
#ifndef DISPATCHER_PROXY_REQUESTS_H
#define DISPATCHER_PROXY_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The ids of one GE that are neither served nor refused yet. */
struct proxy_request {
    uint64_t first, count;
    uint64_t served, failed; /* the next id is first + served + failed */
};

/* A zeroed struct proxy_requests is an empty queue. */
struct proxy_requests {
    struct proxy_request *items;
    size_t at, n, cap; /* items[at] is the oldest of n */
};

void proxy_requests_fini(struct proxy_requests *q);

/* -1: out of memory. */
int proxy_requests_push(struct proxy_requests *q, struct proxy_request r);

/* The oldest request; NULL: there is none. */
struct proxy_request *proxy_requests_first(const struct proxy_requests *q);

/* Removes the oldest request, which there is, and returns it. */
struct proxy_request proxy_requests_pop(struct proxy_requests *q);

/* Ids of the request that are neither served nor failed. */
uint64_t proxy_request_left(const struct proxy_request *r);

/* Number of ids without an answer in all requests, those that failed
 * included. */
uint64_t proxy_requests_ids(const struct proxy_requests *q);

/* Whether a request in the queue still waits for that id. */
bool proxy_requests_has(const struct proxy_requests *q, uint64_t id);

#endif
