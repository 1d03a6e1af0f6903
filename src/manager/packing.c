/* SPDX-License-Identifier: MIT */
#include "manager/packing.h"

#include "config/experiment.h"
#include "core/clock.h"
#include "core/errand.h"
#include "core/file.h"
#include "core/grow.h"
#include "log/log.h"
#include "manager/exchange.h"
#include "manager/experiment_folder.h"
#include "manager/hooks.h"
#include "manager/goals.h"
#include "manager/progress.h"
#include "manager/sources.h"
#include "manager/trial.h"
#include "pack/packs.h"
#include "trial/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENOUGH 64 /* trials: then they are packed at once */
#define WAIT_NS ((int64_t)30 * 1000000000)
#define RETRY_NS ((int64_t)10 * 1000000000)

#define TMP ".tmp" /* of a file that was being replaced */

bool
packing_is_ours(const char *name, bool folder)
{
    static const char *const files[] = {TRIAL_PARAMETERS_JSON,
                                        TRIAL_PARAMETERS_TSV,
                                        TRIAL_ABSENT,
                                        TRIAL_SAVED_FROM,
                                        TRIAL_METRICS,
                                        TRIAL_ANSWERS,
                                        TRIAL_ANSWERED,
                                        TRIAL_NNI_PARAMETERS,
                                        TRIAL_NNI_METRICS,
                                        TRIAL_STDOUT,
                                        TRIAL_STDERR,
                                        TRIAL_ORIGIN,
                                        TRIAL_LEASE,
                                        TRIAL_WRAPPER_PID,
                                        TRIAL_EXIT,
                                        TRIAL_RESOURCES,
                                        TRIAL_OOM,
                                        TRIAL_STOP,
                                        TRIAL_COMMAND,
                                        TRIAL_AGAIN,
                                        NULL};
    static const char prepare[] = TRIAL_PREPARE "/";
    size_t len = strlen(name);

    if (folder)
        return strcmp(name, TRIAL_NNI_FOLDER) == 0 ||
               strcmp(name, TRIAL_PREPARE) == 0;
    if (strncmp(name, prepare, sizeof prepare - 1) == 0 &&
        strchr(name + sizeof prepare - 1, '/') == NULL)
        return packing_is_ours(name + sizeof prepare - 1, false);
    if (strncmp(name, PACKS_TEMPORARY, sizeof PACKS_TEMPORARY - 1) == 0)
        return true;
    if (len > sizeof TMP && strcmp(name + len - sizeof TMP + 1, TMP) == 0)
        len -= sizeof TMP - 1;
    for (size_t i = 0; files[i] != NULL; i++)
        if (strlen(files[i]) == len && memcmp(files[i], name, len) == 0)
            return true;
    return false;
}

/* ---- the thread ---- */

/* Whatever is removed now, nobody will need: its trials' ends are known. */
static int
settle_ends(const struct packing_errand *at, struct err *err)
{
    if (!at->removes)
        return 0;
    if (at->results_fd >= 0 && fdatasync(at->results_fd) != 0)
        return err_errno(err, ERR_SYSTEM, "%s/" FOLDER_RESULTS ": cannot sync",
                         at->folder);
    return log_sync(at->folder, err);
}

static void
work(void *ctx)
{
    struct packing_errand *at = ctx;

    at->err = at->left = (struct err){0};
    if (at->packer == NULL)
        at->packer = packer_open(at->trials, packing_is_ours, &at->err);
    at->rc = at->packer == NULL || settle_ends(at, &at->err) != 0 ? -1 : 0;
    if (at->rc == 0)
        at->rc =
            packer_put(at->packer, at->trials_of, at->n, &at->left, &at->err);
    if (at->packer != NULL)
        packer_set_aside(at->packer, &at->aside);
}

/* ---- what is due ---- */

static bool
add(struct packing_list *list, const struct packing_trial *t)
{
    if (GROW(list->items, list->n, list->cap) != 0)
        return false; /* the next manager finds its folder */
    list->items[list->n++] = *t;
    return true;
}

static void
add_trial(struct packing *p, const struct packing_trial *t)
{
    struct packing_trial later = *t;
    const struct files_policy *policy = &p->x->files;

    later.due_ns += policy->drop_ms * 1000000;
    if (policy->files != FILES_ALL || policy->output == OUTPUT_PACKED)
        add(&p->files, t);
    if (policy->output == OUTPUT_DROPPED)
        add(&p->output, &later);
}

void
packing_hear_end(void *ctx, const struct attempt_end *end)
{
    const struct trial *t = end->trial;
    struct packing *p = ctx;

    if (end->how == ATTEMPT_JUDGED)
        add_trial(
            p, &(struct packing_trial){.number = t->number,
                                       .attempts = t->attempt,
                                       .failed = trial_is_failure(t->state) ||
                                                 t->state == TRIAL_TIMED_OUT,
                                       .frame = p->exchange->sent,
                                       .due_ns = clock_monotonic_ns()});
}

