/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * An element of FD is first looked for by its trialJobId: for a job that
 * reported, or ended, it is known what it ran.  Else it is looked for among the
 * imported results, by parameters and value.  Else, if it has a trialJobId, it
 * may come from a trial of which no report reached us: one without a result
 * that has these parameters and that no other job ran. */

#include "dispatcher/reunion.h"

#include "command.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/log.h"
#include "core/pack.h"
#include "dispatcher/side.h"
#include "dispatcher/trials.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void
reunion_init(struct reunion *r, const struct reunion_ops *ops,
             struct side *side, struct trials *trials)
{
    *r = (struct reunion){.ops = ops, .side = side, .trials = trials};
}

static void
forget_launches(struct reunion *r)
{
    map_fini(&r->unnamed_ids);
    map_fini(&r->unnamed_labels);
    idset_fini(&r->lost);
    r->n_lost = 0;
}

void
reunion_fini(struct reunion *r)
{
    ledger_fini(&r->ledger);
    idset_fini(&r->kept);
    idset_fini(&r->retry);
    forget_launches(r);
}

void
reunion_ran(struct reunion *r, const char *job, const struct trial *trial)
{
    if (r->side->policy->nni && ledger_ran(&r->ledger, job, trial->id) != 0)
        side_out_of_memory(r->side);
}

/* Whether a final result comes from a second run of a suggestion: behind a
 * resumption or, under policy `reissue`, by another job. */
static bool
runs_again(const struct reunion *r, const struct metric *m)
{
    uint64_t id;

    return m->attempt > 0 ||
           (r->side->policy->reissue && !ledger_find(&r->ledger, m->job, &id));
}

const char *
reunion_refuse_result(const struct reunion *r, const struct metric *m,
                      struct trial **out, bool *late)
{
    const char *why = trials_refuse_result(r->trials, &m->parameter, out, late);

    if (why != NULL && *out != NULL)
        *late = runs_again(r, m);
    return why;
}

const char *
reunion_refuse_end(const struct reunion *r, const struct trial_end *end,
                   struct trial **out, bool *late)
{
    const char *why = trials_refuse_end(r->trials, &end->parameter, out, late);

    return why != NULL && *late && r->side->policy->reissue
               ? "its parameters are those of a trial that has ended: "
                 "recorded, not applied"
               : why;
}

void
reunion_launch(struct reunion *r, uint64_t id, const char *label)
{
    int rc = 0;

    if (r->side->policy->reissue)
        rc = label != NULL
                 ? map_put(&r->unnamed_labels, label, strlen(label), r)
                 : map_put(&r->unnamed_ids, &id, sizeof id, r);
    if (rc != 0)
        side_out_of_memory(r->side);
}

/* ---- IN: a manager begins once more ---- */

/* Forgets what the earlier manager has said.  Suggestions that were to be given
 * out again have to be looked for once more. */
static void
forget_manager(struct reunion *r)
{
    r->restarted = true;
    r->fed = false;
    r->advised = false;
    idset_fini(&r->kept);
    idset_fini(&r->retry);
    r->n_retry = 0;
    forget_launches(r);
}

static bool
is_same_space(const struct reunion *r, const struct json *doc)
{
    struct json *now = NULL;
    struct buf text;
    bool same;

    buf_init(&text, SIZE_MAX / 2);
    r->ops->write_space(r->side, &text);
    if (!text.failed)
        now = json_parse(buf_text(&text), text.len, JSON_NAN, NULL);
    same = now != NULL && jval_equal(json_root(now), json_root(doc));
    json_free(now);
    buf_fini(&text);
    return same;
}

void
reunion_begin(struct reunion *r, const struct command *cmd)
{
    bool same = is_same_space(r, cmd->space);

    log_info(r->side->log,
             "command %" PRIu64 " (IN): the manager was started again, with "
             "%s search space",
             cmd->arrival, same ? "the same" : "another");
    forget_manager(r);
    r->ops->begin_again(r->side, cmd, same);
}

