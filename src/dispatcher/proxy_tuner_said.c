/* SPDX-License-Identifier: MIT */
#include "dispatcher/proxy_tuner.h"

#include "core/err.h"
#include "frame.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define UNASKED_MAX 65536 /* trials out at which none is taken unasked */

/* ---- requests ---- */

static uint64_t
left_of(const struct proxy_request *r)
{
    return r->count - r->served - r->failed;
}

static void
forget_request(struct proxy_tuner *t, size_t i)
{
    memmove(&t->requests[i], &t->requests[i + 1],
            (t->n_requests - i - 1) * sizeof *t->requests);
    t->n_requests--;
}

/* One that is served as far as it can be. */
static void
settle_request(struct proxy_tuner *t, size_t i)
{
    struct proxy_request r = t->requests[i];

    if (left_of(&r) > 0)
        return;
    forget_request(t, i);
    if (r.failed > 0)
        proxy_tuner_no_more(t, &r, NO_FAILED, r.failed);
}

/* The rest of it is refused. */
static void
end_request(struct proxy_tuner *t, size_t i, enum no_reason reason)
{
    struct proxy_request r = t->requests[i];

    forget_request(t, i);
    proxy_tuner_no_more(t, &r, reason, left_of(&r) + r.failed);
}

/* The oldest request that has no answer yet; n_requests: none. */
static size_t
unanswered(const struct proxy_tuner *t)
{
    size_t i = 0;

    while (i < t->n_requests && t->requests[i].owed)
        i++;
    return i;
}

/* ---- ID ---- */

static void
take_initialized(struct proxy_tuner *t, const struct frame *frame)
{
    (void)frame;
    if (t->greeting) {
        t->greeting = false;
        return;
    }
    if (t->state != PROXY_ASKED) {
        proxy_failed(&t->base, "nobody waits for it");
        return;
    }
    t->state = PROXY_READY;
    buf_clear(&t->base.payload);
    command_write_initialized(&t->base.payload, t->position,
                              t->base.policy->extensions);
    proxy_emit(&t->base, CMD_INITIALIZED);
}

static void
refuse_space(struct proxy_tuner *t)
{
    struct proxy_request none = {.first = t->next_id};

    t->state = PROXY_BARE;
    if (t->base.policy->extensions)
        proxy_tuner_no_more(t, &none, NO_FAILED, 0);
}

/* ---- TR ---- */

/* What a TR says; the texts lie in `doc`. */
struct suggestion {
    struct json *doc;
    const char *label; /* NULL: `theirs` */
    uint64_t theirs;
    struct jval parameters;
    const char *resume_from; /* NULL: none */
};

static int
read_suggestion(const struct frame *frame, struct suggestion *s,
                struct err *err)
{
    struct jval root, v;
    size_t len;

    *s = (struct suggestion){
        .doc = json_parse(frame->payload, frame->len, JSON_STRICT, err)};
    if (s->doc == NULL)
        return -1;
    root = json_root(s->doc);
    if (!jval_get(root, "parameter_id", &v) ||
        (!jval_uint(v, &s->theirs) && (!jval_string(v, &s->label, &len) ||
                                       len == 0 || strlen(s->label) != len)))
        return err_set(err, ERR_INPUT,
                       "parameter_id: expected an integer of at least 0 or a "
                       "text");
    if (!jval_get(root, "parameters", &s->parameters))
        return err_set(err, ERR_INPUT, "no 'parameters'");
    if (jval_get(root, "resume_from", &v))
        jval_string(v, &s->resume_from, NULL);
    return 0;
}

static int
give_out(struct proxy_tuner *t, uint64_t id, const struct suggestion *s)
{
    struct trial *trial =
        proxy_tuner_add(t, id, s->label, s->theirs, s->parameters);
    struct parameter_record record = {.id = id, .label = s->label};

    if (trial == NULL) {
        if (s->label == NULL)
            proxy_out_of_memory(&t->base);
        else
            proxy_failed(&t->base,
                         "parameter_id: '%.64s' is in use, expected "
                         "a new one",
                         s->label);
        return -1;
    }
    record.parameters = trial->parameters;
    record.parameters_len = strlen(trial->parameters);
    if (t->base.policy->extensions)
        record.resume_from = s->resume_from;
    buf_clear(&t->base.payload);
    command_write_trial(&t->base.payload, &record);
    proxy_emit(&t->base, CMD_NEW_TRIAL);
    return 0;
}

static void
serve(struct proxy_tuner *t, const struct suggestion *s)
{
    struct proxy_request *r = t->requests;

    if (s != NULL && give_out(t, r->first + r->served + r->failed, s) == 0)
        r->served++;
    else
        r->failed++;
    settle_request(t, 0);
}

static void
take_trial(struct proxy_tuner *t, const struct frame *frame)
{
    struct suggestion s;
    struct err err;
    bool good = read_suggestion(frame, &s, &err) == 0;

    if (!good)
        proxy_failed(&t->base, "%s", err.text);
    if (t->state != PROXY_READY)
        proxy_failed(&t->base, "no ID was sent before it");
    else if (t->n_requests > 0)
        serve(t, good ? &s : NULL);
    else if (trials_out(t->trials) >= UNASKED_MAX)
        proxy_failed(&t->base, "nobody asked for it, and %d trials are out",
                     UNASKED_MAX);
    else if (good)
        give_out(t, t->next_id++, &s);
    json_free(s.doc);
}

