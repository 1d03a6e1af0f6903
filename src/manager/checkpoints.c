/* SPDX-License-Identifier: MIT */
#include "manager/checkpoints.h"

#include "config/experiment.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/folder.h"
#include "core/grow.h"
#include "core/map.h"
#include "core/number.h"
#include "manager/metrics.h"
#include "manager/pareto.h"
#include "manager/tail.h"
#include "manager/trial.h"
#include "manager/trial_folder.h"
#include "trial/checkpoint.h"
#include "trial/files.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the file beside a checkpoint (TRIAL_CHECKPOINT_STEPS) says of it. */
struct checkpoint_steps {
    uint64_t steps;     /* intermediate results before it was saved */
    bool given, beyond; /* as in struct checkpoint */
};

static bool prune(struct checkpoints *c, uint64_t trial);
static void end_claim(struct checkpoints *c, uint64_t trial);
static bool read_steps(const struct checkpoints *c, uint64_t trial,
                       uint64_t number, struct checkpoint_steps *out);
static int write_steps(const struct checkpoints *c, uint64_t trial,
                       uint64_t number, const struct checkpoint_steps *of,
                       struct err *err);

/* The trial's folder, or, where a name is given, what is in it; to be freed. */
static char *
path_of(const struct checkpoints *c, uint64_t trial, const char *name)
{
    char *path;

    if (asprintf(&path, "%s/%05llu%s%s", c->folder, (unsigned long long)trial,
                 name == NULL ? "" : "/", name == NULL ? "" : name) < 0)
        return NULL;
    return path;
}

static char *
numbered_path(const struct checkpoints *c, uint64_t trial, const char *prefix,
              uint64_t number)
{
    char name[64];

    snprintf(name, sizeof name, "%s%llu", prefix, (unsigned long long)number);
    return path_of(c, trial, name);
}

static struct checkpoint *
find_checkpoint(const struct checkpoints *c, uint64_t trial, uint64_t number)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->items[i].trial == trial && c->items[i].number == number)
            return &c->items[i];
    return NULL;
}

/* The row of the checkpoint, a new one where it has none.  NULL: there is no
 * such folder, or no memory. */
static struct checkpoint *
add_checkpoint(struct checkpoints *c, uint64_t trial, uint64_t number)
{
    char *path = numbered_path(c, trial, "", number);
    struct checkpoint *item = find_checkpoint(c, trial, number);
    struct checkpoint_steps steps;

    if (item != NULL || path == NULL || access(path, F_OK) != 0)
        goto out;
    if (GROW(c->items, c->n, c->cap) != 0)
        goto out;
    read_steps(c, trial, number, &steps);
    item = &c->items[c->n++];
    *item = (struct checkpoint){.trial = trial,
                                .number = number,
                                .bytes = folder_bytes(path),
                                .steps = steps.steps,
                                .given = steps.given,
                                .beyond = steps.beyond};
    c->bytes += item->bytes;
out:
    free(path);
    return item;
}

/* ---- a trial ---- */

static bool
is_unfinished(const char *name)
{
    static const char *const prefixes[] = {
        TRIAL_CHECKPOINT_SAVING, TRIAL_CHECKPOINT_GONE, TRIAL_CHECKPOINT_GIVEN};

    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* Whether this is the file beside a checkpoint that is not there. */
static bool
lacks_checkpoint(const char *home, const char *name)
{
    static const char prefix[] = TRIAL_CHECKPOINT_STEPS;
    char *path;
    bool there;

    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return false;
    path = file_join(home, name + sizeof prefix - 1);
    there = path != NULL && access(path, F_OK) == 0;
    free(path);
    return !there;
}

/* Removes what is unfinished, or belongs to no checkpoint, from the folder of a
 * trial's checkpoints. */
static void
clean_home(struct checkpoints *c, const char *home)
{
    DIR *folder = opendir(home);
    struct dirent *entry;

    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        const char *name = entry->d_name;
        char *path = is_unfinished(name) || lacks_checkpoint(home, name)
                         ? file_join(home, name)
                         : NULL;

        if (path != NULL)
            trash_put(&c->trash, path);
        free(path);
    }
    if (folder != NULL)
        closedir(folder);
}

/* Writes the file beside a checkpoint that the trial saved after so many
 * intermediate results of this attempt. */
static void
note_steps(struct checkpoints *c, const struct trial *t,
           struct checkpoint *item, uint64_t reports)
{
    struct checkpoint_steps steps;

