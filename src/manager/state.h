/* SPDX-License-Identifier: MIT */
/* state.h - what the loop holds; inside src/manager only.
 *
 *   manager.c      the loop, its deadlines, the end
 *   opening.c      what the loop needs; who hears of the ends of trials
 *   dispatcher.c   the dispatcher's process, and the frames that it sends
 *   restore.c      trials that an earlier manager left
 *   live.c         trials that have not ended
 *   coordinator.c  what is changed while it runs, and its goals
 *   placing.c      which of the waiting trials may start
 *   copying.c      checkpoints that are copied before a trial starts
 *   preparing.c    prepareCommand
 *   launch.c       the start of a trial by its runner (runner/runner.h)
 *   resources.c    memory and devices: given to trials, and waited for
 *   deadlines.c    what is due when, of all trials
 *   trial_step.c   which state of a trial follows which, and why
 *   running.c      the start, the stop and the end of a trial
 *   reading.c      trials' files: read, sent, and what was not read yet
 *   delivery*.c    when the dispatcher hears of a report: at once, in lock step
 *   checkpoints.c  what trials saved: kept, given, deleted
 *   ending.c       the end of a trial: told, recorded, shown
 *   failing.c      failed trials: retried, reported, or the run halted
 *   repeat.c       trials that ended, once more
 *   publish.c      what happens, as events for hooks and verbs
 *   hooks.c        commands that are run when it does
 *   goals.c        goals, and how near they are
 *   commands.c     what verbs ask and tell the manager
 *
 * One thread.  A trial in `live` has not ended; it is freed at its end. */
#ifndef MANAGER_STATE_H
#define MANAGER_STATE_H

#include "control/server.h"
#include "core/list.h"
#include "core/map.h"
#include "manager/budget.h"
#include "manager/checkpoints.h"
#include "manager/deadlines.h"
#include "manager/events.h"
#include "manager/exchange.h"
#include "manager/experiment_folder.h"
#include "manager/goals.h"
#include "manager/hooks.h"
#include "manager/launch.h"
#include "manager/lockstep.h"
#include "manager/progress.h"
#include "manager/resources.h"
#include "manager/run.h"
#include "manager/scheduler.h"
#include "manager/tail.h"
#include "manager/attempt_end.h"
#include "manager/trial_step.h"
#include "supervisor/deaths.h"
#include "supervisor/supervisor.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct delivery;
struct experiment;
struct manager;
struct metric_line;
struct outcome;
struct pattern;
struct run_end;
struct trial;

#define DISPATCHER_SKIPS_MAX 16
#define CLOSING_NS 15000000000 /* for the dispatcher, from TE to its end */

/* A command that its worker must not be given again. */
struct skip {
    int worker;
    uint64_t number;
};

/* What was found in the folder of an experiment that goes on. */
struct recovered {
    uint64_t finished, adopted, again;
    uint64_t resent; /* suggestions to come that it may have had */
};

enum phase {
    PHASE_STARTING, /* IN is sent, waits for ID, its answer */
    PHASE_RUNNING,
    PHASE_CLOSING, /* TE is sent, waits for the dispatcher's end */
    PHASE_DONE,
};

/* What epoll reports, besides the copies of checkpoints, which report by their
 * trials' addresses. */
enum source {
    SOURCE_SIGNAL,
    SOURCE_INOTIFY,
    SOURCE_RUNNER,
    SOURCE_FRAMES_IN,
    SOURCE_FRAMES_OUT,
    SOURCE_WORDS,
    SOURCE_DISPATCHER,
    SOURCE_HOOKS,
    SOURCE_CONTROL,
    SOURCE_RESOURCES,
    SOURCE_TRASH,
    SOURCE_COUNT
};

/* What came for trials that had ended, or for one that was told to: it is
 * counted, and told once. */
struct late {
    uint64_t stops;   /* KI and DT of the dispatcher's */
    uint64_t reports; /* a trial's own */
};

#define FAILING_TEXT_MAX 1024

