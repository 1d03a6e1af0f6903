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
#include "numerics/front.h"
#include "objectives/objectives.h"
#include "scan.h"
#include "trial/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOWHERE SIZE_MAX
#define NOT_THERE UINT64_MAX

enum kind { TEXT, JSON, NUMBER, COUNT, UNREAD };

const char *const results_inputs[RESULTS_INPUTS] = {"clock", "signal", "user",
                                                    "system"};

/* The members of a line, in the order in which they are written. */
static const struct member {
    const char *lead; /* its name as it stands in the line, and a colon */
    size_t len;
    enum kind kind;
    size_t offset; /* of the value in struct result */
    size_t known;  /* of the flag there that says that it has one, or NOWHERE */
} members[] = {
#define MEMBER(name, kind, value, known)                                  \
    {                                                                     \
        "\"" name "\""                                                    \
        ": ",                                                             \
            sizeof(name) + 3, kind, offsetof(struct result, value), known \
    }
#define KNOWN(flag) offsetof(struct result, flag)
    MEMBER("trial", TEXT, trial, NOWHERE),
    MEMBER("parameter_id", JSON, parameter_id, NOWHERE),
    MEMBER("seed", COUNT, seed, NOWHERE),
    MEMBER("status", TEXT, status, NOWHERE),
    MEMBER("value", NUMBER, value, KNOWN(has_value)),
    MEMBER("values", JSON, values, NOWHERE),
    MEMBER("violation", NUMBER, violation, KNOWN(has_violation)),
    MEMBER("latest", NUMBER, latest, KNOWN(has_latest)),
    MEMBER("duration_s", NUMBER, duration_s, NOWHERE),
    MEMBER("prepare_s", NUMBER, prepare_s, KNOWN(has_prepare)),
    MEMBER("why", TEXT, why, NOWHERE),
    MEMBER("ended_by", TEXT, ended_by, NOWHERE),
    MEMBER("place", TEXT, place, NOWHERE),
    MEMBER("queued_s", NUMBER, queued_s, NOWHERE),
    MEMBER("from", TEXT, from, NOWHERE),
    MEMBER("from_how", TEXT, from_how, NOWHERE),
    MEMBER("steps", COUNT, steps, NOWHERE),
    MEMBER("attempt", UNREAD, steps, NOWHERE),
    MEMBER("intermediates", COUNT, intermediates, NOWHERE),
    MEMBER("parameters", JSON, parameters, NOWHERE),
#undef MEMBER
#undef KNOWN
};
#define N_MEMBERS (sizeof members / sizeof *members)

struct reading {
    struct scan scan;
    struct result *out;
    char *to;    /* where its next text goes */
    size_t next; /* the member that is looked for first */
};

static void *
member_at(const struct reading *r, size_t offset)
{
    return (char *)r->out + offset;
}

/* Steps over the name of the next member, if it stands there as the manager
 * writes it, which halves the time that a line takes. */
static const struct member *
step_over_name(struct reading *r)
{
    const char *at = r->scan.text + r->scan.at;
    size_t left = r->scan.len - r->scan.at;

    for (size_t k = r->next; k < N_MEMBERS; k++)
        if (members[k].len <= left &&
            memcmp(members[k].lead, at, members[k].len) == 0) {
            r->next = k + 1;
            r->scan.at += members[k].len;
            return &members[k];
        }
    return NULL;
}

static const struct member unknown = {.kind = UNREAD};

/* Reads the name of a member in any order, however it is spelled. */
static const struct member *
read_name(struct reading *r, const struct scan_token *name)
{
    if (name->type != SCAN_STRING || scan_next(&r->scan).type != SCAN_COLON)
        return NULL;
    for (size_t k = 0; k < N_MEMBERS; k++)
        if (members[k].len == name->len + 4 &&
            memcmp(members[k].lead + 1, name->text, name->len) == 0)
            return &members[k];
    return &unknown;
}

/* Where a line has a member twice, the last one counts. */
static bool
set_text(struct reading *r, const struct member *m, const char *text,
         size_t len)
{
    memcpy(r->to, text, len);
    r->to[len] = '\0';
    memcpy(member_at(r, m->offset), &r->to, sizeof r->to);
    r->to += len + 1;
    return true;
}

