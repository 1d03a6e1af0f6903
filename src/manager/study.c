/* SPDX-License-Identifier: MIT */
#include "manager/study.h"

#include "config/experiment.h"
#include "control/server.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "core/grow.h"
#include "core/number.h"
#include "history/folder.h"
#include "manager/dispatcher.h"
#include "manager/experiment_end.h"
#include "manager/experiment_folder.h"
#include "manager/launch.h"
#include "manager/live.h"
#include "manager/metrics.h"
#include "manager/placing.h"
#include "manager/reading.h"
#include "manager/results.h"
#include "manager/run.h"
#include "manager/running.h"
#include "manager/scheduler.h"
#include "manager/trial.h"
#include "objectives/objectives.h"
#include "runner/client/client.h"
#include "trial/files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ASKS_MAX 1000u                   /* in one request */
#define IDLE_NS ((int64_t)200 * 1000000) /* without a client */
#define LINGER_NS ((int64_t)10000 * 1000000)
#define VALUE_MAX (TRIAL_METRIC_MAX - 64)
#define WHY_MAX 200
#define ANSWER_MAX ((size_t)64 << 20)
#define ANY UINT64_MAX /* a number that a request does not have */

/* Who waits for an answer. */
struct waiter {
    struct link link;
    struct control_subscription *sub;
    struct client_owner asker; /* of an ask */
    char *given;               /* the answer to it: the trial */
    uint64_t trial;            /* of a report, or a tell */
    int64_t end;               /* of the report: metric_line's */
    bool over;                 /* of the tell: the trial has ended */
};

static void
forget(struct study *s, struct waiter *w)
{
    s->n_asks -= w->link.in == &s->asks;
    list_remove(&w->link);
    free(w->given);
    free(w);
}

static struct waiter *
wait_in(struct study *s, struct list *in, const struct control_request *request,
        struct err *err)
{
    struct waiter *w = calloc(1, sizeof *w);

