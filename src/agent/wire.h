/* SPDX-License-Identifier: MIT */
/* wire.h - what a manager and an agent on another machine say to each other,
 * over two descriptors: frames (frame.h) whose payload is texts, each ended by
 * a NUL, and a line feed.  PROTOCOL.md, "Agents".  Nothing here waits.  One
 * thread. */
#ifndef AGENT_WIRE_H
#define AGENT_WIRE_H

#include "core/buf.h"
#include "frame.h"

#include <stdbool.h>
#include <stddef.h>

struct err;

/* The line with which an agent begins; what a shell or a batch system prints
 * before it is passed over. */
#define AGENT_NAME "tunepipe-agent "
#define AGENT_VERSION "1"
#define AGENT_MAGIC AGENT_NAME AGENT_VERSION "\n"

/* From the agent. */
#define AGENT_HELLO "HI"
#define AGENT_GROWN "GR"
#define AGENT_OVER "OV"
/* How a trial is over: its wrapper has told how it ended, or nothing; or the
 * same, as the agent was told to end; it was not begun, for want of something
 * that may come back, for good, or as the agent ends. */
#define AGENT_ENDED "ended"
#define AGENT_CUT "cut"
#define AGENT_LATER "later"
#define AGENT_UNSTARTED "unstarted"
#define AGENT_REFUSED "refused"
/* To the agent. */
#define AGENT_START "GO"
#define AGENT_STOP "ST"
#define AGENT_ANSWER "AN"
#define AGENT_FORGET "OK"
/* How a trial is stopped: SIGTERM, and again, which ends its grace; where it
 * had none yet; SIGKILL. */
#define AGENT_TERM "term"
#define AGENT_TERM_ONCE "once"
#define AGENT_KILL "kill"
/* Both ways, where the two share no folder: ferry.h. */
#define AGENT_FILE "FI"
#define AGENT_RENAMED "MV"
/* Both ways: it is to end, and does. */
#define AGENT_LEAVE "BY"
#define AGENT_PING "PI"

/* How often it is said that somebody is there, and how long after the last word
 * nobody is, as follows from how long an agent goes on alone. */
#define AGENT_PING_MS(timeout_ms) \
    ((timeout_ms) < 60000 ? (timeout_ms) / 6 : INT64_C(10000))
#define AGENT_SILENT_MS(timeout_ms) (6 * AGENT_PING_MS(timeout_ms))

struct wire {
    int in, out;         /* -1: closed */
    bool begun;          /* the magic line has come, or none is waited for */
    unsigned long other; /* that of an agent of this version has; 0: has not */
    size_t passed;
    struct frame_decoder decoder;
    struct buf unsent;
};

/* A frame that has come. */
struct said {
    char code[3];
    const char *at, *end; /* of what was not taken yet; valid until the next */
};

/* Takes the descriptors, which may be one and the same; `skips`: until the
 * magic line. */
void wire_open(struct wire *c, int in, int out, bool skips);
void wire_close(struct wire *c); /* a closed one, too */
bool wire_is_open(const struct wire *c);

/* Says a frame: its code, and one text after the other; or with texts that lie
 * there, NULs and all, and are changed.  It is written by wire_flush(). */
#define wire_say(c, ...) \
    wire_say_words(c, (const char *const[]){__VA_ARGS__, NULL})
void wire_say_words(struct wire *c, const char *const words[]);
void wire_say_texts(struct wire *c, const char code[2], struct buf *texts);
/* Whether there is something that wire_flush() could not write yet. */
bool wire_is_full(const struct wire *c);

/* -1: the other end is gone, or nothing that it says can be understood. */
int wire_flush(struct wire *c, struct err *err);
/* 1: something has come; 0: nothing has. */
int wire_read(struct wire *c, struct err *err);
/* 1: a frame; 0: there is none yet. */
int wire_next(struct wire *c, struct said *out, struct err *err);

/* The next text of a frame; NULL: there is none. */
const char *said_text(struct said *s);
/* The next text, which is a number in decimal; 0: there is none. */
unsigned long long said_number(struct said *s);

/* A text, with its NUL. */
void texts_add(struct buf *b, const char *text);

#endif
