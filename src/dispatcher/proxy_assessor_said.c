/* SPDX-License-Identifier: MIT */
#include "dispatcher/proxy_assessor.h"

#include "core/err.h"
#include "frame.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void
take_kill(struct proxy_assessor *a, struct jval root)
{
    struct judged *trial;
    const char *job;

    if (!jval_string(root, &job, NULL)) {
        proxy_failed(&a->base, "expected a trial_job_id, a text, not %s",
                     jval_type_name(root));
        return;
    }
    trial = proxy_assessor_find(a, job);
    if (trial == NULL) {
        proxy_failed(&a->base, "'%.64s' is no trial that has reported", job);
        return;
    }
    if (trial->ended)
        return;
    proxy_assessor_stop(a, trial);
    proxy_assessor_answer(a, trial, ANSWER_STOP);
}

static struct report **
find_report(struct proxy_assessor *a, const char *job, uint64_t sequence)
{
    struct report **link = &a->reports;

    while (*link != NULL && (strcmp((*link)->trial->job, job) != 0 ||
                             (*link)->sequence != sequence))
        link = &(*link)->next;
    return link;
}

static void
take_acknowledge(struct proxy_assessor *a, struct jval root)
{
    const char *job, *decision;
    struct report **link;
    struct judged *trial;
    uint64_t sequence;
    struct jval v;
    bool stops;

    if (!jval_get(root, "trial_job_id", &v) || !jval_string(v, &job, NULL) ||
        !jval_get(root, "sequence", &v) || !jval_uint(v, &sequence) ||
        !jval_get(root, "decision", &v) || !jval_string(v, &decision, NULL) ||
        (strcmp(decision, "go") != 0 && strcmp(decision, "stop") != 0)) {
        proxy_failed(&a->base, "expected trial_job_id, sequence, and decision "
                               "\"go\" or \"stop\"");
        return;
    }
    link = find_report(a, job, sequence);
    trial = proxy_assessor_find(a, job);
    if (*link == NULL && trial != NULL && (trial->stopped || trial->ended))
        return; /* behind its own KI, or crossed by the end */
    if (*link == NULL) {
        proxy_failed(&a->base,
                     "trial '%.64s', sequence %" PRIu64 ": nobody waits for it",
                     job, sequence);
        return;
    }
    stops = strcmp(decision, "stop") == 0;
    if (stops)
        proxy_assessor_stop(a, trial);
    proxy_assessor_acknowledge(a, job, sequence, stops);
    proxy_assessor_remove(a, link);
}

void
proxy_assessor_frame(struct proxy *p, const struct frame *frame)
{
    bool kills = strcmp(frame->code, command_info(CMD_KILL_TRIAL)->code) == 0;
    struct json *doc;
    struct err err;

    if (strcmp(frame->code, command_info(CMD_INITIALIZED)->code) == 0)
        return; /* it is ready */
    if (strcmp(frame->code, command_info(CMD_ERROR)->code) == 0) {
        proxy_says(p, frame);
        return;
    }
    if (!kills &&
        strcmp(frame->code, command_info(CMD_ACKNOWLEDGE)->code) != 0) {
        proxy_failed(p, "expected KI, AK, ER or ID");
        return;
    }
    doc = json_parse(frame->payload, frame->len, JSON_STRICT, &err);
    if (doc == NULL)
        proxy_failed(p, "%s%s", err.text,
                     kills ? ", expected a trial_job_id as JSON, with its "
                             "quotes"
                           : "");
    else if (kills)
        take_kill((struct proxy_assessor *)p, json_root(doc));
    else
        take_acknowledge((struct proxy_assessor *)p, json_root(doc));
    json_free(doc);
}

bool
proxy_assessor_waits(const struct proxy *p)
{
    return ((const struct proxy_assessor *)p)->reports != NULL;
}

size_t
proxy_assessor_bytes(const struct proxy *p)
{
    return ((const struct proxy_assessor *)p)->n_reports *
           sizeof(struct report);
}

void
proxy_assessor_name_due(const struct proxy *p, char *out, size_t size)
{
    const struct report *r = ((const struct proxy_assessor *)p)->reports;

    snprintf(out, size, "AK for sequence %" PRIu64 " of trial '%.40s'",
             r->sequence, r->trial->job);
}

/* Silent, or gone: whoever waits goes on. */
void
proxy_assessor_let_go(struct proxy *p)
{
    proxy_assessor_answer((struct proxy_assessor *)p, NULL, ANSWER_GO);
}
