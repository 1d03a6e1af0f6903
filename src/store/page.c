/* SPDX-License-Identifier: MIT */
#include "store/page.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/nearest.h"
#include "core/number.h"
#include "json.h"
#include "manager/results.h"
#include "manager/table.h"
#include "manager/trial.h"
#include "store/index.h"
#include "store/sqlite.h"
#include "store/tables.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define JSON_MAX ((size_t)1 << 30)

static const char *const sorts[] = {
    [PAGE_VALUE] = "value",
    [PAGE_ENDED] = "ended",
    [PAGE_TRIAL] = "trial",
    [PAGE_DURATION] = "duration",
};
#define N_SORTS (sizeof sorts / sizeof *sorts)

int
page_sort_parse(const char *word, enum page_sort *out, struct err *err)
{
    char hint[128];

    for (size_t i = 0; i < N_SORTS; i++)
        if (strcmp(word, sorts[i]) == 0) {
            *out = (enum page_sort)i;
            return 0;
        }
    return err_set(err, ERR_USAGE,
                   "--sort: expected value, ended, trial or duration, got "
                   "'%s'%s",
                   word, nearest_hint(word, sorts, N_SORTS, hint, sizeof hint));
}

/* ---- from results ---- */

/* The results are in the order of their ends. */
static int
by_end(const void *va, const void *vb)
{
    const struct result *const *a = va, *const *b = vb;

    return (*a > *b) - (*a < *b);
}

static int
by_trial(const void *va, const void *vb)
{
    const struct result *const *a = va, *const *b = vb;
    int order = results_compare_numbers(*a, *b);

    return order != 0 ? order : by_end(va, vb);
}

static int
by_duration(const void *va, const void *vb)
{
    const struct result *const *a = va, *const *b = vb;
    double x = (*a)->duration_s, y = (*b)->duration_s;

    return x == y ? by_end(va, vb) : x > y ? -1 : 1;
}

static void
sort(const struct results *r, enum page_sort by, const struct result **rows,
     size_t n)
{
    switch (by) {
    case PAGE_VALUE:
        results_sort(r, rows, n);
        break;
    case PAGE_ENDED:
        break;
    case PAGE_TRIAL:
        qsort(rows, n, sizeof *rows, by_trial);
        break;
    case PAGE_DURATION:
        qsort(rows, n, sizeof *rows, by_duration);
        break;
    }
}

int
page_of_results(struct page *p, const struct results *r,
                const struct page_want *want, struct err *err)
{
    uint64_t first = (want->number - 1) * want->per_page;

    *p = (struct page){.rows = calloc(r->n + 1, sizeof *p->rows), .results = r};
    if (p->rows == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < r->n; i++)
        if (trial_state_of(r->items[i].status) != TRIAL_INTERRUPTED &&
            (want->status == NULL ||
             strcmp(want->status, r->items[i].status) == 0))
            p->rows[p->total++] = &r->items[i];
    sort(r, want->sort, p->rows, p->total);
    if (first < p->total) {
        p->n = p->total - first < want->per_page ? p->total - first
                                                 : want->per_page;
        memmove(p->rows, p->rows + first, p->n * sizeof *p->rows);
    }
    return 0;
}

void
page_fini(struct page *p)
{
    for (size_t i = 0; p->own != NULL && i < p->n; i++)
        result_fini(&p->own[i]);
    free(p->own);
    free(p->rows);
    *p = (struct page){0};
}

/* ---- for people and for programs ---- */

void
page_print(FILE *out, const struct page *p, const struct page_want *want)
{
    uint64_t first = (want->number - 1) * want->per_page;
    uint64_t pages = (p->total + want->per_page - 1) / want->per_page;

    if (p->total == 0) {
        fprintf(out, "no trial has ended%s%s\n",
                want->status != NULL ? " so: " : "",
                want->status != NULL ? want->status : "");
        return;
    }
    fputc('\n', out);
    table_print_rows(out, p->results, p->rows, p->n);
    fprintf(out, "page %" PRIu64 " of %" PRIu64, want->number, pages);
    if (p->n > 0)
        fprintf(out, ": trials %" PRIu64 " to %" PRIu64 " of %" PRIu64,
                first + 1, first + p->n, p->total);
    else
        fprintf(out, ": none of %" PRIu64 " trials", p->total);
    fprintf(out, ", by %s", sorts[want->sort]);
    if (want->status != NULL)
        fprintf(out, ", %s", want->status);
    fputc('\n', out);
}

