/* SPDX-License-Identifier: MIT */
/* side.h - one of the two halves of a session: what answers the commands of
 * one queue.  A tuner's or an assessor's plugin with what is kept of its
 * trials around it (tuning.h, assessing.h), or a program with its proxy
 * (proxy.h).  Session, dispatcher and replay know sides by this alone:
 * another kind of side is one new file, and its line in session.c.
 *
 * One owner thread: the worker of its queue, of a program's side the
 * dispatcher's main one, or replay's.  What it answers is a function of its
 * arguments and its inputs in their order. */
#ifndef DISPATCHER_SIDE_H
#define DISPATCHER_SIDE_H

#include "core/buf.h"
#include "dispatcher/emission.h"
#include "dispatcher/policy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command;
struct err;
struct explainer;
struct frame;
struct json_writer;
struct judgement;
struct jval;
struct log;
struct parameter_id;
struct proxy;
struct tuning_view;
struct unpack;
struct viewer;

/* What befalls a program; an input, as its frames are. */
enum side_event {
    SIDE_LATE, /* it was silent for longer than the deadline */
    SIDE_GONE, /* it ended, was ended, or did not start */
    SIDE_LEFT, /* it ended with the dispatcher, which goes on */
};

/* The first member of each kind; all but `ops` is for the kinds alone. */
struct side {
    const struct side_ops *ops;
    enum sender sender;
    const struct policy *policy;
    struct emitter emitter;
    const struct log *log;
    struct buf payload;  /* of the frame being written */
    uint64_t arrival;    /* of the input being handled */
    const char *input;   /* what the input is: "GE", "its TR" */
    bool fatal;          /* `failure` ends the session */
    struct err *failure; /* NULL: nobody wants to know */
};

/* What a kind of side does; each is documented at its function below.  Only
 * `free`, `command`, `describe` and `check` are required. */
struct side_ops {
    void (*free)(struct side *s);
    int (*command)(struct side *s, const struct command *cmd, struct err *err);
    int (*frame)(struct side *s, uint64_t arrival, const struct frame *frame,
                 struct err *err);
    int (*event)(struct side *s, uint64_t arrival, enum side_event event,
                 const char *how, struct err *err);
    bool (*drops)(const struct side *s, const struct command *cmd);
    void (*close)(struct side *s);
    void (*reopen)(struct side *s);
    void (*bar)(struct side *s, bool barred);
    void (*adopt)(struct side *s, const char *payload, size_t len);
    bool (*is_set)(const struct side *s);
    bool (*waits)(const struct side *s);
    uint64_t (*owed)(const struct side *s);
    void (*see)(const struct side *s, struct tuning_view *out,
                const struct viewer *viewer);
    void (*listen)(struct side *s, const struct explainer *explainer);
    int (*save)(const struct side *s, struct buf *out, struct err *err);
    int (*load)(struct side *s, struct unpack *in, struct err *err);
    const char *(*argument)(const struct side *s, const char *name);
    void (*describe)(const struct side *s, struct json_writer *w);
    int (*check)(const struct side *s, struct jval head, struct err *err);
    struct proxy *(*proxy)(struct side *s);
};

void side_free(struct side *s); /* NULL is fine */

/* Handles one command of its queue.  -1: err says why it costs more than
 * itself: the session (policy ERROR_FAIL, or out of memory).  What costs one
 * command is told to the log and is 0. */
int side_command(struct side *s, const struct command *cmd, struct err *err);

/* Of a program's side alone (side_proxy()): handles what the program sends, or
 * what befalls it; as side_command(). */
int side_frame(struct side *s, uint64_t arrival, const struct frame *frame,
               struct err *err);
int side_event(struct side *s, uint64_t arrival, enum side_event event,
               const char *how, struct err *err);

/* "late", "gone", "left": as the log has it. */
const char *side_event_name(enum side_event event);
/* False: no such event. */
bool side_event_find(const char *name, size_t len, enum side_event *out);

