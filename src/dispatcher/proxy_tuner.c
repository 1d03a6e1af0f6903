/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * The ids on the manager's wire are ours: a GE uses up as many as it asks for
 * and is passed on to the program.  Each TR of the program serves the oldest id
 * that waits; a TR that nobody waits for gets the next id.  The id that the
 * program itself gives a suggestion is kept, and used where the program is told
 * of that trial.
 *
 * A program that ended is started again by the next GE, and is told what a
 * resumed manager would tell it: IN, FD with all results so far, AD with the
 * trials that have not ended. */

#include "dispatcher/proxy.h"

#include "core/err.h"
#include "core/log.h"
#include "core/number.h"
#include "dispatcher/marks.h"
#include "dispatcher/proxy_requests.h"
#include "dispatcher/proxy_setup.h"
#include "dispatcher/reunion.h"
#include "dispatcher/trials.h"
#include "dispatcher/view.h"
#include "frame.h"
#include "json.h"
#include "objectives/objectives.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* trials that have not ended, from which on no TR is taken unasked */
#define UNASKED_MAX 65536
/* bytes of results kept for a program that is started again */
#define RESULTS_MAX ((size_t)60 << 20)

enum proxy_space {
    PROXY_BARE,  /* there is no search space */
    PROXY_ASKED, /* IN is passed on to the program */
    PROXY_READY, /* the program has answered it with ID */
};

struct proxy_tuner {
    struct proxy base;
    enum proxy_space state;
    bool greeting; /* the program was started again, and its ID is not there yet
                    */
    uint64_t position; /* which of the manager's frames the IN was */
    struct buf space;  /* the search space, as JSON */
    struct trials *trials;
    /* Elements of an FD, for a program that is started again. */
    struct buf results;
    /* Were answered with NO "later"; older than all in `asked`. */
    struct proxy_requests owed;
    struct proxy_requests asked; /* have no answer yet */
    uint64_t failed; /* under policy `reissue`: units that were refused as
                        failed, for which the manager will not ask again */
    int tries; /* how often these were asked for while no trial was running */
    uint64_t next_id;
    struct reunion reunion;
    struct buf fresh; /* elements of the FD being handled that are new */
};

static struct proxy_tuner *
self(struct proxy *p)
{
    return (struct proxy_tuner *)p;
}

/* ---- what the program is told ---- */

/* Sends the program a frame whose payload is open, text and close. */
static void
send_payload(struct proxy_tuner *t, enum command_code code, const char *open,
             const struct buf *text, const char *close)
{
    struct buf *out = &t->base.side.payload;

    buf_clear(out);
    buf_add_text(out, open);
    buf_add(out, text->data, text->len);
    buf_add_text(out, close);
    out->failed = out->failed || text->failed;
    proxy_send(&t->base, code);
}

/* Appends {"parameter_id": ..., "parameters": ...} with the id that the program
 * knows the trial by. */
static void
write_record(const struct trial *trial, struct buf *out)
{
    struct parameter_record record = {.id = trial->tuner_id,
                                      .label = trial->label,
                                      .parameters = trial->parameters,
                                      .parameters_len =
                                          strlen(trial->parameters)};

    command_write_trial(out, &record);
}

/* Keeps the result of a trial, as an element of FD, for a program that is
 * started again; the side's payload holds the value from `from` on. */
static void
keep_result(struct proxy_tuner *t, const struct trial *trial, size_t from)
{
    const struct buf *payload = &t->base.side.payload;
    size_t len = payload->len - from;
    struct json_writer w;

    if (payload->failed ||
        t->results.len + strlen(trial->parameters) + len > RESULTS_MAX)
        return; /* of millions of results the first ones are kept */
    buf_add_text(&t->results, t->results.len == 0 ? "" : ", ");
    w = json_begin_object(&t->results);
    json_add_raw(&w, "parameter", trial->parameters);
    buf_add(json_value(&w, "value"), payload->data + from, len);
    json_close(&w);
}

/* Keeps an element of the manager's FD for a program that is started again. */
static void
keep_entry(struct proxy_tuner *t, struct jval entry)
{
    struct jval v;

    if (!jval_get(entry, "parameter", &v) || !jval_get(entry, "value", &v) ||
        t->results.len > RESULTS_MAX)
        return;
    buf_add_text(&t->results, t->results.len == 0 ? "" : ", ");
    jval_write(entry, &t->results);
}

