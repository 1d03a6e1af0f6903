/* SPDX-License-Identifier: MIT */
/* hooks.h - the commands of the configuration's key `on`, each run when an
 * event that it names happens.
 *
 * A command is run by /bin/sh -c in the folder that the trials run in, with
 *
 *   TUNEPIPE_EVENT           the event's name: trial.ended, ...
 *   TUNEPIPE_EVENT_JSON      what is known of it; not set above HOOK_JSON_MAX
 *                            bytes
 *   TUNEPIPE_TRIAL_ID        the trial, of an event of a trial
 *   TUNEPIPE_VALUE           the value, of an event with one
 *   TUNEPIPE_EXPERIMENT_DIR  the experiment's folder
 *
 * and the same JSON as a line on its standard input.  What it writes goes into
 * hooks.log.  Commands start in the order of the events, as many at a time as
 * is allowed; up to HOOK_QUEUE_MAX calls of each hook wait, more are dropped
 * and counted.  The first time that a command fails, or takes too long (then
 * its process group is killed), is told at once; further times are counted.
 *
 * No call is ever made twice: one that a manager had not begun when it died is
 * lost.
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

/* What hooks need of the manager. */
struct hooks_of {
    const struct experiment *x; /* this and the folders are borrowed */
    const char *folder;         /* the experiment's, absolute */
    const char *program_folder; /* comes first in PATH; may be NULL */
    void (*warn)(void *ctx, const char *text); /* tells people one line */
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

/* Adds the hooks to the bus; where there are none nothing is opened.
 * hooks_close() is to be called after hooks_init(), also where hooks_open() has
 * failed. */
void hooks_init(struct hooks *h);
int hooks_open(struct hooks *h, const struct hooks_of *of, struct events *bus,
               struct err *err);
/* Kills what runs. */
void hooks_close(struct hooks *h);

/* poll_fd is readable: takes the ends of commands. */
void hooks_take(struct hooks *h);
/* Starts the calls that may start; kills commands that take too long. */
void hooks_go(struct hooks *h, int64_t now_ns);
/* When the next command will have taken too long, or INT64_MAX. */
int64_t hooks_deadline(const struct hooks *h);
/* Whether a call runs or waits. */
bool hooks_busy(const struct hooks *h);
/* Forgets the calls that wait and kills the commands that run. */
void hooks_give_up(struct hooks *h);
/* Says a line for each hook that failed more than once, or lost calls. */
void hooks_say(struct hooks *h);

#endif
