/* SPDX-License-Identifier: MIT */
/* play.h - plays the manager's side of a recorded session (script.h) to a
 * program that speaks the protocol on its descriptors 0 and 1, and compares
 * what it answers.
 *
 * Has to be the same: how many frames of each code come; the parameter_id of
 * the n-th TR and of the n-th NO; which trials are killed; the program's good
 * end.  Its parameters may be others: that many of the TR are the same to the
 * byte is only told.  Where an id is another one, the manager's frames are
 * sent with the id that the program gave.  One thread. */
#ifndef REPLAY_PLAY_H
#define REPLAY_PLAY_H

#include "command.h"
#include "core/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

struct play_setup {
    const char *path;        /* of the log */
    const char *const *argv; /* ends with NULL; found along PATH */
    int64_t deadline_ms;     /* the longest silence while something is due */
};

struct play_count {
    size_t recorded, came;
    size_t needed; /* how many of the recorded frames had to come; the others
                      were on their way when the session ended */
};

struct play_report {
    size_t frames, sent; /* of the manager's: in the log; sent */
    size_t left_out;     /* requests that a stop dropped: not sent */
    size_t crossed;      /* kills that crossed the end of their trial */
    bool resumed, ended; /* as in struct script; ended: by TE, or end of file */
    struct play_count counts[CMD_COUNT];
    size_t same_bytes; /* TR whose payload is the recorded one */
    size_t differences;
    struct buf lines; /* the first PLAY_LINES differences, a line each */
    char how[64];     /* "exit status 0" */
};
#define PLAY_LINES 20

/* Plays a log.  -1: err says why it could not be played. play_report_fini() is
 * to be called in either case. */
int play_run(const struct play_setup *setup, struct play_report *report,
             struct err *err);
void play_report_fini(struct play_report *report);

/* The words of a command line: split at blanks, '...' and "..." keep a word
 * together.  One that has more of a shell in it becomes `sh -c TEXT`, and
 * *shell true.  The array ends with NULL and is freed as one; NULL: err
 * tells. */
const char **play_words(const char *text, bool *shell, struct err *err);

#endif
