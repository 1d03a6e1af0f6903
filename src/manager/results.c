/* SPDX-License-Identifier: MIT */
#include "manager/results.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/grow.h"
#include "core/hold.h"
#include "core/idset.h"
#include "core/number.h"
#include "history/folder.h"
#include "json.h"
#include "manager/budget.h"
#include "manager/parameters.h"
#include "manager/tail.h"
#include "manager/trial.h"
#include "scan.h"
#include "trial/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOWHERE SIZE_MAX
#define NUMBER_MAX ((uint64_t)1 << 26) /* of trials that are told apart */

enum kind { TEXT, JSON, NUMBER, COUNT };

/* The members of a line, in the order in which they are written. */
static const struct member {
    const char *name;
    enum kind kind;
    size_t offset; /* of the value in struct result */
    size_t known;  /* of the flag there that says that it has one, or NOWHERE */
} members[] = {
#define AT(member) offsetof(struct result, member)
    {"trial", TEXT, AT(trial), NOWHERE},
    {"parameter_id", JSON, AT(parameter_id), NOWHERE},
    {"seed", COUNT, AT(seed), NOWHERE},
    {"status", TEXT, AT(status), NOWHERE},
    {"value", NUMBER, AT(value), AT(has_value)},
    {"latest", NUMBER, AT(latest), AT(has_latest)},
    {"duration_s", NUMBER, AT(duration_s), NOWHERE},
    {"prepare_s", NUMBER, AT(prepare_s), AT(has_prepare)},
    {"why", TEXT, AT(why), NOWHERE},
    {"ended_by", TEXT, AT(ended_by), NOWHERE},
    {"from", TEXT, AT(from), NOWHERE},
    {"from_how", TEXT, AT(from_how), NOWHERE},
    {"steps", COUNT, AT(steps), NOWHERE},
    {"intermediates", COUNT, AT(intermediates), NOWHERE},
    {"parameters", JSON, AT(parameters), NOWHERE},
#undef AT
};
#define N_MEMBERS (sizeof members / sizeof *members)

struct reading {
    struct scan scan;
    struct result *out;
    size_t next; /* the member that is looked for first */
};

static void *
member_at(const struct reading *r, size_t offset)
{
    return (char *)r->out + offset;
}

static const struct member *
find_member(struct reading *r, const struct scan_token *name)
{
    for (size_t i = 0; i < N_MEMBERS; i++) {
        size_t k = (r->next + i) % N_MEMBERS;

        if (strlen(members[k].name) == name->len &&
            memcmp(members[k].name, name->text, name->len) == 0) {
            r->next = k + 1;
            return &members[k];
        }
    }
    return NULL;
}

/* Sets a member and takes `text`; where a line has a member twice, the last one
 * counts. */
static bool
set_member(const struct reading *r, const struct member *m, char *text)
{
    char **to = member_at(r, m->offset);

    free(*to);
    *to = text;
    return text != NULL;
}

static bool
set_text(const struct reading *r, const struct member *m,
         const struct scan_token *t)
{
    struct buf text;
    bool ok;

    if (!t->escaped)
        return set_member(r, m, strndup(t->text, t->len));
    buf_init(&text, 2 * t->len + 1);
    scan_unescape(t, &text);
    ok = set_member(r, m, strdup(buf_text(&text)));
    buf_fini(&text);
    return ok;
}

static bool
read_value(struct reading *r, const struct member *m)
{
    struct scan_token t = scan_next(&r->scan);
    const char *begin = r->scan.text + t.at;

    if (m->kind == TEXT && t.type == SCAN_STRING)
        return set_text(r, m, &t);
    if (m->kind == NUMBER && t.type == SCAN_NUMBER) {
        bool known = scan_number(&t, member_at(r, m->offset));

        if (m->known != NOWHERE)
            *(bool *)member_at(r, m->known) = known;
        return true;
    }
    if (m->kind == COUNT && t.type == SCAN_NUMBER) {
        scan_uint(&t, member_at(r, m->offset));
        return true;
    }
    if (!scan_skip_from(&r->scan, t))
        return false;
    return m->kind != JSON ||
           set_member(
               r, m,
               strndup(begin, (size_t)(r->scan.text + r->scan.at - begin)));
}

