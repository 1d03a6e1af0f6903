/* SPDX-License-Identifier: MIT */
#include "dispatcher/proxy_tuner.h"

#include "core/err.h"
#include "core/log.h"
#include "frame.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNASKED_MAX 65536 /* trials out at which none is taken unasked */

/* ---- requests ---- */

/* Those that the next TR may serve; the oldest first. */
static struct proxy_requests *
waiting(struct proxy_tuner *t)
{
    return t->owed.n > 0 ? &t->owed : &t->asked;
}

/* Managers of NNI's never ask again for what failed: it is kept in mind. */
static void
refuse(struct proxy_tuner *t, const struct proxy_request *r,
       enum no_reason reason, uint64_t units)
{
    proxy_tuner_no_more(t, r->first, reason, units);
    if (reason == NO_FAILED && t->base.policy->again)
        t->failed += units;
}

/* Forgets the oldest one if it is served as far as it can be. */
static void
settle_request(struct proxy_tuner *t, struct proxy_requests *q)
{
    struct proxy_request r = *proxy_requests_first(q);

    if (proxy_request_left(&r) > 0)
        return;
    proxy_requests_pop(q);
    if (r.failed > 0)
        refuse(t, &r, NO_FAILED, r.failed);
}

/* The rest of the oldest one is refused. */
static void
end_request(struct proxy_tuner *t, struct proxy_requests *q,
            enum no_reason reason)
{
    struct proxy_request r = proxy_requests_pop(q);

    refuse(t, &r, reason, proxy_request_left(&r) + r.failed);
}

static void
end_requests(struct proxy_tuner *t, struct proxy_requests *q,
             enum no_reason reason)
{
    while (q->n > 0)
        end_request(t, q, reason);
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
        proxy_failed(&t->base, "nobody waits for it, expected one for each IN");
        return;
    }
    t->state = PROXY_READY;
    proxy_emit(&t->base, (struct emission){.code = CMD_INITIALIZED,
                                           .number = t->position});
}

/* NNI's managers send no other, and would wait for ever. */
static void
refuse_space(struct proxy_tuner *t)
{
    struct proxy *p = &t->base;

    t->state = PROXY_BARE;
    if (p->policy->extensions)
        proxy_tuner_no_more(t, t->next_id, NO_FAILED, 0);
    if (!p->policy->nni || p->fatal)
        return;
    p->fatal = true;
    err_set(p->failure, ERR_CONFIG, "%s: it did not take the search space",
            p->setup->title);
}

/* ---- TR ---- */

/* What a TR says; the texts lie in `doc`. */
struct suggestion {
    struct json *doc;
    const char *label; /* NULL: `theirs` */
    uint64_t theirs;
    struct jval parameters;
    const char *resume_from; /* NULL: none */
    const char *resume_how;  /* NULL: it does not say */
};

static int
read_how(struct jval root, struct suggestion *s, struct err *err)
{
    struct jval v;

    if (!jval_get(root, "resume_how", &v) ||
        (jval_string(v, &s->resume_how, NULL) &&
         (strcmp(s->resume_how, "promoted") == 0 ||
          strcmp(s->resume_how, "cloned") == 0)))
        return 0;
    return err_set(err, ERR_INPUT,
                   "resume_how: expected \"promoted\" or \"cloned\"");
}

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
        return err_set(err, ERR_INPUT,
                       "parameters: missing, expected what the trial gets");
    if (jval_get(root, "resume_from", &v))
        jval_string(v, &s->resume_from, NULL);
    return read_how(root, s, err);
}

/* Writes its TR, *e; `text` becomes its parameters.  -1: it cannot be sent. */
static int
write_suggestion(struct proxy_tuner *t, uint64_t id, const struct suggestion *s,
                 struct buf *text, struct emission *e)
{
    struct parameter_record record = {.id = id, .label = s->label};

    jval_write(s->parameters, text);
    record.parameters = buf_text(text);
    record.parameters_len = text->len;
    if (t->base.policy->extensions)
        record.resume_from = s->resume_from;
    record.resume_how = s->resume_how;
    *e = (struct emission){.code = CMD_NEW_TRIAL, .gives = &record};
    if (!proxy_encode(&t->base, e))
        return -1;
    if (text->failed) {
        proxy_out_of_memory(&t->base);
        return -1;
    }
    if (e->len <= t->base.longest)
        return 0;
    proxy_failed(&t->base,
                 "parameters: a payload of %zu bytes, over the limit of %zu",
                 e->len, t->base.longest);
    return -1;
}

static int
give_out(struct proxy_tuner *t, uint64_t id, const struct suggestion *s)
{
    struct parameter_id label = parameter_named(id, s->label);
    struct trial *trial = NULL;
    struct emission e;
    struct buf text;

    if (s->label != NULL && trials_find(t->trials, &label) != NULL) {
        proxy_failed(&t->base,
                     "parameter_id: '%.64s' is in use, expected a new one",
                     s->label);
        return -1;
    }
    buf_init(&text, SIZE_MAX / 2);
    if (write_suggestion(t, id, s, &text, &e) == 0) {
        trial = proxy_tuner_add(t, id, s->label, s->theirs, &text);
        if (trial == NULL)
            proxy_out_of_memory(&t->base);
        else
            t->base.emitter.emit(t->base.emitter.ctx, &e);
        reunion_launch(&t->reunion, id, s->label);
        t->tries = 0;
    }
    buf_fini(&text);
    return trial == NULL ? -1 : 0;
}

void
proxy_tuner_serve_lost(struct proxy_tuner *t)
{
    struct proxy_request *r;

    while ((r = proxy_requests_first(&t->owed)) != NULL &&
           reunion_give_again(&t->reunion, r->first + r->served + r->failed)) {
        r->served++;
        settle_request(t, &t->owed);
    }
}

