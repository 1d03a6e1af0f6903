/* SPDX-License-Identifier: MIT */
/* client.h - the runner of trials that programs of the user's ask for: nothing
 * is started here.  Who is given a trial, and what becomes of it, is told by
 * whoever serves those programs (manager/study.h).
 *
 * A trial belongs to the process that has asked for it, and when that is gone
 * it is for another one; one that belongs to nobody stays until it is told.
 * A process may have several clients, each of a number of its own.
 * Trials have no files here: a ledger tells another manager whose they are. One
 * thread. */
#ifndef RUNNER_CLIENT_CLIENT_H
#define RUNNER_CLIENT_CLIENT_H

#include "runner/runner.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

/* Whose a trial is. */
struct client_owner {
    pid_t pid;       /* 0: nobody's */
    uint64_t number; /* of the client in its process; 0: it has none */
};

/* The server of those who ask. */
struct client_server {
    /* Takes one that waits for a trial.  False: nobody waits. */
    bool (*take)(void *ctx, struct client_owner *asker);
    /* The one that was taken is given the trial. */
    void (*give)(void *ctx, const struct runner_task *task);
    /* The one that was taken has no process any more, and gets none. */
    void (*refuse)(void *ctx, const char *why);
    void *ctx;
    /* A file: who was given what, a line each, which begins with its LF: the
     * last part of the trial's folder; process id and start of who has asked
     * (process_start()), 0 0: nobody's, -1 0: nobody has it any more;
     * CLOCK_REALTIME; the client's number, which is 0 where it is missing. */
    const char *ledger; /* borrowed */
};

/* Before the first run begins.  -1: there can be no ledger. */
int client_serve(struct runner *r, const struct client_server *server,
                 struct err *err);

/* The trial has ended: well, or it has failed, and `failed` tells why in a
 * line; `again`: it is to be tried by whoever asks.  Whoever tells this ends
 * it, by run_end(). */
void client_end(struct run *run, const char *failed, bool again);
/* It is given back: run_end() ends it as if its process had gone. */
void client_give_back(struct run *run);
/* Whether it may be told anything: it has not ended. */
bool client_is_open(const struct run *run);
struct client_owner client_owner(const struct run *run);

#endif
