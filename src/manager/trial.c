/* SPDX-License-Identifier: MIT */
#include "manager/trial.h"

#include "core/buf.h"
#include "core/err.h"
#include "history/folder.h"
#include "manager/parameters.h"
#include "runner/runner.h"
#include "trial/files.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    const char *event; /* NNI's; NULL: no end */
} states[TRIAL_STATES] = {
    [TRIAL_WAITING] = {"waiting", NULL},
    [TRIAL_COPYING] = {"waiting", NULL},
    [TRIAL_PREPARING] = {"preparing", NULL},
    [TRIAL_PREPARE_ENDED] = {"preparing", NULL},
    [TRIAL_PREPARED] = {"prepared", NULL},
    [TRIAL_RUNNING] = {"running", NULL},
    [TRIAL_RUN_ENDED] = {"running", NULL},
    [TRIAL_SUCCEEDED] = {"succeeded", "SUCCEEDED"},
    [TRIAL_FAILED] = {"failed", "FAILED"},
    [TRIAL_STOPPED] = {"stopped", "EARLY_STOPPED"},
    [TRIAL_PAUSED] = {"paused", "PAUSED"},
    [TRIAL_CANCELLED] = {"cancelled", "USER_CANCELED"},
    [TRIAL_TIMED_OUT] = {"timed out", "EARLY_STOPPED"},
    [TRIAL_OUT_OF_MEMORY] = {"out of memory", "FAILED"},
    [TRIAL_LOST] = {"lost", "FAILED"},
    [TRIAL_INTERRUPTED] = {"interrupted", NULL},
};

enum trial_state
trial_state_of(const char *name)
{
    int state = 0;

    while (state < TRIAL_STATES && (states[state].name[0] != name[0] ||
                                    strcmp(states[state].name, name) != 0))
        state++;
    return (enum trial_state)state;
}

static double
budget_of(const char *parameters)
{
    struct json *doc =
        strstr(parameters, TRIAL_BUDGET_PARAMETER) == NULL
            ? NULL
            : json_parse(parameters, strlen(parameters), JSON_STRICT, NULL);
    double budget = doc == NULL ? 0 : parameters_budget(json_root(doc));

    json_free(doc);
    return budget;
}

struct trial *
trial_new(uint64_t number, const char *record, size_t record_len,
          const char *parameter_id, const char *parameters)
{
    struct trial *t = calloc(1, sizeof *t);

    if (t == NULL)
        return NULL;
    t->number = number;
    snprintf(t->id, sizeof t->id, "%05llu", (unsigned long long)number);
    t->record = strndup(record, record_len);
    t->record_len = record_len;
    t->parameter_id = strdup(parameter_id);
    t->parameters = strdup(parameters);
    t->budget = budget_of(parameters);
    t->copier_fd = -1;
    t->report.fd = t->out.fd = t->nni.fd = -1;
    t->folder_watch = t->report_watch = t->out_watch = t->nni_watch = -1;
    t->unanswered = UNANSWERED_CLOSED;
    if (t->record == NULL || t->parameter_id == NULL || t->parameters == NULL) {
        trial_free(t);
        return NULL;
    }
    return t;
}

struct trial *
trial_of(uint64_t number, const char *record, size_t record_len,
         const struct suggestion *s)
{
    struct trial *t =
        trial_new(number, record, record_len, s->id, s->parameters);

    if (t == NULL)
        return NULL;
    t->origin = s->origin;
    return t;
}

enum trial_state
trial_state_of_event(const char *event)
{
    int state = TRIAL_SUCCEEDED;

    while (state < TRIAL_STATES && (states[state].event == NULL ||
                                    strcmp(states[state].event, event) != 0))
        state++;
    return (enum trial_state)state;
}

int
trial_place(struct trial *t, const char *experiment_folder, struct err *err)
{
    char attempt[32] = "";

    free(t->folder);
    if (t->attempt > 0)
        snprintf(attempt, sizeof attempt, ".%llu",
                 (unsigned long long)t->attempt);
    if (asprintf(&t->folder, "%s/" FOLDER_TRIALS "/%s%s", experiment_folder,
                 t->id, attempt) >= 0)
        return 0;
    t->folder = NULL;
    return err_set(err, ERR_MEMORY, "out of memory");
}

void
trial_close(struct trial *t)
{
    run_leave(&t->run);
    if (t->copier_fd >= 0)
        close(t->copier_fd);
    t->copier_fd = -1;
    tail_close(&t->report);
    tail_close(&t->out);
    nnifile_close(&t->nni);
    unanswered_close(&t->unanswered);
    free(t->folder);
    t->folder = NULL;
}