/* NULL: it made no sense, which costs a trial. */
static void
serve(struct proxy_tuner *t, const struct suggestion *s)
{
    struct proxy_requests *q = waiting(t);
    struct proxy_request *r = proxy_requests_first(q);

    if (s != NULL && give_out(t, r->first + r->served + r->failed, s) == 0)
        r->served++;
    else
        r->failed++;
    settle_request(t, q);
}

static void
take_trial(struct proxy_tuner *t, const struct frame *frame)
{
    struct suggestion s;
    struct err err;
    bool good;

    if (t->state != PROXY_READY) {
        proxy_failed(&t->base, "no ID was sent before it, expected one for "
                               "IN");
        return;
    }
    good = read_suggestion(frame, &s, &err) == 0;
    if (!good)
        proxy_failed(&t->base, "%s", err.text);
    if (waiting(t)->n > 0)
        serve(t, good ? &s : NULL);
    else if (trials_out(t->trials) >= UNASKED_MAX)
        proxy_failed(&t->base, "nobody asked for it, and %d trials are out",
                     UNASKED_MAX);
    else if (good && give_out(t, t->next_id++, &s) == 0)
        t->failed -= t->failed > 0; /* it comes late */
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

/* The ids of the oldest that has no answer wait on; those that a bad TR cost
 * are refused. */
static void
owe(struct proxy_tuner *t)
{
    struct proxy_request r = proxy_requests_pop(&t->asked), lost = r;

    proxy_tuner_no_more(t, r.first, NO_LATER, proxy_request_left(&r));
    r.first += r.failed;
    r.count -= r.failed;
    r.failed = 0;
    if (proxy_requests_push(&t->owed, r) != 0)
        proxy_out_of_memory(&t->base);
    if (lost.failed > 0)
        refuse(t, &lost, NO_FAILED, lost.failed);
}

static void
take_no_more(struct proxy_tuner *t, const struct frame *frame)
{
    enum no_reason reason = read_reason(t, frame);

    if (t->state == PROXY_ASKED || t->greeting) {
        proxy_failed(&t->base, "it refused the search space");
        if (!t->greeting)
            refuse_space(t);
        t->greeting = false;
    } else if (t->asked.n > 0 && reason == NO_LATER) {
        owe(t);
    } else if (t->asked.n > 0) {
        end_request(t, &t->asked, reason);
    } else if (t->owed.n > 0 && reason != NO_LATER) {
        end_requests(t, &t->owed, reason);
    } else {
        proxy_failed(&t->base, "nobody waits for it, expected one for a GE "
                               "at most");
    }
}

/* ---- all of them ---- */

static void
take_error(struct proxy_tuner *t, const struct frame *frame)
{
    proxy_says(&t->base, frame);
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
    return t->owed.n + t->asked.n > 0 && trials_out(t->trials) == 0;
}

bool
proxy_tuner_waits(const struct proxy *p)
{
    const struct proxy_tuner *t = (const struct proxy_tuner *)p;

    return t->state == PROXY_ASKED || t->greeting || t->asked.n > 0 || stuck(t);
}

size_t
proxy_tuner_bytes(const struct proxy *p)
{
    return ((const struct proxy_tuner *)p)->asked.n *
           sizeof(struct proxy_request);
}

void
proxy_tuner_name_due(const struct proxy *p, char *out, size_t size)
{
    const struct proxy_tuner *t = (const struct proxy_tuner *)p;
    const struct proxy_request *r;

    if (t->state == PROXY_ASKED || t->greeting) {
        snprintf(out, size, "ID, or NO, for IN");
    } else if (t->asked.n > 0) {
        r = &t->asked.items[t->asked.at];
        snprintf(out, size, "%" PRIu64 " more TR, or NO, for GE%" PRIu64,
                 proxy_request_left(r), r->count);
    } else {
        snprintf(out, size, "TR for what it owes, as no trial is out");
    }
}

uint64_t
proxy_tuner_owed(const struct proxy *p)
{
    const struct proxy_tuner *t = (const struct proxy_tuner *)p;

    return proxy_requests_ids(&t->owed) + proxy_requests_ids(&t->asked);
}

/* Whoever waits, waits no more. */
static void
let_down(struct proxy_tuner *t)
{
    t->greeting = false;
    if (t->state == PROXY_ASKED)
        refuse_space(t);
    end_requests(t, &t->asked, NO_FAILED);
}

void
proxy_tuner_late(struct proxy *p)
{
    struct proxy_tuner *t = (struct proxy_tuner *)p;

    let_down(t);
    if (stuck(t))
        end_requests(t, &t->owed, NO_EXHAUSTED);
}

void
proxy_tuner_gone(struct proxy *p)
{
    struct proxy_tuner *t = (struct proxy_tuner *)p;

    let_down(t);
    end_requests(t, &t->owed, NO_FAILED);
}

/* What has failed is asked for again behind the next word to the program; at
 * once, a few times, where no trial is out behind whose end that could be. */
void
proxy_tuner_settle(struct proxy *p)
{
    struct proxy_tuner *t = (struct proxy_tuner *)p;

    if (t->failed == 0 || t->asked.n > 0 || trials_out(t->trials) > 0)
        return;
    if (t->tries < POLICY_TRIES)
        proxy_tuner_ask_failed(t);
    else if (t->tries == POLICY_TRIES)
        log_warning(p->log,
                    "command %" PRIu64 " (%s): %s fails each time it is asked "
                    "but no trial is out: %" PRIu64
                    " requested trials are refused",
                    p->arrival, p->input, p->setup->title, t->failed);
    t->tries++;
}
