/* SPDX-License-Identifier: MIT */
/* script.h - a recorded session as a script for the manager's side: what it
 * sent, in its order, and of each frame which answers it must have had before
 * it could send it.  For play.h.  One thread.
 *
 * A frame that names a parameter_id needs the TR that gave it; one of a trial
 * that was being killed, or paused, needs the KI, the DT, that stands before it
 * in the log; one of a trial that reports in step needs the AK of its reports
 * before it.  Nothing else is waited for, but that the order of the manager's
 * frames is kept.
 * What passed between the dispatcher and programs of its own (`exec`) is no
 * part of it. */
#ifndef REPLAY_SCRIPT_H
#define REPLAY_SCRIPT_H

#include "command.h"
#include "core/map.h"
#include "replay/skips.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct log_reader;

#define SCRIPT_NONE SIZE_MAX

/* A frame that the manager sent. */
struct script_step {
    char code[3];
    const char *payload; /* lies in the log's map */
    size_t len;
    uint64_t arrival;
    size_t trials; /* how many TR must have come before it */
    size_t trial;  /* which TR gave the id that it names; or SCRIPT_NONE */
    char *job;     /* the trial that it names, or NULL */
    bool killed;   /* the KI of `job` must have come */
    bool paused;   /* its DT that pauses it, too */
    size_t acks;   /* how many AK of `job` must have come */
    bool answered; /* the tuner's side answers it */
};

/* A frame that the dispatcher sent; of a TR or a KI that was sent twice only
 * the first. */
struct script_answer {
    enum command_code code;
    const char *payload;
    size_t len;
    char *key;   /* TR, NO: its parameter_id as JSON; KI, AK: the trial */
    bool needed; /* false: it was still on its way when the session ended */
};

struct script {
    struct log_reader *file;
    struct script_step *steps;
    size_t n_steps, steps_cap;
    struct script_answer *answers;
    size_t n_answers, answers_cap;
    size_t n_trials; /* TR among them */
    struct map ids;  /* parameter_id as JSON -> struct script_id */
    struct map jobs; /* trial_job_id -> struct script_job */
    struct skips skips;
    uint64_t seed;         /* from the log's head */
    const char *direction; /* that programs are told; NULL: none */
    char *objectives;      /* what results are judged by, as JSON; NULL */
    char *judged;          /* what the assessor judges of them; NULL */
    size_t max_payload;
    size_t crossed;  /* KI that were written behind their trial's EN */
    size_t left_out; /* GE that a stop dropped, unanswered */
    bool resumed;    /* frames follow a TE or a stop */
    bool terminates; /* the session ended by TE */
    bool ends_whole; /* ... or by end of file: all was answered */
};

/* Reads the whole log; -1: err tells.  script_close() is to be called in either
 * case. */
int script_open(struct script *s, const char *path, struct err *err);
void script_close(struct script *s);

/* The key by which a frame of a dispatcher is known, see struct script_answer;
 * to be freed; NULL: it has none, or is not as PROTOCOL.md says. */
char *script_key(enum command_code code, const char *payload, size_t len);

/* Whether it is the DT that pauses a trial. */
bool script_pauses(enum command_code code, const char *payload, size_t len);

/* A parameter_id as JSON, as in such keys; to be freed; NULL: out of memory. */
char *script_parameter_key(const struct parameter_id *id);

#endif
