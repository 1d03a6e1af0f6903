/* SPDX-License-Identifier: MIT */
/* proxy_assessor.h - what the files of an assessor's proxy share:
 * proxy_assessor.c (what the manager sends) and proxy_assessor_said.c (what the
 * program sends).  Nobody else includes it. */
#ifndef DISPATCHER_PROXY_ASSESSOR_H
#define DISPATCHER_PROXY_ASSESSOR_H

#include "core/map.h"
#include "dispatcher/proxy_state.h"

/* A trial that has reported. */
struct judged {
    char *job;
    uint64_t program; /* which start of the program has heard of it */
    uint64_t attempt; /* under policy nni */
    bool stopped, ended;
};

/* A report that waits for its AK. */
struct report {
    struct report *next;
    struct judged *trial;
    uint64_t sequence;
};

struct proxy_assessor {
    struct proxy base;
    struct map trials; /* job -> struct judged */
    uint64_t program;  /* counts the starts */
    struct report *reports, **last;
    size_t n_reports;
};

/* What a report that waits is answered; SILENCE: nothing. */
enum answer { ANSWER_GO, ANSWER_STOP, ANSWER_SILENCE };

/* ---- proxy_assessor.c ---- */

/* NULL: it has not reported, or is forgotten. */
struct judged *proxy_assessor_find(struct proxy_assessor *a, const char *job);

/* Sends AK, and KI where the trial was not stopped yet. */
void proxy_assessor_acknowledge(struct proxy_assessor *a, const char *job,
                                uint64_t sequence, bool stop);
void proxy_assessor_stop(struct proxy_assessor *a, struct judged *trial);

/* All reports of the trial, or of each (NULL). */
void proxy_assessor_answer(struct proxy_assessor *a, const struct judged *trial,
                           enum answer answer);

/* Takes the report at *link out of the list. */
void proxy_assessor_remove(struct proxy_assessor *a, struct report **link);

/* ---- proxy_assessor_said.c ---- */

void proxy_assessor_frame(struct proxy *p, const struct frame *frame);
void proxy_assessor_let_go(struct proxy *p);
bool proxy_assessor_waits(const struct proxy *p);
size_t proxy_assessor_bytes(const struct proxy *p);
void proxy_assessor_name_due(const struct proxy *p, char *out, size_t size);

#endif