void
packing_found(struct packing *p, uint64_t number, uint64_t attempts,
              bool failed, int64_t ago_ns)
{
    add_trial(p,
              &(struct packing_trial){.number = number,
                                      .attempts = attempts,
                                      .failed = failed,
                                      .due_ns = clock_monotonic_ns() - ago_ns});
}

/* What becomes of our files of a trial. */
static enum pack_fate
fate_of(const struct packing *p, const struct packing_trial *t)
{
    switch (p->x->files.files) {
    case FILES_ALL:
        return PACK_KEPT;
    case FILES_FAILED:
        return t->failed ? PACK_STORED : PACK_REMOVED;
    case FILES_NONE:
        return PACK_REMOVED;
    case FILES_BY_NUMBER:
    case FILES_PACKED:
        break;
    }
    return PACK_STORED;
}

/* Whether it may be removed for good. */
static bool
is_told(const struct packing *p, const struct packing_trial *t)
{
    return p->folder->held.len == 0 &&
           (p->all_logged || t->frame <= exchange_logged(p->exchange));
}

static bool
is_best(const struct packing *p, const struct packing_trial *t)
{
    const struct goals *g = p->progress->goals;

    for (size_t i = 0; g != NULL && i < g->front.n; i++)
        if (strtoull(g->front.points[i].trial, NULL, 10) == t->number)
            return true;
    return g == NULL && p->progress->has_best &&
           strtoull(p->progress->best_trial, NULL, 10) == t->number;
}

/* Whether the trial of the list can be taken now; *to tells what is done. */
static bool
may_take(const struct packing *p, const struct packing_trial *t, bool output,
         int64_t now, struct pack_trial *to)
{
    *to = (struct pack_trial){.number = t->number, .attempts = t->attempts};
    if (output) {
        to->output = PACK_REMOVED;
        return t->due_ns <= now && !is_best(p, t) && is_told(p, t);
    }
    to->ours = fate_of(p, t);
    if (p->x->files.output == OUTPUT_PACKED)
        to->output = PACK_STORED;
    return to->ours != PACK_REMOVED || is_told(p, t);
}

static int
compare(const void *a, const void *b)
{
    const struct pack_trial *x = a, *y = b;

    return x->number < y->number ? -1 : x->number > y->number;
}

static bool
is_empty(const struct packing_list *list)
{
    return list->front == list->n;
}

static void
drop_front(struct packing_list *list, size_t n)
{
    list->front += n;
    if (list->front < list->n / 2)
        return;
    list->n -= list->front;
    if (list->n > 0)
        memmove(list->items, list->items + list->front,
                list->n * sizeof *list->items);
    list->front = 0;
}

/* Takes what may be taken from the front of a list, where it stays until that
 * is done. */
static void
take_batch(struct packing *p, struct packing_list *list, int64_t now)
{
    struct packing_errand *at = &p->at;
    struct pack_trial to;

    at->n = 0;
    at->removes = false;
    p->taken = list;
    while (at->n < PACKING_BATCH && list->front + at->n < list->n &&
           may_take(p, &list->items[list->front + at->n], list == &p->output,
                    now, &to)) {
        at->removes |= to.ours == PACK_REMOVED || to.output == PACK_REMOVED;
        at->trials_of[at->n++] = to;
    }
    if (at->n > 0)
        qsort(at->trials_of, at->n, sizeof *at->trials_of, compare);
}

/* The output of the best trial so far stays, until another one is better. */
static void
spare_best(struct packing *p, int64_t now)
{
    struct packing_list *o = &p->output;

    while (!is_empty(o) && o->items[o->front].due_ns <= now &&
           is_best(p, &o->items[o->front]) &&
           add(&p->spared, &o->items[o->front]))
        drop_front(o, 1);
    while (!is_empty(&p->spared) &&
           !is_best(p, &p->spared.items[p->spared.front])) {
        struct packing_trial *t = &p->spared.items[p->spared.front];

        t->due_ns = now + p->x->files.drop_ms * 1000000;
        if (!add(o, t))
            break;
        drop_front(&p->spared, 1);
    }
}

/* Whether our files are to be gone over at all by now. */
static bool
is_time(const struct packing *p)
{
    return p->x->files.files != FILES_BY_NUMBER ||
           p->x->files.output == OUTPUT_PACKED ||
           p->progress->done >= FILES_PACKED_FROM;
}

/* Takes what is due into the errand; `all`: also what would be soon.  False:
 * nothing is. */
static bool
take_due(struct packing *p, bool all, int64_t now)
{
    struct packing_list *f = &p->files;

    p->at.n = 0;
    if (!is_empty(f) && is_time(p) &&
        (all || f->n - f->front >= ENOUGH ||
         f->items[f->front].due_ns + WAIT_NS <= now))
        take_batch(p, f, now);
    if (p->at.n == 0) {
        spare_best(p, now);
        take_batch(p, &p->output, now);
    }
    return p->at.n > 0;
}

