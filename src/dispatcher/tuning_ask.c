/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * A request for n trials takes n consecutive ids, which are burnt whether or
 * not they are served.  serve() asks for one id after the other until the
 * tuner refuses; what TP_LATER leaves becomes owed and is tried again, oldest
 * first, at the end of each command that told the tuner something.  NO is
 * written once for a request that was not fully served.  Under policy again a
 * unit at which the tuner failed is owed, too. */

#include "core/err.h"
#include "core/log.h"
#include "dispatcher/explainer.h"
#include "dispatcher/tuning_state.h"
#include "json.h"
#include "plugin/loader.h"
#include "plugin/tuner.h"
#include "plugin/demands.h"
#include "space/space.h"
#include "tunepipe/tuner.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What the host itself has to say. */
static void
explain(const struct tuning *t, const char *text)
{
    const struct host_listener *listener;

    if (t->explainer == NULL)
        return;
    listener = &t->explainer->listener;
    listener->said(listener->ctx, "tunepipe", text);
}

/* *label is the caller's to free; *terms is set for what the tuner gave. */
static int
ask_tuner(struct tuning *t, uint64_t id, struct tuner_terms *terms,
          char **label)
{
    struct err err;
    int rc;

    if (t->explainer != NULL)
        t->explainer->begin(t->explainer->listener.ctx);
    rc = tuner_ask(t->tuner, id, t->x, label, &err);
    if (rc == TP_OK)
        *terms = *tuner_terms(t->tuner);
    if (rc != TP_ERR)
        return rc;
    tuning_plugin_failed(t, &err);
    if (t->fatal || t->policy->ask_error == ASK_REFUSE)
        return TP_ERR;
    explain(t, err.text);
    explain(t, "in its place a sample of the prior (ask-error: prior)");
    space_sample(t->space, tuner_seed(t->tuner), id, t->x);
    if (space_check(t->space, t->x, &err) == 0)
        return TP_OK;
    err_place(&err, "a sample of the prior (ask-error: prior)");
    tuning_complain(t, err.text);
    return TP_ERR;
}

static int
refuse_label(struct tuning *t, uint64_t id, const char *label)
{
    struct err err;

    err_set(&err, ERR_PLUGIN,
            "tuner %s: label '%s' of suggestion %" PRIu64
            " is in use, expected a new one",
            tuner_plugin(t->tuner)->name, label, id);
    tuning_plugin_failed(t, &err);
    return TP_ERR;
}

static int
refuse_point(struct tuning *t, uint64_t id)
{
    struct err err;

    err_set(&err, ERR_INPUT,
            "the parameters of trial %" PRIu64
            " are more than %zu bytes of JSON, expected shorter choices",
            id, t->json.max);
    tuning_complain(t, err.text);
    return TP_ERR;
}

/* A whole number of results is written as one. */
static void
write_budget(struct buf *out, double budget)
{
    if (budget < 9e15 && budget == (double)(uint64_t)budget)
        buf_printf(out, "%" PRIu64, (uint64_t)budget);
    else
        json_write_double(out, budget);
}

static void
write_member(struct buf *out, const char *key)
{
    out->len--; /* the brace */
    if (out->data[out->len - 1] != '{')
        buf_add_text(out, ", ");
    json_write_string(out, key, strlen(key));
    buf_add_text(out, ": ");
}

/* What the trial receives: the parameters, and what the tuner adds. */
static void
write_parameters(struct tuning *t, const struct tuner_terms *terms)
{
    struct buf *out = &t->json;

    buf_clear(out);
    space_decode(t->space, t->x, out);
    for (size_t i = 0; i < terms->n_extras && !out->failed; i++) {
        write_member(out, terms->extras[i].key);
        json_write_string(out, terms->extras[i].text,
                          strlen(terms->extras[i].text));
        buf_add_char(out, '}');
    }
    if (terms->budget > 0 && !out->failed) {
        write_member(out, "TRIAL_BUDGET");
        write_budget(out, terms->budget);
        buf_add_char(out, '}');
    }
}

/* Of what NNI's manager may lose, what it is to be given again and the point
 * does not tell. */
static int
keep_parameters(struct tuning *t, struct trial *trial,
                const struct tuner_terms *terms)
{
    bool more = terms->n_extras > 0 || terms->budget > 0;

    if (!t->policy->nni || !(tuning_advised(t) || more))
        return 0;
    trial->parameters = strdup(buf_text(&t->json));
    return trial->parameters == NULL ? -1 : 0;
}

void
tuning_give_out(struct tuning *t, struct parameter_record *record)
{
    reunion_launch(&t->reunion, record->id, record->label);
    record->parameters = buf_text(&t->json);
    record->parameters_len = t->json.len;
    record->bare = tuning_is_bare(t);
    tuning_emit(t, (struct emission){.code = CMD_NEW_TRIAL, .gives = record});
}

static int
give_out(struct tuning *t, uint64_t id, const char *label,
         const struct tuner_terms *terms)
{
    struct parameter_record record = {.id = id, .label = label};
    struct trial *trial;

    tuning_inherit(t, terms);
    write_parameters(t, terms);
    if (t->json.failed)
        return refuse_point(t, id);
    trial =
        trials_add(t->trials, id, label, t->x, space_dims(t->space)->n_dims);
    if (trial == NULL) {
        if (label != NULL)
            return refuse_label(t, id, label);
        tuning_out_of_memory(t);
        return TP_ERR;
    }
    trial->theirs = id;
    if (terms->own)
        tuning_know(t, id);
    if (keep_parameters(t, trial, terms) != 0)
        tuning_out_of_memory(t);
    tuning_write_origin(t, terms, &record);
    tuning_give_out(t, &record);
    tuning_decide(t);
    return TP_OK;
}