    if (read_steps(c, t->number, item->number, &steps))
        return; /* the trial tells of it again */
    steps.steps = t->step + reports;
    steps.given = false;
    steps.beyond = t->budget > 0 && (double)steps.steps > t->budget;
    item->steps = steps.steps;
    item->beyond = steps.beyond;
    write_steps(c, t->number, item->number, &steps, NULL);
}

bool
checkpoints_saved(struct checkpoints *c, const struct trial *t, uint64_t number,
                  uint64_t reports)
{
    struct checkpoint *item;

    if (c->folder == NULL)
        return false;
    item = add_checkpoint(c, t->number, number);
    if (item == NULL)
        return false;
    note_steps(c, t, item, reports);
    item->valued = t->read.given;
    item->value = t->read.value;
    return prune(c, t->number);
}

/* Adds a row for each checkpoint in a trial's folder: the trial may have saved
 * one and been ended before it told. */
static void
add_all(struct checkpoints *c, uint64_t trial, const char *home)
{
    DIR *folder = opendir(home);
    struct dirent *entry;
    uint64_t number;

    while (folder != NULL && (entry = readdir(folder)) != NULL)
        if (number_parse_u64(entry->d_name, strlen(entry->d_name), &number))
            add_checkpoint(c, trial, number);
    if (folder != NULL)
        closedir(folder);
}

static uint64_t
count_reports(const struct trial *t)
{
    return t->metrics.intermediates > t->matches ? t->metrics.intermediates
                                                 : t->matches;
}

/* What the trial `t` (NULL: an earlier manager's) saved counts as ended from
 * now on.  Where it was ended after it had saved a checkpoint and before it
 * told of that, all its reports count as reported before. */
static void
end_home(struct checkpoints *c, uint64_t trial, bool paused,
         const struct trial *t)
{
    char *home = c->folder == NULL ? NULL : path_of(c, trial, NULL);
    char *saving = home == NULL || t == NULL ? NULL : checkpoints_saving(c, t);

    if (saving != NULL)
        rmdir(saving); /* mostly it saved nothing */
    free(saving);
    if (home == NULL)
        return;
    if (rmdir(home) != 0 && errno != ENOENT) {
        clean_home(c, home);
        add_all(c, trial, home);
        for (size_t i = 0; i < c->n; i++) {
            if (c->items[i].trial != trial)
                continue;
            c->items[i].ended = !paused;
            if (t != NULL)
                note_steps(c, t, &c->items[i], count_reports(t));
        }
        prune(c, trial);
        rmdir(home);
    }
    end_claim(c, trial);
    free(home);
}

void
checkpoints_ended_before(struct checkpoints *c, uint64_t trial, bool paused)
{
    end_home(c, trial, paused, NULL);
}

/* A trial that ended with a result when it was told to pause counts as paused,
 * since it may be promoted. */
void
checkpoints_ended(struct checkpoints *c, const struct trial *t)
{
    bool paused = t->state == TRIAL_PAUSED ||
                  (t->state == TRIAL_SUCCEEDED && t->stop == STOP_PAUSE);

    end_home(c, t->number, paused, t);
}

/* The attempt has come so far, which checkpoints_are_early() compares with what
 * it saved. */
static void
note_reached(struct checkpoints *c, const struct trial *t)
{
    uint64_t reached = t->step + count_reports(t);

    if (t->budget > 0 && (double)reached > t->budget)
        reached = (uint64_t)t->budget;
    for (size_t i = 0; i < c->n; i++)
        if (c->items[i].trial == t->number)
            c->items[i].reached = reached;
}

bool
checkpoints_are_early(const struct checkpoints *c, const struct trial *t)
{
    uint64_t from = t->attempt > 0 ? t->number : t->origin.from;

    for (size_t i = 0; i < c->n && t->restore > 0; i++) {
        const struct checkpoint *item = &c->items[i];

        if (item->trial == from && !item->given && item->steps == t->step &&
            item->reached == t->step + 1)
            return true;
    }
    return false;
}

void
checkpoints_over(struct checkpoints *c)
{
    for (size_t i = 0; i < c->n; i++)
        c->items[i].ended = true;
    checkpoints_settle(c);
}

/* ---- all trials ---- */