/* Appends what a trial would have reported that has this mark. */
static void
write_mark(const struct objectives *o, const struct mark *mark, struct buf *out)
{
    char text[NUMBER_TEXT_MAX];
    struct buf report;

    if (mark->values == NULL) {
        json_write_string(out, text, number_format(mark->value, text));
        return;
    }
    buf_init(&report, SIZE_MAX / 2);
    objectives_report(o, mark->values, &report);
    json_write_text(out, buf_text(&report));
    out->failed = out->failed || report.failed;
    buf_fini(&report);
}

/* Tells the program the result of a trial: the mark, or where that is NULL the
 * value of cmd, a metric. */
static void
tell_result(struct proxy_tuner *t, struct trial *trial, const char *job,
            const struct command *cmd, const struct mark *mark)
{
    const struct parameter_id tuner_id =
        parameter_named(trial->tuner_id, trial->label);
    struct buf *out = &t->base.side.payload;
    struct json_writer w;
    size_t from;

    if (trial->foreign) {
        buf_clear(out);
        w = json_begin(out);
        json_open_array(&w, NULL);
        json_open_object(&w, NULL);
        json_add_raw(&w, "parameter", trial->parameters);
    } else {
        w = proxy_open_ids(&t->base, &tuner_id, job);
        json_add_text(&w, "type", "FINAL");
        json_add_unsigned(&w, "sequence", 0);
    }
    json_value(&w, "value");
    from = out->len;
    if (cmd != NULL)
        proxy_write_value(cmd, out);
    else if (mark != NULL)
        write_mark(t->base.side.policy->objectives, mark, out);
    keep_result(t, trial, from);
    json_close(&w);
    if (trial->foreign)
        json_close(&w);
    proxy_send(&t->base, trial->foreign ? CMD_IMPORT : CMD_METRIC);
    trial->result_told = true;
}

/* Tells the program the end of a trial, which has ended for us, too. */
static void
tell_end(void *side, struct trial *trial, const struct trial_end *end)
{
    struct proxy_tuner *t = side;
    struct buf record;

    buf_init(&record, SIZE_MAX / 2);
    write_record(trial, &record);
    proxy_send_end(&t->base, end, &record);
    buf_fini(&record);
    trial->ended = true;
    trials_settle(t->trials, trial);
}

/* ---- a program that is started again ---- */

/* Tells a program that was started again which trials have not ended; from here
 * on it knows them by our ids. */
static void
send_out(struct proxy_tuner *t)
{
    struct buf list;
    struct trial **trials;
    size_t n;

    buf_init(&list, SIZE_MAX / 2);
    trials = trials_sorted(t->trials, &n);
    if (trials == NULL)
        side_out_of_memory(&t->base.side);
    for (size_t i = 0; trials != NULL && i < n; i++) {
        /* the new program does not know it: a result will be an import */
        if (trials[i]->ended) {
            trials[i]->foreign = TRIAL_RECOVERED;
            continue;
        }
        trials[i]->tuner_id = trials[i]->id;
        buf_add_text(&list, list.len == 0 ? "" : ", ");
        write_record(trials[i], &list);
    }
    if (list.len > 0)
        send_payload(t, CMD_ADD_CUSTOM, "[", &list, "]");
    buf_fini(&list);
    free(trials);
}

/* Starts the program again where none runs, and tells it what happened
 * before. */
static void
start_again(struct proxy_tuner *t)
{
    if (!proxy_restart(&t->base) || t->state == PROXY_BARE)
        return;
    send_payload(t, CMD_INITIALIZE, "", &t->space, "");
    t->greeting = true;
    if (t->results.len > 0)
        send_payload(t, CMD_IMPORT, "[", &t->results, "]");
    send_out(t);
}

/* ---- requests ---- */

/* Sends NO: `units` suggestions of the request whose first id is `first` are
 * refused, or owed. */
static void
no_more(struct proxy_tuner *t, uint64_t first, enum no_reason reason,
        uint64_t units)
{
    side_emit(&t->base.side,
              (struct emission){.code = CMD_NO_MORE,
                                .parameter = parameter_named(first, NULL),
                                .reason = reason,
                                .units = units});
}