    if (w == NULL ||
        (w->sub = control_subscribe(request->from, 1, err)) == NULL) {
        free(w);
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    w->sub->source = STUDY_SOURCE | s->n_sources++;
    list_add(in, NULL, &w->link, w);
    s->n_asks += in == &s->asks;
    return w;
}

/* From the end: of a client that leaves, the newest goes first. */
static bool
cancel_in(struct study *s, struct list *in, uint64_t source)
{
    for (struct link *at = in->last; at != NULL; at = at->previous) {
        struct waiter *w = at->of;

        if (w->sub->source != source)
            continue;
        forget(s, w);
        return true;
    }
    return false;
}

void
study_cancel(struct study *s, uint64_t source)
{
    if (!cancel_in(s, &s->asks, source) && !cancel_in(s, &s->gives, source) &&
        !cancel_in(s, &s->reports, source))
        cancel_in(s, &s->tells, source);
    study_count(s);
}

/* ---- a trial is given out ---- */

static bool
take(void *ctx, struct client_owner *asker)
{
    struct study *s = ctx;

    if (s->asks.first == NULL)
        return false;
    *asker = ((struct waiter *)s->asks.first->of)->asker;
    return true;
}

static void
write_trial(struct buf *out, const struct runner_task *task)
{
    const struct trial *t = task->trial;
    struct json_writer w = json_begin_object(out);

    json_add_unsigned(&w, "trial", t->number);
    json_add_raw(&w, "parameters", task->parameters);
    json_add_text(&w, "folder", task->phase.folder);
    json_add_unsigned(&w, "attempt", t->attempt);
    if (t->budget > 0 && t->budget == floor(t->budget) && t->budget < 0x1p53)
        json_add_unsigned(&w, "budget", (uint64_t)t->budget);
    else if (t->budget > 0)
        json_add_number(&w, "budget", t->budget);
    if (task->restore != NULL) {
        json_add_unsigned(&w, "step", t->step);
        json_add_text(&w, "restore_dir", task->restore);
    }
    if (task->saving != NULL)
        json_add_text(&w, "checkpoint_dir", task->saving);
    json_close(&w);
}

static void answer_report(void *ctx, uint64_t trial, int64_t end,
                          enum report_answer answer);

static void
hear(struct study *s, struct trial *t)
{
    t->unanswered.hear = answer_report;
    t->unanswered.ctx = s;
    t->unanswered.of = t->number;
}

static void
give(void *ctx, const struct runner_task *task)
{
    struct study *s = ctx;
    struct waiter *w = s->asks.first->of;
    struct buf text;

    s->n_asks--;
    list_remove(&w->link);
    list_add(&s->gives, NULL, &w->link, w);
    hear(s, task->trial);
    buf_init(&text, ANSWER_MAX);
    write_trial(&text, task);
    w->given = buf_take(&text); /* NULL: no memory, or too long */
}

/* Who was to be given a trial is refused, as its process has gone; the
 * connection may stay: whoever has that is not who made it. */
static void
turn_down(void *ctx, const char *why)
{
    struct study *s = ctx;
    struct waiter *w = s->asks.first->of;
    struct control_subscription *sub = w->sub;

    forget(s, w);
    control_subscription_refuse(sub, why, false);
    study_count(s);
}

/* Nobody knows of a trial before the log, or the pipe to it, knows of its
 * start: else another server might give it away once more. */
static void
answer_gives(struct study *s)
{
    while (s->gives.first != NULL) {
        struct waiter *w = s->gives.first->of;
        struct control_subscription *sub = w->sub;
        char *given = w->given;

        w->given = NULL;
        forget(s, w);
        if (given != NULL)
            control_subscription_answer(sub, given);
        else
            control_subscription_refuse(sub, "the parameters are too long",
                                        false);
        free(given);
    }
}

int
study_open(struct study *s, const char *folder, struct err *err)
{
    struct client_server server = {
        .take = take, .give = give, .refuse = turn_down, .ctx = s};

    s->serves = s->x->platform == PLATFORM_client;
    if (!s->serves)
        return 0;
    s->ledger = file_join(folder, FOLDER_ASKED);
    if (s->ledger == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    server.ledger = s->ledger;
    s->lingers = true;
    s->scheduler->concurrency = ASKS_MAX; /* until they are counted */
    return client_serve(s->launch->runner, &server, err);
}

void
study_close(struct study *s)
{
    while (s->asks.first != NULL)
        forget(s, s->asks.first->of);
    while (s->gives.first != NULL)
        forget(s, s->gives.first->of);
    while (s->reports.first != NULL)
        forget(s, s->reports.first->of);
    while (s->tells.first != NULL)
        forget(s, s->tells.first->of);
    free(s->ledger);
}

/* What is given back is for the next one: it does not count any more.  Of what
 * is left to the next server, that answers who waits. */
void
study_hear_end(void *ctx, const struct attempt_end *end)
{
    struct study *s = ctx;

    if (!s->serves || end->how == ATTEMPT_LEFT)
        return;
    for (struct link *at = s->reports.first, *next; at != NULL; at = next) {
        struct waiter *w = at->of;

        next = at->next;
        if (w->trial == end->trial->number)
            answer_report(s, w->trial, w->end, trial_answer(end->trial));
    }
    for (struct link *at = s->tells.first; at != NULL; at = at->next) {
        struct waiter *w = at->of;

        w->over |= w->trial == end->trial->number;
    }
    study_count(s);
    if (end->how == ATTEMPT_REPLACED && trial_exited(end->trial) &&
        s->scheduler->concurrency > s->n_asks)
        s->scheduler->concurrency--;
}

void
study_count(struct study *s)
{
    uint64_t before = s->scheduler->concurrency;

    if (!s->serves)
        return;
    s->scheduler->concurrency = s->n_asks + s->live->running;
    if (s->scheduler->concurrency > before)
        placing_stir(s->placing);
}

/* ---- asked ---- */

static int
check_serves(const struct study *s, struct err *err)
{
    if (s->serves)
        return 0;
    return err_set(err, ERR_INPUT,
                   "the experiment runs its trials itself, by trialCommand: "
                   "nobody can ask for them");
}

static int
read_flag(struct jval object, const char *key, bool *out, struct err *err)
{
    struct jval v;

    if (!jval_get(object, key, &v) || jval_bool(v, out))
        return 0;
    return err_set(err, ERR_INPUT, "%s: expected true or false, not %s", key,
                   jval_type_name(v));
}

/* Where the object has it; else *out stays. */
static int
read_number(struct jval object, const char *key, uint64_t *out, struct err *err)
{
    struct jval v;

    if (!jval_get(object, key, &v) || jval_uint(v, out))
        return 0;
    return err_set(err, ERR_INPUT, "%s: expected an integer from 0", key);
}

static int
ask(void *ctx, const struct control_request *request, struct buf *reply,
    struct err *err)
{
    struct study *s = ctx;
    struct client_owner asker = {.pid = control_peer(request->from)};
    bool detached = false;
    uint64_t n = 1;
    struct jval v;

    (void)reply; /* it is answered by and by */
    if (check_serves(s, err) != 0 ||
        read_flag(request->object, "detached", &detached, err) != 0 ||
        read_number(request->object, "client", &asker.number, err) != 0)
        return -1;
    if (jval_get(request->object, "n", &v) &&
        (!jval_uint(v, &n) || n < 1 || n > ASKS_MAX))
        return err_set(err, ERR_INPUT, "n: expected an integer from 1 to %u",
                       ASKS_MAX);
    s->lingers = detached;
    for (uint64_t i = 0; i < n; i++) {
        struct waiter *w = wait_in(s, &s->asks, request, err);

        if (w == NULL)
            return -1;
        if (!detached)
            w->asker = asker;
    }
    study_count(s);
    return 0;
}

/* Why no more will come, as far as this server knows; *over: nor will it of a
 * later one.  False: it may; also where the server was told to end by a signal:
 * whoever waits asks the next one. */
static bool
is_over(const struct study *s, char *why, size_t size, bool *over)
{
    const struct scheduler *c = s->scheduler;

    *over = true;
    if (s->end->known) {
        snprintf(why, size, "%s", s->end->outcome->reason);
        *over = s->end->outcome->end <= MANAGER_DURATION;
        return s->stopped || s->end->outcome->end != MANAGER_INTERRUPTED;
    }
    if (c->max_trials > 0 && c->started >= c->max_trials)
        snprintf(why, size, "maxTrialNumber: all %llu trials were given out",
                 (unsigned long long)c->max_trials);
    else if (c->exhausted)
        snprintf(why, size, "nothing more to try after %llu trials",
                 (unsigned long long)s->live->n_numbers);
    else
        return false;
    return true;
}

static size_t
count_waiting(const struct placing *p)
{
    size_t n = 0;

    for (const struct link *at = p->trials.first; at != NULL; at = at->next)
        n++;
    return n;
}

static void
refuse(struct study *s)
{
    const struct scheduler *c = s->scheduler;
    char why[300] = "the tuner failed to give parameters: see "
                    "dispatcher.log in the study's folder";
    bool ended, over;
    size_t most;

    if (s->asks.first == NULL || (c->owed > 0 && !s->end->known))
        return;
    ended = is_over(s, why, sizeof why, &over);
    if (!ended && (s->end->known || !c->refused))
        return;
    most = s->end->known ? 0 : count_waiting(s->placing);
    while (s->n_asks > most) {
        struct waiter *w = s->asks.last->of;
        struct control_subscription *sub = w->sub;

        forget(s, w);
        control_subscription_refuse(sub, why, ended && over);
    }
    study_count(s);
}

void
study_stop(struct study *s, const struct control_connection *from)
{
    static const char text[] = "the study was stopped by `tunepipe stop`";

    if (!s->serves || s->end->known)
        return;
    s->stopped = true;
    experiment_ends(s->end, MANAGER_INTERRUPTED, "%s", text);
    control_server_stop(s->control, from, text);
}

void
study_explain(const struct trial *t, struct buf *out)
{
    pid_t owner = client_owner(t->run).pid;

    if (owner > 0)
        buf_printf(out,
                   "process %d has asked for it, and is to tell its "
                   "result",
                   (int)owner);
    else
        buf_add_text(out, "somebody has asked for it, and is to tell its "
                          "result");
}

/* ---- told ---- */

/* How a trial has ended. */
struct ended {
    enum trial_state state;
    bool has_value;
    double value;
};

/* Asks the results, so that nothing is kept of trials that have ended: who
 * tells one a second time is rare.  False: it has not ended, or is none. */
static bool
find_end(const struct study *s, uint64_t number, struct ended *out)
{
    struct result r;
    bool ended;

    if (!results_find(s->folder->path, number, &r))
        return false;
    out->state = trial_state_of(r.status);
    out->has_value = results_final(&r, &out->value);
    ended = out->state != TRIAL_INTERRUPTED;
    result_fini(&r);
    return ended;
}

static void
tell_ended(const struct study *s, uint64_t number, struct err *err)
{
    struct ended e;
    bool known = find_end(s, number, &e);
    char with[64] = "";

    if (known && e.has_value)
        snprintf(with, sizeof with, " with %.6g", e.value);
    err_set(err, ERR_INPUT, "trial %05llu has ended%s%s%s%s",
            (unsigned long long)number, known ? " (" : "",
            known ? trial_state_name(e.state) : "", with, known ? ")" : "");
}

/* This server ends, and the trial is left to the next one, which is asked the
 * same when the connection ends. */
static int
leave_to_next(struct study *s, const struct control_request *request,
              struct err *err)
{
    struct waiter *w = wait_in(s, &s->tells, request, err);

    if (w == NULL)
        return -1;
    w->trial = ANY;
    return 0;
}

/* A trial's number, also as its id. */
static bool
read_trial(struct jval request, uint64_t *out)
{
    const char *text;
    struct jval v;
    size_t len;

    return jval_get(request, "trial", &v) &&
           (jval_uint(v, out) ||
            (jval_string(v, &text, &len) && number_parse_u64(text, len, out)));
}

/* The trial that a request is about, which runs as the attempt that is named
 * there; else it is NULL, and the result is a handler's. */
static int
find_trial(struct study *s, const struct control_request *request,
           struct trial **out, struct err *err)
{
    uint64_t number = ANY, attempt = ANY;
    struct trial *t;

    *out = NULL;
    if (check_serves(s, err) != 0 ||
        read_number(request->object, "attempt", &attempt, err) != 0)
        return -1;
    if (!read_trial(request->object, &number) || number == ANY)
        return err_set(err, ERR_INPUT, "trial: expected its number");
    if (number >= s->live->n_numbers)
        return err_set(err, ERR_INPUT,
                       "trial %05llu: there is none, %llu have come so far",
                       (unsigned long long)number,
                       (unsigned long long)s->live->n_numbers);
    t = live_by_number(s->live, number);
    if (s->end->interrupting && !find_end(s, number, &(struct ended){0}))
        return leave_to_next(s, request, err);
    if (t == NULL || !(trial_waits(t) || t->state == TRIAL_RUNNING)) {
        tell_ended(s, number, err);
    } else if (attempt != ANY && attempt != t->attempt) {
        err_set(err, ERR_INPUT,
                "trial %05llu: attempt %llu was given back, attempt %llu is "
                "another's",
                (unsigned long long)number, (unsigned long long)attempt,
                (unsigned long long)t->attempt);
    } else if (t->state != TRIAL_RUNNING || !client_is_open(t->run)) {
        err_set(err, ERR_INPUT,
                "trial %05llu: nobody has asked for it, or it was given back",
                (unsigned long long)number);
    } else {
        s->lingers = client_owner(t->run).pid == 0;
        *out = t;
        return 0;
    }
    return CONTROL_GONE;
}

/* The word for what JSON cannot spell; NULL: it is none. */
static const char *
word_of(struct jval v, double *out)
{
    static const struct {
        const char *text;
        double value;
    } words[] = {
        {"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}};
    const char *text = NULL;

    jval_string(v, &text, NULL);
    for (size_t i = 0; text != NULL && i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i].text) == 0) {
            *out = words[i].value;
            return words[i].text;
        }
    return NULL;
}

/* A result's number, of several values the first objective's; false: it has
 * none. */
static bool
read_value(const struct objectives *of, struct jval v, double *out)
{
    const char *name = of != NULL ? of->names[0] : "default";
    struct jval number;

    if (jval_get(v, name, &number))
        v = number;
    return word_of(v, out) != NULL || jval_number(v, out);
}

/* Whether results are judged by a value of this name. */
static bool
is_judged(const struct objectives *of, const char *name)
{
    for (size_t i = 0; of != NULL && i < of->n_values; i++)
        if (strcmp(of->names[i], name) == 0)
            return true;
    return of == NULL && strcmp(name, "default") == 0;
}

/* Checks the number of a result that is one, or an object with it. */
static int
check_default(struct jval v, struct err *err)
{
    struct jval number = v;
    double value;

    if (jval_type(v) == JSON_OBJECT && !jval_get(v, "default", &number))
        return err_set(err, ERR_INPUT,
                       "value: expected a number as its member \"default\"");
    if (jval_type(number) == JSON_OBJECT || !read_value(NULL, number, &value))
        return err_set(err, ERR_INPUT, "value: expected a number, not %s",
                       jval_type_name(number));
    return 0;
}

/* Appends a result as trials report it, which may spell what JSON cannot. */
static int
write_value(const struct objectives *of, bool final, struct jval v,
            struct buf *out, struct err *err)
{
    size_t before = out->len;
    struct json_writer w;
    struct jval_iter it;
    double value;

    if (of == NULL && check_default(v, err) != 0)
        return -1;
    if (jval_type(v) != JSON_OBJECT) {
        word_of(v, &value) != NULL ? buf_add_text(out, word_of(v, &value))
                                   : jval_write(v, out);
    } else {
        w = json_begin_object(out);
        it = jval_iter(v);
        while (jval_next(&it))
            if (is_judged(of, it.key) && word_of(it.value, &value) != NULL)
                buf_add_text(json_value(&w, it.key), word_of(it.value, &value));
            else
                jval_write(it.value, json_value(&w, it.key));
        json_close(&w);
    }
    if (of != NULL && buf_check(out, "value", err) == 0 &&
        (final ? metrics_whole : metrics_value)(
            of, out->data + before, out->len - before, &value, err) != 0)
        return err_place(err, "value");
    return 0;
}

static int
read_why(struct jval v, char why[WHY_MAX], struct err *err)
{
    const char *text;

    if (!jval_string(v, &text, NULL))
        return err_set(err, ERR_INPUT, "failed: expected a text, not %s",
                       jval_type_name(v));
    snprintf(why, WHY_MAX, "%s", text);
    for (char *c = why; *c != '\0'; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    return 0;
}

/* Whether the trial has ended just as it is told once more. */
static bool
was_told(const struct study *s, const struct control_request *request)
{
    struct ended e;
    bool again = false;
    double value = NAN;
    uint64_t number;
    struct jval v;

    if (read_flag(request->object, "again", &again, NULL) != 0 || !again ||
        !read_trial(request->object, &number) || !find_end(s, number, &e))
        return false;
    if (jval_get(request->object, "failed", &v))
        return trial_is_failure(e.state);
    if (!jval_get(request->object, "value", &v))
        return !e.has_value;
    read_value(s->x->objectives, v, &value);
    return e.has_value &&
           (e.value == value || (isnan(e.value) && isnan(value)));
}

/* It has its result, or none: that it is over now, and whoever told it waits
 * until that is on record. */
static void
end_trial(struct study *s, struct trial *t, const struct buf *result,
          const char *failed)
{
    if (result->len == 0 && failed == NULL && t->stop == STOP_NOT)
        failed = "told to have ended, without a result";
    if (result->len > 0 && !t->final.given)
        reading_line(s->reading, t, result->data, result->len);
    client_end(t->run, failed, t->failures < s->x->on_failure.retry);
    running_exited(s->running, t);
}

static int
tell(void *ctx, const struct control_request *request, struct buf *reply,
     struct err *err)
{
    struct study *s = ctx;
    struct trial *t;
    struct jval value, failed;
    bool has_value = jval_get(request->object, "value", &value),
         has_failed = jval_get(request->object, "failed", &failed);
    struct waiter *w = NULL;
    char why[WHY_MAX];
    struct buf line;
    int rc = find_trial(s, request, &t, err);

    if (t == NULL && (rc == 0 || !was_told(s, request)))
        return rc;
    if (t == NULL) {
        buf_add_text(reply, "{}");
        return 0;
    }
    if (has_value && has_failed)
        return err_set(err, ERR_INPUT, "expected a value, or failed, not both");
    buf_init(&line, VALUE_MAX);
    if (has_value) {
        buf_add_text(&line, TRIAL_METRIC_FINAL);
        rc = write_value(s->x->objectives, true, value, &line, err);
    } else if (has_failed) {
        rc = read_why(failed, why, err);
    }
    if (rc == 0)
        rc = buf_check(&line, "value", err);
    if (rc == 0)
        w = wait_in(s, &s->tells, request, err);
    if (w != NULL) {
        w->trial = t->number;
        end_trial(s, t, &line, has_failed ? why : NULL);
    }
    buf_fini(&line);
    return w != NULL ? 0 : -1;
}

/* An end is told to be kept when it is. */
static void
answer_tells(struct study *s)
{
    for (struct link *at = s->tells.first, *next; at != NULL; at = next) {
        struct waiter *w = at->of;
        struct control_subscription *sub = w->sub;

        next = at->next;
        if (!w->over || s->folder->held.len > 0)
            continue;
        forget(s, w);
        control_subscription_answer(sub, "{}");
    }
}

/* ---- reported ---- */

static void
write_stop(struct buf *out, enum report_answer answer)
{
    struct json_writer w = json_begin_object(out);

    json_add_text(&w, "stop", report_answer_word(answer));
    json_close(&w);
}

static void
answer_report(void *ctx, uint64_t trial, int64_t end, enum report_answer answer)
{
    struct study *s = ctx;
    struct buf text;

    for (struct link *at = s->reports.first; at != NULL; at = at->next) {
        struct waiter *w = at->of;
        struct control_subscription *sub = w->sub;

        if (w->trial != trial || w->end != end)
            continue;
        forget(s, w);
        buf_init(&text, 100);
        write_stop(&text, answer);
        control_subscription_answer(sub, buf_text(&text));
        buf_fini(&text);
        return;
    }
}

/* Whether the report is there already, which is said once more. */
static int
is_repeated(const struct study *s, const struct trial *t, struct jval request,
            bool *out, struct err *err)
{
    uint64_t before, sequence;
    struct jval v;

    before = reading_count(s->reading, t).intermediates;
    *out = false;
    if (!jval_get(request, "sequence", &v))
        return 0;
    if (!jval_uint(v, &sequence) || sequence > before)
        return err_set(err, ERR_INPUT,
                       "sequence: expected an integer from 0 to %llu, the "
                       "number of its reports before",
                       (unsigned long long)before);
    *out = sequence < before;
    return 0;
}

static int
report(void *ctx, const struct control_request *request, struct buf *reply,
       struct err *err)
{
    struct study *s = ctx;
    struct trial *t;
    struct waiter *w = NULL;
    bool repeated;
    struct jval value;
    struct buf line;
    int rc = find_trial(s, request, &t, err);

    if (t == NULL)
        return rc;
    if (is_repeated(s, t, request->object, &repeated, err) != 0)
        return -1;
    if (repeated) {
        write_stop(reply, trial_answer(t));
        return 0;
    }
    if (!jval_get(request->object, "value", &value))
        return err_set(err, ERR_INPUT, "value: expected a number");
    buf_init(&line, VALUE_MAX);
    buf_add_text(&line, TRIAL_METRIC_INTERMEDIATE);
    rc = write_value(s->x->objectives, false, value, &line, err);
    buf_add_text(&line, TRIAL_METRIC_HEARS);
    if (rc == 0)
        rc = buf_check(&line, "value", err);
    if (rc == 0)
        w = wait_in(s, &s->reports, request, err);
    if (w != NULL) {
        w->trial = t->number;
        w->end = (int64_t)t->metrics.intermediates;
        hear(s, t);
        reading_line(s->reading, t, line.data, line.len);
    }
    buf_fini(&line);
    return w != NULL ? 0 : -1;
}

/* {"trial": N, "number": K}: a checkpoint of this number was saved. */
static int
saved(void *ctx, const struct control_request *request, struct buf *reply,
      struct err *err)
{
    struct study *s = ctx;
    struct trial *t;
    uint64_t number;
    struct jval v;
    struct buf line;
    int rc = find_trial(s, request, &t, err);

    if (t == NULL)
        return rc;
    if (!jval_get(request->object, "number", &v) || !jval_uint(v, &number))
        return err_set(err, ERR_INPUT, "number: expected that of a checkpoint");
    buf_init(&line, VALUE_MAX);
    buf_printf(&line, TRIAL_METRIC_CHECKPOINT "%llu",
               (unsigned long long)number);
    reading_line(s->reading, t, line.data, line.len);
    buf_fini(&line);
    buf_add_text(reply, "{}");
    return 0;
}

static int
look(void *ctx, const struct control_request *request, struct buf *reply,
     struct err *err)
{
    struct study *s = ctx;
    struct trial *t;
    int rc = find_trial(s, request, &t, err);

    if (t == NULL)
        return rc;
    write_stop(reply, trial_answer(t));
    return 0;
}

/* ---- given back ---- */

/* Of a request: {NULL} where it has none. */
static int
read_list(struct jval request, const char *key, struct jval *out,
          struct err *err)
{
    uint64_t n;
    bool good = !jval_get(request, key, out) || jval_type(*out) == JSON_ARRAY;

    for (size_t i = 0; good && i < jval_count(*out); i++)
        good = jval_uint(jval_at(*out, i), &n);
    return good ? 0
                : err_set(err, ERR_INPUT,
                          "%s: expected an array of trials' numbers", key);
}

/* What it waits for would be given to one who has gone. */
static void
drop_asks(struct study *s, const struct control_connection *client)
{
    for (struct link *at = s->asks.first, *next; at != NULL; at = next) {
        struct waiter *w = at->of;
        struct control_subscription *sub = w->sub;

        next = at->next;
        if (sub->client != client)
            continue;
        forget(s, w);
        control_subscription_refuse(sub, "the client has left", false);
    }
    study_count(s);
}

/* A number of ANY: of all clients of the process. */
static bool
is_of(const struct run *run, struct client_owner who)
{
    struct client_owner owner = client_owner(run);

    return who.pid != 0 && owner.pid == who.pid &&
           (who.number == ANY || owner.number == who.number);
}

static int
release(void *ctx, const struct control_request *request, struct buf *reply,
        struct err *err)
{
    struct study *s = ctx;
    struct client_owner who = {control_peer(request->from), ANY};
    struct jval some = {NULL}, but = {NULL};

    if (check_serves(s, err) != 0 ||
        read_number(request->object, "client", &who.number, err) != 0 ||
        read_list(request->object, "trials", &some, err) != 0 ||
        read_list(request->object, "but", &but, err) != 0)
        return -1;
    if (s->end->interrupting && (some.node == NULL || jval_count(some) > 0))
        return leave_to_next(s, request, err);
    for (struct trial *t = s->live->first, *next; t != NULL; t = next) {
        next = t->next;
        if (t->state != TRIAL_RUNNING || !client_is_open(t->run) ||
            !is_of(t->run, who) ||
            (some.node != NULL && !jval_has_uint(some, t->number)) ||
            jval_has_uint(but, t->number))
            continue;
        client_give_back(t->run);
        running_exited(s->running, t); /* now: who asks next may have it */
    }
    buf_add_text(reply, "{}");
    return 0;
}

/* The client will not come back. */
static int
leave(void *ctx, const struct control_request *request, struct buf *reply,
      struct err *err)
{
    struct study *s = ctx;

    if (release(ctx, request, reply, err) != 0)
        return -1;
    drop_asks(s, request->from);
    s->lingers = false;
    return 0;
}

struct control_commands
study_commands(struct study *s)
{
    static const struct control_command table[] = {
        {"ask", {"n", "detached", "client"}, ask},
        {"tell", {"trial", "attempt", "value", "failed", "again"}, tell},
        {"report", {"trial", "attempt", "value", "sequence"}, report},
        {"saved", {"trial", "attempt", "number"}, saved},
        {"look", {"trial", "attempt"}, look},
        {"release", {"client", "trials", "but"}, release},
        {"leave", {"client"}, leave},
    };

    return (struct control_commands){table, sizeof table / sizeof *table, s};
}

/* ---- how long it serves ---- */

void
study_settle(struct study *s)
{
    answer_gives(s);
    answer_tells(s);
    refuse(s);
}

static bool
ends_when_idle(const struct study *s)
{
    return s->serves && s->options->ready != NULL && !s->end->interrupting;
}

void
study_ready(struct study *s)
{
    if (s->told || s->dispatcher->phase != PHASE_RUNNING ||
        s->options->ready == NULL)
        return;
    s->told = true;
    s->options->ready(s->options->ready_ctx);
}

int64_t
study_deadline(struct study *s, int64_t now_ns)
{
    const struct control_server *c = s->control;

    if (!ends_when_idle(s) || !s->told || c->n_clients > c->n_lookers)
        return INT64_MAX;
    if (s->idle_ns == 0 || s->n_uses != c->n_uses)
        s->idle_ns = now_ns + (s->lingers ? LINGER_NS : IDLE_NS);
    s->n_uses = c->n_uses;
    return s->idle_ns;
}

void
study_expire(struct study *s, int64_t now_ns)
{
    if (s->idle || now_ns < study_deadline(s, now_ns))
        return;
    s->idle = true;
    control_server_shut(s->control); /* who comes now finds the next one */
    if (scheduler_end(s->scheduler) != SCHEDULER_GOING)
        return; /* the end is recognised */
    experiment_ends(s->end, MANAGER_INTERRUPTED, "nobody asks for trials");
    running_interrupt_all(s->running);
}

bool
study_holds(const struct study *s)
{
    bool begins = s->told || !s->end->known; /* else nobody will be let in */

    return ends_when_idle(s) && !s->idle && begins;
}