static bool
read_members(struct reading *r)
{
    struct scan_token t = scan_next(&r->scan);

    while (t.type == SCAN_STRING) {
        const struct member *m = find_member(r, &t);

        if (scan_next(&r->scan).type != SCAN_COLON ||
            !(m != NULL ? read_value(r, m) : scan_skip(&r->scan)))
            return false;
        t = scan_next(&r->scan);
        if (t.type != SCAN_COMMA)
            break;
        t = scan_next(&r->scan);
        if (t.type != SCAN_STRING)
            return false;
    }
    return t.type == SCAN_CLOSE_OBJECT && scan_next(&r->scan).type == SCAN_END;
}

/* Sets the texts that the line does not have. */
static bool
fill_missing(const struct reading *r)
{
    for (size_t i = 0; i < N_MEMBERS; i++) {
        const struct member *m = &members[i];

        if ((m->kind == TEXT || m->kind == JSON) &&
            *(char **)member_at(r, m->offset) == NULL &&
            !set_member(r, m, strdup(m->kind == JSON ? "null" : "")))
            return false;
    }
    return true;
}

static void
find_budget(struct result *out)
{
    struct json *doc;

    if (strstr(out->parameters, TRIAL_BUDGET_PARAMETER) == NULL)
        return;
    doc =
        json_parse(out->parameters, strlen(out->parameters), JSON_STRICT, NULL);
    if (doc != NULL)
        out->budget = parameters_budget(json_root(doc));
    json_free(doc);
}

int
results_line(const char *line, size_t len, struct result *out)
{
    struct reading r = {.scan = {.text = line, .len = len}, .out = out};

    *out = (struct result){0};
    if (scan_next(&r.scan).type != SCAN_OPEN_OBJECT || !read_members(&r) ||
        !fill_missing(&r)) {
        result_fini(out);
        return -1;
    }
    if (out->steps == 0) /* it went on from no other trial */
        out->steps = out->intermediates;
    find_budget(out);
    return 0;
}

/* ---- the file ---- */

#define PART_MAX ((size_t)1 << 20)
#define SPACE_MAX ((size_t)64 << 20)
#define RESULT_LINE_MAX ((size_t)64 << 20)

void
result_fini(struct result *r)
{
    free(r->trial);
    free(r->status);
    free(r->why);
    free(r->ended_by);
    free(r->parameter_id);
    free(r->parameters);
    free(r->from);
    free(r->from_how);
}

void
results_free(struct results *r)
{
    if (r == NULL)
        return;
    for (size_t i = 0; i < r->n; i++)
        result_fini(&r->items[i]);
    free(r->items);
    free(r->folder);
    free(r->id);
    free(r->mode_from);
    free(r->reason);
    free(r->config);
    free(r->overrides);
    free(r);
}

static char *
get_text(struct jval object, const char *key)
{
    const char *text = "";
    struct jval v;

    if (jval_get(object, key, &v))
        jval_string(v, &text, NULL);
    return strdup(text);
}

static bool
get_number(struct jval object, const char *key, double *out)
{
    struct jval v;

    return jval_get(object, key, &v) && jval_number(v, out);
}

static struct result *
add_result(struct results *r)
{
    if (GROW(r->items, r->n, r->cap) != 0)
        return NULL;
    r->items[r->n] = (struct result){0};
    return &r->items[r->n++];
}

static void
take_line(void *ctx, const char *line, size_t len, bool too_long)
{
    struct results *r = ctx;
    struct result one, *item;

    if (too_long || results_line(line, len, &one) != 0) {
        r->damaged++;
        return;
    }
    item = add_result(r);
    if (item != NULL) {
        *item = one;
        return;
    }
    result_fini(&one);
    r->damaged++;
}