/* The queue whose oldest request the next TR serves. */
static struct proxy_requests *
waiting_requests(struct proxy_tuner *t)
{
    return t->owed.n > 0 ? &t->owed : &t->asked;
}

/* Refuses units of a request.  Managers of NNI's never ask again for what
 * failed, so those units are counted, to be asked for later. */
static void
refuse_units(struct proxy_tuner *t, const struct proxy_request *r,
             enum no_reason reason, uint64_t units)
{
    no_more(t, r->first, reason, units);
    if (reason == NO_FAILED && t->base.side.policy->reissue)
        t->failed += units;
}

/* Removes the oldest request when all of its units are served or have
 * failed. */
static void
settle_request(struct proxy_tuner *t, struct proxy_requests *q)
{
    struct proxy_request r = *proxy_requests_first(q);

    if (proxy_request_left(&r) > 0)
        return;
    proxy_requests_pop(q);
    if (r.failed > 0)
        refuse_units(t, &r, NO_FAILED, r.failed);
}

/* Refuses what is left of the oldest request. */
static void
end_request(struct proxy_tuner *t, struct proxy_requests *q,
            enum no_reason reason)
{
    struct proxy_request r = proxy_requests_pop(q);

    refuse_units(t, &r, reason, proxy_request_left(&r) + r.failed);
}

static void
end_requests(struct proxy_tuner *t, struct proxy_requests *q,
             enum no_reason reason)
{
    while (q->n > 0)
        end_request(t, q, reason);
}

/* Serves the requests that wait with suggestions that the manager has lost. */
static void
serve_lost(struct proxy_tuner *t)
{
    struct proxy_request *r;

    while ((r = proxy_requests_first(&t->owed)) != NULL &&
           reunion_give_again(&t->reunion, r->first + r->served + r->failed)) {
        r->served++;
        settle_request(t, &t->owed);
    }
}

/* Asks the program for what is left of a request, with a GE. */
static void
ask_program(struct proxy_tuner *t, struct proxy_request r)
{
    start_again(t);
    if (proxy_requests_push(&t->asked, r) != 0) {
        side_out_of_memory(&t->base.side);
        return;
    }
    buf_clear(&t->base.side.payload);
    buf_printf(&t->base.side.payload, "%" PRIu64, proxy_request_left(&r));
    proxy_send(&t->base, CMD_REQUEST_TRIALS);
}

/* Asks again for the units that have failed, where no answer is due. */
static void
ask_failed(struct proxy_tuner *t)
{
    struct proxy_request r = {.first = t->next_id, .count = t->failed};

    if (r.count == 0 || t->asked.n > 0 || t->state != PROXY_READY)
        return;
    t->next_id += r.count;
    t->failed = 0;
    ask_program(t, r);
}

/* ---- a manager that is started again, see reunion.h ---- */

static void
keep_space(struct proxy_tuner *t, const struct command *cmd)
{
    buf_clear(&t->space);
    jval_write(json_root(cmd->space), &t->space);
    if (t->space.failed)
        side_out_of_memory(&t->base.side);
}

static void
write_space(const void *side, struct buf *out)
{
    const struct buf *space = &((const struct proxy_tuner *)side)->space;

    buf_add(out, space->data, space->len);
}

static void
begin_again(void *side, const struct command *cmd, bool same)
{
    struct proxy_tuner *t = side;

    t->failed = 0;
    proxy_requests_fini(&t->owed);
    proxy_requests_fini(&t->asked);
    if (!same) {
        keep_space(t, cmd);
        send_payload(t, CMD_UPDATE_SPACE, "", &t->space, "");
    }
    side_emit(&t->base.side, (struct emission){.code = CMD_INITIALIZED,
                                               .number = cmd->position});
}

static void
write_parameters(const void *side, const struct trial *trial, struct buf *out)
{
    (void)side;
    buf_add_text(out, trial->parameters);
}

/* Adds an element of FD to those that the program will be told. */
static int
import_result(void *side, struct jval entry, struct err *err)
{
    struct proxy_tuner *t = side;

    (void)err;
    buf_add_text(&t->fresh, t->fresh.len == 0 ? "" : ", ");
    jval_write(entry, &t->fresh);
    keep_entry(t, entry);
    return 0;
}

