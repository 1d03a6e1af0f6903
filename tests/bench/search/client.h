/* SPDX-License-Identifier: MIT */
/* client.h - for benchmarks: the manager's side of a pipe, for trials that are
 * over as soon as one likes.  One thread. */
#ifndef BENCH_SEARCH_CLIENT_H
#define BENCH_SEARCH_CLIENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct client;
struct err;
struct json;

/* Starts argv[0]; NULL: err says why.  client_close() ends it. */
struct client *client_open(const char *const *argv, struct err *err);

/* Waits until it ended by itself.  -1: not well; err quotes its last words.
 * client_close(NULL) is fine. */
int client_close(struct client *c, struct err *err);

/* Of the process with the tuner: callgrind's when it runs under that. */
pid_t client_pid(const struct client *c);

/* Sends a search space and waits for the answer. */
int client_begin(struct client *c, const char *space, struct err *err);

/* Frames as they are, sent at the next ask. */
void client_add(struct client *c, const char *code, const char *payload);

/* Requests n trials, sent with all that was added. */
int client_request(struct client *c, size_t n, struct err *err);

/* The next trial: 1, and what the caller frees with json_free(): an object
 * with `parameters`; 0: there is none for this request; -1: err says why. */
int client_trial(struct client *c, uint64_t *id, struct json **out,
                 struct err *err);

/* Adds a final result, and the trial's end.  `value` is JSON, such as an object
 * of named numbers. */
void client_report(struct client *c, uint64_t id, const char *value);
void client_result(struct client *c, uint64_t id, double value);

/* Adds the end of a trial that failed and reported nothing. */
void client_failure(struct client *c, uint64_t id);

#endif