/* ---- FD: what has finished ---- */

/* One FD while it is handled. */
struct feed {
    bool all_new;      /* it is a manager's second FD or later, or nothing was
                          restarted */
    struct map used;   /* key of an import -> how many elements had it so far */
    struct map points; /* parameters -> a trial without a result */
    bool has_points;
    struct buf key;
};

enum element {
    ELEMENT_NEW,   /* it is to be imported */
    ELEMENT_KNOWN, /* its result is on record */
    /* *out is its trial, which succeeded with that value; the tuner may have
     * been told. */
    ELEMENT_TRIAL,
    ELEMENT_MEMORY, /* out of memory */
};

/* Enters a trial without a result under its parameters as the trial received
 * them, which is how the manager writes them. */
static int
add_point(struct reunion *r, struct feed *f, struct trial *trial,
          struct buf *text)
{
    struct json *doc;

    buf_clear(text);
    r->ops->write_parameters(r->side, trial, text);
    if (text->failed ||
        (doc = json_parse(text->data, text->len, JSON_NAN, NULL)) == NULL)
        return -1;
    buf_clear(&f->key);
    ledger_write_parameters(json_root(doc), &f->key);
    json_free(doc);
    if (f->key.failed)
        return -1;
    if (map_get(&f->points, f->key.data, f->key.len) != NULL)
        return 0; /* of equal parameters the oldest trial counts */
    return map_put(&f->points, f->key.data, f->key.len, trial);
}

/* Collects the suggestions that some job is known to have run. */
static int
collect_run(const struct reunion *r, struct idset *out)
{
    size_t at = 0;
    void *value;

    while ((value = map_next(&r->ledger.jobs, &at)) != NULL) {
        const struct parameter_id id = {PARAMETER_NUMBER, (uintptr_t)value - 1,
                                        NULL};

        if (trials_find(r->trials, &id) != NULL &&
            idset_add(out, id.number) != 0)
            return -1;
    }
    return 0;
}

static int
make_points(struct reunion *r, struct feed *f)
{
    struct idset run = {0};
    struct buf text;
    size_t n = 0;
    struct trial **all = trials_sorted(r->trials, &n);
    int rc = all == NULL ? -1 : collect_run(r, &run);

    buf_init(&text, SIZE_MAX / 2);
    for (size_t i = 0; i < n && rc == 0; i++)
        if (!all[i]->result_told && !all[i]->unfit &&
            !idset_has(&run, all[i]->id))
            rc = add_point(r, f, all[i], &text);
    f->has_points = true;
    buf_fini(&text);
    idset_fini(&run);
    free(all);
    return rc;
}

/* The trial without a result that has an element's parameters; NULL: none, or
 * with key.failed out of memory. */
static struct trial *
find_point(struct reunion *r, struct feed *f, struct jval entry)
{
    struct jval parameters;
    bool failed = !f->has_points && make_points(r, f) != 0;

    buf_clear(&f->key);
    if (!jval_get(entry, "parameter", &parameters))
        return NULL;
    ledger_write_parameters(parameters, &f->key);
    f->key.failed = f->key.failed || failed;
    if (f->key.failed)
        return NULL;
    return map_remove(&f->points, f->key.data, f->key.len);
}

static enum element
judge_import(struct reunion *r, struct feed *f, struct jval entry)
{
    uint64_t used;

    buf_clear(&f->key);
    ledger_write_key(entry, &f->key);
    if (f->key.failed)
        return ELEMENT_MEMORY;
    if (f->all_new)
        return ledger_import(&r->ledger, &f->key) != 0 ? ELEMENT_MEMORY
                                                       : ELEMENT_NEW;
    used = (uintptr_t)map_get(&f->used, f->key.data, f->key.len);
    if (map_put(&f->used, f->key.data, f->key.len,
                (void *)(uintptr_t)(used + 1)) != 0)
        return ELEMENT_MEMORY;
    return used < ledger_imports(&r->ledger, &f->key) ? ELEMENT_KNOWN
                                                      : ELEMENT_NEW;
}