static void
tell_value(void *side, struct trial *trial, const char *job, double value)
{
    tell_result(side, trial, job, NULL, &(struct mark){.value = value});
}

static void
give_again(void *side, const struct trial *trial, uint64_t was)
{
    struct proxy_tuner *t = side;
    const struct parameter_record record = {.id = trial->id,
                                            .label = trial->label,
                                            .parameters = trial->parameters,
                                            .parameters_len =
                                                strlen(trial->parameters)};

    (void)was; /* our id, by which the program knew it, stays */
    side_emit(&t->base.side,
              (struct emission){.code = CMD_NEW_TRIAL, .gives = &record});
    reunion_launch(&t->reunion, trial->id, trial->label);
}

static const struct reunion_ops reunion_hands = {
    .program = true,
    .write_space = write_space,
    .begin_again = begin_again,
    .write_parameters = write_parameters,
    .import = import_result,
    .tell = tell_value,
    .end = tell_end,
    .give = give_again,
};

/* ---- from the manager: the search space ---- */

static void
handle_initialize(struct proxy_tuner *t, const struct command *cmd)
{
    if (t->state == PROXY_READY && t->base.side.policy->nni) {
        reunion_begin(&t->reunion, cmd);
        return;
    }
    if (t->state != PROXY_BARE) {
        side_complain(&t->base.side,
                      "the search space is set already, expected "
                      "SS to change it");
        return;
    }
    keep_space(t, cmd);
    t->position = cmd->position;
    start_again(t);
    t->state = PROXY_ASKED;
    send_payload(t, CMD_INITIALIZE, "", &t->space, "");
}

static bool
has_space(struct proxy_tuner *t)
{
    if (t->state == PROXY_BARE)
        side_complain(&t->base.side, "no search space yet, expected IN first");
    return t->state != PROXY_BARE;
}

static void
handle_update(struct proxy_tuner *t, const struct command *cmd)
{
    if (!has_space(t))
        return;
    keep_space(t, cmd);
    send_payload(t, CMD_UPDATE_SPACE, "", &t->space, "");
}

/* ---- from the manager: requests ---- */

static void
handle_request(struct proxy_tuner *t, const struct command *cmd)
{
    struct proxy_request r = {.first = t->next_id, .count = cmd->request.count};

    if (cmd->request.problem != NULL)
        side_complain(&t->base.side, cmd->request.problem);
    if (cmd->request.problem != NULL || !has_space(t)) {
        no_more(t, r.first, NO_FAILED, r.count);
        return;
    }
    if (t->reunion.restarted)
        reunion_lose(&t->reunion, cmd);
    t->next_id += r.count;
    while (r.served < r.count &&
           reunion_give_again(&t->reunion, r.first + r.served))
        r.served++;
    if (r.served < r.count)
        ask_program(t, r);
}

/* ---- from the manager: results and ends ---- */

static void
handle_metric(struct proxy_tuner *t, const struct command *cmd)
{
    const struct metric *m = &cmd->metric;
    struct trial *trial;
    const char *why;
    bool late;

    if (m->type == METRIC_REQUEST) {
        side_complain_trial(&t->base.side, m->job, &m->parameter,
                            "REQUEST_PARAMETER: trials of several phases are "
                            "not supported, expected one GE a trial",
                            false);
        return;
    }
    if (m->parameter.kind == PARAMETER_NONE)
        return; /* a trial that the user added: recorded only */
    why = reunion_refuse_result(&t->reunion, m, &trial, &late);
    if (why != NULL) {
        side_complain_trial(&t->base.side, m->job, &m->parameter, why, late);
        return;
    }
    reunion_ran(&t->reunion, m->job, trial);
    tell_result(t, trial, m->job, cmd, NULL);
    trials_settle(t->trials, trial);
}