static void
add_all_trials(struct checkpoints *c)
{
    DIR *folder = opendir(c->folder);
    struct dirent *entry;
    uint64_t trial;

    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        char *home = NULL;

        if (number_parse_u64(entry->d_name, strlen(entry->d_name), &trial))
            home = path_of(c, trial, NULL);
        if (home != NULL)
            add_all(c, trial, home);
        free(home);
    }
    if (folder != NULL)
        closedir(folder);
}

int
checkpoints_open(struct checkpoints *c, const char *experiment_folder,
                 const struct checkpoint_policy *policy, bool minimize,
                 struct err *err)
{
    *c = (struct checkpoints){
        .policy = policy, .trash = TRASH_CLOSED, .minimize = minimize};
    c->folder = file_join(experiment_folder, TRIAL_CHECKPOINTS);
    if (c->folder == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    if (folder_make_roomy(c->folder, err) != 0)
        return -1;
    if (trash_open(&c->trash, c->folder, err) != 0)
        return -1;
    add_all_trials(c);
    return 0;
}

void
checkpoints_close(struct checkpoints *c)
{
    if (c->folder != NULL)
        trash_close(&c->trash);
    free(c->folder);
    free(c->items);
    free(c->claims);
    *c = (struct checkpoints){0};
}

/* ---- the file beside a checkpoint ---- */

/* DESIGN.  The manager that reads `checkpoint NUMBER` among a trial's reports
 * writes down how many reports came before.  Where it dies before that, the
 * next manager finds the number in the files of the attempt. */

#define LINE_MAX_BYTES 64
#define BUFFER_MAX ((size_t)1 << 20)
#define WORD_GIVEN "given"
#define WORD_BEYOND "beyond"

static char *
steps_path(const struct checkpoints *c, uint64_t trial, uint64_t number)
{
    return numbered_path(c, trial, TRIAL_CHECKPOINT_STEPS, number);
}

/* False: there is no such file. */
static bool
read_steps(const struct checkpoints *c, uint64_t trial, uint64_t number,
           struct checkpoint_steps *out)
{
    char *path = steps_path(c, trial, number), word[16] = "";
    unsigned long long steps = 0;
    struct buf text;
    bool ok;

