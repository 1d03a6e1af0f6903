/* SPDX-License-Identifier: MIT */
/* study.h - an experiment whose trials are run by those who ask for them
 * (runner/client/client.h): clients of the control socket that ask, tell and
 * report.  So many trials run at a time as were asked for.  Inside src/manager
 * only; one thread. */
#ifndef MANAGER_STUDY_H
#define MANAGER_STUDY_H

#include "core/list.h"
#include "manager/attempt_end.h"
#include "manager/trial.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct control_commands;
struct control_connection;
struct control_server;
struct dispatcher;
struct err;
struct experiment;
struct experiment_end;
struct experiment_folder;
struct launch;
struct live;
struct manager_options;
struct placing;
struct reading;
struct running;
struct scheduler;
struct trial;

#define STUDY_CLIENTS_MAX 1024 /* where the limit of open files allows it */

struct study {
    const struct experiment *x;
    const struct manager_options *options;
    const struct launch *launch;
    struct control_server *control;
    const struct dispatcher *dispatcher;
    const struct experiment_folder *folder;
    struct experiment_end *end;
    struct live *live;
    struct placing *placing;
    struct reading *reading;
    struct running *running;
    struct scheduler *scheduler;

    bool serves;         /* there are such trials */
    struct list asks;    /* who waits for a trial, in the order of asking */
    struct list gives;   /* who gets one when the round is settled */
    struct list reports; /* who waits for the answer to a report */
    struct list tells;   /* who waits until a trial's end is on record */
    char *ledger;        /* runner/client/client.h */
    size_t n_asks;
    uint64_t n_sources; /* of subscriptions */
    bool told;          /* that it is ready */
    bool lingers;       /* nobody has come yet, or each for a moment */
    bool idle;          /* for want of clients: it ends */
    bool stopped;       /* by a client, who told all others to stop */
    int64_t idle_ns;    /* when it will be idle, if nobody uses it before; 0:
                           not yet known */
    uint64_t n_uses;    /* control->n_uses when idle_ns was set */
};

/* The runner is open: serves where it is of that kind.  `folder`: the
 * experiment's. */
int study_open(struct study *s, const char *folder, struct err *err);
/* Whoever waits is not answered any more. */
void study_close(struct study *s);

/* Appends who has a trial that was asked for. */
void study_explain(const struct trial *t, struct buf *out);

/* The commands of the socket: tunepipe-study(7) tells what each takes. */
struct control_commands study_commands(struct study *s);

/* `from` stops the study: who asks is told so, now and by this server. */
void study_stop(struct study *s, const struct control_connection *from);

/* What a subscription's source has, that is none of an event's listener's. */
#define STUDY_SOURCE ((uint64_t)1 << 63)
/* Its client has gone. */
void study_cancel(struct study *s, uint64_t source);

/* Of any trial: ctx is the study. */
attempt_end_hear study_hear_end;

/* Before trials are started: how many may be; and behind it: who can be
 * answered by then is. */
void study_count(struct study *s);
void study_settle(struct study *s);

/* Once the dispatcher takes trials, whoever has started it is told. */
void study_ready(struct study *s);
/* When nobody will have used it for a while, monotonic; INT64_MAX: somebody
 * does, or it does not end for that.  Then it ends, and trials that are given
 * out stay so. */
int64_t study_deadline(struct study *s, int64_t now_ns);
void study_expire(struct study *s, int64_t now_ns);
/* It goes on for its clients, though there may be nothing left to try. */
bool study_holds(const struct study *s);

#endif