static void
pass_end(struct proxy_tuner *t, const struct trial_end *end)
{
    const struct mark *mark = policy_mark(t->base.side.policy, end);
    struct trial *trial;
    const char *why;
    bool late;

    if (end->parameter.kind == PARAMETER_NONE)
        return;
    why = reunion_refuse_end(&t->reunion, end, &trial, &late);
    if (why != NULL) {
        side_complain_trial(&t->base.side, end->job, &end->parameter, why,
                            late);
        return;
    }
    reunion_ran(&t->reunion, end->job, trial);
    if (end->stopped && !trial->result_told && mark != NULL)
        tell_result(t, trial, end->job, NULL, mark);
    tell_end(t, trial, end);
}

/* Handles the end of a trial.  The AK for it goes out once the program was
 * told; what the program says to it comes when it likes. */
static void
handle_end(struct proxy_tuner *t, const struct command *cmd)
{
    pass_end(t, &cmd->end);
    if (reunion_seek_lost(&t->reunion, cmd) > 0)
        serve_lost(t);
    if (cmd->end.sync)
        side_emit(&t->base.side, (struct emission){.code = CMD_ACKNOWLEDGE,
                                                   .job = cmd->end.job,
                                                   .ends = true});
}

/* ---- from the manager: trials from elsewhere ---- */

/* Adds a trial that has not ended, with the parameters in `text`, which is
 * taken.  NULL: out of memory, or the id or label is in use. */
static struct trial *
add_trial(struct proxy_tuner *t, uint64_t id, const char *label,
          uint64_t tuner_id, struct buf *text)
{
    static const double nowhere[1];
    char *parameters = buf_take(text);
    struct trial *trial = NULL;

    if (parameters != NULL)
        trial = trials_add(t->trials, id, label, nowhere, 0);
    if (trial == NULL) {
        free(parameters);
        return NULL;
    }
    trial->tuner_id = tuner_id;
    trial->parameters = parameters;
    return trial;
}

/* Takes in the FD of a restarted manager of NNI's. */
static void
import_of_restarted(struct proxy_tuner *t, const struct command *cmd)
{
    struct reunion_count n;

    buf_clear(&t->fresh);
    n = reunion_import(&t->reunion, cmd);
    if (t->fresh.len > 0 || n.all == 0)
        send_payload(t, CMD_IMPORT, "[", &t->fresh, "]");
    log_info(t->base.side.log,
             "command %" PRIu64 " (FD): %zu of %zu results passed on",
             cmd->arrival, n.told, n.all);
}

static void
handle_import(struct proxy_tuner *t, const struct command *cmd)
{
    struct jval list = json_root(cmd->document);

    if (!has_space(t))
        return;
    if (t->base.side.policy->nni) {
        import_of_restarted(t, cmd);
        return;
    }
    buf_clear(&t->base.side.payload);
    jval_write(list, &t->base.side.payload);
    proxy_send(&t->base, CMD_IMPORT);
    for (size_t i = 0; i < jval_count(list); i++)
        keep_entry(t, jval_at(list, i));
}

/* Adds a trial from a record of AD: an earlier run gave it out and it has not
 * ended. */
static struct trial *
recover_one(struct proxy_tuner *t, struct jval record, struct err *err)
{
    struct jval v, parameters;
    struct parameter_id which;
    struct trial *trial;
    struct buf text;
    uint64_t id;

    if (!jval_get(record, "parameter_id", &v) || !jval_uint(v, &id) ||
        id > MARKS_RECOVERED_MAX) {
        err_set(err, ERR_INPUT,
                "parameter_id: expected an integer from 0 to %d",
                MARKS_RECOVERED_MAX);
        return NULL;
    }
    if (!jval_get(record, "parameters", &parameters)) {
        err_set(err, ERR_INPUT, "no 'parameters'");
        return NULL;
    }
    if (proxy_requests_has(&t->owed, id) || proxy_requests_has(&t->asked, id)) {
        err_set(err, ERR_INPUT, "parameter_id %" PRIu64 " is owed", id);
        return NULL;
    }
    which = parameter_named(id, NULL);
    if (trials_find(t->trials, &which) != NULL) {
        err_set(err, ERR_INPUT, "parameter_id %" PRIu64 " is in use already",
                id);
        return NULL;
    }
    buf_init(&text, SIZE_MAX / 2);
    jval_write(parameters, &text);
    trial = add_trial(t, id, NULL, id, &text);
    if (trial == NULL) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    reunion_keep(&t->reunion, id, NULL);
    if (id >= t->next_id)
        t->next_id = id + 1;
    return trial;
}