/* ---- values ---- */

void
reported_clear(struct reported *r)
{
    free(r->json);
    *r = (struct reported){0};
}

/* A report whose text finds no memory counts by its number alone. */
void
reported_set(struct reported *r, double value, const char *json, size_t len)
{
    bool is_object = len > 0 && json[0] == '{';
    char *own = is_object ? strndup(json, len) : NULL;

    reported_clear(r);
    *r = (struct reported){true, value, own};
}

void
reported_copy(struct reported *to, const struct reported *from)
{
    const char *json = from->json != NULL ? from->json : "";
    struct reported copy = {0};

    if (from->given)
        reported_set(&copy, from->value, json, strlen(json));
    reported_clear(to);
    *to = copy;
}

void
trial_free(struct trial *t)
{
    if (t == NULL)
        return;
    trial_close(t);
    unsent_clear(&t->unsent);
    reported_clear(&t->latest);
    reported_clear(&t->final);
    reported_clear(&t->earlier);
    reported_clear(&t->reached);
    free(t->found);
    free(t->lacks);
    free(t->record);
    free(t->parameter_id);
    free(t->parameters);
    free(t);
}

bool
trial_waits(const struct trial *t)
{
    return t->state == TRIAL_WAITING || t->state == TRIAL_COPYING ||
           t->state == TRIAL_PREPARED;
}

bool
trial_began(const struct trial *t)
{
    return t->folder != NULL || t->attempt > 0;
}

bool
trial_exited(const struct trial *t)
{
    return t->ended_ns != 0;
}

static const struct {
    const char *word;
    enum report_answer answer;
} stops[STOP_REASONS] = {
    [STOP_NOT] = {"", REPORT_GO},
    [STOP_ASSESSOR] = {TRIAL_STOP_ASSESSOR, REPORT_STOP},
    [STOP_TIMEOUT] = {TRIAL_STOP_TIMEOUT, REPORT_STOP},
    [STOP_IDLE] = {TRIAL_STOP_IDLE, REPORT_STOP},
    [STOP_CANCEL] = {TRIAL_STOP_CANCEL, REPORT_STOP},
    [STOP_PAUSE] = {TRIAL_STOP_PAUSE, REPORT_PAUSE},
    [STOP_FINISH] = {TRIAL_STOP_FINISH, REPORT_FINISH},
    [STOP_INTERRUPT] = {TRIAL_STOP_INTERRUPT, REPORT_PAUSE},
};

const char *
trial_stop_name(enum trial_stop stop)
{
    return stops[stop].word;
}

enum trial_stop
trial_stop_of(const char *word)
{
    int stop = STOP_NOT + 1;

    while (stop < STOP_REASONS && strcmp(stops[stop].word, word) != 0)
        stop++;
    return (enum trial_stop)stop;
}

enum report_answer
trial_answer(const struct trial *t)
{
    return stops[t->stop].answer;
}

bool
trial_stop_is_decided(enum trial_stop stop)
{
    return stop == STOP_ASSESSOR || stop == STOP_PAUSE || stop == STOP_FINISH;
}

bool
trial_stops_well(const struct trial *t)
{
    return t->stop == STOP_PAUSE || t->stop == STOP_FINISH;
}

bool
trial_undecided(const struct trial *t)
{
    return t->stop == STOP_NOT || t->stop == STOP_INTERRUPT;
}

bool
trial_repeats(const struct trial *t)
{
    return t->sent < t->past.told.intermediates;
}

uint64_t
trial_reports(const struct trial *t)
{
    bool cut = trial_stops_well(t) && t->reached.given;

    return cut && t->sent > t->reached_at + 1 ? t->reached_at + 1 : t->sent;
}

bool
trial_reaches(const struct trial *t, uint64_t sequence)
{
    double before = (double)t->step + (double)sequence;

    return t->budget > 0 && before + 1 >= t->budget &&
           (sequence == 0 || before < t->budget);
}

const char *
trial_state_name(enum trial_state state)
{
    return states[state].name;
}

const char *
trial_event_name(enum trial_state state)
{
    return states[state].event;
}

bool
trial_is_failure(enum trial_state state)
{
    return state == TRIAL_FAILED || state == TRIAL_OUT_OF_MEMORY ||
           state == TRIAL_LOST;
}

