/* SPDX-License-Identifier: MIT */
/* dispatcher_state.h - what the files behind dispatcher.h share.  All of it is
 * the main thread's, but for what says otherwise.  Nobody else includes it. */
#ifndef DISPATCHER_DISPATCHER_STATE_H
#define DISPATCHER_DISPATCHER_STATE_H

#include "dispatcher/channel.h"
#include "dispatcher/dispatcher.h"
#include "dispatcher/gauge.h"
#include "dispatcher/program.h"
#include "dispatcher/proxy.h"
#include "dispatcher/router.h"
#include "dispatcher/side.h"
#include "dispatcher/worker.h"
#include "log/snapshot.h"

#include "core/wake.h"
#include "frame.h"
#include "log/lock.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct chain;
struct snapshotter;

enum phase { RUNNING, DRAINING, TERMINATING };

/* What drains the queue of one side. */
struct drain {
    struct queue *queue;
    struct worker worker;
    size_t warn_at;
    const char *letter; /* in skipped records */
};

enum companion_waits { WAITS_NOT, WAITS_FRAME, WAITS_EVENT };

/* A tuner or an assessor that is a program. */
struct companion {
    struct dispatcher *dispatcher;
    enum sender sender;
    struct side *side;
    struct proxy *proxy; /* its; NULL: that side is a plugin */
    struct program program;
    int64_t late_at_ns;  /* when its silence costs something; 0: never */
    int64_t stuck_at_ns; /* when that it reads nothing ends it; 0: never */
    uint64_t written;    /* when stuck_at_ns was set */
    int64_t kill_at_ns;  /* when its end is hastened; 0: not */
    char why[320];       /* what of it ends it; "" */
    bool hastened;       /* by us, for that */
    bool heard;          /* it has said something since the last look */
    bool failed_start;
    enum companion_waits waits; /* for the log: the input below */
    uint64_t arrival;
    struct frame frame; /* lies in the decoder */
    enum side_event event;
    char how[400];
};

/* What one read brought, from its decoding until it takes effect. */
struct inbound {
    struct routed routed;
    enum router_word word;
    enum frame_status status;
    struct err broken;
    uint64_t count; /* of frames */
    bool waits;     /* for the log */
};

/* In place of an arrival number: no command, but the place at which a worker
 * saves its side.  The worker's begin slot then says so by itself. */
#define MARKER_ARRIVAL LOCKFILE_SAVING

enum snapping_phase {
    SNAPPING_NOT,
    SNAPPING_COLLECTS, /* the workers' parts are awaited */
    SNAPPING_SYNCS,    /* what they said is not durable yet */
    SNAPPING_WRITES,
};

/* A snapshot on its way. */
struct snapping {
    enum snapping_phase phase;
    struct snapshot snapshot;
    uint32_t head_sum;          /* of the log */
    bool awaited[2];            /* by sender: its part has not come yet */
    bool unsavable[2];          /* by sender: it is not asked again */
    struct snapshotter *writer; /* NULL: none was needed yet */
};

struct dispatcher {
    const struct dispatcher_setup *setup;
    const struct log *log;
    struct session *session;
    struct channel channel;
    bool unasked; /* what is said now, nobody waits for: it is logged alone */
    struct frame_decoder decoder;
    int digits; /* of the frames, once known */
    struct logwriter *commandlog;
    struct wake wake;
    int signal_fd;
    struct outbox *outbox;
    /* The reader writes decoder and arrivals for each frame, the workers the
     * gauge for each command: not on one cache line. */
    _Alignas(64) struct gauge gauge;
    _Alignas(64) struct drain by_default, assessor;
    _Alignas(64) uint64_t arrivals;
    enum phase phase;
    enum dispatcher_end end;
    int signal_number;
    int64_t deadline_ns; /* of the stop */
    bool left; /* a worker was still at work when the grace was over */
    struct inbound inbound;
    struct snapping snapping;
    int64_t log_held_ns; /* since when the log is held up; 0: it is not */
    struct companion companions[2]; /* by sender */
    atomic_bool closing; /* tells the default worker to drop requests */
    bool closed;         /* the default worker's: it has been told */
    struct err *err;
};

/* ---- dispatcher_digits.c ---- */

/* Sets d->digits; where the setup leaves them to be detected it waits for the
 * first header.  A stream that ends, fails or makes no sense before is left
 * for the loop to judge: the digits are then FRAME_DIGITS. */
void dispatcher_settle_digits(struct dispatcher *d);

/* ---- dispatcher_flow.c ---- */

