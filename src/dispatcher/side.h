/* SPDX-License-Identifier: MIT */
/* side.h - one of the two halves of a session, which answers the commands of
 * one queue: a tuner's or an assessor's plugin with what is kept of its trials
 * (tuning.h, assessing.h), or a program with its proxy (proxy.h).  Session,
 * dispatcher and replay know sides by this header alone: another kind of side
 * is one new file, and its line in session.c.
 *
 * One thread owns a side: the worker of its queue, for a program's side the
 * dispatcher's main thread, or replay's.  Its answers are a function of its
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

/* What may befall a program; each is an input, as its frames are. */
enum side_event {
    SIDE_LATE, /* it was silent for longer than the deadline */
    SIDE_GONE, /* it ended, was ended, or did not start */
    SIDE_LEFT, /* it ended with the dispatcher, and the session goes on */
};

/* What each kind of side begins with; outside of the kinds only `ops` is
 * read. */
struct side {
    const struct side_ops *ops;
    enum sender sender;
    const struct policy *policy;
    struct emitter emitter;
    const struct log *log;
    struct buf payload;  /* scratch: of the frame being written */
    uint64_t arrival;    /* of the input being handled */
    const char *input;   /* what the input is: "GE", "its TR" */
    bool fatal;          /* the session is to end, because of *failure */
    struct err *failure; /* where side_failed() writes; NULL: nowhere */
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

/* Handles one command of its queue.  0, also when the command was in error and
 * costs itself alone, which the log tells; -1: the session has to end, and err
 * says why (policy ERROR_FAIL, or out of memory). */
int side_command(struct side *s, const struct command *cmd, struct err *err);

/* For a program's side alone (side_proxy()): handle a frame of the program, or
 * what befell it; results as side_command(). */
int side_frame(struct side *s, uint64_t arrival, const struct frame *frame,
               struct err *err);
int side_event(struct side *s, uint64_t arrival, enum side_event event,
               const char *how, struct err *err);

/* "late", "gone" or "left", as the command log has it. */
const char *side_event_name(enum side_event event);
/* The event of that name; false: there is none. */
bool side_event_find(const char *name, size_t len, enum side_event *out);

/* The session ends: from now on requests and owed ids are dropped. */
void side_close(struct side *s);
/* Whether cmd is a request that handling it now would drop. */
bool side_drops(const struct side *s, const struct command *cmd);
/* For a session that goes on although its log has an end: what that end dropped
 * is void. */
void side_reopen(struct side *s);

/* While barred, all calls of its plugin fail at once, for commands that ended
 * the process when they were handled before.  PROTOCOL.md, "Resume". */
void side_bar(struct side *s, bool barred);
/* Takes in a suggestion that it did not make itself, from the payload of the
 * recorded TR. */
void side_adopt(struct side *s, const char *payload, size_t len);

/* Whether the side has what its state is made of: a tuner's its search
 * space. */
bool side_is_set(const struct side *s);
/* Whether its program owes an answer, so that its silence is a failure. */
bool side_waits(const struct side *s);
/* How many ids were asked of it and have no answer. */
uint64_t side_owed(const struct side *s);
/* Shows the state of a tuner's side between two commands (view.h). */
void side_see(const struct side *s, struct tuning_view *out,
              const struct viewer *viewer);
/* Sets the explainer to be told why it answers as it does, borrowed; NULL, as
 * at first: none.  A program explains nothing. */
void side_listen(struct side *s, const struct explainer *explainer);

/* Between two commands: appends all that later answers depend on, the plugin's
 * own state included.  1; 0: nothing is appended, because a plugin cannot be
 * saved now, or the side is a program; -1: err tells.  `out` keeps its length
 * but for 1, or when it is full. */
int side_save(const struct side *s, struct buf *out, struct err *err);
/* Reads what side_save() appended into a new side of the same head.  -1: err
 * tells what does not fit or is damaged; the side is then of no use any
 * more. */
int side_load(struct side *s, struct unpack *in, struct err *err);

/* The text of an argument that its plugin or program was given; NULL: it was
 * given none of that name, or null.  Borrowed. */
const char *side_argument(const struct side *s, const char *name);
/* Adds the side's members of the log's head: "tuner": {...}, "filters": [...],
 * or "assessor": {...}. */
void side_describe(const struct side *s, struct json_writer *w);
/* -1 when the side's members of `head` name another version of an algorithm
 * than the loaded one: err says that answers may differ. */
int side_check(const struct side *s, struct jval head, struct err *err);
/* The proxy that stands for its program; NULL: the side is no program. */
struct proxy *side_proxy(struct side *s);

/* ---- for the kinds of sides ---- */

/* Borrows all until side_fini(). */
void side_init(struct side *s, const struct side_ops *ops, enum sender sender,
               const struct policy *policy, struct emitter emitter,
               const struct log *log);
void side_fini(struct side *s);

/* An input is handled between these two; side_end() returns what side_command()
 * has to. */
void side_begin(struct side *s, uint64_t arrival, const char *input,
                struct err *failure);
int side_end(const struct side *s);

/* Writes the frame that states e's fact into s->payload; false: out of memory,
 * which has ended the session. */
bool side_encode(struct side *s, struct emission *e);
/* Writes the frame that states e's fact, and sends it to the manager. */
void side_emit(struct side *s, struct emission e);

/* Writes one line about a mistake of the manager's in the input, which costs
 * that input alone. */
void side_complain(const struct side *s, const char *text);
/* Writes one line about a trial: "trial 'job' (parameter_id 7): text"; late: a
 * message lost a race, which is no error. */
void side_complain_trial(const struct side *s, const char *job,
                         const struct parameter_id *id, const char *text,
                         bool late);
/* Tells that the plugin or the program failed: by policy this costs the input,
 * or the session. */
void side_failed(struct side *s, const struct err *err);
void side_out_of_memory(struct side *s);

/* Tells the explainer (NULL: none) what the plugin decided on a trial and,
 * where that is not "go on", writes one line about it. */
void side_judge(const struct side *s, const struct explainer *explainer,
                const struct judgement *j);

/* side_check() for one plugin: `described` is what the head says of it. */
int side_check_version(struct jval described, const char *key, const char *name,
                       uint32_t version, struct err *err);

#endif