/* Whether a record of AD is of a suggestion that the program knows, or need not
 * know, or of a trial that the user added. */
static bool
program_knows(struct proxy_tuner *t, struct jval record)
{
    struct trial *trial;

    if (!t->base.side.policy->nni)
        return false;
    switch (reunion_read(&t->reunion, record, &trial)) {
    case RECORD_USERS:
        return true;
    case RECORD_NUMBER:
    case RECORD_LABEL:
        reunion_keep(&t->reunion, trial->id, trial->label);
        return t->reunion.restarted;
    case RECORD_FINISHED:
        return t->reunion.restarted;
    case RECORD_UNKNOWN:
        break;
    }
    return false;
}

static void
handle_custom(struct proxy_tuner *t, const struct command *cmd)
{
    struct jval list = json_root(cmd->document);
    struct trial *trial;
    struct buf known;
    struct err err;

    if (!has_space(t))
        return;
    reunion_advise(&t->reunion);
    buf_init(&known, SIZE_MAX / 2);
    if (t->base.side.policy->nni && t->next_id == 0)
        t->next_id = 1; /* as NNI: behind the ids 0 to max(0, those of AD) */
    for (size_t i = 0; i < jval_count(list); i++) {
        if (program_knows(t, jval_at(list, i)))
            continue;
        trial = recover_one(t, jval_at(list, i), &err);
        if (trial == NULL && err.code == ERR_MEMORY) {
            side_out_of_memory(&t->base.side);
            break;
        }
        if (trial == NULL) {
            err_place(&err, "[%zu]", i);
            side_complain(&t->base.side, err.text);
            continue;
        }
        buf_add_text(&known, known.len == 0 ? "" : ", ");
        write_record(trial, &known);
    }
    if (known.len > 0)
        send_payload(t, CMD_ADD_CUSTOM, "[", &known, "]");
    buf_fini(&known);
}

/* ---- from the manager: all of it ---- */

/* Whether that command makes the side send the program something. */
static bool
tells_program(enum command_code code)
{
    return code == CMD_METRIC || code == CMD_TRIAL_END || code == CMD_IMPORT ||
           code == CMD_UPDATE_SPACE;
}

static void
command(struct proxy *p, const struct command *cmd)
{
    static void (*const handlers[CMD_COUNT])(struct proxy_tuner *,
                                             const struct command *) = {
        [CMD_INITIALIZE] = handle_initialize,
        [CMD_REQUEST_TRIALS] = handle_request,
        [CMD_METRIC] = handle_metric,
        [CMD_UPDATE_SPACE] = handle_update,
        [CMD_IMPORT] = handle_import,
        [CMD_ADD_CUSTOM] = handle_custom,
        [CMD_TRIAL_END] = handle_end,
    };

    if (handlers[cmd->code] != NULL)
        handlers[cmd->code](self(p), cmd);
    if (tells_program(cmd->code)) {
        self(p)->tries = 0;
        ask_failed(self(p));
    }
}

/* ---- from the program: ID ---- */

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
    side_emit(&t->base.side, (struct emission){.code = CMD_INITIALIZED,
                                               .number = t->position});
}

/* Refuses the search space, which the program did not take.  NNI's managers
 * send no other, and would wait for ever: their session ends. */
static void
refuse_space(struct proxy_tuner *t)
{
    struct proxy *p = &t->base;

    t->state = PROXY_BARE;
    if (p->side.policy->extensions)
        no_more(t, t->next_id, NO_FAILED, 0);
    if (!p->side.policy->nni || p->side.fatal)
        return;
    p->side.fatal = true;
    err_set(p->side.failure, ERR_CONFIG, "%s: it did not take the search space",
            p->setup->title);
}

/* ---- from the program: TR ---- */