    buf_init(&text, BUFFER_MAX);
    ok = path != NULL &&
         file_read_plain(path, LINE_MAX_BYTES, &text, NULL) == 0 &&
         sscanf(buf_text(&text), "%llu %15s", &steps, word) >= 1;
    *out = (struct checkpoint_steps){
        .steps = steps,
        .given = strcmp(word, WORD_GIVEN) == 0,
        .beyond = strcmp(word, WORD_BEYOND) == 0,
    };
    buf_fini(&text);
    free(path);
    return ok;
}

static int
write_steps(const struct checkpoints *c, uint64_t trial, uint64_t number,
            const struct checkpoint_steps *of, struct err *err)
{
    char *path = steps_path(c, trial, number), line[LINE_MAX_BYTES];
    int len =
        snprintf(line, sizeof line, "%llu%s%s\n", (unsigned long long)of->steps,
                 of->given || of->beyond ? " " : "",
                 of->given    ? WORD_GIVEN
                 : of->beyond ? WORD_BEYOND
                              : "");
    int rc = path == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                          : file_write_plain(path, line, (size_t)len, err);

    free(path);
    return rc;
}

static void
remove_steps(const struct checkpoints *c, uint64_t trial, uint64_t number)
{
    char *path = steps_path(c, trial, number);

    if (path != NULL)
        unlink(path);
    free(path);
}

char *
checkpoints_kept(const char *experiment_folder, const char *trial)
{
    struct checkpoints c = {
        .folder = file_join(experiment_folder, TRIAL_CHECKPOINTS)};
    struct checkpoint_steps steps = {0};
    char *home = NULL, *found = NULL;
    uint64_t number, newest;

    if (c.folder != NULL && number_parse_u64(trial, strlen(trial), &number))
        home = path_of(&c, number, NULL);
    newest = home == NULL ? 0 : checkpoint_newest(home);
    if (newest > 0 && !(read_steps(&c, number, newest, &steps) && steps.given))
        found = numbered_path(&c, number, "", newest);
    free(home);
    free(c.folder);
    return found;
}

struct search {
    struct metrics metrics;
    uint64_t number;
    bool found;
};

static void
take_line(void *ctx, const char *line, size_t len, bool too_long)
{
    struct search *s = ctx;
    struct metric_line m;

    if (!s->found && metrics_line(&s->metrics, NULL, line, len, too_long, &m,
                                  NULL) == METRICS_CHECKPOINT)
        s->found = m.sequence == s->number;
}

/* How many intermediate results this attempt reported before it told of the
 * checkpoint.  False: it did not tell of it, and all its reports are counted,
 * as it may have saved the checkpoint last of all. */
static bool
find_report(const struct trial *t, uint64_t number, uint64_t *reports)
{
    struct search s = {.number = number};
    char *path = file_join(t->folder, TRIAL_METRICS);
    struct tail tail;

    if (path != NULL && tail_open(&tail, path, TRIAL_METRIC_MAX, NULL) == 0) {
        while (!s.found &&
               tail_drain(&tail, (size_t)1 << 20, take_line, &s, NULL) > 0)
            continue;
        tail_close(&tail);
    }
    free(path);
    *reports = s.metrics.intermediates;
    return s.found;
}

/* The steps of a checkpoint without a file beside it: what earlier attempts at
 * t reported before they told of this number. */
static uint64_t
find_steps(const struct checkpoints *c, const struct trial *t, uint64_t number)
{
    char *experiment = strdup(c->folder);
    struct trial before = {.attempt = t->attempt};
    uint64_t reports, newest = 0;
    bool found = false;

    if (experiment == NULL)
        return 0;
    *strrchr(experiment, '/') = '\0';
    memcpy(before.id, t->id, sizeof before.id);
    while (!found && before.attempt-- > 0 &&
           trial_place(&before, experiment, NULL) == 0) {
        found = find_report(&before, number, &reports);
        trial_folder_read_origin(&before);
        if (found || newest == 0)
            newest = before.step + reports;
    }
    free(before.folder);
    free(experiment);
    return newest;
}

/* ---- which are kept ---- */

/* DESIGN.  What is deleted: of one trial, what the policy does not keep; then,
 * as long as all together are above the quota, those of ended trials from the
 * worst on, then older ones of trials that go on.  The newest of a trial that
 * has not ended, or is paused, always stays, since another attempt may need it,
 * or another trial; where it was saved behind the end of the trial's budget,
 * the one before, too.  One that is deleted is renamed first (trash.h), so
 * that half of it is never given to anybody. */

/* ---- what the tuner and trials to come want ---- */

static struct checkpoint_claim *
find_claim(const struct checkpoints *c, uint64_t trial)
{
    for (size_t i = 0; i < c->n_claims; i++)
        if (c->claims[i].trial == trial)
            return &c->claims[i];
    return NULL;
}

/* The claim on the trial's checkpoints, a new one where there is none.  NULL:
 * no memory; then what is saved stays. */
static struct checkpoint_claim *
get_claim(struct checkpoints *c, uint64_t trial)
{
    struct checkpoint_claim *found = find_claim(c, trial);

    if (found != NULL)
        return found;
    if (GROW(c->claims, c->n_claims, c->claims_cap) != 0)
        return NULL;
    found = &c->claims[c->n_claims++];
    *found = (struct checkpoint_claim){.trial = trial};
    return found;
}

static void
remove_claim(struct checkpoints *c, struct checkpoint_claim *found)
{
    *found = c->claims[--c->n_claims];
}

static bool
is_pinned(const struct checkpoints *c, uint64_t trial)
{
    const struct checkpoint_claim *found = find_claim(c, trial);

    return found != NULL && found->pins > 0;
}

/* ---- deletion ---- */

/* Deletes the checkpoint; its row stays until remove_deleted(). */
static void
delete_checkpoint(struct checkpoints *c, struct checkpoint *item)
{
    char *path = numbered_path(c, item->trial, "", item->number);

    if (path != NULL)
        trash_put(&c->trash, path);
    remove_steps(c, item->trial, item->number);
    free(path);
    c->bytes -= item->bytes;
    item->deleted = true;
}

static void
remove_deleted(struct checkpoints *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n; i++)
        if (!c->items[i].deleted)
            c->items[n++] = c->items[i];
    c->n = n;
}

/* The numbers of a trial's newest checkpoint, and of its newest one within the
 * trial's budget. */
struct newest {
    uint64_t all, within;
};

static void
note_newest(struct newest *newest, const struct checkpoint *item)
{
    if (item->number > newest->all)
        newest->all = item->number;
    if (!item->beyond && item->number > newest->within)
        newest->within = item->number;
}