/* What an element is whose job ran a suggestion of ours. */
static enum element
judge_job(const struct reunion *r, uint64_t number, struct trial **out)
{
    const struct parameter_id id = parameter_named(number, NULL);

    *out = trials_find(r->trials, &id);
    return *out == NULL ? ELEMENT_KNOWN : ELEMENT_TRIAL;
}

/* What an element of FD is; *job: the trialJobId of an ELEMENT_TRIAL. */
static enum element
judge_element(struct reunion *r, struct feed *f, struct jval entry,
              struct trial **out, const char **job)
{
    enum element element;
    struct jval v;
    uint64_t id;

    *job = NULL;
    if (f->all_new)
        return judge_import(r, f, entry);
    if (jval_get(entry, "trialJobId", &v) && jval_string(v, job, NULL) &&
        ledger_find(&r->ledger, *job, &id))
        return judge_job(r, id, out);
    element = judge_import(r, f, entry);
    if (element != ELEMENT_NEW)
        return element;
    if (*job != NULL && (*out = find_point(r, f, entry)) != NULL)
        return ledger_ran(&r->ledger, *job, (*out)->id) != 0 ? ELEMENT_MEMORY
                                                             : ELEMENT_TRIAL;
    if (f->key.failed)
        return ELEMENT_MEMORY;
    buf_clear(&f->key);
    ledger_write_key(entry, &f->key);
    return ledger_import(&r->ledger, &f->key) != 0 ? ELEMENT_MEMORY
                                                   : ELEMENT_NEW;
}

/* Tells the tuner the end, and the result where it lacks that, of a trial that
 * succeeded while no dispatcher ran. */
static int
catch_up(struct reunion *r, struct trial *trial, const char *job,
         struct jval entry, struct err *err)
{
    const struct trial_end end = {.job = (char *)job, .event = END_SUCCEEDED};
    const char *problem = "no 'value'";
    struct jval v;
    double value;

    if (!trial->result_told) {
        if (!jval_get(entry, "value", &v) ||
            !metric_read_value(v, &value, &problem))
            return err_set(err, ERR_INPUT, "%s", problem);
        r->ops->tell(r->side, trial, job, value);
    }
    if (!trial->ended)
        r->ops->end(r->side, trial, &end);
    else
        trials_settle(r->trials, trial);
    return 0;
}

/* Imports one element of FD.  1: the tuner was told; 0: it was on record; -1:
 * err tells. */
static int
import_one(struct reunion *r, struct feed *f, struct jval entry,
           struct err *err)
{
    struct trial *trial = NULL;
    const char *job;
    bool told;

    switch (judge_element(r, f, entry, &trial, &job)) {
    case ELEMENT_KNOWN:
        return 0;
    case ELEMENT_NEW:
        return r->ops->import(r->side, entry, err) == 0 ? 1 : -1;
    case ELEMENT_TRIAL:
        told = trial->result_told;
        return catch_up(r, trial, job, entry, err) == 0 ? !told : -1;
    case ELEMENT_MEMORY:
        break;
    }
    side_out_of_memory(r->side);
    return 0;
}

/* Notes which job runs which suggestion: the router knows before there is a
 * result or an end. */
static int
note_runs(struct reunion *r, const struct command *cmd)
{
    const struct trial *trial;

    for (size_t i = 0; i < cmd->n_runs; i++) {
        trial = trials_find(r->trials, &cmd->runs[i].parameter);
        if (trial != NULL &&
            ledger_ran(&r->ledger, cmd->runs[i].job, trial->id) != 0)
            return -1;
    }
    return 0;
}

