/* SPDX-License-Identifier: MIT */
/* commands.h - what a running experiment can be asked and told: requests and
 * answers, one JSON object on a line each, through control.h's socket.
 *
 *   {"command": "status"}     a request; its other members are the command's
 *   {"answer": {...}}         done
 *   {"error": "TEXT"}         not done, and nothing was changed
 *
 * A new command is a row of the table in commands.c.  Whoever can tell only
 * later leaves the reply empty, keeps `asker` and calls
 * commands_answer() once.  Inside src/manager only. */
#ifndef MANAGER_COMMANDS_H
#define MANAGER_COMMANDS_H

#include "json.h"
#include "manager/control.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct err;
struct manager;
struct waiter;

struct commands {
    struct control control;
    uint64_t asker;         /* who asks at the moment */
    struct waiter *waiters; /* tunepipe wait */
    bool news;              /* since watchers were told */
    int64_t pushed_ns;      /* when they were */
};

#define COMMANDS_CLOSED            \
    {                              \
        .control = CONTROL_CLOSED, \
    }

/* Appends a JSON object to reply; -1: err tells, and nothing was changed. */
typedef int commands_answerer(struct manager *m, struct jval request,
                              struct buf *reply, struct err *err);

/* Without the socket an experiment runs on, and says so. */
void commands_open(struct manager *m);
void commands_close(struct manager *m);
void commands_serve(struct manager *m); /* somebody has come or asks */

/* The rest of a round of events: watchers are told.  Returns the monotonic
 * time when to call again, or INT64_MAX. */
int64_t commands_settle(struct manager *m, int64_t now_ns);

/* The end of what `asker` waits for; -1: who asked is gone. */
int commands_answer(struct manager *m, uint64_t asker, const char *object);

#endif