/* Failures in a row; a zeroed one has seen none. */
struct failing {
    char last[FAILING_TEXT_MAX];   /* how the last one failed */
    unsigned same;                 /* so many in a row did */
    char paused[FAILING_TEXT_MAX]; /* why the experiment was paused; "": not */
    bool reminds; /* how to go on is said again when nothing runs any more */
};

/* The trials that are to be started; a zeroed one is empty. */
struct placing_queue {
    struct list trials; /* in the order of their numbers */
    bool stirred;       /* what a trial waits for may have come */
    bool warned;        /* that starts fail; until one does not */
    bool told; /* what is waited for while nothing runs; until one starts */
};

/* A start that failed for want of something that time may bring, and is tried
 * again; a zeroed one is none. */
struct dispatcher_retry {
    bool due;
    int64_t at_ns, until_ns;
    unsigned failures; /* in a row */
};

struct manager {
    const struct experiment *x;
    const struct manager_options *options;
    struct manager_outcome *outcome;
    uint64_t seed;

    struct experiment_folder folder;
    struct launch launch;
    struct exchange exchange;
    struct tail words; /* the dispatcher's standard error */
    struct supervised dispatcher;
    struct dispatcher_retry dispatcher_retry;
    bool writable_asked;
    bool dispatcher_given_up; /* it was told to end at once */
    bool waited_for_another;  /* writer of the log, once */
    uint64_t log_last;        /* as the last ID of such a one told */
    struct deaths deaths;
    struct skip skips[DISPATCHER_SKIPS_MAX]; /* to be told to the next one */
    size_t n_skips;

    struct resources resources;
    struct scheduler scheduler;
    struct lockstep lockstep;
    struct lockstep_event expected;
    const struct delivery *delivery;
    struct progress progress;
    struct control_server control; /* commands.h */
    struct pattern *pattern;       /* NULL: none */

    struct attempt_ends ends; /* who hears of them: opening.c */
    struct failing failing;
    struct checkpoints checkpoints;
    struct events events;
    struct hooks hooks;

    struct budget budget;
    struct goals goals;
    struct late late;
    struct map taken; /* parameter_ids, as JSON text, of all trials */
    struct recovered recovered;
    struct trial *live, *live_last; /* live.h */
    struct map by_number;           /* the same */
    struct placing_queue placing;   /* of these, those that wait */
    struct deadlines deadlines;     /* theirs */
    uint64_t n_trials;              /* numbers given */
    uint64_t n_running;             /* of the live ones */
    uint64_t n_preparing;           /* the same */
    uint64_t n_results;       /* trials with a final result that did not fail */
    int64_t trials_ns;        /* how long all that ended have run */
    unsigned launches_failed; /* in a row */
    struct map watches;       /* inotify's number -> struct trial */
    struct list unread;       /* trials whose files may hold more */

    int epoll_fd, signal_fd, inotify_fd;
    enum phase phase;
    bool end_known;    /* outcome->end is set, nothing is admitted any more */
    bool interrupting; /* running_interrupt_all() */
    unsigned interrupts;
    bool idle_told;              /* that nothing runs, once */
    struct deadline results_due; /* what is held of them is tried again */
    bool results_held;           /* and that was told */
    int64_t experiment_deadline_ns, closing_deadline_ns;
    int64_t idle_deadline_ns; /* to tell it; INT64_MAX: something runs */
};

/* manager.c */
/* What cannot be kept costs what is counted of it, and nothing else. */
void manager_keep_budget(struct manager *m);

/* running.c */
void running_take(struct manager *m, struct trial *t); /* takes t */
void running_start_waiting(struct manager *m);
/* There is no place for it, for good; frees t. */
void running_unplaced(struct manager *m, struct trial *t, const char *why);
/* Starting it failed: it is offered again, or freed. */
void running_unstarted(struct manager *m, struct trial *t,
                       const struct err *err);
void running_exited(struct manager *m, struct trial *t);
/* Enters the state that the event leads to, or that it was judged to come to;
 * slots are counted with it. */
void running_step(struct manager *m, struct trial *t, enum trial_event event);
void running_enter(struct manager *m, struct trial *t, enum trial_state state);
/* The processes are gone: notes when, and the time until the signal that ended
 * them, if one did, must have reached the manager, too. */
