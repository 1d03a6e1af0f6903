/* SPDX-License-Identifier: MIT */
/* start.h - how a client starts the server of a study: `tunepipe study FOLDER
 * --serve`, which returns when one answers, be it an older one.  Nothing here
 * blocks but start_drop().  One thread. */
#ifndef CLIENT_START_H
#define CLIENT_START_H

#include <stdbool.h>

struct err;

struct start {
    int pidfd; /* readable: start_end() has something to say; -1: none runs */
    int said_fd;
};

#define START_NONE                 \
    {                              \
        .pidfd = -1, .said_fd = -1 \
    }

/* The program: $TUNEPIPE_PROGRAM, what lies beside this library or was
 * installed with it, or one along PATH.  To be freed; NULL: out of memory. */
char *start_program(void);

/* `config` is the study's configuration; NULL: it is made already. */
int start_begin(struct start *s, const char *folder, const char *config,
                struct err *err);

/* 0: a server answers; -1: in its own words why there is none. */
int start_end(struct start *s, struct err *err);

/* Kills what has been begun and has not ended, which leaves no zombie; not
 * `ours`: forgets it, being a copy of the process that has begun it. */
void start_drop(struct start *s, bool ours);

#endif