static bool
has_to_stay(const struct checkpoints *c, const struct checkpoint *item,
            const struct newest *newest)
{
    if (item->ended && !is_pinned(c, item->trial))
        return false;
    return item->number == newest->all || item->number == newest->within ||
           (c->lockstep && item->given);
}

static bool
is_older(const struct checkpoint *a, const struct checkpoint *b)
{
    return a->trial != b->trial ? a->trial < b->trial : a->number < b->number;
}

/* A checkpoint without a value is worse than any other. */
static bool
is_worse(const struct checkpoints *c, const struct checkpoint *a,
         const struct checkpoint *b)
{
    bool known_a = a->valued && !isnan(a->value);
    bool known_b = b->valued && !isnan(b->value);

    if (known_a != known_b)
        return known_b;
    if (known_a && (a->value < b->value || a->value > b->value))
        return c->minimize ? a->value > b->value : a->value < b->value;
    return is_older(a, b);
}

static bool
is_on_front(const struct checkpoints *c, uint64_t trial)
{
    for (size_t i = 0; i < c->front->n; i++)
        if (strtoull(c->front->points[i].trial, NULL, 10) == trial)
            return true;
    return false;
}

/* How many of a trial's checkpoints the policy keeps, apart from one that has
 * to stay. */
static size_t
count_allowed(const struct checkpoints *c, uint64_t trial, bool ended)
{
    size_t max = c->policy->max > 0 ? (size_t)c->policy->max : 1;

    switch (c->policy->keep) {
    case CHECKPOINTS_LAST:
        return ended ? max : max - 1;
    case CHECKPOINTS_BEST:
        return ended && c->front != NULL && !is_on_front(c, trial) ? 0 : max;
    case CHECKPOINTS_ALL:
        if (c->policy->max == 0)
            return SIZE_MAX;
        return ended ? max : max - 1;
    case CHECKPOINTS_NONE:
        break;
    }
    return 0;
}

/* Whether some checkpoint of the trial has to be deleted; *victim is the first
 * one. */
static bool
choose_victim(struct checkpoints *c, uint64_t trial,
              const struct newest *newest, struct checkpoint **victim)
{
    bool best = c->policy->keep == CHECKPOINTS_BEST, ended = false;
    size_t n = 0;

    *victim = NULL;
    for (size_t i = 0; i < c->n; i++) {
        struct checkpoint *item = &c->items[i];

        if (item->trial != trial || item->deleted)
            continue;
        ended = item->ended;
        if (has_to_stay(c, item, newest))
            continue;
        n++;
        if (*victim == NULL ||
            (best ? is_worse(c, item, *victim) : is_older(item, *victim)))
            *victim = item;
    }
    return n > count_allowed(c, trial, ended);
}

static void
prune_trial(struct checkpoints *c, uint64_t trial)
{
    struct newest newest = {0, 0};
    struct checkpoint *victim;

    for (size_t i = 0; i < c->n; i++)
        if (c->items[i].trial == trial)
            note_newest(&newest, &c->items[i]);
    while (choose_victim(c, trial, &newest, &victim))
        delete_checkpoint(c, victim);
    remove_deleted(c);
}

/* ---- the quota ---- */

struct candidate {
    const struct checkpoints *c;
    struct checkpoint *item;
};

/* Orders candidates by which is to be deleted first. */
static int
compare(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    bool first;

    if (x->item->ended != y->item->ended)
        return x->item->ended ? -1 : 1;
    first = x->item->ended ? is_worse(x->c, x->item, y->item)
                           : is_older(x->item, y->item);
    return first ? -1 : 1;
}

/* The newest checkpoints of each trial, by its number; NULL: no memory. */
static struct newest *
find_newest(const struct checkpoints *c, struct map *by_trial)
{
    struct newest *all = calloc(c->n + 1, sizeof *all);
    size_t n = 0;

    for (size_t i = 0; all != NULL && i < c->n; i++) {
        const struct checkpoint *item = &c->items[i];
        struct newest *of = map_get(by_trial, &item->trial, sizeof item->trial);

        if (of == NULL) {
            of = &all[n++];
            if (map_put(by_trial, &item->trial, sizeof item->trial, of) != 0) {
                free(all);
                return NULL;
            }
        }
        note_newest(of, item);
    }
    return all;
}

/* All checkpoints that may be deleted for the quota, in that order; NULL: no
 * memory. */
