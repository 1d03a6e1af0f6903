/* SPDX-License-Identifier: MIT */
/* resources.h - what trials are given of the machine: memory and devices
 * (struct wishes says how much).  A trial that cannot be given what it needs
 * now waits, and those behind it do not wait for it.  What each was given
 * stands in its folder, so that a later manager counts it too.  One thread.
 *
 * The machine is not looked at again before something has changed: a trial or a
 * foreign process (one that belongs to no trial) ended, or, where no event
 * tells, some time has passed. */
#ifndef MANAGER_RESOURCES_H
#define MANAGER_RESOURCES_H

#include "manager/cgroup.h"
#include "manager/devices.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct trial;
struct wishes;

#define RESOURCES_FOREIGN_MAX 64

struct resources {
    const struct wishes *wishes;
    const char *folder; /* the experiment's */
    struct devices devices;
    struct cgroup cgroup;
    bool limited, by_rlimit;
    uint64_t total, keep;  /* of the machine's memory: all, and left free */
    uint64_t available;    /* at the last look */
    uint64_t reserved;     /* by the trials that run */
    uint64_t peak;         /* the most that a trial has used */
    struct trial *holders; /* the trials that were given anything */

    uint64_t state;   /* raised when something changes */
    uint64_t looked;  /* the state when the machine was last looked at */
    uint64_t armed;   /* the state in which waiting for events began */
    uint64_t kills;   /* what machine_kills() told last, */
    int64_t kills_ns; /* and when */
    int event_fd; /* readable: resources_awake() is to be called; -1: never */
    int timer_fd;
    int64_t pause_ms; /* between two looks where no event tells */
    int foreign[RESOURCES_FOREIGN_MAX]; /* pidfds of processes of no trial */
    size_t n_foreign;
};

enum resources_answer { RESOURCES_NOW, RESOURCES_LATER };

/* -1: the machine lacks what the configuration wants (ERR_CONFIG), or cannot
 * be looked at.  `w` is borrowed. */
int resources_open(struct resources *r, const struct wishes *w,
                   struct err *err);
void resources_close(struct resources *r); /* closed ones, too */
#define RESOURCES_CLOSED               \
    (struct resources)                 \
    {                                  \
        .event_fd = -1, .timer_fd = -1 \
    }

/* The experiment has its folder, whose path is borrowed, and its id.  `said`
 * gets one line on how trials are kept to their memory, "" if they are not. */
int resources_begin(struct resources *r, const char *folder, const char *id,
                    char *said, size_t size, struct err *err);

/* Gives the trial, which is about to be started, what it needs: t->claim.  A
 * trial that is only prepared is given no devices.  RESOURCES_LATER: `why`
 * tells in one line what it waits for; "" when nothing has changed since it was
 * last asked for. */
enum resources_answer resources_claim(struct resources *r, struct trial *t,
                                      bool devices, char *why, size_t size);
/* The trial has ended: learns from its outcome how much memory it used. */
void resources_learn(struct resources *r, const struct trial *t);
/* Takes back what the trial was given, if it was given anything. */
void resources_release(struct resources *r, struct trial *t);
/* Reads from its folder what a trial was given that an earlier manager started,
 * and counts it as in use unless the trial has exited. */
void resources_adopt(struct resources *r, struct trial *t);

/* Appends what the trial waits for; nothing when it could be started. */
void resources_explain(struct resources *r, const struct trial *t, bool devices,
                       struct buf *out);

/* r->fd is readable: trials that wait may be offered a place again. */
void resources_awake(struct resources *r);

/* The trial failed by itself.  True: it did for want of memory, which t->why
 * tells and its folder records.  *again: another attempt would be given more,
 * and there were not too many such attempts yet. */
bool resources_failed(struct resources *r, struct trial *t, bool *again);

#endif
