/* SPDX-License-Identifier: MIT */
/* replay_modes.h - what `tunepipe replay` can do with a log besides comparing
 * it with itself; each prints to `out`. */
#ifndef CLI_REPLAY_MODES_H
#define CLI_REPLAY_MODES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct buf;
struct err;
struct log;
struct plugin_paths;

struct replay_words {
    bool verify, debug, json;
    uint64_t until;
    int64_t deadline_ms;
    const char *plugin_path, *speed, *pipe, *assessor, *assessor_args, *tuner;
};

/* --pipe: an exit status; -1: err tells why it could not be played. */
int replay_pipe(const struct replay_words *w, const char *path, FILE *out,
                struct err *err);

/* --assessor: 0, or -1: err tells. */
int replay_assessor(const struct replay_words *w, const char *path,
                    const struct plugin_paths *paths, const struct log *log,
                    FILE *out, struct err *err);

/* --tuner: as above. */
int replay_tuner(const struct replay_words *w, const char *path,
                 const struct plugin_paths *paths, const struct log *log,
                 FILE *out, struct err *err);

/* ---- what --assessor and --tuner share ---- */

/* A line: the "tuner" or "assessor" is told to do the opposite of what the
 * experiment does; `option` and a quote stand around the right arguments. */
void replay_print_against(FILE *out, const char *plugin, bool maximize,
                          const char *option, const char *quote);

/* Takes the text. */
int replay_print_json(FILE *out, struct buf *text, struct err *err);

#endif