static struct candidate *
find_candidates(struct checkpoints *c, size_t *n)
{
    struct candidate *found = calloc(c->n + 1, sizeof *found);
    struct map by_trial = {0};
    struct newest *newest = find_newest(c, &by_trial);

    *n = 0;
    for (size_t i = 0; found != NULL && newest != NULL && i < c->n; i++) {
        struct checkpoint *item = &c->items[i];

        if (!has_to_stay(c, item,
                         map_get(&by_trial, &item->trial, sizeof item->trial)))
            found[(*n)++] = (struct candidate){c, item};
    }
    if (*n > 0)
        qsort(found, *n, sizeof *found, compare);
    map_fini(&by_trial);
    free(newest);
    return found;
}

static void
prune_all(struct checkpoints *c)
{
    struct candidate *found;
    size_t n, i = 0;

    c->crowded = false;
    if (c->policy->quota == 0 || c->bytes <= c->policy->quota)
        return;
    found = find_candidates(c, &n);
    for (; i < n && c->bytes > c->policy->quota; i++)
        delete_checkpoint(c, found[i].item);
    c->crowded = c->bytes > c->policy->quota;
    free(found);
    remove_deleted(c);
}

/* Removes the folder of the trial's checkpoints, where nothing is in it. */
static void
remove_if_empty(const struct checkpoints *c, uint64_t trial)
{
    char *home = path_of(c, trial, NULL);

    if (home != NULL)
        rmdir(home);
    free(home);
}

/* Deletes what neither the policy nor the quota keeps.  True: it is crowded,
 * and was not before. */
static bool
prune(struct checkpoints *c, uint64_t trial)
{
    bool before = c->crowded;

    if (c->deferred)
        return false; /* a trial to come may go on from any of them */
    prune_trial(c, trial);
    remove_if_empty(c, trial);
    prune_all(c);
    return c->crowded && !before;
}

/* Deletes what trials that have ended, and are on the front no more, have left.
 */
static void
settle_front(struct checkpoints *c)
{
    for (size_t i = 0; i < c->n;) {
        const struct checkpoint *item = &c->items[i];
        size_t before = c->n;

        if (item->ended && !is_on_front(c, item->trial))
            prune(c, item->trial);
        i = c->n == before ? i + 1 : 0;
    }
}

void
checkpoints_hear_end(void *ctx, const struct attempt_end *end)
{
    struct checkpoints *c = ctx;

    if (end->how == ATTEMPT_JUDGED)
        checkpoints_ended(c, end->trial);
    note_reached(c, end->trial);
    if (end->how == ATTEMPT_JUDGED && c->front != NULL &&
        c->policy->keep == CHECKPOINTS_BEST)
        settle_front(c);
}

/* ---- release ---- */

void
checkpoints_delete(struct checkpoints *c, uint64_t trial)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->items[i].trial == trial)
            delete_checkpoint(c, &c->items[i]);
    remove_deleted(c);
    remove_if_empty(c, trial);
}

/* Forgets a claim that holds nothing any more, and deletes what it held. */
static void
drop_claim(struct checkpoints *c, struct checkpoint_claim *found)
{
    uint64_t trial = found->trial;

    if (c->deferred || found->pins > 0 || (found->released && !found->ended))
        return;
    if (found->released && c->policy->keep != CHECKPOINTS_ALL)
        checkpoints_delete(c, trial);
    remove_claim(c, found);
    prune(c, trial); /* what was pinned need not stay */
}

void
checkpoints_pin(struct checkpoints *c, uint64_t trial)
{
    struct checkpoint_claim *found =
        c->folder == NULL ? NULL : get_claim(c, trial);

    if (found != NULL)
        found->pins++;
}

void
checkpoints_unpin(struct checkpoints *c, uint64_t trial, bool done)
{
    struct checkpoint_claim *found =
        c->folder == NULL ? NULL : find_claim(c, trial);

    if (found == NULL)
        return;
    found->pins -= found->pins > 0;
    if (done) /* whoever was to go on waited for the trial's end */
        found->released = found->ended = true;
    drop_claim(c, found);
}

void
checkpoints_release(struct checkpoints *c, uint64_t trial, bool ended)
{
    struct checkpoint_claim *found =
        c->folder == NULL ? NULL : get_claim(c, trial);

    if (found == NULL)
        return;
    found->released = true;
    found->ended |= ended;
    drop_claim(c, found);
}