struct reunion_count
reunion_import(struct reunion *r, const struct command *cmd)
{
    struct jval list = json_root(cmd->document);
    struct reunion_count count = {.all = jval_count(list)};
    struct feed f = {.all_new = !r->restarted || r->fed};
    struct err err;

    buf_init(&f.key, SIZE_MAX / 2);
    r->fed = true;
    if (note_runs(r, cmd) != 0)
        side_out_of_memory(r->side);
    for (size_t i = 0; i < count.all && !r->side->fatal; i++) {
        int rc = import_one(r, &f, jval_at(list, i), &err);

        count.told += rc > 0;
        count.known += rc == 0;
        if (rc < 0 && r->ops->refuse != NULL)
            r->ops->refuse(r->side, i, &err);
    }
    map_fini(&f.used);
    map_fini(&f.points);
    buf_fini(&f.key);
    return count;
}

/* ---- AD: what has not finished ---- */

void
reunion_advise(struct reunion *r)
{
    r->advised = r->restarted;
}

enum reunion_record
reunion_read(const struct reunion *r, struct jval record, struct trial **trial)
{
    struct parameter_id which = {.kind = PARAMETER_NUMBER};
    const char *label;
    struct jval v;

    if (!jval_get(record, "parameter_id", &v) || jval_type(v) == JSON_NULL)
        return RECORD_USERS;
    if (jval_string(v, &label, NULL))
        which = parameter_named(0, label);
    else if (!jval_uint(v, &which.number))
        return RECORD_UNKNOWN;
    *trial = trials_find(r->trials, &which);
    if (*trial != NULL)
        return which.kind == PARAMETER_LABEL ? RECORD_LABEL : RECORD_NUMBER;
    return trials_finished(r->trials, &which) ? RECORD_FINISHED
                                              : RECORD_UNKNOWN;
}

void
reunion_keep(struct reunion *r, uint64_t id, const char *label)
{
    if (r->restarted && idset_add(&r->kept, id) != 0)
        side_out_of_memory(r->side);
    reunion_launch(r, id, label);
}

/* ---- GE: what was lost with the manager before ---- */

static void
end_lost(struct reunion *r, struct trial *trial, enum end_event event)
{
    char nobody[] = "";
    const struct trial_end end = {.job = nobody, .event = event};

    r->ops->end(r->side, trial, &end);
}

/* Whether a lost trial may not have run at all: it has no result, and its
 * manager did not outlive it, or it never reported (cmd is that GE).  From 2.10
 * on a trial that was launched and is in no AD has ended; before that, the
 * manager ended all of them when it was stopped. */
static bool
is_unrun(const struct reunion *r, const struct trial *trial,
         const struct command *cmd)
{
    struct parameter_id id = parameter_named(trial->id, trial->label);

    if (trial->result_told || trial->foreign)
        return false;
    for (size_t i = 0; r->advised && i < cmd->n_runs; i++)
        if (parameter_equal(&cmd->runs[i].parameter, &id))
            return false;
    return true;
}

/* Ends the lost trials.  Where the tuner is a program all of them end (see
 * struct reunion_ops); a plugin still knows its suggestions, and those that
 * have not run are marked to be given out again.  Returns how many are; -1: out
 * of memory. */
static int64_t
end_all_lost(struct reunion *r, struct trial *const *lost, size_t n,
             const struct command *cmd)
{
    for (size_t i = 0; i < n; i++) {
        if (r->ops->program || !is_unrun(r, lost[i], cmd)) {
            end_lost(r, lost[i], END_SYS_CANCELED);
            continue;
        }
        if (idset_add(&r->retry, lost[i]->id) != 0)
            return -1;
        r->n_retry++;
    }
    return (int64_t)r->n_retry;
}

/* The trials that have not ended and that AD did not name, by their ids, an
 * array to be freed; NULL: out of memory. */
static struct trial **
find_lost(struct reunion *r, size_t *n)
{
    struct trial **all = trials_unended(r->trials, n);
    size_t lost = 0;

    for (size_t i = 0; all != NULL && i < *n; i++)
        if (!idset_has(&r->kept, all[i]->id))
            all[lost++] = all[i];
    *n = lost;
    return all;
}