int
page_print_json(FILE *out, const struct page *p, const struct page_want *want,
                struct err *err)
{
    struct json_writer w;
    struct buf b;
    int rc;

    buf_init(&b, JSON_MAX);
    w = json_begin_object(&b);
    json_add_unsigned(&w, "page", want->number);
    json_add_unsigned(&w, "per_page", want->per_page);
    json_add_unsigned(&w, "total", p->total);
    json_open_array(&w, "trials");
    for (size_t i = 0; i < p->n; i++)
        table_write_json(json_value(&w, NULL), p->rows[i]);
    json_end(&w);
    buf_add_char(&b, '\n');
    rc = buf_check(&b, "the page", err);
    if (rc == 0)
        fwrite(b.data, 1, b.len, out);
    buf_fini(&b);
    return rc;
}

/* ---- pages of a database ---- */

/* DESIGN
 *
 * Which trials are on the page is answered by an index alone: what lies before
 * the page is stepped over there, without a look at the rows.  The direction
 * of values is that of the index. */

struct order {
    const char *index, *by; /* %s: the direction of values */
};

static const struct order orders[] = {
    [PAGE_VALUE] = {"trials_by_value", TABLES_BEST_FIRST},
    [PAGE_ENDED] = {"trials_by_end", "ended"},
    [PAGE_TRIAL] = {"trials_by_name", "length(trial), trial, ended"},
    [PAGE_DURATION] = {"trials_by_duration", "duration_s DESC, ended"},
};

#define SQL_MAX 2048

struct reading {
    const struct sql *sql;
    struct sql_db *db;
    const struct page_want *want;
    const char *direction;
};

static int
get_direction(struct reading *r, struct err *err)
{
    struct sql_query *q = r->sql->prepare(
        r->db, "SELECT optimize_mode = 'minimize' FROM experiments", err);
    int rc = q == NULL ? -1 : r->sql->step(q, err);

    if (rc == 1)
        r->direction = r->sql->integer(q, 0) != 0 ? "ASC" : "DESC";
    else if (rc == 0)
        err_set(err, ERR_INPUT, INDEX_FILE " has no experiment");
    r->sql->finish(q);
    return rc == 1 ? 0 : -1;
}

static void
bind_want(const struct reading *r, struct sql_query *q)
{
    const struct page_want *w = r->want;

    r->sql->bind_text(q, 1, w->status,
                      w->status == NULL ? 0 : strlen(w->status));
}

static int
count(const struct reading *r, struct page *p, struct err *err)
{
    struct sql_query *q = r->sql->prepare(
        r->db,
        "SELECT count(*) FROM trials INDEXED BY trials_by_end "
        "WHERE ended IS NOT NULL AND (?1 IS NULL OR status = ?1)",
        err);
    int rc = -1;

    if (q != NULL) {
        bind_want(r, q);
        rc = r->sql->step(q, err);
    }
    if (rc == 1)
        p->total = (uint64_t)r->sql->integer(q, 0);
    r->sql->finish(q);
    return rc == 1 ? 0 : -1;
}

/* Reads the texts of a row; columns as in select_rows(). */
static int
read_texts(const struct reading *r, struct sql_query *q, struct result *out,
           struct err *err)
{
    const struct {
        int column;
        const char **text;
    } texts[] = {
        {0, &out->trial}, {1, &out->parameter_id}, {3, &out->status},
        {4, &out->why},   {5, &out->ended_by},     {10, &out->parameters},
        {11, &out->from}, {12, &out->from_how},    {14, &out->values}};
    char *to;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        out->n_texts += strlen(r->sql->text(q, texts[i].column, NULL)) + 1;
    to = out->texts = malloc(out->n_texts);
    if (to == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        *texts[i].text = to;
        to = stpcpy(to, r->sql->text(q, texts[i].column, NULL)) + 1;
    }
    return 0;
}

static int
read_row(const struct reading *r, struct sql_query *q, struct result *out,
         struct err *err)
{
    const struct sql *s = r->sql;
    const char *seed = s->text(q, 2, NULL);