/* What a TR of the program says; the texts lie in `doc`. */
struct suggestion {
    struct json *doc;
    const char *label; /* NULL: it has a number, `tuner_id` */
    uint64_t tuner_id;
    struct jval parameters;
    const char *resume_from; /* parameter id of the trial whose checkpoint it
                                goes on from; NULL: none */
    /* As the program writes it; NULL: it does not say. */
    const char *resume_how;
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
        (!jval_uint(v, &s->tuner_id) && (!jval_string(v, &s->label, &len) ||
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

/* Writes a suggestion as the TR *e for the manager; `text` becomes its
 * parameters.  -1: it cannot be sent. */
static int
write_suggestion(struct proxy_tuner *t, uint64_t id, const struct suggestion *s,
                 struct buf *text, struct emission *e)
{
    struct parameter_record record = {.id = id, .label = s->label};

    jval_write(s->parameters, text);
    if (text->failed) {
        side_out_of_memory(&t->base.side);
        return -1;
    }
    record.parameters = buf_text(text);
    record.parameters_len = text->len;
    if (t->base.side.policy->extensions)
        record.resume_from = s->resume_from;
    record.resume_how = s->resume_how;
    *e = (struct emission){.code = CMD_NEW_TRIAL, .gives = &record};
    if (!side_encode(&t->base.side, e))
        return -1;
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
        trial = add_trial(t, id, s->label, s->tuner_id, &text);
        if (trial == NULL)
            side_out_of_memory(&t->base.side);
        else
            t->base.side.emitter.emit(t->base.side.emitter.ctx, &e);
        reunion_launch(&t->reunion, id, s->label);
        t->tries = 0;
    }
    buf_fini(&text);
    return trial == NULL ? -1 : 0;
}

/* Serves the oldest request that waits with a suggestion of the program; NULL:
 * its TR made no sense, and one unit of the request is refused. */
static void
serve_oldest(struct proxy_tuner *t, const struct suggestion *s)
{
    struct proxy_requests *q = waiting_requests(t);
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
    if (waiting_requests(t)->n > 0)
        serve_oldest(t, good ? &s : NULL);
    else if (trials_out(t->trials) >= UNASKED_MAX)
        proxy_failed(&t->base, "nobody asked for it, and %d trials are out",
                     UNASKED_MAX);
    else if (good && give_out(t, t->next_id++, &s) == 0)
        /* it serves a unit that was refused before */
        t->failed -= t->failed > 0;
    json_free(s.doc);
}

/* ---- from the program: NO ---- */

/* Why the program says NO.  Without a reason it means that no suggestion will
 * come, unless a trial runs whose result could change that. */
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

/* Handles NO "later": the oldest request without an answer goes on waiting; its
 * units that a senseless TR cost are refused. */
static void
owe_oldest(struct proxy_tuner *t)
{
    struct proxy_request r = proxy_requests_pop(&t->asked), lost = r;

    no_more(t, r.first, NO_LATER, proxy_request_left(&r));
    r.first += r.failed;
    r.count -= r.failed;
    r.failed = 0;
    if (proxy_requests_push(&t->owed, r) != 0)
        side_out_of_memory(&t->base.side);
    if (lost.failed > 0)
        refuse_units(t, &lost, NO_FAILED, lost.failed);
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
        owe_oldest(t);
    } else if (t->asked.n > 0) {
        end_request(t, &t->asked, reason);
    } else if (t->owed.n > 0 && reason != NO_LATER) {
        end_requests(t, &t->owed, reason);
    } else if (t->owed.n == 0) { /* else its NO before crossed a GE */
        proxy_failed(&t->base, "nobody waits for it, expected one for a GE "
                               "at most");
    }
}

/* ---- from the program: all of it ---- */

static void
take_error(struct proxy_tuner *t, const struct frame *frame)
{
    proxy_says(&t->base, frame);
}

static void
take_frame(struct proxy *p, const struct frame *frame)
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
            takers[i].take(self(p), frame);
            return;
        }
    proxy_failed(p, "expected ID, TR, NO or ER");
}

/* ---- what it owes, its silence and its end ---- */

static bool
nothing_runs(const struct proxy_tuner *t)
{
    return t->owed.n + t->asked.n > 0 && trials_out(t->trials) == 0;
}

static bool
waits(const struct proxy *p)
{
    const struct proxy_tuner *t = (const struct proxy_tuner *)p;

    return t->state == PROXY_ASKED || t->greeting || t->asked.n > 0 ||
           nothing_runs(t);
}

