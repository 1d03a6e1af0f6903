/* SPDX-License-Identifier: MIT */
/* commandlog_state.h - what the files behind commandlog.h share.  Nobody else
 * includes it. */
#ifndef DISPATCHER_COMMANDLOG_STATE_H
#define DISPATCHER_COMMANDLOG_STATE_H

#include "dispatcher/commandlog.h"
#include "dispatcher/loglock.h"
#include "dispatcher/logwriter.h"

#include "core/buf.h"

struct commandlog {
    bool on;
    struct loglock lock;
    struct logwriter *writer;
    struct buf pending;
    int64_t time_us; /* of its records */
    size_t marks;    /* bytes at the front of it that are a sync mark alone */
    bool held;       /* what is pending could not be appended */
    bool failed;     /* nor will anything be */
    bool dirty;      /* something stands behind the last mark */
    struct sync_policy policy;
    const struct wake *wake;
    const struct logio *io;
    char *folder;
    struct commandlog_chain {
        uint64_t segment; /* the number of command.log */
        struct buf head;  /* payload of H; empty: it is not known */
        int64_t head_us;  /* its time */
        uint64_t size;    /* from which on it is long enough; 0: never */
        uint64_t begin;   /* bytes that it began with */
        uint64_t least;   /* the same */
        uint64_t again;   /* the same, behind a try that failed */
        bool synced;      /* most of it, by the thread, since it is */
    } chain;
    uint64_t hurried;    /* bytes that somebody waits for to be durable */
    int64_t retry_ns;    /* between tries */
    int64_t dirty_at_ns; /* since when nobody was asked to sync; 0: is not */
    int64_t retry_at_ns; /* 0: all is well */
};

/* The time of a record: one for all that becomes one append. */
int64_t commandlog_now_us(struct commandlog *l);
/* Something stands behind the last mark that must be synced. */
void commandlog_note_dirty(struct commandlog *l);
/* A mark for what was just made durable goes in front of what comes next. */
void commandlog_mark_ahead(struct commandlog *l);
/* Appends what is pending, be it a mark alone. */
enum commandlog_status commandlog_append(struct commandlog *l, struct err *err);

/* ---- commandlog_rotate.c ---- */

/* Remembers what the segments to come begin with; -1: out of memory. */
int commandlog_know_head(struct commandlog *l, const char *head, size_t len,
                         int64_t time_us, struct err *err);
/* Has the thread sync most of a segment that is long enough. */
void commandlog_prepare(struct commandlog *l);

#endif