/* The trial has ended: what was released before is deleted. */
static void
end_claim(struct checkpoints *c, uint64_t trial)
{
    struct checkpoint_claim *found = find_claim(c, trial);

    if (found == NULL)
        return;
    found->ended = true;
    drop_claim(c, found);
}

void
checkpoints_settle(struct checkpoints *c)
{
    c->deferred = false;
    for (size_t i = c->n_claims; i > 0; i--)
        drop_claim(c, &c->claims[i - 1]);
    for (size_t i = c->n; i > 0; i--)
        if (i <= c->n)
            prune(c, c->items[i - 1].trial);
}

/* ---- what a trial goes on from ---- */

/* DESIGN.  Before its first attempt begins, the checkpoint of the other trial
 * becomes this trial's own, as its NUMBER 1: from then on an attempt goes on
 * from the newest checkpoint of its trial, whoever saved it.  It is made under
 * another name and renamed, so that it is there, with its steps, or is made
 * again. */

#define GIVEN_NUMBER 1

/* How good it is to go on from a checkpoint: best from one within its trial's
 * budget, worst from one that the trial has not told of yet, whose steps are
 * unknown. */
static int
rank(bool known, const struct checkpoint_steps *steps)
{
    return !known ? 0 : steps->beyond ? 1 : 2;
}

/* The number of the trial's newest checkpoint within its budget, or without
 * such a one of its newest; 0: it has none. */
static uint64_t
choose_number(const struct checkpoints *c, uint64_t trial, const char *home,
              struct checkpoint_steps *steps)
{
    DIR *all = opendir(home);
    struct dirent *entry;
    uint64_t best = 0, number;
    int best_worth = -1;

    *steps = (struct checkpoint_steps){0};
    while (all != NULL && (entry = readdir(all)) != NULL) {
        struct checkpoint_steps of;
        int this_worth;

        if (!number_parse_u64(entry->d_name, strlen(entry->d_name), &number))
            continue;
        this_worth = rank(read_steps(c, trial, number, &of), &of);
        if (this_worth > best_worth ||
            (this_worth == best_worth && number > best)) {
            best_worth = this_worth;
            best = number;
            *steps = of;
        }
    }
    if (all != NULL)
        closedir(all);
    return best;
}

/* Whether the checkpoint was still there when it had been copied: one that is
 * deleted is renamed first, so that a half of it is never taken. */
static int
check_there(const char *from, struct err *err)
{
    return access(from, F_OK) == 0
               ? 0
               : err_errno(err, ERR_SYSTEM, "%s: went while it was copied",
                           from);
}

/* Copies a checkpoint; for a promotion links are enough, since the trial that
 * it was promoted from is the same one and writes to these files no more. */
static int
copy(const struct trial *t, const char *from, const char *to, struct err *err)
{
    if (t->origin.how == ORIGIN_PROMOTED && folder_link(from, to, NULL) == 0)
        return 0;
    folder_remove(to);
    return folder_copy(from, to, err);
}

static int
copy_in(struct checkpoints *c, const struct trial *t, const char *from,
        const struct checkpoint_steps *steps, struct err *err)
{
    char *tmp =
        numbered_path(c, t->number, TRIAL_CHECKPOINT_GIVEN, GIVEN_NUMBER);
    char *to = numbered_path(c, t->number, "", GIVEN_NUMBER);
    int rc = tmp == NULL || to == NULL
                 ? err_set(err, ERR_MEMORY, "out of memory")
                 : 0;

    if (rc == 0)
        rc = copy(t, from, tmp, err);
    if (rc == 0)
        rc = check_there(from, err);
    if (rc == 0)
        rc = folder_sync(tmp, err);
    if (rc == 0)
        rc = write_steps(c, t->number, GIVEN_NUMBER, steps, err);
    if (rc == 0 && rename(tmp, to) != 0)
        rc = err_errno(err, ERR_SYSTEM, "%s: cannot become %s", tmp, to);
    if (rc == 0)
        rc = folder_sync(to, err);
    if (rc == 0)
        add_checkpoint(c, t->number, GIVEN_NUMBER);
    else if (tmp != NULL)
        folder_remove(tmp);
    free(tmp);
    free(to);
    return rc;
}

/* The path of the checkpoint that t goes on from, to be freed; NULL: there is
 * none, or no memory. */
static char *
choose_from(const struct checkpoints *c, const struct trial *t,
            struct checkpoint_steps *steps)
{
    char *home = path_of(c, t->origin.from, NULL);
    uint64_t number =
        home == NULL ? 0 : choose_number(c, t->origin.from, home, steps);

