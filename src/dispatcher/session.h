/* SPDX-License-Identifier: MIT */
/* session.h - the parts on which answers depend, put together: tuner, assessor,
 * policies, router and the two sides.  The dispatcher runs them on its threads,
 * replay on one; both make them here, so that they are the same. */
#ifndef DISPATCHER_SESSION_H
#define DISPATCHER_SESSION_H

#include "dispatcher/emission.h"
#include "dispatcher/policy.h"
#include "json.h"
#include "plugin/loader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct assessor;
struct buf;
struct err;
struct explainer;
struct log;
struct log_reader;
struct objectives;
struct proxy_setup;
struct record;
struct router;
struct side;
struct tuner;
struct unpack;

#define SESSION_FILTERS_MAX 16

struct session_filter {
    const char *name; /* of a plugin, or its file */
    struct jval args; /* an object, or null */
    bool logged;      /* the name is from a log, and never taken for a file */
    unsigned line;    /* in session_setup.file; 0: it is not from there */
};

struct session_setup {
    const struct plugin_paths *paths;
    const char *tuner;      /* a plugin's name or file, or "exec" */
    struct jval tuner_args; /* an object, or null */
    struct session_filter filters[SESSION_FILTERS_MAX]; /* outermost first */
    size_t n_filters;
    bool all_filters; /* `filters` is complete; else the tuner's default filters
                         are added, inside of them */
    const char *assessor; /* NULL: none */
    struct jval assessor_args;
    struct jval objectives;         /* what results are judged by, an object as
                                       objectives.h has it; null: one number */
    const char *assessor_objective; /* NULL: the assessor judges what is made
                                       of all */
    uint64_t seed; /* for plugins whose arguments have no seed */
    struct policy policy;
    bool maximize_given; /* policy.maximize is set even where the policy is not
                            directed; else the arguments tell */
    int digits;          /* length field of the manager's frames */
    size_t max_payload;
    bool tuner_logged, assessor_logged; /* the name is from a log, and never
                                           taken for a file */
    const char *program_folder;         /* where programs run; NULL: here */
    /* Where what is wrong with them stands, for errors. */
    const char *file;                   /* NULL: no file */
    unsigned tuner_line, assessor_line; /* 0: it is not from there */
    /* For a tuner that wants a folder for checkpoints and is given none, see
     * given_arg.h; NULL: none. */
    const char *checkpoint_folder;
};

struct session {
    char *program_folder;   /* where programs run; NULL: here */
    struct emitter emitter; /* where the emissions of the sides go */
    struct policy policy;
    struct objectives *objectives; /* lent to the policy; NULL: none */
    char *objectives_text;         /* them as JSON; NULL: none */
    struct router *router;
    struct side *sides[2];         /* by sender: SENDER_DEFAULT answers the
                                      default queue, SENDER_ASSESSOR the other */
    struct tuner *tuner;           /* lent to its side; NULL: a program */
    struct assessor *assessor;     /* lent to its side; NULL: none, or a
                                      program */
    struct proxy_setup *setups[2]; /* lent to the sides that are programs */
};

/* Loads the plugins and makes all parts; NULL: err tells. */
struct session *session_new(const struct session_setup *setup,
                            struct emitter emitter, const struct log *log,
                            struct err *err);
void session_free(struct session *s);

/* Has both sides tell the explainer, borrowed until session_free(), why they
 * answer as they do; for replay.  A program explains nothing. */
void session_listen(struct session *s, const struct explainer *explainer);

/* Tells a plugin or program the direction: *args becomes its arguments with
 * optimize_mode, where it has such an argument and *args say nothing.  -1 when
 * they say the opposite, or when the name is `logged` and no such plugin is
 * found. *made, which *args then borrow from, is to be freed. */
int session_direct(const struct plugin_paths *paths, enum plugin_kind kind,
                   const char *name, bool logged, const char *direction,
                   struct jval *args, struct json **made, struct err *err);

/* From now on the emissions of the sides go there. */
void session_redirect(struct session *s, struct emitter emitter);

/* For a session that goes on although its log has an end: what that end dropped
 * is void. */
void session_undo_end(struct session *s);

/* For snapshots; called by the thread that owns the side, between two commands:
 * appends the side's state (SENDER_ROUTER: the router's), such that a session
 * of the same head that has loaded it goes on as this one does.  1; 0: nothing
 * is appended, because its tuner, its assessor or a filter cannot be saved now,
 * or is a program; -1: err tells.  `out` keeps its length but for 1, or when it
 * is full. */
int session_save(const struct session *s, enum sender side, struct buf *out,
                 struct err *err);

/* Reads the state of that side, and nothing else, into a new session.  -1: err
 * tells what does not fit or is damaged; the session is then of no use any
 * more. */
int session_load(struct session *s, enum sender side, struct unpack *in,
                 struct err *err);

/* Appends the log's first record: all that answers depend on, as JSON. */
void session_write_head(const struct session *s,
                        const struct session_setup *setup, struct buf *out);

/* Fills *setup from a log's first record, as JSON, from which *setup borrows. A
 * log may come from anybody: its names are never taken for files. */
int session_read_head(struct jval head, struct session_setup *setup,
                      struct err *err);
/* Fills *setup from the first record of a log that was just opened; returns the
 * document from which *setup borrows, to be freed.  NULL: err tells, and names
 * the log. */
struct json *session_load_head(struct log_reader *log, struct record *head,
                               struct session_setup *setup, struct err *err);

/* -1 when a plugin that `head` names has another version of its algorithm than
 * the loaded one: err says that answers may differ. */
int session_check_versions(const struct session *s, struct jval head,
                           struct err *err);

#endif