void running_ended(struct manager *m, struct trial *t);
void running_finish(struct manager *m, struct trial *t); /* may free t */
/* Judges it.  True: that was its end.  False: it is tried again, or left to the
 * next manager.  Frees t. */
bool running_end(struct manager *m, struct trial *t);
/* Whether it could not even be begun, for now: it is offered a place again, as
 * where starting it fails; t is freed then. */
bool running_unbegun(struct manager *m, struct trial *t,
                     const struct run_end *end);
/* Whether the end of the trial means nothing and no result of it is known: it
 * is lost, or was ended for want of a manager, by a signal while it had none,
 * or, in lock step, by an interruption. */
bool running_in_vain(const struct manager *m, const struct trial *t);
/* Whether the end means nothing of a trial that is found ended: the signal that
 * ended it may have ended its manager, too, before that could judge. */
bool running_unwitnessed(const struct manager *m, const struct trial *t);
/* Whether such a signal ended the trial, and its files may hold a result that
 * it reported still, as within a grace. */
bool running_unseen(const struct manager *m, const struct trial *t);
/* Starts it again as a new attempt, or leaves it where the manager has to stop;
 * frees t. */
void running_restart_or_leave(struct manager *m, struct trial *t);
/* The new attempt at t, which is not live yet; NULL: out of memory. */
struct trial *running_next(const struct manager *m, const struct trial *t);
/* It takes the place of t, which is freed. */
void running_replace(struct manager *m, struct trial *t, struct trial *next);
void running_since(struct manager *m, struct trial *t, int64_t started_ns);
#define WATCH_PAUSE_NS ((int64_t)1000 * 1000000)
/* Watches for the end of t->run: it will be seen, be it a moment later where
 * the kernel has no memory for the watch now. */
void running_watch(struct manager *m, struct trial *t);
/* It has ended for good: told, recorded, shown; t is freed. */
void running_conclude(struct manager *m, struct trial *t);
/* It is interrupted: nobody is told an end, `resume` takes it up; frees t. */
void running_leave(struct manager *m, struct trial *t);

/* Drops what is due of a trial, and counts its time: ctx is the manager. */
attempt_end_hear running_hear_end;

/* Sends the stop that is recorded. */
void running_press(struct manager *m, struct trial *t);
/* Perhaps an earlier manager did not. */
void running_press_late(struct manager *m, struct trial *t);
/* There is a reason to end; may free t. */
void running_stop(struct manager *m, struct trial *t, enum trial_stop stop);
/* Told to end by itself it has reported another intermediate result. */
void running_defied(struct manager *m, struct trial *t);
/* The manager has to stop: what runs is interrupted, what does not is left. */
void running_interrupt_all(struct manager *m);
/* It reported to be done: it is ended as one that has succeeded. */
void running_done(struct manager *m, struct trial *t);
void running_hurry_all(struct manager *m);
/* INT64_MAX: never. */
void running_due(struct manager *m, struct trial *t, int kind, int64_t at_ns);

/* opening.c */
int manager_open(struct manager *m, struct err *err);
void manager_close(struct manager *m); /* whatever is open */

/* manager.c */
int manager_watch(struct manager *m, int fd, uint32_t events, uint64_t what);
void manager_unwatch(struct manager *m, int fd);
/* Waits for events, takes them, draws the consequences. */
int manager_turn(struct manager *m, struct err *err);
/* The first reason stays; nothing is admitted any more. */
void manager_end(struct manager *m, enum manager_end end, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The user wants it to end; a second time: at once. */
void manager_interrupt(struct manager *m);
/* Wants the dispatcher to end: one that was to be started again is not. */
void manager_signal_dispatcher(struct manager *m, int sig);
/* Asks for as many trials as are wanted, and returns how many that is. */
uint64_t manager_ask(struct manager *m);
/* The parameters with this id have come. */
void manager_taken(struct manager *m, const char *parameter_id);
/* Sends NT, a note for the dispatcher's log. */
void manager_send_note(struct manager *m, const char *event,
                       const struct trial *t, const struct event_field *detail);

#endif