/* ---- judged ---- */

/* NULL: it is none, or a real-time one, which means what one likes. */
static const char *
signal_text(int number)
{
    return number > 0 && number <= SIGSYS ? strsignal(number) : NULL;
}

/* Above 128 a shell speaks of the signal that ended its last command. */
static void
describe_status(struct trial *t, int status)
{
    const char *name = status > 128 ? signal_text(status - 128) : NULL;

    if (name != NULL)
        snprintf(t->why, sizeof t->why, "exit status %d (signal %d, %s)",
                 status, status - 128, name);
    else
        snprintf(t->why, sizeof t->why, "exit status %d", status);
}

static enum trial_state
judge_exited(struct trial *t, const struct outcome *outcome)
{
    if (outcome->number != 0) {
        describe_status(t, outcome->number);
        return TRIAL_FAILED;
    }
    if (t->final.given)
        return TRIAL_SUCCEEDED;
    if (t->lacks != NULL)
        snprintf(t->why, sizeof t->why, TRIAL_FINAL_LACKS "%.480s", t->lacks);
    else
        snprintf(t->why, sizeof t->why, "%s",
                 t->complaints & REFUSED_A_FINAL ? TRIAL_FINAL_REFUSED
                                                 : TRIAL_NO_FINAL);
    return TRIAL_FAILED;
}

/* There is no exit file; t->why is as far as more is known. */
static void
describe_loss(struct trial *t, const struct outcome *outcome)
{
    const char *why = outcome->text[0] != '\0' ? outcome->text
                      : t->folder != NULL && access(t->folder, F_OK) != 0
                          ? "its folder is gone, and with it how it ended"
                          : "its wrapper vanished";

    if (t->why[0] == '\0')
        snprintf(t->why, sizeof t->why, "%s", why);
}

/* Says of which phase the failure is. */
static void
name_phase(struct trial *t)
{
    char why[sizeof t->why];

    memcpy(why, t->why, sizeof why);
    snprintf(t->why, sizeof t->why, "prepareCommand: %.480s", why);
}

static enum trial_state
judge_unstopped(struct trial *t, const struct outcome *outcome)
{
    bool run = t->state == TRIAL_RUN_ENDED;

    if (run && t->done && t->final.given)
        return TRIAL_SUCCEEDED;
    /* Nobody knows how it would have ended, and its result counts. */
    if (run && t->past.restored && t->final.given && outcome_is_moot(outcome))
        return TRIAL_SUCCEEDED;
    switch (outcome->kind) {
    case OUTCOME_EXITED:
        return judge_exited(t, outcome);
    case OUTCOME_SIGNALLED:
        snprintf(t->why, sizeof t->why, "signal %d (%s)", outcome->number,
                 signal_text(outcome->number) != NULL
                     ? signal_text(outcome->number)
                     : "unknown");
        return TRIAL_FAILED;
    case OUTCOME_UNSTARTED:
        snprintf(t->why, sizeof t->why, "could not be started: %s",
                 outcome->text);
        return TRIAL_FAILED;
    case OUTCOME_DECLARED:
        snprintf(t->why, sizeof t->why, "%s",
                 outcome->text[0] != '\0' ? outcome->text
                                          : "told to have failed");
        return TRIAL_FAILED;
    case OUTCOME_LOST:
        break;
    }
    describe_loss(t, outcome);
    return TRIAL_LOST;
}

/* It had come as far as the tuner wanted: how it ended then is nothing to
 * anybody, unless it had a result of its own. */
static enum trial_state
judge_paused(struct trial *t, const struct outcome *outcome)
{
    if (t->final.given && judge_unstopped(t, outcome) == TRIAL_SUCCEEDED)
        return TRIAL_SUCCEEDED;
    t->why[0] = '\0';
    return TRIAL_PAUSED;
}

/* A result that it still could report counts, however it ended then. */
static enum trial_state
judge_interrupted(struct trial *t)
{
    t->why[0] = '\0';
    return t->final.given ? TRIAL_SUCCEEDED : TRIAL_INTERRUPTED;
}

static enum trial_state
judge_finished(struct trial *t)
{
    t->why[0] = '\0';
    if (t->final.given)
        return TRIAL_SUCCEEDED;
    if (t->lacks != NULL)
        snprintf(t->why, sizeof t->why, TRIAL_FINAL_LACKS "%.480s", t->lacks);
    else
        snprintf(t->why, sizeof t->why,
                 "told to finish before it had reported anything");
    return TRIAL_FAILED;
}