/* From now on requests and owed ids are dropped: the session is ending. */
void side_close(struct side *s);
/* Whether handling cmd now would drop a request. */
bool side_drops(const struct side *s, const struct command *cmd);
/* The session goes on behind its end: what the end dropped is void. */
void side_reopen(struct side *s);

/* While barred, calls of its plugin fail at once: they ended the process when
 * they were made.  PROTOCOL.md, "Resume". */
void side_bar(struct side *s, bool barred);
/* A trial that is out and was not asked for: the payload of its TR. */
void side_adopt(struct side *s, const char *payload, size_t len);

/* Whether it has what it needs to be saved: a tuner its search space. */
bool side_is_set(const struct side *s);
/* Whether its program owes an answer, so that its silence costs something. */
bool side_waits(const struct side *s);
/* Ids that were asked of it and have no answer. */
uint64_t side_owed(const struct side *s);
/* How a tuner's side stands between two commands; see view.h. */
void side_see(const struct side *s, struct tuning_view *out,
              const struct viewer *viewer);
/* Borrowed; NULL, as at first: nobody wants to know.  A program explains
 * nothing. */
void side_listen(struct side *s, const struct explainer *explainer);

/* Between two commands: appends all that later answers depend on, the
 * plugin's part included.  1; 0: nothing, because a plugin cannot be saved
 * now, or it is a program; -1: err tells.  `out` keeps its length but for 1,
 * or when it is full. */
int side_save(const struct side *s, struct buf *out, struct err *err);
/* Reads that into a new side of the same head.  -1: err tells what does not
 * fit or is damaged; the side is then of no use any more. */
int side_load(struct side *s, struct unpack *in, struct err *err);

/* The text of the argument of that name that its plugin or program was given;
 * NULL: it has none, or null.  Borrowed. */
const char *side_argument(const struct side *s, const char *name);
/* Adds its members of the head record: "tuner": {...}, "filters": [...],
 * or "assessor": {...}. */
void side_describe(const struct side *s, struct json_writer *w);
/* -1 when those members of `head` name another algorithm version than what is
 * loaded: err says that differences are to be expected. */
int side_check(const struct side *s, struct jval head, struct err *err);
/* What stands for its program, to be connected to one; NULL: it has none. */
struct proxy *side_proxy(struct side *s);

/* ---- for the kinds of sides ---- */

/* Borrows all until side_fini(). */
void side_init(struct side *s, const struct side_ops *ops, enum sender sender,
               const struct policy *policy, struct emitter emitter,
               const struct log *log);
void side_fini(struct side *s);

/* An input is handled from here on; what side_command() returns behind it. */
void side_begin(struct side *s, uint64_t arrival, const char *input,
                struct err *failure);
int side_end(const struct side *s);

/* Writes the frame that states e's fact into s->payload; false: out of memory,
 * and it was said. */
bool side_encode(struct side *s, struct emission *e);
/* Writes it as side_encode() does, and sends it to the manager. */
void side_emit(struct side *s, struct emission e);

/* One line for a mistake of the manager's, which costs its command alone. */
void side_complain(const struct side *s, const char *text);
/* One line about a trial: "trial 'job' (parameter_id 7): text"; late: nothing
 * is wrong, and it is no error. */
void side_complain_trial(const struct side *s, const char *job,
                         const struct parameter_id *id, const char *text,
                         bool late);
/* The plugin or the program failed: by policy this costs its input, or the
 * session. */
void side_failed(struct side *s, const struct err *err);
void side_out_of_memory(struct side *s);

/* What its plugin thought of a trial: told to who wants to know (NULL: nobody)
 * and, where it is not "go on", in one line. */
void side_judge(const struct side *s, const struct explainer *explainer,
                const struct judgement *j);

/* side_check() for one name in the head. */
int side_check_version(struct jval described, const char *key, const char *name,
                       uint32_t version, struct err *err);

#endif
