/* SPDX-License-Identifier: MIT */
/* agents.h - trials on agents (agent/agent.h), which others bring about: a kind
 * of runner has a struct agents in its place of a struct runner, adds agents to
 * it, connects them, and says when they are gone; what it does with trials
 * stands here.  One thread.
 *
 * A trial waits until an agent has room, and is then that agent's until it is
 * over there.  The agents' own words are lost with a channel, and come again
 * over the next one.  Where an agent is gone its trials are interrupted: not
 * before each has told its end, or can run no more. */
#ifndef RUNNER_AGENTS_AGENTS_H
#define RUNNER_AGENTS_AGENTS_H

#include "agent/ferry.h"
#include "agent/wire.h"
#include "core/list.h"
#include "core/map.h"
#include "core/wake.h"
#include "runner/runner.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AGENT_DEVICES_MAX 64

struct agents;

/* An agent, whether it is connected or not. */
struct agents_agent {
    struct link link;
    struct agents *in;
    void *of; /* the kind's */
    struct wire wire;
    struct ferry ferry; /* to it, where no folder is shared */
    struct ferry_taken taken;
    char said[400];               /* the last warning of what went over it */
    bool outdated;                /* it takes no more, and goes when it is idle
                                   */
    char place[96];               /* for people */
    char node[64];                /* its machine's name; "": not known */
    bool failed;                  /* that has, where it is gone */
    bool heard;                   /* it has said what it has, once, */
    bool ready;                   /* and has so over this channel */
    bool blank;                   /* it can have none of an earlier manager's */
    bool leaving;                 /* it takes no more trials */
    bool full;                    /* its channel is watched for room */
    int64_t opened_ns, pinged_ns; /* its channel */
    int64_t heard_ns;     /* it, last; before that: since when it is known */
    unsigned slots, used; /* trials that it has room for, and has */
    char devices[AGENT_DEVICES_MAX][64];
    unsigned n_devices;
    uint64_t devices_used; /* a bit each */
};

struct agents {
    struct runner base;
    struct runner_setup setup;
    const char *folder; /* the experiment's; borrowed */
    bool far;           /* what it holds may be seen late */
    bool apart;         /* agents do not see it: ferry.h */
    struct list agents, runs, news;
    struct map tokens, watches;
    struct wake wake;
    int timer_fd, inotify_fd;
    size_t waiting; /* runs that no agent has, */
    size_t sought;  /* those of an earlier manager, which one may have */
    bool left;      /* some run on, for another manager */
    int64_t sought_until_ns; /* an agent that was never heard of, and is gone,
                                may have some for so long */
    /* An agent's channel has ended: it is to be connected again, or to be said
     * to be gone, both later. */
    void (*lost)(struct agents_agent *g);
    /* What those that wait are waiting for; NULL: nothing is known. */
    void (*waits)(const struct agents *a, struct buf *out);
};

#define AGENTS_CLOSED                                                   \
    (struct agents)                                                     \
    {                                                                   \
        .base.fd = -1, .timer_fd = -1, .inotify_fd = -1, .wake = { -1 } \
    }

int agents_open(struct agents *a, const struct runner_setup *setup,
                struct err *err);
/* One that AGENTS_CLOSED was given to, too. */
void agents_close(struct agents *a);
/* In which experiment's folder trials are. */
void agents_settle(struct agents *a, const char *folder);
/* What makes a->base.fd readable, beside all that is here. */
int agents_watch_fd(struct agents *a, int fd, struct err *err);

/* NULL: out of memory. */
struct agents_agent *agents_add(struct agents *a, void *of, const char *place);
/* The descriptors are its own from here on. */
void agents_connect(struct agents_agent *g, int in, int out);
/* It takes no more trials, and ends when it has none. */
void agents_dismiss(struct agents_agent *g);
/* Nothing comes of it any more, and it is freed.  `lease_ms`: how long, from
 * when it was last heard of, its trials may run on; AGENTS_ORDERLY: none does,
 * as it has ended by itself. */
#define AGENTS_ORDERLY (-1)
void agents_gone(struct agents_agent *g, const char *why, int64_t lease_ms);
/* Trials that wait cannot be begun, for now. */
void agents_refuse(struct agents *a, const char *why);
/* A machine that has none of them, and why it can have none; one of those that
 * wait tells so, and waits again. */
void agents_unfit(struct agents *a, const char *node, const char *unfit,
                  const char *why);

/* Takes in what has come, and gives out what there is room for; true: a second
 * or more has gone by since it was that before. */
bool agents_go_on(struct agents *a);
/* How many trials have no place on the agents that are there. */
size_t agents_wanted(const struct agents *a);

/* Operations of a runner. */
struct run *agents_start(struct runner *r, const struct runner_task *task,
                         struct err *err);
struct run *agents_adopt(struct runner *r, struct trial *t,
                         const struct runner_phase *phase);
void agents_clear(struct runner *r, const struct runner_phase *phase);
int agents_watch(struct run *run);
struct run *agents_next(struct agents *a); /* of look() */
void agents_stop(struct run *run, enum run_stop how);
int agents_end(struct run *run, struct run_end *out, struct err *err);
void agents_leave(struct run *run);
void agents_describe(const struct run *run, struct buf *out);

#endif
