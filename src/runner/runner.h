/* SPDX-License-Identifier: MIT */
/* runner.h - what carries out the phases of trials (prepareCommand's and
 * trialCommand's): one kind for each platform of config/platform.h, each in
 * a folder beside this file.  A kind gets a folder whose files are made
 * (trial/files.h), a command and an environment; what the trial is for, how its
 * end is judged and what follows from that it never learns.  One thread. */
#ifndef RUNNER_RUNNER_H
#define RUNNER_RUNNER_H

#include "config/platform.h"
#include "trial/outcome.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;
struct cluster;
struct err;
struct jval;
struct machines;
struct run;
struct runner;
struct trial;
struct wishes;

/* What a kind can.  An experiment that wants memory or devices which its kind
 * cannot give is refused (manager/launch.h). */
enum {
    RUNNER_CHECKPOINTS = 1, /* trials find the experiment's checkpoints, and
                               save there; else they are given no such place */
    RUNNER_MEMORY = 2,      /* trialMemory: a trial is kept to it */
    RUNNER_DEVICES = 4,     /* trialGpuNumber: a trial has them to itself */
    RUNNER_PROGRAMS = 8,    /* a phase is a program with an environment; else
                               prepareCommand, and what comes of programs
                               alone, are not had */
    RUNNER_LASTS = 16,      /* who runs a trial goes on when its manager is
                               told to stop: the next one adopts it */
    RUNNER_ELSEWHERE = 32,  /* trials are on other machines, where it finds
                               memory and devices for them itself */
};

struct runner_setup {
    const char *program_folder; /* of tunepipe's programs; borrowed, as are
                                   that of its Python package, NULL: none, */
    const char *python_folder, *code_folder; /* and that of trials' code */
    int64_t grace_ms;    /* between a trial's SIGTERM and its SIGKILL */
    int64_t adopt_ms;    /* how long trials here go on without a
                            manager; 0: as the kind has it */
    bool synced;         /* what a run leaves is on stable storage */
    uint64_t max_output; /* bytes of each output of it; 0: no limit */
    bool resumes;        /* an experiment that had such a runner before */
    int64_t max_ms;      /* maxTrialDuration; 0: no limit */
    const struct cluster *cluster; /* what its scheduler is asked for */
    const struct wishes *wishes;
    const struct machines *machines; /* which are left out (machines.h) */
    /* Says a line to the user. */
    void (*say)(void *ctx, const char *line);
    void *ctx;
};

/* One phase of one attempt. */
struct runner_phase {
    const char *folder; /* the trial's, absolute; borrowed as long as it runs */
    bool prepares;      /* prepareCommand's, with its files in TRIAL_PREPARE */
};

struct runner_task {
    struct trial *trial; /* whose phase it is; never looked into */
    struct runner_phase phase;
    const char *parameters; /* JSON as trials are given it: without programs */
    const char *saving, *restore; /* of checkpoints; NULL: none */
    const char *cwd;
    const char *const *command; /* ends with NULL, as does env; NULL, as is
                                   env: without RUNNER_PROGRAMS */
    char *const *env;
    const char *cgroup; /* the control group it runs in; "": none, but */
    uint64_t limit;     /* each process is kept to so many bytes; 0: to none */
};

enum run_news {
    RUN_ENDED, /* to be taken by end() before the next look() */
    RUN_BEGUN, /* it was queued, and is not any more */
    RUN_FILES, /* its files may have grown, of which nothing else tells */
};

/* A phase that runs.  A kind puts its own members behind these. */
struct run {
    struct runner *runner;
    struct trial *trial;
    pid_t pid;          /* of its process on this machine; 0: it has none */
    int64_t started_ns; /* monotonic, of an adopted one; 0: not known */
    bool queued;        /* it waits for a machine, and has not begun */
    int64_t asked_ns;   /* monotonic: since when it is this manager's */
    enum run_news news; /* what look() has found */
};

struct run_end {
    struct outcome outcome;
    bool unbegun;   /* nothing was begun, for want of something that may come
                       back: it may be started again as if for the first time */
    bool again;     /* who ran it has gone, or has ended it, which tells nothing
                       of the trial, */
    char why[256];  /* and how, for people; "": nothing to tell */
    char place[96]; /* where it ran, for people; "": here */
    char unfit[200]; /* why outcome.node runs no trials, whichever; "": it does
                        or that is not known */
};

enum run_stop {
    RUN_TERMINATE, /* SIGTERM to the trial, SIGKILL after the grace; again: the
                      SIGKILL at once */
    RUN_GIVE_UP,   /* what was to do that has not: an end is to be seen soon */
};

struct runner_ops {
    const char *name; /* trainingService.platform */
    unsigned can;
    unsigned descriptors; /* what a phase costs: open files in the manager */

    /* -1: it cannot run anything here; an ERR_CONFIG is the user's to mend. */
    int (*open)(struct runner **out, const struct runner_setup *setup,
                struct err *err);
    void (*close)(struct runner *r); /* every run is ended or left before */

    /* The folder, borrowed, in which it may keep what all its runs need.  What
     * another manager has begun to start from there, and does not run yet, will
     * not.  Called once, before what follows; NULL: it needs none. */
    int (*settle)(struct runner *r, const char *folder, struct err *err);

    /* NULL: nothing of it runs.  Where err tells that something is short which
     * may come back (errno_passes()) it is asked for again. */
    struct run *(*start)(struct runner *r, const struct runner_task *task,
                         struct err *err);
    /* A phase that another manager started.  NULL: it does not run, and will
     * not come up any more. */
    struct run *(*adopt)(struct runner *r, struct trial *t,
                         const struct runner_phase *phase);
    /* Ends what is left of a phase that was lost while no manager lived. */
    void (*clear)(struct runner *r, const struct runner_phase *phase);

    /* From now on its end is told by look(); -1: not for now, as errno tells,
     * and this is to be called again. */
    int (*watch)(struct run *run);
    /* r->fd is readable: a run of which there are news.  NULL: none. */
    struct run *(*look)(struct runner *r);
    void (*stop)(struct run *run, enum run_stop how);
    /* How it ended, which has been told or is waited for; frees run.  -1: what
     * it left tells nothing that can be understood. */
    int (*end)(struct run *run, struct run_end *out, struct err *err);
    /* Lets it run on, for another manager to adopt; frees run. */
    void (*leave)(struct run *run);
    /* Where it is and what it waits for, in a line for people; NULL: here. */
    void (*describe)(const struct run *run, struct buf *out);
    /* How it would start phases, a line for people; NULL: as they stand. */
    void (*plan)(const struct runner *r, struct buf *out);
};

struct runner {
    const struct runner_ops *ops;
    int fd;        /* readable: look() has something to tell */
    uint64_t most; /* runs that there may be at a time from now on, which its
                      owner says before it calls look(); 0: not known */
};

const struct runner_ops *runner_kind(enum platform platform);

/* Settles it, where its kind does so. */
int runner_settle(struct runner *r, const char *folder, struct err *err);

/* These allow for no run, and forget the one that they free. */
void run_stop(struct run *run, enum run_stop how);
int run_end(struct run **run, struct run_end *out, struct err *err);
void run_leave(struct run **run);
pid_t run_pid(const struct run *run); /* 0: none */
/* Appends where it is, and what it waits for; nothing of one that is here. */
void run_describe(const struct run *run, struct buf *out);

/* The path of the program around a trial, to be freed; NULL: it is not there.
 */
char *runner_wrapper(const char *program_folder, struct err *err);

/* The folder of the phase's own files; to be freed.  NULL: out of memory. */
char *runner_phase_folder(const struct runner_phase *phase);

#endif