/* Reads once, then logs and routes every whole frame there is. */
void dispatcher_read(struct dispatcher *d);
/* The latter for what has been read. */
void dispatcher_take_frames(struct dispatcher *d);
/* Lets what was read take effect once it stands in the log. */
void dispatcher_take_inbound(struct dispatcher *d);
/* Everything in the outbox goes into the log, then towards the channel. */
void dispatcher_take_outbox(struct dispatcher *d);
/* Writes what can be written without blocking. */
void dispatcher_write(struct dispatcher *d);

/* ---- dispatcher_log.c ---- */

/* From here on it syncs as the setup says. */
int dispatcher_follow_log(struct dispatcher *d);

/* Whether what was collected is in the log.  If not, it is held or (then the
 * session has failed) never will be. */
bool dispatcher_log(struct dispatcher *d);
/* It never will be: d->err tells. */
void dispatcher_fail_log(struct dispatcher *d);
/* Syncs, tries again, and lets go on what waited. */
void dispatcher_tend_log(struct dispatcher *d);
/* Whether nothing more may be read. */
bool dispatcher_log_holds(const struct dispatcher *d);
/* A stop: what is held was never taken in.  Also what waits for it. */
void dispatcher_take_back(struct dispatcher *d);
/* The last words, and all of it on stable storage. */
void dispatcher_close_log(struct dispatcher *d, const char *how);
/* ---- dispatcher_snapshot.c ---- */

/* Begins a new segment, and a snapshot, when it is time to. */
void dispatcher_rotate(struct dispatcher *d);
/* Lets a snapshot come on. */
void dispatcher_tend_snapshot(struct dispatcher *d);
/* A side's part has come out of the outbox. */
void dispatcher_take_part(struct dispatcher *d, const struct emission *e);
/* For the workers: whether this is the place to save their side, and doing
 * so. */
bool dispatcher_is_marker(const struct command *cmd);
void dispatcher_save_side(struct dispatcher *d, enum sender side);
/* Behind the loop. */
void dispatcher_end_snapshot(struct dispatcher *d);

/* ---- dispatcher_resume.c ---- */

/* Takes over what setup->resume has: before any thread runs. */
int dispatcher_resume(struct dispatcher *d);

/* ---- dispatcher_program.c ---- */

#define COMPANION_POLLS 3 /* descriptors of a companion */

/* Starts the programs; before any thread. */
int dispatcher_start_programs(struct dispatcher *d);
/* In a session that goes on none is started before it is needed: the one that
 * ran before is gone. */
void dispatcher_leave_programs(struct dispatcher *d);
/* Whether commands of that side are a program's: all are handled at once. */
bool dispatcher_has_program(const struct dispatcher *d, enum sender side);
/* Handles and frees them. */
void dispatcher_tell_program(struct dispatcher *d, enum sender side,
                             struct chain *chain);
/* Fills fds[2 * COMPANION_POLLS]. */
void dispatcher_poll_programs(struct dispatcher *d, struct pollfd *fds);
/* Reads, writes and looks at the time. */
void dispatcher_serve_programs(struct dispatcher *d, const struct pollfd *fds);
/* What they said that waited for the log takes effect, or never was. */
void dispatcher_go_on_programs(struct dispatcher *d);
void dispatcher_forget_programs(struct dispatcher *d);
/* Bytes that wait to be read, or answered, by them. */
size_t dispatcher_program_bytes(const struct dispatcher *d);

/* What befalls it becomes an input. */
void companion_event(struct companion *c, enum side_event event,
                     const char *how);
/* Ends it, because of what stands in c->why. */
void companion_hasten(struct companion *c);

/* ---- dispatcher_program_time.c ---- */

/* What its silence costs by now. */
void companion_look(struct companion *c, int64_t now);
/* The next time to look; 0: none. */
int64_t dispatcher_program_time(const struct dispatcher *d);

/* ---- dispatcher_program_end.c ---- */

/* Whether nothing is read from them: a flood of what they send is held like
 * the manager's. */
bool dispatcher_holds_programs(const struct dispatcher *d);
/* In a stop: asks them to end; whether they have. */
bool dispatcher_end_programs(struct dispatcher *d);
/* When a stop takes too long; whether one was at work. */
bool dispatcher_kill_programs(struct dispatcher *d);
/* Kills what is left of them. */
void dispatcher_free_programs(struct dispatcher *d);

/* ---- dispatcher_stop.c ---- */

/* Begins a stop, or makes it a harder one. */
void dispatcher_stop(struct dispatcher *d, enum phase phase,
                     enum dispatcher_end end);
/* The same for a failure: d->err is set; the peer is told where the wire has a
 * word for it. */
void dispatcher_fail(struct dispatcher *d, enum phase phase);
/* Another dispatcher wants the log: it has it when our manager is gone. */
void dispatcher_answer(struct dispatcher *d);
/* Behind the loop: records what was left, and the end. */
void dispatcher_record_end(struct dispatcher *d);

#endif