static void
judge_timeout(struct trial *t)
{
    bool prepared = t->state != TRIAL_PREPARE_ENDED;

    snprintf(t->why, sizeof t->why, "no end within %s",
             prepared ? "maxTrialDuration"
                      : "maxPrepareDuration, by default maxTrialDuration");
    if (!prepared)
        name_phase(t);
}

static enum trial_state
judge(struct trial *t, const struct outcome *outcome)
{
    enum trial_state state;

    switch (t->stop) {
    case STOP_ASSESSOR:
        return TRIAL_STOPPED;
    case STOP_TIMEOUT:
        judge_timeout(t);
        return TRIAL_TIMED_OUT;
    case STOP_IDLE:
        snprintf(t->why, sizeof t->why, "no metric within trialIdleTimeout");
        return TRIAL_TIMED_OUT;
    case STOP_CANCEL:
        return TRIAL_CANCELLED;
    case STOP_PAUSE:
        return judge_paused(t, outcome);
    case STOP_FINISH:
        return judge_finished(t);
    case STOP_INTERRUPT:
        return judge_interrupted(t);
    case STOP_NOT:
    case STOP_REASONS:
        break;
    }
    state = judge_unstopped(t, outcome);
    if (t->state == TRIAL_PREPARE_ENDED)
        name_phase(t);
    return state == TRIAL_FAILED && outcome->out_of_memory ? TRIAL_OUT_OF_MEMORY
                                                           : state;
}

#define UNCOUNTED ", which counts as no result" /* why, behind which one */

enum trial_state
trial_judge(struct trial *t, const struct outcome *outcome)
{
    enum trial_state state = judge(t, outcome);
    double final = t->final.value;

    if (state == TRIAL_SUCCEEDED || state == TRIAL_STOPPED)
        t->why[0] = '\0'; /* of the attempt before, which failed */
    if (state == TRIAL_SUCCEEDED && t->final.given && !isfinite(final))
        snprintf(t->why, sizeof t->why, "%s" UNCOUNTED,
                 isnan(final) ? "nan"
                 : final > 0  ? "inf"
                              : "-inf");
    return state;
}

bool
trial_uncounted_final(const char *why, double *value)
{
    char *end;

    *value = strtod(why, &end);
    return end > why && strcmp(end, UNCOUNTED) == 0;
}

bool
trial_explain_no_final(struct buf *out, const char *why, bool has_pattern,
                       bool has_latest, const char *folder)
{
    static const char none[] = TRIAL_NO_FINAL, refused[] = TRIAL_FINAL_REFUSED;

    if (strncmp(why, none, sizeof none - 1) != 0 ||
        strncmp(why, refused, sizeof refused - 1) == 0)
        return false;
    if (!has_pattern)
        buf_add_text(out, "it exited with 0, but never called tunepipe trial "
                          "report --final, tp_final(), tunepipe.final() "
                          "or nni.report_final_result()");
    else if (!has_latest)
        buf_printf(out,
                   "no line of %s/" TRIAL_STDOUT
                   " matches metrics.pattern with a number "
                   "as its first group",
                   folder);
    else
        buf_add_text(out, "metrics.final is none, and it never called tunepipe "
                          "trial report --final");
    return true;
}

const char *
trial_ended_by(const struct trial *t, bool has_assessor)
{
    const struct outcome *o = &t->outcome;

    switch (t->stop) {
    case STOP_ASSESSOR:
        return has_assessor ? "assessor" : "tuner";
    case STOP_TIMEOUT:
    case STOP_IDLE:
        return "clock";
    case STOP_CANCEL:
        return "user";
    case STOP_PAUSE:
    case STOP_FINISH:
        return "tuner";
    case STOP_INTERRUPT:
    case STOP_NOT:
    case STOP_REASONS:
        break;
    }
    if (t->state == TRIAL_INTERRUPTED)
        return "manager";
    if (t->state == TRIAL_CANCELLED)
        return "user";
    if (t->state == TRIAL_PAUSED)
        return "tuner";
    if (t->state == TRIAL_STOPPED)
        return "assessor";
    if (!trial_exited(t) || o->out_of_memory || o->kind == OUTCOME_UNSTARTED ||
        o->kind == OUTCOME_LOST)
        return "system";
    if (o->kind == OUTCOME_SIGNALLED ||
        (o->number > 128 && signal_text(o->number - 128) != NULL))
        return "signal";
    return "itself";
}
