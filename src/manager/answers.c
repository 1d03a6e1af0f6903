/* SPDX-License-Identifier: MIT */
#include "manager/state.h"

#include "command.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/number.h"
#include "core/visible.h"
#include "json.h"
#include "manager/delivery.h"
#include "manager/happened.h"
#include "manager/indexing.h"
#include "manager/live.h"
#include "manager/parameters.h"
#include "manager/peer.h"
#include "manager/trial.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WORDS_AT_ONCE ((size_t)1 << 20) /* bytes; a flood must not hold us */
#define WORDS_SHOWN 2000

static void
take_initialized(struct manager *m, const struct frame *frame)
{
    if (m->exchange.held) {
        peer_resumed(m, frame);
        if (m->recovered.resent == 0) /* nothing comes that needs them */
            checkpoints_settle(&m->checkpoints);
    } else if (m->phase == PHASE_STARTING)
        m->phase = PHASE_RUNNING;
    if (!m->outcome->initialized)
        indexing_start(m);
    m->outcome->initialized = true;
}

static void
take_trial(struct manager *m, const struct frame *frame)
{
    struct suggestion record;
    struct err err = {0};
    struct trial *t;
    bool resent = m->recovered.resent > 0;

    if (resent)
        m->recovered.resent--;
    if (suggestion_read(frame->payload, frame->len, &record, &err) != 0) {
        progress_warn(&m->progress, "tunepipe: error: a TR that is none: %s",
                      err.text);
        return;
    }
    lockstep_came(&m->lockstep);
    if (map_get(&m->taken, record.id, strlen(record.id)) != NULL) {
        scheduler_repeated(&m->scheduler); /* it was sent twice */
    } else if (scheduler_take(&m->scheduler)) {
        manager_taken(m, record.id);
        t = trial_of(m->n_trials++, frame->payload, frame->len, &record);
        if (t != NULL && !resent)
            happened_trial(m, EVENT_TRIAL_WAITING, t);
        if (t != NULL)
            running_take(m, t);
        else
            manager_end(m, MANAGER_UNABLE, "out of memory");
    } else if (!m->end_known) {
        progress_warn(&m->progress,
                      "tunepipe: warning: parameters %s came unasked, beyond "
                      "maxTrialNumber: not started",
                      record.id);
    }
    suggestion_fini(&record);
    if (resent && m->recovered.resent == 0)
        checkpoints_settle(&m->checkpoints);
}

/* Without a reason, as NNI's dispatcher writes it, it means the end. */
static void
take_no_more(struct manager *m, const struct frame *frame)
{
    struct json *doc =
        json_parse(frame->payload, frame->len, JSON_STRICT, NULL);
    const char *reason = "exhausted";
    uint64_t units = UINT64_MAX;
    struct jval v;

    if (doc != NULL && jval_get(json_root(doc), "reason", &v))
        jval_string(v, &reason, NULL);
    if (doc != NULL && jval_get(json_root(doc), "units", &v))
        jval_uint(v, &units);
    if (units == 0 && m->phase == PHASE_RUNNING && m->n_trials == 0) {
        peer_ask_again(m);
        json_free(doc);
        return;
    }
    lockstep_refused(&m->lockstep, strcmp(reason, "later") == 0, units);
    if (m->phase == PHASE_STARTING && (units == 0 || units == UINT64_MAX)) {
        manager_end(m, MANAGER_REFUSED,
                    "the dispatcher refused the search space; what it said is "
                    "in " FOLDER_DISPATCHER_LOG);
    } else if (strcmp(reason, "failed") == 0) {
        scheduler_refused(&m->scheduler, units);
        progress_warn(&m->progress,
                      "tunepipe: warning: the tuner failed to give parameters; "
                      "see %s/" FOLDER_DISPATCHER_LOG,
                      m->folder.path);
    } else if (strcmp(reason, "later") != 0) {
        scheduler_exhausted(&m->scheduler, units);
    }
    json_free(doc);
}