    *out = (struct result){
        .place = "", /* which has no column */
        .has_violation = s->type(q, 15) != SQL_NULL,
        .violation = s->real(q, 15),
        .has_value = s->type(q, 6) != SQL_NULL,
        .value = s->real(q, 6),
        .has_latest = s->type(q, 7) != SQL_NULL,
        .latest = s->real(q, 7),
        .duration_s = s->real(q, 8),
        .intermediates = (uint64_t)s->integer(q, 9),
        .budget = s->real(q, 13),
    };
    number_parse_u64(seed, strlen(seed), &out->seed);
    return read_texts(r, q, out, err);
}

static struct sql_query *
select_rows(const struct reading *r, struct err *err)
{
    const struct order *o = &orders[r->want->sort];
    char by[256], text[SQL_MAX];
    struct sql_query *q;

    snprintf(by, sizeof by, o->by, r->direction);
    snprintf(
        text, sizeof text,
        "SELECT trial, parameter_id, seed, status, why, ended_by, value, "
        "latest, duration_s, intermediates, parameters, "
        "coalesce(from_trial, ''), coalesce(from_how, ''), budget, "
        "coalesce(reported, 'null'), violation FROM trials "
        "WHERE trial IN (SELECT trial FROM trials INDEXED BY %s WHERE ended IS "
        "NOT NULL AND (?1 IS NULL OR status = ?1) ORDER BY %s LIMIT ?2 "
        "OFFSET ?3) ORDER BY %s",
        o->index, by, by);
    q = r->sql->prepare(r->db, text, err);
    if (q == NULL)
        return NULL;
    bind_want(r, q);
    r->sql->bind_int(q, 2, (int64_t)r->want->per_page);
    r->sql->bind_int(q, 3,
                     (int64_t)((r->want->number - 1) * r->want->per_page));
    return q;
}

static int
read_rows(const struct reading *r, struct page *p, struct err *err)
{
    uint64_t before = (r->want->number - 1) * r->want->per_page;
    uint64_t most = p->total > before ? p->total - before : 0;
    struct sql_query *q;
    int rc;

    if (most > r->want->per_page)
        most = r->want->per_page;
    p->own = calloc(most + 1, sizeof *p->own);
    p->rows = calloc(most + 1, sizeof *p->rows);
    if (p->own == NULL || p->rows == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    q = select_rows(r, err);
    if (q == NULL)
        return -1;
    while ((rc = r->sql->step(q, err)) == 1 && p->n < most) {
        p->rows[p->n] = &p->own[p->n];
        rc = read_row(r, q, &p->own[p->n++], err);
        if (rc != 0)
            break;
    }
    r->sql->finish(q);
    return rc < 0 ? -1 : 0;
}

/* One transaction: the count and the rows are of the same moment. */
static int
read_page(struct reading *r, struct page *p, struct err *err)
{
    if (r->sql->run(r->db, "BEGIN", err) != 0 || get_direction(r, err) != 0 ||
        count(r, p, err) != 0)
        return -1;
    return read_rows(r, p, err);
}

static int
bring_up_to_date(const struct sql *sql, const char *folder, struct err *err)
{
    struct index *ix = index_new(sql, folder, err);
    struct index_report report;
    int rc = ix == NULL ? -1 : index_update(ix, INDEX_ADD, &report, err);

    index_free(ix);
    /* a damaged log does not matter: the results are whole, and no page shows
     * more */
    return rc != 0 && err->code == ERR_LOG ? 0 : rc;
}

static bool
has_objectives(const char *folder)
{
    struct results *r = results_load(folder, RESULTS_NONE, NULL);
    bool has = r != NULL && r->objectives != NULL;

    results_free(r);
    return has;
}

int
page_of_database(struct page *p, const struct sql *sql, const char *folder,
                 const struct page_want *want, struct err *err)
{
    struct reading r = {.sql = sql, .want = want};
    char *path = file_join(folder, INDEX_FILE);
    int rc = path != NULL && access(path, F_OK) != 0;

    *p = (struct page){0};
    if (path == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    if (rc == 0 && want->sort == PAGE_VALUE && has_objectives(folder))
        rc = 1; /* which no index orders by */
    if (rc == 0)
        rc = bring_up_to_date(sql, folder, err);
    if (rc == 0) {
        r.db = sql->open(path, SQL_READ, err);
        rc = r.db == NULL ? -1 : read_page(&r, p, err);
        sql->close(r.db);
    }
    if (rc != 0)
        page_fini(p);
    free(path);
    return rc;
}