static size_t
bytes(const struct proxy *p)
{
    return ((const struct proxy_tuner *)p)->asked.n *
           sizeof(struct proxy_request);
}

static void
name_due(const struct proxy *p, char *out, size_t size)
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

static uint64_t
owed(const struct proxy *p)
{
    const struct proxy_tuner *t = (const struct proxy_tuner *)p;

    return proxy_requests_ids(&t->owed) + proxy_requests_ids(&t->asked);
}

/* When the program is gone: refuses the search space and the requests that wait
 * for an answer. */
static void
let_down(struct proxy_tuner *t)
{
    t->greeting = false;
    if (t->state == PROXY_ASKED)
        refuse_space(t);
    end_requests(t, &t->asked, NO_FAILED);
}

static void
late(struct proxy *p)
{
    struct proxy_tuner *t = self(p);

    let_down(t);
    if (nothing_runs(t))
        end_requests(t, &t->owed, NO_EXHAUSTED);
}

static void
gone(struct proxy *p)
{
    struct proxy_tuner *t = self(p);

    let_down(t);
    end_requests(t, &t->owed, NO_FAILED);
}

/* Asks again for the units that have failed, behind the next frame for the
 * program; or at once, a few times, where no trial runs whose end could be the
 * occasion. */
static void
ask_failed_again(struct proxy *p)
{
    struct proxy_tuner *t = self(p);

    if (t->failed == 0 || t->asked.n > 0 || trials_out(t->trials) > 0)
        return;
    if (t->tries < POLICY_TRIES)
        ask_failed(t);
    else if (t->tries == POLICY_TRIES)
        log_warning(p->side.log,
                    "command %" PRIu64 " (%s): %s fails each time it is asked "
                    "but no trial is out: %" PRIu64
                    " requested trials are refused",
                    p->side.arrival, p->side.input, p->setup->title, t->failed);
    t->tries++;
}

/* ---- begin and end ---- */

static void
see_requests(const struct proxy_requests *q, const struct viewer *viewer)
{
    for (size_t i = 0; i < q->n; i++) {
        const struct proxy_request *r = &q->items[q->at + i];

        if (proxy_request_left(r) > 0)
            viewer->owed(viewer->ctx, r->first + r->served + r->failed,
                         proxy_request_left(r));
    }
}

static void
see(const struct proxy *p, struct tuning_view *out, const struct viewer *viewer)
{
    const struct proxy_tuner *t = (const struct proxy_tuner *)p;

    *out = (struct tuning_view){
        .has_space = t->state == PROXY_READY,
        .next_id = t->next_id,
        .trials = t->trials,
    };
    see_requests(&t->owed, viewer);
    see_requests(&t->asked, viewer);
}

static void
free_tuner(struct proxy *p)
{
    struct proxy_tuner *t = self(p);

    trials_free(t->trials);
    buf_fini(&t->space);
    buf_fini(&t->results);
    proxy_requests_fini(&t->owed);
    proxy_requests_fini(&t->asked);
    buf_fini(&t->fresh);
    reunion_fini(&t->reunion);
    proxy_fini(p);
    free(t);
}

struct proxy *
proxy_tuner_new(const struct proxy_setup *setup, const struct policy *policy,
                struct emitter emitter, const struct log *log, struct err *err)
{
    static const struct proxy_kind kind = {
        .command = command,
        .frame = take_frame,
        .late = late,
        .gone = gone,
        .settle = ask_failed_again,
        .waits = waits,
        .bytes = bytes,
        .name_due = name_due,
        .owed = owed,
        .see = see,
        .free = free_tuner,
    };
    struct proxy_tuner *t = calloc(1, sizeof *t);

    if (t == NULL || (t->trials = trials_new()) == NULL) {
        free(t);
        err_set(err, ERR_MEMORY, "%s: out of memory", setup->title);
        return NULL;
    }
    proxy_init(&t->base, &kind, SENDER_DEFAULT, setup, policy, emitter, log);
    buf_init(&t->space, SIZE_MAX / 2);
    buf_init(&t->results, SIZE_MAX / 2);
    buf_init(&t->fresh, SIZE_MAX / 2);
    reunion_init(&t->reunion, &reunion_hands, &t->base.side, t->trials);
    return &t->base;
}