static bool
set_escaped(struct reading *r, const struct member *m,
            const struct scan_token *t)
{
    struct buf text;
    bool ok;

    buf_init(&text, 2 * t->len + 1);
    scan_unescape(t, &text);
    ok = buf_check(&text, "a text", NULL) == 0 &&
         set_text(r, m, buf_text(&text), strlen(buf_text(&text)));
    buf_fini(&text);
    return ok;
}

static bool
read_value(struct reading *r, const struct member *m)
{
    struct scan_token t = scan_next(&r->scan);
    const char *begin = r->scan.text + t.at;

    if (m->kind == TEXT && t.type == SCAN_STRING)
        return t.escaped ? set_escaped(r, m, &t)
                         : set_text(r, m, t.text, t.len);
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
           set_text(r, m, begin, (size_t)(r->scan.text + r->scan.at - begin));
}

static bool
read_members(struct reading *r)
{
    struct scan_token t = {.type = SCAN_OPEN_OBJECT};

    do {
        const struct member *m = step_over_name(r);
        bool first = t.type == SCAN_OPEN_OBJECT;

        if (m == NULL) {
            t = scan_next(&r->scan);
            if (first && t.type == SCAN_CLOSE_OBJECT)
                break;
            m = read_name(r, &t);
        }
        if (m == NULL || !read_value(r, m))
            return false;
        t = scan_next(&r->scan);
        if (r->scan.at < r->scan.len && r->scan.text[r->scan.at] == ' ')
            r->scan.at++;
    } while (t.type == SCAN_COMMA);
    return t.type == SCAN_CLOSE_OBJECT && scan_next(&r->scan).type == SCAN_END;
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

/* Reads a line.  `texts` has room for one byte more than it: no text is longer,
 * with its NUL, than what stands for it there. */
static int
read_line(const char *line, size_t len, char *texts, struct result *out)
{
    struct reading r = {
        .scan = {.text = line, .len = len}, .out = out, .to = texts};

    *out = (struct result){.texts = texts,
                           .trial = "",
                           .status = "",
                           .why = "",
                           .ended_by = "",
                           .place = "",
                           .parameter_id = "null",
                           .values = "null",
                           .parameters = "null",
                           .from = "",
                           .from_how = ""};
    if (scan_next(&r.scan).type != SCAN_OPEN_OBJECT || !read_members(&r))
        return -1;
    out->n_texts = (size_t)(r.to - texts);
    if (out->steps == 0) /* it went on from no other trial */
        out->steps = out->intermediates;
    find_budget(out);
    return 0;
}

int
result_copy(struct result *to, const struct result *from)
{
    struct result copy = *from;

    copy.texts = malloc(from->n_texts + 1);
    if (copy.texts == NULL)
        return -1;
    memcpy(copy.texts, from->texts, from->n_texts);
    for (size_t i = 0; i < N_MEMBERS; i++) {
        const char **text = (void *)((char *)&copy + members[i].offset);
        size_t at;

        if (members[i].kind != TEXT && members[i].kind != JSON)
            continue;
        at = (uintptr_t)*text - (uintptr_t)from->texts;
        if (at < from->n_texts) /* else it is one that was missing */
            *text = copy.texts + at;
    }
    *to = copy;
    return 0;
}

int
results_line(const char *line, size_t len, struct result *out)
{
    char *texts = malloc(len + 1);

    if (texts != NULL && read_line(line, len, texts, out) == 0)
        return 0;
    free(texts);
    return -1;
}

/* ---- the file ---- */

#define PART_MAX ((size_t)1 << 20)
#define SPACE_MAX ((size_t)64 << 20)
#define RESULT_LINE_MAX ((size_t)64 << 20)
#define WALK_BYTES ((size_t)1 << 20) /* until it is asked whether to go on */

void
result_fini(struct result *r)
{
    free(r->texts);
}

void
results_free(struct results *r)
{
    if (r == NULL)
        return;
    for (size_t i = 0; r->items != NULL && i < r->n; i++)
        result_fini(&r->items[i]);
    for (size_t i = 0; i < r->n_best; i++)
        result_fini(&r->best[i]);
    free(r->items);
    pareto_fini(&r->front);
    objectives_free(r->objectives);
    idset_fini(&r->ids);
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

struct walk {
    results_take *take;
    void *ctx;
    const char *word; /* lines without it are left out; NULL: none are */
    char *texts;      /* of the result that is lent */
    size_t cap, damaged;
    uint64_t at;              /* where the next line begins in results.jsonl */
    struct results *counting; /* lines of that are counted, too; NULL: none */
    bool over;
};

static bool count_result(void *ctx, const struct result *item);

static void
take_line(void *ctx, const char *line, size_t len, bool too_long)
{
    struct walk *w = ctx;
    struct result one;
    uint64_t at = w->at;

    if (at != NOT_THERE)
        w->at += len + 1;
    while (!too_long && w->cap <= len)
        if (grow_next(&w->texts, &w->cap, 1) != 0)
            too_long = true;
    if (w->over || (w->word != NULL && strstr(line, w->word) == NULL))
        return;
    if (too_long || read_line(line, len, w->texts, &one) != 0) {
        w->damaged++;
        return;
    }
    one.at = at;
    if (w->counting != NULL && at != NOT_THERE)
        count_result(w->counting, &one);
    w->over = !w->take(w->ctx, &one);
}

/* Hands out the lines from there on, until *over. */
static int
read_lines(const char *folder, const char *name, uint64_t from, tail_line *take,
           void *ctx, const bool *over, struct err *err)
{
    char *path = file_join(folder, name);
    struct tail tail;
    int rc;

    if (path == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    rc = tail_open(&tail, path, RESULT_LINE_MAX, err);
    if (rc == 0 && lseek(tail.fd, (off_t)from, SEEK_SET) < 0)
        rc = err_errno(err, ERR_SYSTEM, "%s: cannot read", path);
    if (rc == 0)
        do
            rc = tail_drain(&tail, WALK_BYTES, take, ctx, err);
        while (rc == 1 && !*over);
    tail_close(&tail); /* a line without its line end is not there yet */
    free(path);
    return rc < 0 ? -1 : 0;
}

static int
walk(struct walk *w, const char *folder, struct err *err)
{
    int rc =
        read_lines(folder, FOLDER_RESULTS, w->at, take_line, w, &w->over, err);

    if (w->counting != NULL)
        w->counting->counted = w->at;
    w->at = NOT_THERE;
    if (rc == 0 && !w->over) /* mostly there is none */
        read_lines(folder, FOLDER_INTERRUPTED, 0, take_line, w, &w->over, NULL);
    free(w->texts);
    return rc;
}

int
results_walk(const struct results *r, results_take *take, void *ctx,
             struct err *err)
{
    struct walk w = {.take = take, .ctx = ctx};

    return walk(&w, r->folder, err);
}

int
results_walk_counting(struct results *r, results_take *take, void *ctx,
                      struct err *err)
{
    struct walk w = {.take = take, .ctx = ctx, .counting = r};
    int rc = walk(&w, r->folder, err);

    r->damaged += w.damaged;
    return rc;
}

struct numbering {
    struct results_numbers *out;
    uint64_t newest[RESULTS_NEWEST][2]; /* a ring; numbers, and one */
    size_t at;
    bool failed;
};

/* Steps over a text, and a number and what ends it. */
static bool
step_over_number(const char **p, const char *lead, char mark, uint64_t *out)
{
    size_t len = strlen(lead), digits;

    if (strncmp(*p, lead, len) != 0)
        return false;
    digits = strspn(*p + len, "0123456789");
    if (!number_parse_u64(*p + len, digits, out) || *out > RESULTS_TRIAL_MAX ||
        (*p)[len + digits] != mark)
        return false;
    *p += len + digits;
    return true;
}

static void
number_line(void *ctx, const char *line, size_t len, bool too_long)
{
    struct numbering *n = ctx;
    uint64_t *slot = n->newest[n->at % RESULTS_NEWEST], trial, parameter;

    if (len == 0 || too_long ||
        !step_over_number(&line,
                          "{\"trial\""
                          ": \"",
                          '"', &trial) ||
        !step_over_number(&line,
                          "\", \"parameter_id\""
                          ": ",
                          ',', &parameter))
        return;
    if (n->at++ >= RESULTS_NEWEST &&
        (idset_add(&n->out->trials, slot[0]) != 0 ||
         idset_add(&n->out->parameters, slot[1]) != 0))
        n->failed = true;
    slot[0] = trial;
    slot[1] = parameter;
}

int
results_numbers(const char *folder, struct results_numbers *out,
                struct err *err)
{
    struct numbering n = {.out = out};

    if (read_lines(folder, FOLDER_RESULTS, 0, number_line, &n, &n.failed,
                   err) != 0)
        return -1;
    return n.failed ? err_set(err, ERR_MEMORY, "out of memory") : 0;
}

void
results_numbers_fini(struct results_numbers *n)
{
    idset_fini(&n->trials);
    idset_fini(&n->parameters);
}

struct finding {
    uint64_t trial;
    struct result *out;
    bool found;
};

static bool
find_result(void *ctx, const struct result *item)
{
    struct finding *f = ctx;
    uint64_t number;

    f->found = number_parse_u64(item->trial, strlen(item->trial), &number) &&
               number == f->trial && result_copy(f->out, item) == 0;
    return !f->found;
}

bool
results_find(const char *folder, uint64_t trial, struct result *out)
{
    char word[24];
    struct finding f = {.trial = trial};
    struct walk w = {.take = find_result, .ctx = &f, .word = word};

    *out = (struct result){0};
    f.out = out;
    snprintf(word, sizeof word, "%05" PRIu64, trial);
    walk(&w, folder, NULL);
    return f.found;
}

/* Puts it where it belongs among the best; what falls out is the last. */
static void
count_best(struct results *r, const struct result *item)
{
    struct result own;
    size_t at = r->n_best;

    while (at > 0 && results_is_better(r, item, &r->best[at - 1]))
        at--;
    if (at == RESULTS_BEST || result_copy(&own, item) != 0)
        return;
    if (r->n_best == RESULTS_BEST)
        result_fini(&r->best[--r->n_best]);
    memmove(&r->best[at + 1], &r->best[at], (r->n_best++ - at) * sizeof own);
    r->best[at] = own;
}

static const struct result *
point_at(const struct results *r, size_t i)
{
    return r->front.points[i].of;
}

static void
drop_point(void *of)
{
    result_fini(of);
    free(of);
}

/* Puts it on the front, unless that dominates it. */
static void
count_front(struct results *r, const struct result *item)
{
    struct result *own = calloc(1, sizeof *own);
    struct objective_values v;

    if (own != NULL && results_values(r->objectives, item, &v) &&
        result_copy(own, item) == 0 &&
        pareto_add(&r->front, item->trial, item->budget, &v, own))
        return;
    if (own != NULL)
        drop_point(own);
}

static bool
keep_result(void *ctx, const struct result *item)
{
    struct results *r = ctx;

    if (GROW(r->items, r->n, r->cap) != 0 ||
        result_copy(&r->items[r->n], item) != 0) {
        r->damaged++;
        return true;
    }
    return count_result(r, item);
}

static bool
count_result(void *ctx, const struct result *item)
{
    struct results *r = ctx;
    uint64_t number;
    double value;

    r->n++;
    r->n_ended[trial_state_of(item->status)]++;
    for (size_t i = 0; i < RESULTS_INPUTS; i++)
        r->n_by[i] += strcmp(item->ended_by, results_inputs[i]) == 0;
    if (results_value(item, &value)) {
        if (item->budget < r->least_budget)
            r->least_budget = item->budget;
        if (r->objectives != NULL)
            count_front(r, item);
        else
            count_best(r, item);
    }
    if (number_parse_u64(item->trial, strlen(item->trial), &number) &&
        number <= RESULTS_TRIAL_MAX && idset_add(&r->ids, number) != 0)
        r->damaged++;
    return true;
}

/* Counts folders of trials of which there is no line. */
static void
count_unended(struct results *r)
{
    char *path = file_join(r->folder, FOLDER_TRIALS);
    DIR *trials = path == NULL ? NULL : opendir(path);
    const struct dirent *entry;
    uint64_t number;

    while (trials != NULL && (entry = readdir(trials)) != NULL)
        r->unended +=
            number_parse_u64(entry->d_name, strlen(entry->d_name), &number) &&
            !idset_has(&r->ids, number); /* else a later attempt, or a pack */
    if (trials != NULL)
        closedir(trials);
    free(path);
}

/* Counts what was not counted yet. */
static int
count(struct results *r, bool all, struct err *err)
{
    struct walk w = {
        .take = all ? keep_result : count_result, .ctx = r, .at = r->counted};
    int rc = walk(&w, r->folder, err);

    r->damaged += w.damaged;
    if (rc == 0)
        count_unended(r);
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

/* ---- what was counted when it ended ---- */

#define N_COUNTED 2

static const char *const counted_files[N_COUNTED] = {FOLDER_RESULTS,
                                                     FOLDER_INTERRUPTED};

static uint64_t
size_of(const char *folder, const char *name)
{
    char *path = file_join(folder, name);
    struct stat st;
    bool there = path != NULL && stat(path, &st) == 0;

    free(path);
    return there ? (uint64_t)st.st_size : 0;
}

/* What a line is missing for, or what is not there as a rule, is read. */
static bool
is_noted(const struct results *r)
{
    for (size_t i = 0; i < r->n_best; i++)
        if (r->best[i].at == NOT_THERE)
            return false;
    for (size_t i = 0; i < r->front.n; i++)
        if (point_at(r, i)->at == NOT_THERE)
            return false;
    return r->unended == 0 && r->damaged == 0 && r->n_ended[TRIAL_STATES] == 0;
}

void
results_note(const char *folder, struct results *known, struct json_writer *w)
{
    struct results *r =
        known != NULL ? known : results_load(folder, RESULTS_NONE, NULL);

    if (r == NULL || count(r, false, NULL) != 0 || !is_noted(r)) {
        results_free(r);
        return;
    }
    json_open_object(w, "counted");
    for (size_t i = 0; i < N_COUNTED; i++)
        json_add_unsigned(w, counted_files[i],
                          size_of(folder, counted_files[i]));
    json_open_object(w, "status");
    for (int i = 0; i < TRIAL_STATES; i++)
        if (r->n_ended[i] > 0)
            json_add_unsigned(w, trial_state_name((enum trial_state)i),
                              r->n_ended[i]);
    json_close(w);
    json_open_object(w, "ended_by");
    for (size_t i = 0; i < RESULTS_INPUTS; i++)
        json_add_unsigned(w, results_inputs[i], r->n_by[i]);
    json_close(w);
    json_add_number(w, "least_budget", r->least_budget);
    json_open_array(w, "best_at");
    for (size_t i = 0; i < r->n_best; i++)
        json_add_unsigned(w, NULL, r->best[i].at);
    for (size_t i = 0; i < r->front.n; i++)
        json_add_unsigned(w, NULL, point_at(r, i)->at);
    json_close(w);
    if (r->objectives != NULL) {
        json_add_unsigned(w, "seen", r->front.seen);
        json_add_unsigned(w, "grew", r->front.grew);
    }
    json_close(w);
    results_free(r);
}

/* Reads the lines of the best, which begin there. */
static bool
read_best(struct results *r, struct jval places)
{
    char *path = file_join(r->folder, FOLDER_RESULTS), *line = NULL;
    FILE *file = path == NULL ? NULL : fopen(path, "re");
    size_t n = jval_count(places), cap = 0;
    bool several = r->objectives != NULL;
    bool ok = file != NULL && (several || n <= RESULTS_BEST);
    double value;
    uint64_t at = 0;

    for (size_t i = 0; ok && i < n; i++) {
        struct result one = {0}, *best = several ? &one : &r->best[i];
        ssize_t len = -1;

        if (jval_uint(jval_at(places, i), &at) && at < INT64_MAX &&
            fseeko(file, (off_t)at, SEEK_SET) == 0)
            len = getline(&line, &cap, file);
        ok = len > 0 && results_line(line, (size_t)len - 1, best) == 0;
        best->at = at;
        r->n_best += ok && !several;
        ok = ok && results_value(best, &value);
        if (several && ok)
            count_front(r, best);
        result_fini(&one);
    }
    ok = ok && (!several || r->front.n == n);
    while (!ok && r->n_best > 0)
        result_fini(&r->best[--r->n_best]);
    if (file != NULL)
        fclose(file);
    free(line);
    free(path);
    return ok;
}

/* Takes what was counted when it ended, where both files, which are long where
 * the trials are many, are as long as they were. */
static bool
take_counted(struct results *r)
{
    struct json *doc = load_part(r, FOLDER_SUMMARY, NULL);
    struct jval counted, status, by, best, v;
    uint64_t n;
    bool ok = doc != NULL && jval_get(json_root(doc), "counted", &counted) &&
              jval_get(counted, "status", &status) &&
              jval_get(counted, "ended_by", &by) &&
              jval_get(counted, "best_at", &best);

    for (size_t i = 0; ok && i < N_COUNTED; i++)
        ok = jval_get(counted, counted_files[i], &v) && jval_uint(v, &n) &&
             n == size_of(r->folder, counted_files[i]);
    ok = ok && read_best(r, best);
    if (ok) {
        get_number(counted, "least_budget", &r->least_budget);
        if (jval_get(counted, "seen", &v))
            jval_uint(v, &r->front.seen);
        if (jval_get(counted, "grew", &v))
            jval_uint(v, &r->front.grew);
        for (size_t i = 0; i < RESULTS_INPUTS; i++)
            if (jval_get(by, results_inputs[i], &v) && jval_uint(v, &n))
                r->n_by[i] = n;
        for (struct jval_iter it = jval_iter(status); jval_next(&it);)
            if (jval_uint(it.value, &n)) {
                r->n_ended[trial_state_of(it.key)] += n;
                r->n += n;
            }
    }
    json_free(doc);
    return ok;
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
    if (jval_get(json_root(doc), "objectives", &v)) {
        r->objectives = objectives_from(v, err);
        r->front = (struct pareto){.of = r->objectives, .drop = drop_point};
        if (r->objectives == NULL) {
            json_free(doc);
            return err_place(err, "%s/" FOLDER_EXPERIMENT, r->folder);
        }
    }
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

/* Which batch job is to begin it; NULL: none. */
static char *
find_batch(const struct results *r)
{
    char *path = file_join(r->folder, FOLDER_BATCH_ID), *said = NULL;
    struct buf id;

    buf_init(&id, PART_MAX);
    if (path != NULL && file_read(path, 100, &id, NULL) == 0 &&
        asprintf(&said, "batch job %s has not begun", buf_text(&id)) < 0)
        said = NULL;
    buf_fini(&id);
    free(path);
    return said;
}

/* What it is without an end: its first manager notes its process. */
static enum results_state
find_state(struct results *r, bool forked)
{
    if (is_locked(r))
        return RESULTS_RUNNING;
    if (file_has(r->folder, FOLDER_PID))
        return RESULTS_DIED;
    r->reason = find_batch(r);
    if (r->reason != NULL)
        return RESULTS_QUEUED;
    return forked ? RESULTS_FORKED : RESULTS_DIED;
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
        r->state = find_state(r, forked);
    }
    json_free(doc);
}

bool
results_of_study(const char *folder)
{
    return file_has(folder, FOLDER_ASKED);
}

struct results *
results_load(const char *folder, enum results_part part, struct err *err)
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
    r->least_budget = (double)INFINITY;
    if (load_experiment(r, &forked, err) != 0 ||
        (part != RESULTS_NONE && !(part == RESULTS_COUNTS && take_counted(r)) &&
         count(r, part == RESULTS_ALL, err) != 0))
        goto fail;
    load_summary(r, forked);
    if (budget_load(&kept, r->folder)) {
        r->paused = kept.paused || kept.halted;
        r->max_trials = kept.max_trials;
    }
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

bool
results_values(const struct objectives *of, const struct result *item,
               struct objective_values *out)
{
    char text[NUMBER_TEXT_MAX];
    double value;

    if (strcmp(item->values, "null") != 0 || !results_value(item, &value))
        return pareto_read(of, item->values, out);
    number_format(value, text); /* alone it is the only one there is */
    return pareto_read(of, text, out);
}

struct result
results_of_trial(const struct trial *t)
{
    const struct reported *said = t->final.given ? &t->final : &t->latest;

    return (struct result){.trial = t->id,
                           .status = trial_state_name(t->state),
                           .values = said->json != NULL ? said->json : "null",
                           .has_value = t->final.given,
                           .value = t->final.value,
                           .has_latest = t->latest.given,
                           .latest = t->latest.value,
                           .steps = t->step + trial_reports(t),
                           .budget = t->budget};
}

bool
results_is_better(const struct results *r, const struct result *a,
                  const struct result *b)
{
    struct objective_values v, w;
    double x, y;

    if (a->budget < b->budget || a->budget > b->budget)
        return a->budget > b->budget;
    if (r->objectives != NULL)
        return results_values(r->objectives, a, &v) &&
               results_values(r->objectives, b, &w) &&
               objectives_dominates(r->objectives, &v, &w);
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
    size_t knee = r->objectives != NULL ? pareto_knee(&r->front) : PARETO_NONE;

    if (knee != PARETO_NONE)
        return point_at(r, knee);
    results_ranked(r, &best, 1);
    return best;
}

double
results_best_budget(const struct results *r)
{
    const struct result *best = results_best(r);

    return best != NULL && r->least_budget < best->budget ? best->budget : 0;
}

size_t
results_ranked(const struct results *r, const struct result **out, size_t max)
{
    size_t n = r->n_best < max ? r->n_best : max, *order;

    for (size_t i = 0; i < n; i++)
        out[i] = &r->best[i];
    if (r->objectives == NULL)
        return n;
    order = pareto_order(&r->front);
    for (n = 0; order != NULL && n < r->front.n && n < max; n++)
        out[n] = point_at(r, order[n]);
    free(order);
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
        order =
            results_is_better(results, b, a) - results_is_better(results, a, b);
    else if (order == 0)
        order = results_compare_numbers(a, b);
    return order != 0 ? order : (a > b) - (a < b); /* the first to end */
}

/* A trial with its place: what is compared is worked out once. */
struct placed {
    const struct result *item;
    bool has; /* it has values */
    double budget, violation;
    double costs[OBJECTIVES_MAX];
    uint32_t rank;
    size_t n; /* objectives */
};

static int
compare_placed(const void *va, const void *vb)
{
    const struct placed *a = va, *b = vb;
    int order = b->has - a->has;

    if (order == 0 && !a->has)
        order = results_compare_numbers(a->item, b->item);
    if (order == 0 && (a->budget < b->budget || a->budget > b->budget))
        order = a->budget > b->budget ? -1 : 1;
    if (order == 0)
        order = (a->rank > b->rank) - (a->rank < b->rank);
    for (size_t i = 0; order == 0 && a->has && i < a->n; i++)
        order = (a->costs[i] > b->costs[i]) - (a->costs[i] < b->costs[i]);
    return order != 0 ? order : (a->item > b->item) - (a->item < b->item);
}

/* Those without values last, the others by budget. */
static int
compare_budgets(const void *va, const void *vb)
{
    const struct placed *a = va, *b = vb;
    int order = b->has - a->has;

    if (order == 0 && a->has)
        order = (a->budget < b->budget) - (a->budget > b->budget);
    return order;
}

/* Finds the front of each of the trials in place[0..n), all of which have
 * values; `costs` has room for theirs, violations behind them. */
static int
rank(const struct objectives *of, struct placed *place, size_t n, double *costs,
     uint32_t *ranks)
{
    double *violations = costs + n * of->n;

    for (size_t i = 0; i < n; i++) {
        memcpy(&costs[i * of->n], place[i].costs, of->n * sizeof *costs);
        violations[i] = place[i].violation;
    }
    if (front_ranks(costs, violations, n, of->n, ranks) != 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        place[i].rank = ranks[i];
    return 0;
}

/* What took less than another is not compared with that. */
static int
rank_each_budget(const struct objectives *of, struct placed *place, size_t n)
{
    double *costs = malloc((n + 1) * (of->n + 1) * sizeof *costs);
    uint32_t *ranks = malloc((n + 1) * sizeof *ranks);
    int rc = costs == NULL || ranks == NULL ? -1 : 0;

    qsort(place, n, sizeof *place, compare_budgets);
    for (size_t first = 0, end; rc == 0 && first < n && place[first].has;
         first = end) {
        end = first + 1;
        while (end < n && compare_budgets(&place[first], &place[end]) == 0)
            end++;
        rc = rank(of, place + first, end - first, costs, ranks);
    }
    free(costs);
    free(ranks);
    return rc;
}

static void
sort_by_fronts(const struct results *r, const struct result **items, size_t n)
{
    struct placed *place = calloc(n + 1, sizeof *place);
    const struct objectives *of = r->objectives;
    struct objective_values v;
    double value;

    for (size_t i = 0; place != NULL && i < n; i++) {
        struct placed *p = &place[i];

        *p = (struct placed){.item = items[i], .n = of->n};
        p->has =
            results_value(items[i], &value) && results_values(of, items[i], &v);
        p->budget = items[i]->budget;
        p->violation = p->has ? v.violation : 0;
        for (size_t k = 0; p->has && k < of->n; k++)
            p->costs[k] = objectives_cost(of, k, v.values[k]);
    }
    if (place != NULL && rank_each_budget(of, place, n) == 0) {
        qsort(place, n, sizeof *place, compare_placed);
        for (size_t i = 0; i < n; i++)
            items[i] = place[i].item;
    }
    free(place);
}

void
results_sort(const struct results *r, const struct result **items, size_t n)
{
    if (r->objectives != NULL)
        sort_by_fronts(r, items, n);
    else
        qsort_r(items, n, sizeof *items, compare_best_first, (void *)r);
}
