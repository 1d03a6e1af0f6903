/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * An element of FD is first looked for by its trialJobId: a job that reported,
 * or ended, is known with what it ran.  Else it is looked for among what was
 * imported, by parameters and value.  Else, if it has a trialJobId, it may be
 * of a trial that we never heard of: one without a result that has these
 * parameters and that no other job ran. */

#include "dispatcher/restart.h"

#include "command.h"
#include "core/pack.h"
#include "dispatcher/trials.h"

#include <stdlib.h>
#include <string.h>

void
restart_fini(struct restart *r)
{
    ledger_fini(&r->ledger);
    idset_fini(&r->kept);
    idset_fini(&r->again);
}

/* What was to be given out again is so still: it is lost once more. */
void
restart_begin(struct restart *r)
{
    r->on = true;
    r->fed = false;
    r->advised = false;
    idset_fini(&r->kept);
    idset_fini(&r->again);
    r->n_again = 0;
}

void
restart_advise(struct restart *r)
{
    r->advised = r->on;
}

int
restart_ran(struct restart *r, const char *job, const struct trial *trial)
{
    return ledger_ran(&r->ledger, job, trial->id);
}

bool
restart_is_second_run(const struct restart *r, const struct metric *m,
                      bool again)
{
    uint64_t id;

    return m->attempt > 0 || (again && !ledger_find(&r->ledger, m->job, &id));
}

int
restart_keep(struct restart *r, uint64_t id)
{
    return r->on ? idset_add(&r->kept, id) : 0;
}

struct trial **
restart_lost(struct restart *r, struct trials *trials, size_t *n)
{
    struct trial **all = trials_unended(trials, n);
    size_t lost = 0;

    if (all == NULL)
        return NULL;
    for (size_t i = 0; i < *n; i++)
        if (!idset_has(&r->kept, all[i]->id))
            all[lost++] = all[i];
    *n = lost;
    r->on = false;
    idset_fini(&r->kept);
    return all;
}

/* From 2.10 on a trial that was launched and is in no AD has ended; before,
 * the manager ended all of them when it was stopped. */
bool
restart_is_unrun(const struct restart *r, const struct trial *trial,
                 const struct command *cmd)
{
    struct parameter_id id = parameter_named(trial->id, trial->label);

    if (trial->told || trial->foreign)
        return false;
    for (size_t i = 0; r->advised && i < cmd->n_runs; i++)
        if (parameter_equal(&cmd->runs[i].parameter, &id))
            return false;
    return true;
}

int
restart_repeat(struct restart *r, uint64_t id)
{
    if (idset_add(&r->again, id) != 0)
        return -1;
    r->n_again++;
    return 0;
}

uint64_t
restart_next(struct restart *r)
{
    r->n_again--;
    return idset_take_first(&r->again);
}

void
restart_save(const struct restart *r, struct buf *out)
{
    ledger_save(&r->ledger, out);
    pack_u64(out, r->on);
    pack_u64(out, r->fed);
    pack_u64(out, r->advised);
    idset_save(&r->kept, out);
    idset_save(&r->again, out);
}

int
restart_load(struct restart *r, struct unpack *in)
{
    if (ledger_load(&r->ledger, in) != 0)
        return -1;
    r->on = unpack_bool(in);
    r->fed = unpack_bool(in);
    r->advised = unpack_bool(in);
    idset_load(&r->kept, in);
    idset_load(&r->again, in);
    r->n_again = idset_count(&r->again);
    return in->failed ? -1 : 0;
}

/* ---- one FD ---- */

/* What runs is known by the router before there is a result or an end. */
static int
note_runs(struct reunion *u, const struct command *cmd)
{
    const struct trial *trial;

    for (size_t i = 0; i < cmd->n_runs; i++) {
        trial = trials_find(u->trials, &cmd->runs[i].parameter);
        if (trial != NULL &&
            restart_ran(u->restart, cmd->runs[i].job, trial) != 0)
            return -1;
    }
    return 0;
}

int
reunion_begin(struct reunion *u, struct restart *r, struct trials *trials,
              const struct command *cmd,
              void (*write)(const void *, const struct trial *, struct buf *),
              const void *ctx)
{
    *u = (struct reunion){.restart = r,
                          .trials = trials,
                          .all_new = !r->on || r->fed,
                          .write = write,
                          .ctx = ctx};
    buf_init(&u->key, SIZE_MAX / 2);
    r->fed = true;
    return note_runs(u, cmd);
}

void
reunion_fini(struct reunion *u)
{
    map_fini(&u->used);
    map_fini(&u->points);
    buf_fini(&u->key);
}