void
reunion_lose(struct reunion *r, const struct command *cmd)
{
    size_t n;
    struct trial **lost = find_lost(r, &n);
    int64_t again = -1;

    if (lost != NULL) {
        r->restarted = false;
        idset_fini(&r->kept);
        again = end_all_lost(r, lost, n, cmd);
    }
    if (again < 0)
        side_out_of_memory(r->side);
    else if (n > 0 && r->ops->program)
        log_info(r->side->log,
                 "command %" PRIu64 " (GE): %zu trials were lost with the "
                 "manager before",
                 cmd->arrival, n);
    else if (n > 0)
        log_info(r->side->log,
                 "command %" PRIu64 " (GE): %zu trials were lost with the "
                 "manager before: %" PRId64 " of them are given out again",
                 cmd->arrival, n, again);
    free(lost);
}

/* Takes the next suggestion that is to be given out again; NULL: there is
 * none. */
static struct trial *
take_retry(struct reunion *r)
{
    struct parameter_id which = {.kind = PARAMETER_NUMBER};
    struct trial *trial;

    while (r->n_retry > 0) {
        r->n_retry--;
        which.number = idset_take_first(&r->retry);
        trial = trials_find(r->trials, &which);
        if (trial == NULL || trial->ended || trial->result_told)
            continue; /* it has run after all */
        if (!trial->foreign)
            return trial;
        /* its point is of an older search space */
        end_lost(r, trial, END_SYS_CANCELED);
    }
    return NULL;
}

/* ---- EN: what this manager has lost ---- */

/* Whether a suggestion needs nothing more: a plugin's needs a result, a
 * program's an end as well. */
static bool
is_settled(const struct reunion *r, const struct trial *trial)
{
    return !r->ops->program && (trial->result_told || trial->foreign);
}

/* Notes that a trial ended which was launched for the suggestion that its end
 * names. */
static void
forget_launch(struct reunion *r, const struct parameter_id *hint)
{
    switch (hint->kind) {
    case PARAMETER_NUMBER:
        map_remove(&r->unnamed_ids, &hint->number, sizeof hint->number);
        return;
    case PARAMETER_LABEL:
        map_remove(&r->unnamed_labels, hint->label, strlen(hint->label));
        return;
    case PARAMETER_NONE: /* a trial that the user added */
        return;
    }
}

/* Ends a suggestion that nobody runs and the tuner waits for, or notes it as
 * lost.  False: it was lost with the earlier manager, and is given out again
 * anyway. */
static bool
lose_one(struct reunion *r, struct trial *trial)
{
    if (idset_has(&r->retry, trial->id))
        return false;
    if (is_settled(r, trial)) {
        end_lost(r, trial,
                 trial->result_told ? END_SUCCEEDED : END_SYS_CANCELED);
    } else if (!idset_has(&r->lost, trial->id)) {
        if (idset_add(&r->lost, trial->id) != 0)
            side_out_of_memory(r->side);
        else
            r->n_lost++;
    }
    return true;
}

