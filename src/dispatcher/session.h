/* SPDX-License-Identifier: MIT */
/* session.h - the parts that answers depend on, put together: tuner,
 * assessor, policies, router and the two sides.  The dispatcher runs them on
 * its threads, replay on one; both make them here, so that they are the
 * same. */
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
struct proxy_setup;
struct record;
struct router;
struct side;
struct tuner;
struct unpack;

#define SESSION_FILTERS_MAX 16

struct session_filter {
    const char *name; /* or file */
    struct jval args; /* an object, or null */
    bool logged;      /* a log says so: never a file */
};

struct session_setup {
    const struct plugin_paths *paths;
    const char *tuner;                                  /* name or file */
    struct jval tuner_args;                             /* an object, or null */
    struct session_filter filters[SESSION_FILTERS_MAX]; /* outermost first */
    size_t n_filters;
    bool all_filters;     /* these are all; else the tuner's default ones are
                             added, inside of them */
    const char *assessor; /* NULL: none */
    struct jval assessor_args;
    uint64_t seed; /* used where the arguments have none */
    struct policy policy;
    bool maximize_given; /* policy.maximize is set, also where the experiment
                            is not directed; else the arguments tell */
    int digits;          /* of the frames */
    size_t max_payload;
    bool tuner_logged, assessor_logged; /* a log names them: never a file */
    const char *program_folder;         /* where programs run; NULL: here */
    const char *checkpoint_folder;      /* for a tuner that names folders and is
                                           given none: given_arg.h; or NULL */
};

struct session {
    char *program_folder;   /* where programs run; NULL: here */
    struct emitter emitter; /* where what the sides say goes */
    struct policy policy;
    struct router *router;
    struct side *sides[2];         /* by sender: SENDER_DEFAULT answers the
                                      default queue, SENDER_ASSESSOR the other */
    struct tuner *tuner;           /* lent to its side; NULL: a program */
    struct assessor *assessor;     /* lent to its side; NULL: none, or a
                                      program */
    struct proxy_setup *setups[2]; /* lent to the sides that are programs */
};

/* Loads the plugins and makes everything; NULL: err tells. */
struct session *session_new(const struct session_setup *setup,
                            struct emitter emitter, const struct log *log,
                            struct err *err);
void session_free(struct session *s);

/* Borrowed until session_free(), for replay.  A program explains nothing. */
void session_listen(struct session *s, const struct explainer *explainer);

/* *args becomes those of a plugin or program that was told the direction: its
 * optimize_mode, where it has that argument and *args say nothing.  -1 when
 * they say the other one, or the name is `logged` and that of a file that is
 * not to be loaded.  *made, what *args then borrow, is to be freed. */
int session_direct(const struct plugin_paths *paths, enum plugin_kind kind,
                   const char *name, bool logged, const char *direction,
                   struct jval *args, struct json **made, struct err *err);

/* From now on what the sides say goes there. */
void session_redirect(struct session *s, struct emitter emitter);

/* The session goes on behind an end: what the end dropped is void. */
void session_reopen(struct session *s);

/* For snapshots, called by who owns that side, between two commands: appends
 * what it knows, such that a session of the same head that has loaded it goes
 * on as this one does.  1; 0: nothing, because its tuner, its assessor or a
 * filter cannot be saved now, or is a program; -1: err tells.  `out` keeps its
 * length but for 1, or when it is full. */
int session_save(const struct session *s, enum sender side, struct buf *out,
                 struct err *err);

/* The part of that side, and nothing else, into a new session.  -1: err tells
 * what does not fit or is damaged; the session is then of no use any more. */
int session_load(struct session *s, enum sender side, struct unpack *in,
                 struct err *err);

/* Appends the log's first record: all that answers depend on, as JSON. */
void session_write_head(const struct session *s,
                        const struct session_setup *setup, struct buf *out);

/* Fills *setup from a log's first record.  *setup borrows from `head`, which
 * may be anybody's: its names are marked as a log's. */
int session_read_head(struct jval head, struct session_setup *setup,
                      struct err *err);
/* Fills *setup from the head of a log that was just opened; the document, which
 * *setup borrows from, is to be freed.  NULL: err tells, and names the log. */
struct json *session_load_head(struct log_reader *log, struct record *head,
                               struct session_setup *setup, struct err *err);

/* -1 when a plugin of `head` has another algorithm version than s's: err says
 * that differences are to be expected. */
int session_check_versions(const struct session *s, struct jval head,
                           struct err *err);

#endif