/* ---- errands ---- */

/* Tells the thread where it works. */
static int
tell_folder(struct packing *p)
{
    struct packing_errand *at = &p->at;

    at->folder = p->folder->path;
    at->results_fd = p->folder->results_fd;
    if (at->trials == NULL)
        at->trials = file_join(at->folder, FOLDER_TRIALS);
    return at->trials != NULL ? 0 : -1;
}

static int
open_errand(struct packing *p, struct err *err)
{
    if (p->errand != NULL)
        return 0;
    if (tell_folder(p) != 0)
        return err_set(err, ERR_MEMORY, "out of memory");
    if (wake_open(&p->wake, err) != 0)
        return -1;
    if (sources_watch(p->sources, p->wake.fd, EPOLLIN, SOURCE_PACKING) == 0)
        p->errand = errand_start(work, &p->at, &p->wake, err);
    else
        err_errno(err, ERR_SYSTEM, "cannot watch a thread");
    if (p->errand != NULL)
        return 0;
    wake_close(&p->wake);
    return -1;
}

/* Sets when packing_go() looks again by itself. */
static void
set_deadline(struct packing *p, int64_t at_ns)
{
    deadlines_set(p->deadlines, &p->due, at_ns); /* else at the next end */
}

/* The errand has failed, or cannot be begun: once more, later. */
static void
fail(struct packing *p, const struct err *err, int64_t now)
{
    if (!p->fails)
        progress_warn(p->progress,
                      "tunepipe: warning: %s; the folders of ended trials stay "
                      "until it goes on",
                      err->text);
    p->fails = true;
    set_deadline(p, now + RETRY_NS);
}

static void
settle(struct packing *p)
{
    struct packing_errand *at = &p->at;

    p->busy = false;
    if (at->aside.code != ERR_NONE)
        progress_warn(p->progress, "tunepipe: warning: %s", at->aside.text);
    if (at->left.code != ERR_NONE && !p->left_told) {
        p->left_told = true;
        progress_warn(p->progress, "tunepipe: warning: not packed: %s",
                      at->left.text);
    }
    if (at->rc != 0) {
        fail(p, &at->err, clock_monotonic_ns());
        return;
    }
    if (p->fails)
        progress_warn(p->progress,
                      "tunepipe: the folders of ended trials are packed: it "
                      "goes on");
    p->fails = false;
    drop_front(p->taken, at->n);
}

void
packing_take(struct packing *p)
{
    wake_drain(&p->wake);
    if (p->errand != NULL && p->busy && errand_take(p->errand))
        settle(p);
}

/* The deadline is over: packing_go() is called in this turn. */
static void
look_again(void *ctx, void *of)
{
    (void)ctx, (void)of;
}

/* When to look again, where nothing is due. */
static int64_t
next_due(const struct packing *p, int64_t now)
{
    const struct packing_list *f = &p->files, *o = &p->output;
    int64_t at = now + RETRY_NS;

    if (!is_empty(f) && f->items[f->front].due_ns + WAIT_NS > now)
        at = f->items[f->front].due_ns + WAIT_NS;
    if (!is_empty(o) && o->items[o->front].due_ns > now &&
        o->items[o->front].due_ns < at)
        at = o->items[o->front].due_ns;
    return at;
}

void
packing_go(struct packing *p)
{
    struct err err = {0};
    int64_t now;

    if (p->busy || (is_empty(&p->output) && is_empty(&p->spared) &&
                    (is_empty(&p->files) || !is_time(p))))
        return;
    if (hooks_busy(p->hooks))
        return; /* a hook may read the folder of a trial that has ended */
    now = clock_monotonic_ns();
    if (p->fails && p->due.at_ns > now && p->due.place > 0)
        return;
    p->due.due = look_again;
    if (!take_due(p, false, now)) {
        if (p->due.place == 0)
            set_deadline(p, next_due(p, now));
        return;
    }
    if (open_errand(p, &err) != 0) {
        fail(p, &err, now);
        return;
    }
    p->busy = true;
    errand_ask(p->errand);
}

void
packing_finish(struct packing *p, bool logged)
{
    errand_stop(p->errand); /* after what it is at */
    p->errand = NULL;
    if (p->busy)
        settle(p);
    p->all_logged |= logged;
    while (!hooks_busy(p->hooks) && take_due(p, true, clock_monotonic_ns())) {
        if (tell_folder(p) != 0)
            return;
        work(&p->at);
        settle(p);
        if (p->fails)
            return;
    }
}

void
packing_close(struct packing *p)
{
    errand_stop(p->errand);
    wake_close(&p->wake);
    packer_close(p->at.packer);
    free(p->at.trials);
    free(p->files.items);
    free(p->output.items);
    free(p->spared.items);
    *p = (struct packing){.wake = {-1}};
}
