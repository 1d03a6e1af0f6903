/* SPDX-License-Identifier: MIT */
/* hooks.h - the commands of the configuration's key `on`, run when what they
 * wait for happens.
 *
 * A command is run by /bin/sh -c in the folder that the trials run in, with
 *
 *   TUNEPIPE_EVENT           trial.ended, ...
 *   TUNEPIPE_EVENT_JSON      what is known of it; not set above HOOK_JSON_MAX
 *                            bytes
 *   TUNEPIPE_TRIAL_ID        of an event of a trial
 *   TUNEPIPE_VALUE           of an event with a value
 *   TUNEPIPE_EXPERIMENT_DIR  the experiment's folder
 *
 * and the same JSON as a line on its standard input.  What it writes goes into
 * hooks.log.  Commands start in the order of the events, so many at a time as
 * is allowed; up to HOOK_QUEUE_MAX calls of each wait, more are dropped and
 * counted.  Of a command that fails or takes too long (then its process group
 * is killed) the first time is told at once and the rest is counted.
 *
 * No call is ever made twice: one that a manager had not begun when it died,
 * is lost.
 *
 * One thread. */
#ifndef MANAGER_HOOKS_H
#define MANAGER_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call;
struct err;
struct events;
struct experiment;
struct hook;

#define FOLDER_HOOKS_LOG "hooks.log"
#define HOOK_QUEUE_MAX 1000
#define HOOK_JSON_MAX ((size_t)100000)

struct hooks_of {
    const struct experiment *x; /* all are borrowed */
    const char *folder;         /* the experiment's, absolute */
    const char *program_folder; /* comes first in PATH; may be NULL */
    void (*warn)(void *ctx, const char *text); /* one line */
    void *ctx;
};

struct hooks {
    struct hooks_of of;
    struct hook *all;
    size_t n;
    struct call *waiting, **end; /* in the order of the events */
    struct call *running;
    size_t n_running;
    int poll_fd; /* readable: hooks_take(); -1: there are no hooks */
    int log_fd;
};

/* Registers its hooks with the bus; with none nothing is opened.  On failure
 * hooks_close() is still to be called; it is not before hooks_init(). */
void hooks_init(struct hooks *h);
int hooks_open(struct hooks *h, const struct hooks_of *of, struct events *bus,
               struct err *err);
/* Kills what runs. */
void hooks_close(struct hooks *h);

/* Commands have ended. */
void hooks_take(struct hooks *h);
/* Starts what may start; kills what takes too long. */
void hooks_go(struct hooks *h, int64_t now_ns);
int64_t hooks_deadline(const struct hooks *h); /* or INT64_MAX */
/* Something runs or waits. */
bool hooks_busy(const struct hooks *h);
/* Forgets what waits and kills what runs. */
void hooks_give_up(struct hooks *h);
/* A line for each hook that failed more than once, or lost calls. */
void hooks_say(struct hooks *h);

#endif