static void
take_kill(struct manager *m, const struct frame *frame)
{
    struct json *doc =
        json_parse(frame->payload, frame->len, JSON_STRICT, NULL);
    struct trial *t = NULL;
    const char *id;

    if (doc != NULL && jval_string(json_root(doc), &id, NULL))
        t = live_by_id(m, id);
    if (t != NULL)
        running_stop(m, t, STOP_ASSESSOR);
    else
        m->late.words++;
    json_free(doc);
}

static void
release(struct manager *m, const char *id)
{
    uint64_t number;

    if (number_parse_u64(id, strlen(id), &number))
        checkpoints_release(&m->checkpoints, number,
                            live_by_number(m, number) == NULL);
}

/* Of a trial that has ended only its checkpoints are left to decide about. */
static void
decide(struct manager *m, const char *id, const char *decision)
{
    enum trial_stop stop = trial_stop_of(decision);
    struct trial *t = live_by_id(m, id);

    if (strcmp(decision, "release") == 0)
        release(m, id);
    else if (stop != STOP_PAUSE && stop != STOP_FINISH)
        progress_warn(&m->progress,
                      "tunepipe: warning: the dispatcher decided '%s' on a "
                      "trial, expected pause, finish or release",
                      decision);
    else if (t != NULL)
        running_stop(m, t, stop);
    else
        m->late.words++;
}

static void
take_decision(struct manager *m, const struct frame *frame)
{
    struct json *doc =
        json_parse(frame->payload, frame->len, JSON_STRICT, NULL);
    const char *id, *decision;
    struct jval v;

    if (doc != NULL && jval_get(json_root(doc), "trial_job_id", &v) &&
        jval_string(v, &id, NULL) && jval_get(json_root(doc), "decision", &v) &&
        jval_string(v, &decision, NULL))
        decide(m, id, decision);
    json_free(doc);
}

/* "end", and words from another time, are no reason to end it. */
static enum trial_stop
decided(const char *decision)
{
    static const struct {
        const char *word;
        enum trial_stop stop;
    } decisions[] = {{"stop", STOP_ASSESSOR},
                     {"pause", STOP_PAUSE},
                     {"finish", STOP_FINISH}};

    for (size_t i = 0; i < sizeof decisions / sizeof *decisions; i++)
        if (strcmp(decisions[i].word, decision) == 0)
            return decisions[i].stop;
    return STOP_NOT;
}

/* The trial that was judged goes on, or ends.  Its stop has been told before,
 * and is told here once more. */
static void
take_verdict(struct manager *m, const char *id, uint64_t sequence,
             enum trial_stop stop)
{
    struct trial *t = live_by_id(m, id);

    if (t != NULL && (stop == STOP_PAUSE || stop == STOP_FINISH))
        running_stop(m, t, stop);
    t = live_by_id(m, id); /* if it still is there */
    if (t != NULL)
        holding_answer(&t->holding, sequence,
                       stop == STOP_NOT        ? REPORT_GO
                       : stop == STOP_ASSESSOR ? REPORT_STOP
                                               : trial_answer(t));
}

static void
acknowledge(struct manager *m, const char *id, struct jval root)
{
    const char *decision = "";
    uint64_t sequence = 0;
    struct jval v;
    bool end;

    if (jval_get(root, "decision", &v))
        jval_string(v, &decision, NULL);
    end = strcmp(decision, "end") == 0;
    if (!end && (!jval_get(root, "sequence", &v) || !jval_uint(v, &sequence)))
        return;
    if (!end)
        take_verdict(m, id, sequence, decided(decision));
    m->delivery->answered(m, id, end, sequence);
}

