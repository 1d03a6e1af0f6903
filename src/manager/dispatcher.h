/* SPDX-License-Identifier: MIT */
/* dispatcher.h - the manager's dispatcher: its process, which is started,
 * started again from its log when it dies, or given up; and what it answers.
 * Inside src/manager only. */
#ifndef MANAGER_DISPATCHER_H
#define MANAGER_DISPATCHER_H

#include "supervisor/supervisor.h"
#include "supervisor/deaths.h"
#include "manager/tail.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct checkpoints;
struct custom;
struct delivery;
struct err;
struct exchange;
struct experiment;
struct experiment_end;
struct experiment_folder;
struct frame;
struct launch;
struct live;
struct manager_options;
struct progress;
struct publish;
struct running;
struct scheduler;
struct starting;

#define DISPATCHER_SKIPS_MAX 16

enum phase {
    PHASE_STARTING, /* IN is sent, waits for ID, its answer */
    PHASE_RUNNING,
    PHASE_CLOSING, /* TE is sent, waits for the dispatcher's end */
    PHASE_DONE,
};

/* A command that its worker must not be given again. */
struct skip {
    int worker;
    uint64_t number;
};

/* A start that failed for want of something that time may bring, and is tried
 * again; a zeroed one is none. */
struct dispatcher_retry {
    bool due;
    int64_t at_ns, until_ns;
    unsigned failures; /* in a row */
};

struct dispatcher {
    const struct experiment *x;
    const struct manager_options *options;
    struct experiment_folder *folder;
    const struct launch *launch;
    const struct sources *sources;
    struct exchange *exchange;
    struct scheduler *scheduler;
    struct live *live;
    struct delivery *delivery;
    struct starting *starting;
    struct running *running;
    struct custom *custom;
    struct checkpoints *checkpoints;
    struct publish *publish;
    struct progress *progress;
    struct experiment_end *end;

    enum phase phase;
    struct supervised process;
    struct tail words; /* its standard error */
    struct dispatcher_retry retry;
    bool writable_asked;
    bool given_up;           /* it was told to end at once */
    bool waited_for_another; /* writer of the log, once */
    uint64_t log_last;       /* as the last ID of such a one told */
    struct deaths deaths;
    struct skip skips[DISPATCHER_SKIPS_MAX]; /* to be told to the next one */
    size_t n_skips;
    int64_t closing_deadline_ns;
    uint64_t
        resent; /* suggestions to come that an earlier manager may have had */
    uint64_t late; /* KI and DT for trials that had ended */
};

/* Starts a dispatcher for a new session; nothing is sent yet.  0 also where
 * that will be tried again. */
int dispatcher_start(struct dispatcher *d, struct err *err);

/* Starts a dispatcher that goes on from the log, where there is one; what is
 * sent is held until its ID comes.  0 also where that will be tried again. */
int dispatcher_resume(struct dispatcher *d, struct err *err);

/* Tries a start again that is due; where it is not to be tried any more the
 * experiment ends.  Kills one that was told TE and does not end. */
void dispatcher_expire(struct dispatcher *d, int64_t now_ns);
/* When that is due; INT64_MAX: never. */
int64_t dispatcher_deadline(const struct dispatcher *d);

/* Asks for as many trials as are wanted, and returns how many that is. */
uint64_t dispatcher_ask(struct dispatcher *d);
/* Writes what is to be sent, as far as there is room for it now. */
void dispatcher_flush(struct dispatcher *d);
/* There is nothing more for it to do: TE. */
void dispatcher_close(struct dispatcher *d);
void dispatcher_signal(struct dispatcher *d, int sig);
/* Signals a dispatcher that is closing, in whose place none is started. */
void dispatcher_give_up(struct dispatcher *d, int sig);

/* The dispatcher goes on without a search space, since the process that was to
 * accept it died: sends it again. */
void dispatcher_send_space(struct dispatcher *d);

/* Writes at what the dispatcher's workers were, as far as its lock file tells:
 * " while tuner NAME was at command N" (or the assessor, or " and" both), or "
 * was being set up"; "": at nothing. */
void dispatcher_blame(const struct dispatcher *d, char *text, size_t size);

/* The pipe of its frames is readable: takes what it answers. */
void dispatcher_read_frames(struct dispatcher *d);
/* Its standard error is readable: what it says is for people. */
void dispatcher_read_stderr(struct dispatcher *d);
/* Whether a line of it is one that people see at once. */
bool dispatcher_shows(const char *line);
/* Its process has ended: takes what it said before, and starts another one
 * where that may help. */
void dispatcher_exited(struct dispatcher *d);

#endif
