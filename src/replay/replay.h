/* SPDX-License-Identifier: MIT */
/* replay.h - walks a command log with the same router, handlers and plugins,
 * on one thread, and compares what they answer with what was answered.
 *
 * Compared is, per cause (the inbound command) and sender (one of the two
 * workers), the complete ordered list of frames; how the frames of the two
 * workers were interleaved is recorded, not promised.  What the log says was
 * skipped is skipped; its frames are not compared. */
#ifndef REPLAY_REPLAY_H
#define REPLAY_REPLAY_H

#include "dispatcher/emission.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct explainer;
struct log;
struct plugin_paths;

struct replay_setup {
    const char *path; /* of the log */
    const struct plugin_paths *paths;
    const struct log *log; /* for the lines the handlers write */
    /* Called with each frame that replay derives; NULL: nobody. */
    void (*derived)(void *ctx, const struct emission *e);
    void *ctx;
    /* Who is told why; NULL: nobody. */
    const struct explainer *explainer;
};

struct replay_report {
    uint64_t commands;   /* inbound frames walked */
    uint64_t causes;     /* of them, those whose frames were compared */
    uint64_t frames;     /* compared and equal */
    uint64_t uncompared; /* frames of skipped commands, and errors (ER) */
    uint64_t unsent;     /* derived, but the session ended before the log had
                            them: no difference in a log without an end */
    uint64_t torn_bytes; /* cut from the end of the log */
    bool ended;          /* the log has its end record */
};

/* 0: no difference.  -1: err tells the first one (ERR_INPUT), or why the log
 * could not be walked (other codes); the report is filled as far as it
 * went. */
int replay_run(const struct replay_setup *setup, struct replay_report *report,
               struct err *err);

#endif