/* Whoever waits for it goes on. */
static void
take_acknowledged(struct manager *m, const struct frame *frame)
{
    struct json *doc =
        json_parse(frame->payload, frame->len, JSON_STRICT, NULL);
    const char *id;
    struct jval v;

    /* An attempt that is made again is told it again: resume. */
    if (doc != NULL && !(m->delivery->repeats && m->interrupting) &&
        jval_get(json_root(doc), "trial_job_id", &v) &&
        jval_string(v, &id, NULL))
        acknowledge(m, id, json_root(doc));
    json_free(doc);
}

/* Texts from there are shown as texts, whatever bytes they hold. */
static void
warn_shown(struct manager *m, const char *before, const char *text, size_t len)
{
    struct buf line;

    buf_init(&line, 4 * WORDS_SHOWN);
    visible_text(&line, text, len, WORDS_SHOWN);
    progress_warn(&m->progress, "%s%s", before, buf_text(&line));
    buf_fini(&line);
}

static void
take_error(struct manager *m, const struct frame *frame)
{
    warn_shown(m, "tunepipe: error: the dispatcher says: ", frame->payload,
               frame->len);
}

static void
take_frame(void *ctx, const struct frame *frame)
{
    static const struct {
        enum command_code code;
        void (*take)(struct manager *m, const struct frame *frame);
    } takers[] = {
        {CMD_INITIALIZED, take_initialized},
        {CMD_NEW_TRIAL, take_trial},
        {CMD_NO_MORE, take_no_more},
        {CMD_KILL_TRIAL, take_kill},
        {CMD_DECIDE_TRIAL, take_decision},
        {CMD_ACKNOWLEDGE, take_acknowledged},
        {CMD_ERROR, take_error},
    };
    struct manager *m = ctx;

    for (size_t i = 0; i < sizeof takers / sizeof *takers; i++)
        if (strcmp(command_info(takers[i].code)->code, frame->code) == 0) {
            takers[i].take(m, frame);
            return;
        }
    progress_warn(&m->progress,
                  "tunepipe: warning: the dispatcher sent '%s', which no "
                  "manager expects",
                  frame->code);
}

void
answers_frames(struct manager *m)
{
    struct err err = {0};
    int rc;

    if (m->exchange.from < 0)
        return; /* its end came first */
    rc = exchange_read(&m->exchange, take_frame, m, &err);
    if (rc == 1)
        return;
    manager_unwatch(m, m->exchange.from);
    close(m->exchange.from);
    m->exchange.from = -1;
    if (rc < 0) {
        m->dispatcher_given_up = true;
        manager_end(m, MANAGER_DISPATCHER,
                    "the dispatcher's stream is broken: "
                    "%s",
                    err.text);
        manager_signal_dispatcher(m, SIGKILL);
    } else if (m->phase != PHASE_CLOSING) {
        /* It closed its output and can say no more; its end tells why. */
        manager_signal_dispatcher(m, SIGTERM);
    }
}

/* What is for people goes on to them; all of it goes into the file. */
static void
take_word(void *ctx, const char *line, size_t len, bool too_long)
{
    struct manager *m = ctx;

    (void)too_long;
    experiment_folder_add_log(&m->folder, line, len, NULL);
    if (strstr(line, "error: ") != NULL)
        happened_text(m, EVENT_PLUGIN_ERROR, line, len);
    if (m->progress.debug || strstr(line, "error: ") != NULL ||
        strstr(line, "warning: ") != NULL)
        warn_shown(m, "", line, len);
}

void
answers_words(struct manager *m)
{
    if (tail_read(&m->words, WORDS_AT_ONCE, take_word, m, NULL) < 0 ||
        m->words.ended)
        manager_unwatch(m, m->words.fd);
}

void
answers_dispatcher(struct manager *m)
{
    if (m->exchange.from >= 0)
        answers_frames(m); /* what it said before it died */
    while (tail_read(&m->words, WORDS_AT_ONCE, take_word, m, NULL) > 0)
        continue;
    tail_rest(&m->words, take_word, m);
    manager_unwatch(m, m->words.fd);
    peer_ended(m);
}