static int
load_lines(struct results *r, const char *name, struct err *err)
{
    char *path = file_join(r->folder, name);
    struct tail tail;
    int rc;

    if (path == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    rc = tail_open(&tail, path, RESULT_LINE_MAX, err);
    if (rc == 0)
        rc = tail_drain(&tail, SIZE_MAX, take_line, r, err);
    tail_close(&tail); /* a line without its line end is not there yet */
    free(path);
    return rc;
}

static struct json *
load_part(const struct results *r, const char *name, struct err *err)
{
    char *path = file_join(r->folder, name);
    struct json *doc = NULL;
    struct buf text;

    buf_init(&text, 2 * PART_MAX);
    if (path == NULL) {
        err_set(err, ERR_MEMORY, "out of memory");
    } else if (file_read(path, PART_MAX, &text, err) == 0) {
        doc = json_parse(text.len > 0 ? text.data : "", text.len, JSON_STRICT,
                         err);
        if (doc == NULL)
            err_place(err, "%s", path);
    }
    buf_fini(&text);
    free(path);
    return doc;
}

struct space *
results_space(const char *folder)
{
    char *path = file_join(folder, FOLDER_SPACE);
    struct space *space = NULL;
    struct buf text;

    buf_init(&text, SPACE_MAX + 1);
    if (path != NULL && file_read(path, SPACE_MAX, &text, NULL) == 0)
        space = parameters_space(buf_text(&text));
    buf_fini(&text);
    free(path);
    return space;
}

static int
load_experiment(struct results *r, bool *forked, struct err *err)
{
    struct json *doc = load_part(r, FOLDER_EXPERIMENT, err);
    char *mode;
    struct jval v;

    if (doc == NULL)
        return err_place(err, "%s is no experiment's folder", r->folder);
    r->id = get_text(json_root(doc), "id");
    r->mode_from = get_text(json_root(doc), "mode_from");
    r->config = get_text(json_root(doc), "config");
    mode = get_text(json_root(doc), "optimize_mode");
    r->minimize = mode != NULL && strcmp(mode, "minimize") == 0;
    if (jval_get(json_root(doc), "seed", &v))
        jval_uint(v, &r->seed);
    if (jval_get(json_root(doc), "max_trials", &v))
        jval_uint(v, &r->max_trials);
    if (jval_get(json_root(doc), "deterministic", &v))
        jval_bool(v, &r->deterministic);
    *forked = jval_get(json_root(doc), "forked_from", &v);
    if (jval_get(json_root(doc), "overrides", &v))
        r->overrides = jval_copy_text(v);
    free(mode);
    json_free(doc);
    return r->id == NULL || r->mode_from == NULL || r->config == NULL
               ? err_set(err, ERR_MEMORY, "out of memory")
               : 0;
}

/* Whether the manager lives: it holds a lock until its end. */
static bool
is_locked(const struct results *r)
{
    char *path = file_join(r->folder, FOLDER_EXPERIMENT);
    int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    bool locked = fd >= 0 && hold_is_others(fd, HOLD_FLOCK);

    if (fd >= 0)
        close(fd);
    free(path);
    return locked;
}

/* Whether a fork has had no manager yet: the first one notes its process. */
static bool
is_unstarted(const struct results *r, bool forked)
{
    char *path = forked ? file_join(r->folder, FOLDER_PID) : NULL;
    bool unstarted = path != NULL && access(path, F_OK) != 0;

    free(path);
    return unstarted;
}

static void
load_summary(struct results *r, bool forked)
{
    struct json *doc = load_part(r, FOLDER_SUMMARY, NULL);
    struct jval v;

    if (doc != NULL) {
        r->state = RESULTS_ENDED;
        r->reason = get_text(json_root(doc), "reason");
        if (jval_get(json_root(doc), "over", &v) ||
            jval_get(json_root(doc), "ok", &v))
            jval_bool(v, &r->over);
        get_number(json_root(doc), "duration_s", &r->duration_s);
    } else {
        r->state = is_locked(r)              ? RESULTS_RUNNING
                   : is_unstarted(r, forked) ? RESULTS_FORKED
                                             : RESULTS_DIED;
    }
    json_free(doc);
}

/* Counts the trials that have a folder and no result; those that have ended may
 * have one, or be packed, or neither. */
static void
count_unended(struct results *r)
{
    char *path = file_join(r->folder, FOLDER_TRIALS);
    DIR *trials = path == NULL ? NULL : opendir(path);
    struct idset ended = {0};
    struct dirent *entry;
    uint64_t number;

    for (size_t i = 0; trials != NULL && i < r->n; i++)
        if (number_parse_u64(r->items[i].trial, strlen(r->items[i].trial),
                             &number) &&
            number < NUMBER_MAX)
            idset_add(&ended, number);
    while (trials != NULL && (entry = readdir(trials)) != NULL)
        r->unended +=
            number_parse_u64(entry->d_name, strlen(entry->d_name), &number) &&
            !idset_has(&ended, number);
    if (trials != NULL)
        closedir(trials);
    idset_fini(&ended);
    free(path);
}

bool
results_of_study(const char *folder)
{
    char *asked = file_join(folder, FOLDER_ASKED);
    bool there = asked != NULL && access(asked, F_OK) == 0;

    free(asked);
    return there;
}

struct results *
results_load(const char *folder, struct err *err)
{
    struct results *r = calloc(1, sizeof *r);
    struct budget kept = {0};
    bool forked = false;

    if (r == NULL) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    r->folder = realpath(folder, NULL);
    if (r->folder == NULL) {
        err_errno(err, ERR_CONFIG, "%s", folder);
        goto fail;
    }
    if (load_experiment(r, &forked, err) != 0 ||
        load_lines(r, FOLDER_RESULTS, err) != 0)
        goto fail;
    load_lines(r, FOLDER_INTERRUPTED, NULL); /* mostly there is none */
    load_summary(r, forked);
    if (budget_load(&kept, r->folder)) {
        r->paused = kept.paused || kept.halted;
        r->max_trials = kept.max_trials;
    }
    count_unended(r);
    return r;
fail:
    results_free(r);
    return NULL;
}

const char *
results_resume(const char *folder)
{
    return results_of_study(folder) ? "tunepipe ask" : "tunepipe resume";
}

bool
results_final(const struct result *item, double *value)
{
    *value = item->value;
    return item->has_value || trial_uncounted_final(item->why, value);
}

bool
results_value(const struct result *item, double *value)
{
    if (results_counts(item)) {
        *value = item->value;
        return true;
    }
    *value = item->latest;
    return trial_state_of(item->status) == TRIAL_PAUSED && item->has_latest &&
           item->budget > 0 && (double)item->steps >= item->budget;
}

static bool
is_better(const struct results *r, const struct result *a,
          const struct result *b)
{
    double x, y;

    if (a->budget < b->budget || a->budget > b->budget)
        return a->budget > b->budget;
    results_value(a, &x);
    results_value(b, &y);
    return r->minimize ? x < y : x > y;
}

bool
results_counts(const struct result *item)
{
    return item->has_value && !trial_is_failure(trial_state_of(item->status));
}

const struct result *
results_best(const struct results *r)
{
    const struct result *best = NULL;

    results_ranked(r, &best, 1);
    return best;
}

double
results_best_budget(const struct results *r)
{
    const struct result *best = results_best(r);
    double value;

    for (size_t i = 0; best != NULL && i < r->n; i++)
        if (r->items[i].budget < best->budget &&
            results_value(&r->items[i], &value))
            return best->budget;
    return 0;
}

/* Inserts each into a short list: `max` is small. */
size_t
results_ranked(const struct results *r, const struct result **out, size_t max)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n; i++) {
        const struct result *item = &r->items[i];
        double value;
        size_t at = n;

        if (!results_value(item, &value))
            continue;
        while (at > 0 && is_better(r, item, out[at - 1]))
            at--;
        if (at == max)
            continue;
        if (n < max)
            n++;
        memmove(&out[at + 1], &out[at], (n - 1 - at) * sizeof *out);
        out[at] = item;
    }
    return n;
}

int
results_compare_numbers(const struct result *a, const struct result *b)
{
    size_t x = strlen(a->trial), y = strlen(b->trial);

    return x != y ? (x < y ? -1 : 1) : strcmp(a->trial, b->trial);
}

static int
compare_best_first(const void *va, const void *vb, void *results)
{
    const struct result *a = *(const struct result *const *)va;
    const struct result *b = *(const struct result *const *)vb;
    double value;
    bool has = results_value(a, &value);
    int order = results_value(b, &value) - has;

    if (order == 0 && has)
        order = is_better(results, b, a) - is_better(results, a, b);
    else if (order == 0)
        order = results_compare_numbers(a, b);
    return order != 0 ? order : (a > b) - (a < b); /* the first to end */
}

void
results_sort(const struct results *r, const struct result **items, size_t n)
{
    qsort_r(items, n, sizeof *items, compare_best_first, (void *)r);
}