size_t
reunion_seek_lost(struct reunion *r, const struct command *cmd)
{
    uint64_t before = r->n_lost;
    struct trial **unrun;
    size_t n, lost = 0;

    if (!r->side->policy->reissue)
        return 0;
    forget_launch(r, &cmd->end.hint);
    if (trials_out(r->trials) == 0 || cmd->end.living > 0 ||
        r->unnamed_ids.count + r->unnamed_labels.count > 0)
        return 0;
    if ((unrun = trials_unended(r->trials, &n)) == NULL) {
        side_out_of_memory(r->side);
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        lost += lose_one(r, unrun[i]);
    free(unrun);
    if (r->n_lost > before)
        log_info(r->side->log,
                 "command %" PRIu64 " (EN): as many trials have ended as were "
                 "launched, and %" PRIu64
                 " suggestions were run by none: they are given out again",
                 cmd->arrival, r->n_lost - before);
    return lost;
}

/* Takes the next lost suggestion that nobody has run since; NULL: there is
 * none. */
static struct trial *
take_lost(struct reunion *r)
{
    struct parameter_id which = {.kind = PARAMETER_NUMBER};
    struct trial *trial;

    while (r->n_lost > 0) {
        r->n_lost--;
        which.number = idset_take_first(&r->lost);
        trial = trials_find(r->trials, &which);
        if (trial != NULL && !trial->ended && !is_settled(r, trial))
            return trial;
    }
    return NULL;
}

/* The tuner, and a manager that lost the suggestion itself, know it by its old
 * id: only a suggestion of an earlier manager gets the new one. */
bool
reunion_give_again(struct reunion *r, uint64_t id)
{
    struct trial *trial = take_retry(r);
    bool renamed = trial != NULL;
    uint64_t was;

    if (!renamed && (trial = take_lost(r)) == NULL)
        return false;
    was = trial->id;
    if (renamed && trials_rename(r->trials, trial, id) != 0)
        side_out_of_memory(r->side);
    else
        r->ops->give(r->side, trial, was);
    return true;
}

/* ---- packed ---- */

static void
save_keys(const struct map *m, struct buf *out)
{
    const struct map_slot **slots = map_sorted(m);

    pack_u64(out, m->count);
    for (size_t i = 0; slots != NULL && i < m->count; i++)
        pack_bytes(out, slots[i]->key, slots[i]->len);
    out->failed = out->failed || slots == NULL;
    free(slots);
}

static void
load_keys(struct map *m, struct reunion *r, struct unpack *in)
{
    size_t n = unpack_count(in, sizeof(uint64_t)), len;

    for (size_t i = 0; i < n && !in->failed; i++) {
        const char *key = unpack_bytes(in, &len);

        if (in->failed || map_get(m, key, len) != NULL ||
            map_put(m, key, len, r) != 0)
            unpack_fail(in);
    }
}

static void
save_manager(const struct reunion *r, struct buf *out)
{
    ledger_save(&r->ledger, out);
    pack_u64(out, r->restarted);
    pack_u64(out, r->fed);
    pack_u64(out, r->advised);
    idset_save(&r->kept, out);
    idset_save(&r->retry, out);
}

static int
load_manager(struct reunion *r, struct unpack *in)
{
    if (ledger_load(&r->ledger, in) != 0)
        return -1;
    r->restarted = unpack_bool(in);
    r->fed = unpack_bool(in);
    r->advised = unpack_bool(in);
    idset_load(&r->kept, in);
    idset_load(&r->retry, in);
    r->n_retry = idset_count(&r->retry);
    return in->failed ? -1 : 0;
}

static int
load_launches(struct reunion *r, struct unpack *in)
{
    load_keys(&r->unnamed_ids, r, in);
    load_keys(&r->unnamed_labels, r, in);
    idset_load(&r->lost, in);
    r->n_lost = idset_count(&r->lost);
    return in->failed ? -1 : 0;
}

void
reunion_save(const struct reunion *r, struct buf *out)
{
    if (r->side->policy->nni)
        save_manager(r, out);
    if (r->side->policy->reissue) {
        save_keys(&r->unnamed_ids, out);
        save_keys(&r->unnamed_labels, out);
        idset_save(&r->lost, out);
    }
}

int
reunion_load(struct reunion *r, struct unpack *in, struct err *err)
{
    if (r->side->policy->nni && load_manager(r, in) != 0)
        return err_set(err, ERR_LOG,
                       "what a manager said before: damaged, or "
                       "out of memory");
    if (r->side->policy->reissue && load_launches(r, in) != 0)
        return err_set(err, ERR_LOG,
                       "what a manager may have lost: damaged, "
                       "or out of memory");
    return 0;
}