/* ---- NO ---- */

/* Without a reason it may be the end, if nothing is out that could change the
 * program's mind. */
static enum no_reason
read_reason(const struct proxy_tuner *t, const struct frame *frame)
{
    static const char *const words[] = {
        [NO_LATER] = "later",
        [NO_EXHAUSTED] = "exhausted",
        [NO_FAILED] = "failed",
    };
    struct json *doc =
        json_parse(frame->payload, frame->len, JSON_STRICT, NULL);
    int reason = trials_out(t->trials) > 0 ? NO_LATER : NO_EXHAUSTED;
    const char *text;
    struct jval v;

    if (doc != NULL && jval_get(json_root(doc), "reason", &v) &&
        jval_string(v, &text, NULL))
        for (int i = NO_LATER; i <= NO_FAILED; i++)
            if (strcmp(words[i], text) == 0)
                reason = i;
    json_free(doc);
    return (enum no_reason)reason;
}

/* Its ids wait on; those that a bad TR cost are refused. */
static void
owe(struct proxy_tuner *t, size_t i)
{
    struct proxy_request *r = &t->requests[i], lost = *r;

    r->owed = true;
    proxy_tuner_no_more(t, r, NO_LATER, left_of(r));
    r->first += r->failed;
    r->count -= r->failed;
    r->failed = 0;
    if (lost.failed > 0)
        proxy_tuner_no_more(t, &lost, NO_FAILED, lost.failed);
}

static void
take_no_more(struct proxy_tuner *t, const struct frame *frame)
{
    enum no_reason reason = read_reason(t, frame);
    size_t i = unanswered(t);

    if (t->state == PROXY_ASKED || t->greeting) {
        proxy_failed(&t->base, "it refused the search space");
        if (!t->greeting)
            refuse_space(t);
        t->greeting = false;
    } else if (i < t->n_requests && reason == NO_LATER) {
        owe(t, i);
    } else if (i < t->n_requests) {
        end_request(t, i, reason);
    } else if (t->n_requests > 0 && reason != NO_LATER) {
        while (t->n_requests > 0)
            end_request(t, 0, reason);
    } else {
        proxy_failed(&t->base, "nobody waits for it");
    }
}

/* ---- all of them ---- */

static void
take_error(struct proxy_tuner *t, const struct frame *frame)
{
    proxy_failed(&t->base, "it says: %.*s",
                 frame->len < 500 ? (int)frame->len : 500, frame->payload);
}

void
proxy_tuner_frame(struct proxy *p, const struct frame *frame)
{
    static const struct {
        enum command_code code;
        void (*take)(struct proxy_tuner *, const struct frame *);
    } takers[] = {
        {CMD_INITIALIZED, take_initialized},
        {CMD_NEW_TRIAL, take_trial},
        {CMD_NO_MORE, take_no_more},
        {CMD_ERROR, take_error},
    };

    for (size_t i = 0; i < sizeof takers / sizeof *takers; i++)
        if (strcmp(command_info(takers[i].code)->code, frame->code) == 0) {
            takers[i].take((struct proxy_tuner *)p, frame);
            return;
        }
    proxy_failed(p, "expected ID, TR, NO or ER");
}

/* ---- what is no frame ---- */

static bool
stuck(const struct proxy_tuner *t)
{
    return t->n_requests > 0 && trials_out(t->trials) == 0;
}

bool
proxy_tuner_waits(const struct proxy *p)
{
    const struct proxy_tuner *t = (const struct proxy_tuner *)p;

    return t->state == PROXY_ASKED || t->greeting ||
           unanswered(t) < t->n_requests || stuck(t);
}

uint64_t
proxy_tuner_owed(const struct proxy *p)
{
    const struct proxy_tuner *t = (const struct proxy_tuner *)p;
    uint64_t owed = 0;

    for (size_t i = 0; i < t->n_requests; i++)
        owed += left_of(&t->requests[i]) + t->requests[i].failed;
    return owed;
}

/* Whoever waits, waits no more. */
static void
let_down(struct proxy_tuner *t)
{
    t->greeting = false;
    if (t->state == PROXY_ASKED)
        refuse_space(t);
    for (size_t i; (i = unanswered(t)) < t->n_requests;)
        end_request(t, i, NO_FAILED);
}

void
proxy_tuner_late(struct proxy *p)
{
    struct proxy_tuner *t = (struct proxy_tuner *)p;

    let_down(t);
    while (stuck(t))
        end_request(t, 0, NO_EXHAUSTED);
}

void
proxy_tuner_gone(struct proxy *p)
{
    struct proxy_tuner *t = (struct proxy_tuner *)p;

    let_down(t);
    while (t->n_requests > 0)
        end_request(t, 0, NO_FAILED);
}