/* Parameters as the trial received them, read as the manager did. */
static int
add_point(struct reunion *u, struct trial *trial, struct buf *text)
{
    struct json *doc;

    buf_clear(text);
    u->write(u->ctx, trial, text);
    if (text->failed ||
        (doc = json_parse(text->data, text->len, JSON_NAN, NULL)) == NULL)
        return -1;
    buf_clear(&u->key);
    ledger_write_parameters(json_root(doc), &u->key);
    json_free(doc);
    if (u->key.failed)
        return -1;
    if (map_get(&u->points, u->key.data, u->key.len) != NULL)
        return 0; /* the oldest of them counts */
    return map_put(&u->points, u->key.data, u->key.len, trial);
}

/* The suggestions that some job is known to have run. */
static int
collect_run(const struct reunion *u, struct idset *out)
{
    size_t at = 0;
    void *value;

    while ((value = map_next(&u->restart->ledger.jobs, &at)) != NULL) {
        const struct parameter_id id = {PARAMETER_NUMBER, (uintptr_t)value - 1,
                                        NULL};

        if (trials_find(u->trials, &id) != NULL &&
            idset_add(out, id.number) != 0)
            return -1;
    }
    return 0;
}

static int
make_points(struct reunion *u)
{
    struct idset run = {0};
    struct buf text;
    size_t n = 0;
    struct trial **all = trials_sorted(u->trials, &n);
    int rc = all == NULL ? -1 : collect_run(u, &run);

    buf_init(&text, SIZE_MAX / 2);
    for (size_t i = 0; i < n && rc == 0; i++)
        if (!all[i]->told && !all[i]->unfit && !idset_has(&run, all[i]->id))
            rc = add_point(u, all[i], &text);
    u->has_points = true;
    buf_fini(&text);
    idset_fini(&run);
    free(all);
    return rc;
}

/* NULL, with key.failed where there was no memory. */
static struct trial *
find_point(struct reunion *u, struct jval entry)
{
    struct jval parameters;
    bool failed = !u->has_points && make_points(u) != 0;

    buf_clear(&u->key);
    if (!jval_get(entry, "parameter", &parameters))
        return NULL;
    ledger_write_parameters(parameters, &u->key);
    u->key.failed = u->key.failed || failed;
    if (u->key.failed)
        return NULL;
    return map_remove(&u->points, u->key.data, u->key.len);
}

static enum reunion_word
judge_import(struct reunion *u, struct jval entry)
{
    struct ledger *ledger = &u->restart->ledger;
    uint64_t used;

    buf_clear(&u->key);
    ledger_write_key(entry, &u->key);
    if (u->key.failed)
        return REUNION_MEMORY;
    if (u->all_new)
        return ledger_import(ledger, &u->key) != 0 ? REUNION_MEMORY
                                                   : REUNION_NEW;
    used = (uintptr_t)map_get(&u->used, u->key.data, u->key.len);
    if (map_put(&u->used, u->key.data, u->key.len,
                (void *)(uintptr_t)(used + 1)) != 0)
        return REUNION_MEMORY;
    return used < ledger_imports(ledger, &u->key) ? REUNION_KNOWN : REUNION_NEW;
}

/* A job that ran a suggestion of ours. */
static enum reunion_word
judge_job(struct reunion *u, uint64_t number, struct trial **out)
{
    const struct parameter_id id = {PARAMETER_NUMBER, number, NULL};

    *out = trials_find(u->trials, &id);
    return *out == NULL ? REUNION_KNOWN : REUNION_TRIAL;
}

enum reunion_word
reunion_judge(struct reunion *u, struct jval entry, struct trial **out)
{
    struct ledger *ledger = &u->restart->ledger;
    const char *job = NULL;
    enum reunion_word word;
    struct jval v;
    uint64_t id;

    if (u->all_new)
        return judge_import(u, entry);
    if (jval_get(entry, "trialJobId", &v) && jval_string(v, &job, NULL) &&
        ledger_find(ledger, job, &id))
        return judge_job(u, id, out);
    word = judge_import(u, entry);
    if (word != REUNION_NEW)
        return word;
    if (job != NULL && (*out = find_point(u, entry)) != NULL)
        return restart_ran(u->restart, job, *out) != 0 ? REUNION_MEMORY
                                                       : REUNION_TRIAL;
    if (u->key.failed)
        return REUNION_MEMORY;
    buf_clear(&u->key);
    ledger_write_key(entry, &u->key);
    return ledger_import(ledger, &u->key) != 0 ? REUNION_MEMORY : REUNION_NEW;
}
