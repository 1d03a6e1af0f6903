/* SPDX-License-Identifier: MIT */
/* program.h - a child process that speaks frames.  Its input and output are
 * pipes of ours, neither of which ever blocks us; what it writes to its stderr
 * goes where ours goes.  It leads a process group of its own, so that Ctrl-C
 * does not reach it and its children end with it, and is killed when this
 * process dies.  The main thread's alone. */
#ifndef DISPATCHER_PROGRAM_H
#define DISPATCHER_PROGRAM_H

#include "command.h"
#include "dispatcher/channel.h"
#include "frame.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

struct program {
    pid_t pid;        /* 0: no program runs */
    int pidfd;        /* readable once it has exited */
    bool out_closed;  /* its output has ended, or it was killed */
    bool leaving;     /* its last frame has been written to it */
    uint64_t written; /* bytes written to it */
    struct channel channel;
    struct frame_decoder decoder;
};

#define PROGRAM_NONE                                             \
    {                                                            \
        .pid = 0, .pidfd = -1, .channel = {.in = -1, .out = -1 } \
    }

/* What a program's environment tells it of the experiment. */
struct program_told {
    uint64_t seed;          /* TUNEPIPE_SEED */
    const char *direction;  /* TUNEPIPE_DIRECTION; NULL: it is not set */
    const char *objectives; /* TUNEPIPE_OBJECTIVES_JSON; NULL: not set */
    const char *judged;     /* TUNEPIPE_ASSESSOR_OBJECTIVE; NULL: not set */
};

/* Starts argv (found along PATH) with what it is told in its environment and
 * the folder of tunepipe_tuner.py last in its PYTHONPATH, in `folder` (NULL:
 * where this process is); no program may run in *p.  -1: err tells why, and
 * none does. */
int program_start(struct program *p, const char *const *argv,
                  const char *folder, const struct program_told *told,
                  size_t max_payload, struct err *err);

/* Queues a frame for the program; does nothing when none runs. */
void program_send(struct program *p, enum command_code code,
                  const char *payload, size_t len);

/* Queues a frame whose code need not be one of ours. */
void program_send_frame(struct program *p, const char code[2],
                        const char *payload, size_t len);

/* Writes what can be written without blocking.  That the program reads no more
 * shows when it ends. */
void program_write(struct program *p);

/* Reads once from the program into the decoder, when poll(2) says readable. */
void program_read(struct program *p);

/* Bytes that the program has written: those read so far, and those waiting to
 * be read. */
uint64_t program_received(const struct program *p);
size_t program_unread(const struct program *p);

/* Closes the program's input behind what is queued: no more frames to it. */
void program_hang_up(struct program *p);

/* Kills the program and its whole process group. */
void program_kill(struct program *p);

/* When pidfd is readable, or behind program_kill(): takes the exit status and
 * ends what is left of the group; *p then has no program.  `how` becomes "exit
 * status 1" or "killed by signal 9". */
void program_reap(struct program *p, char *how, size_t size);

#endif