static int
serve_one(struct tuning *t, uint64_t id)
{
    static const struct tuner_terms nothing = {.from = TP_NO_ID};
    struct tuner_terms terms = nothing;
    char *label = NULL;
    int rc;

    if (reunion_give_again(&t->reunion, id))
        return TP_OK;
    rc = ask_tuner(t, id, &terms, &label);
    if (rc == TP_OK)
        rc = give_out(t, id, label, &terms);
    free(label);
    return rc;
}

/* The owed ids will never be served: says so. */
static void
refuse_owed(struct tuning *t, enum no_reason reason)
{
    uint64_t first = owed_first(&t->owed), units = t->owed.total;

    owed_clear(&t->owed);
    tuning_no_more(t, first, reason, units);
}

/* Nothing is out, so nothing can ever change the tuner's mind. */
static bool
stuck(const struct tuning *t)
{
    return trials_out(t->trials) == 0;
}

/* rc is why: TP_ERR, or TP_LATER. */
static void
say_stuck(struct tuning *t, int rc, uint64_t units)
{
    log_warning(t->log,
                "command %" PRIu64 " (%s): tuner %s %s but no trial is out: "
                "%" PRIu64 " requested trials are refused",
                t->arrival, t->code, tuner_plugin(t->tuner)->name,
                rc == TP_ERR ? "fails each time it is asked"
                             : "waits for results",
                units);
}

/* Managers of NNI's never ask again for what failed, so it is owed. */
static bool
is_owed(const struct tuning *t, int rc)
{
    return rc == TP_LATER || (rc == TP_ERR && t->policy->again);
}

/* What a tuner fails at may be that id: it is burnt, another one is owed. */
static void
renew_first_owed(struct tuning *t)
{
    owed_pop(&t->owed);
    if (owed_add(&t->owed, t->next_id++, 1) != 0)
        tuning_out_of_memory(t);
}

/* Oldest first, as far as the tuner goes; what it said last.  One that fails is
 * asked again at once where there will be no better moment. */
static int
ask_owed(struct tuning *t)
{
    int rc = TP_OK;

    for (int tries = 0; t->owed.total > 0 && !t->fatal;) {
        rc = serve_one(t, owed_first(&t->owed));
        if (rc == TP_OK) {
            owed_pop(&t->owed);
            continue;
        }
        if (rc != TP_ERR || !t->policy->again || t->fatal)
            break;
        renew_first_owed(t);
        if (!stuck(t) || ++tries == POLICY_TRIES)
            break;
    }
    return rc;
}

void
tuning_serve_owed(struct tuning *t)
{
    int rc = ask_owed(t);

    if (t->owed.total == 0 || t->fatal)
        return;
    if (!is_owed(t, rc)) {
        refuse_owed(t, rc == TP_DONE ? NO_EXHAUSTED : NO_FAILED);
    } else if (stuck(t)) {
        say_stuck(t, rc, t->owed.total);
        refuse_owed(t, rc == TP_ERR ? NO_FAILED : NO_EXHAUSTED);
    }
}

static enum no_reason
reason_of(int rc)
{
    switch (rc) {
    case TP_LATER:
        return NO_LATER;
    case TP_DONE:
        return NO_EXHAUSTED;
    }
    return NO_FAILED;
}

/* The tuner failed at `next`, of whose request n are left. */
static void
owe_failed(struct tuning *t, uint64_t first, uint64_t next, uint64_t n)
{
    int rc = TP_ERR;

    if (owed_add(&t->owed, next, n) != 0)
        tuning_out_of_memory(t);
    else
        renew_first_owed(t);
    if (stuck(t))
        rc = ask_owed(t);
    n = t->owed.total;
    if (n == 0 || t->fatal)
        return;
    if (is_owed(t, rc) && stuck(t))
        say_stuck(t, rc, n);
    if (!is_owed(t, rc) || stuck(t))
        owed_clear(&t->owed);
    tuning_no_more(t, first, reason_of(rc), n);
}

void
tuning_request(struct tuning *t, const struct command *cmd)
{
    uint64_t first = t->next_id, n = cmd->request.count, served = 0;
    int rc = TP_OK;

    if (cmd->request.problem != NULL || t->space == NULL) {
        tuning_complain(t, cmd->request.problem != NULL
                               ? cmd->request.problem
                               : "no search space yet, expected IN first");
        tuning_no_more(t, first, NO_FAILED, n);
        return;
    }
    if (t->reunion.on)
        reunion_lose(&t->reunion, cmd);
    t->next_id += n;
    if (t->owed.total > 0)
        tuning_serve_owed(t);
    if (t->owed.total > 0)
        rc = TP_LATER; /* the older ones come first */
    while (rc == TP_OK && served < n && !t->fatal)
        if ((rc = serve_one(t, first + served)) == TP_OK)
            served++;
    if (served == n || t->fatal)
        return;
    if (rc == TP_ERR && t->policy->again) {
        owe_failed(t, first, first + served, n - served);
        return;
    }
    if (rc == TP_LATER && stuck(t)) {
        say_stuck(t, rc, n - served);
        rc = TP_DONE;
    } else if (rc == TP_LATER &&
               owed_add(&t->owed, first + served, n - served) != 0) {
        tuning_out_of_memory(t);
    }
    tuning_no_more(t, first, reason_of(rc), n - served);
}