    free(home);
    return number == 0 ? NULL : numbered_path(c, t->origin.from, "", number);
}

static int
make_folder(const char *path, struct err *err)
{
    if (mkdir(path, 0700) == 0 || errno == EEXIST)
        return 0;
    return err_errno(err, ERR_SYSTEM, "%s: cannot make the folder", path);
}

int
checkpoints_inherit(struct checkpoints *c, const struct trial *t,
                    struct err *err)
{
    char *home = path_of(c, t->number, NULL);
    struct checkpoint_steps steps;
    char *from = choose_from(c, t, &steps);
    int rc = 0;

    steps.given = true;
    steps.beyond = false;
    if (home == NULL)
        rc = err_set(err, ERR_MEMORY, "out of memory");
    else if (from != NULL && (rc = make_folder(home, err)) == 0)
        rc = copy_in(c, t, from, &steps, err); /* else from the beginning */
    free(from);
    free(home);
    return rc;
}

/* Whether the trial is to be given anything, and has not been. */
static bool
is_heir(const struct trial *t, const char *home)
{
    return t->origin.how != ORIGIN_NONE && !t->origin.settled &&
           checkpoint_newest(home) == 0;
}

uint64_t
checkpoints_to_copy(const struct checkpoints *c, const struct trial *t)
{
    char *home = c->folder == NULL || t->origin.how != ORIGIN_CLONED
                     ? NULL
                     : path_of(c, t->number, NULL);
    struct checkpoint_steps steps;
    char *from = NULL;
    uint64_t bytes;

    if (home != NULL && is_heir(t, home))
        from = choose_from(c, t, &steps);
    bytes = from == NULL ? 0 : folder_bytes(from);
    free(from);
    free(home);
    return bytes;
}

void
checkpoints_inherited(struct checkpoints *c, const struct trial *t)
{
    add_checkpoint(c, t->number, GIVEN_NUMBER);
}

/* The number of the trial's own checkpoint that an attempt goes on from: the
 * newest, or, in lock step, where each attempt reports all that the first one
 * did, what the first one was given; 0: none. */
static uint64_t
choose_own(const struct checkpoints *c, const struct trial *t, const char *home)
{
    struct checkpoint_steps first;
    uint64_t newest;

    if (!c->lockstep && t->attempt > 0) {
        newest = checkpoint_newest(home);
        while (c->told && newest > 0 &&
               !read_steps(c, t->number, newest, &first))
            newest--;
        return newest;
    }
    return read_steps(c, t->number, GIVEN_NUMBER, &first) && first.given
               ? GIVEN_NUMBER
               : 0;
}

/* Sets what the attempt goes on from, with the steps before that. */
static int
find_restore(struct checkpoints *c, struct trial *t, const char *home,
             struct err *err)
{
    struct checkpoint_steps steps;

    clean_home(c, home);
    if (is_heir(t, home) && checkpoints_inherit(c, t, err) != 0)
        return -1;
    t->restore = choose_own(c, t, home);
    if (t->restore == 0)
        return 0;
    if (!read_steps(c, t->number, t->restore, &steps)) {
        steps.steps = find_steps(c, t, t->restore);
        if (write_steps(c, t->number, t->restore, &steps, err) != 0)
            return -1;
    }
    t->step = steps.steps;
    return 0;
}

int
checkpoints_begin(struct checkpoints *c, struct trial *t, bool make,
                  struct err *err)
{
    char *home = path_of(c, t->number, NULL);
    char *saving = checkpoints_saving(c, t);
    int rc = home == NULL || saving == NULL
                 ? err_set(err, ERR_MEMORY, "out of memory")
             : make ? make_folder(home, err)
                    : 0;

    t->restore = t->step = 0;
    if (rc == 0 && (t->attempt > 0 || t->origin.how != ORIGIN_NONE))
        rc = find_restore(c, t, home, err); /* else there is nothing */
    if (rc == 0 && make)
        rc = make_folder(saving, err);
    free(saving);
    free(home);
    return rc;
}

char *
checkpoints_saving(const struct checkpoints *c, const struct trial *t)
{
    return numbered_path(c, t->number, TRIAL_CHECKPOINT_SAVING, t->attempt);
}

char *
checkpoints_restore(const struct checkpoints *c, const struct trial *t)
{
    return t->restore > 0 ? numbered_path(c, t->number, "", t->restore) : NULL;
}
