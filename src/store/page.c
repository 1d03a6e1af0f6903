/* SPDX-License-Identifier: MIT */
#include "store/page.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/nearest.h"
#include "json.h"
#include "manager/results.h"
#include "manager/table.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define JSON_MAX ((size_t)1 << 30)

static const char *const sorts[] = {
    [PAGE_ENDED] = "ended",
    [PAGE_VALUE] = "value",
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
                   "--sort: expected ended, value, trial or duration, got "
                   "'%s'%s",
                   word, nearest_hint(word, sorts, N_SORTS, hint, sizeof hint));
}

/* ---- from results ---- */

struct row {
    const struct result *item; /* of an array, in the order of their ends */
    bool counts, minimize;
};

static int
by_end(const void *va, const void *vb)
{
    const struct row *a = va, *b = vb;

    return (a->item > b->item) - (a->item < b->item);
}

static int
by_value(const void *va, const void *vb)
{
    const struct row *a = va, *b = vb;
    double x = a->item->value, y = b->item->value;

    if (a->counts != b->counts)
        return a->counts ? -1 : 1;
    if (!a->counts || x == y)
        return by_end(va, vb);
    return (x < y) == a->minimize ? -1 : 1;
}

static int
by_trial(const void *va, const void *vb)
{
    const struct row *a = va, *b = vb;
    size_t x = strlen(a->item->trial), y = strlen(b->item->trial);
    int order;

    if (x != y)
        return x < y ? -1 : 1;
    order = strcmp(a->item->trial, b->item->trial);
    return order != 0 ? order : by_end(va, vb);
}

static int
by_duration(const void *va, const void *vb)
{
    const struct row *a = va, *b = vb;
    double x = a->item->duration_s, y = b->item->duration_s;

    return x == y ? by_end(va, vb) : x > y ? -1 : 1;
}

int
page_of_results(struct page *p, const struct results *r,
                const struct page_want *want, struct err *err)
{
    static int (*const orders[])(const void *, const void *) = {
        [PAGE_ENDED] = by_end,
        [PAGE_VALUE] = by_value,
        [PAGE_TRIAL] = by_trial,
        [PAGE_DURATION] = by_duration,
    };
    struct row *rows = calloc(r->n + 1, sizeof *rows);
    uint64_t first = (want->number - 1) * want->per_page;

    *p = (struct page){.rows = calloc(r->n + 1, sizeof *p->rows)};
    if (rows == NULL || p->rows == NULL) {
        free(rows);
        return err_set(err, ERR_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < r->n; i++)
        if (want->status == NULL ||
            strcmp(want->status, r->items[i].status) == 0)
            rows[p->total++] = (struct row){
                &r->items[i], results_counts(&r->items[i]), r->minimize};
    qsort(rows, p->total, sizeof *rows, orders[want->sort]);
    for (uint64_t i = first; i < p->total && p->n < want->per_page; i++)
        p->rows[p->n++] = rows[i].item;
    free(rows);
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
    table_print_rows(out, p->rows, p->n);
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
