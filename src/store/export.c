/* SPDX-License-Identifier: MIT */
#include "store/export.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/map.h"
#include "core/number.h"
#include "history/folder.h"
#include "history/history.h"
#include "json.h"
#include "manager/parameters.h"
#include "manager/results.h"
#include "manager/trial.h"
#include "space/space.h"
#include "store/columns.h"
#include "store/csv.h"
#include "store/lines.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* DESIGN
 *
 * The head of a table names the parameters of all trials, so results.jsonl is
 * read twice: for their names, and for the rows.  What is appended meanwhile is
 * left out, since it may bring new names: `rows` is where the first reading
 * ended. */

#define ROW_MAX ((size_t)1 << 30)
#define FLUSH_AT ((size_t)1 << 16)

/* The columns in front of those of values by name, and of parameters. */
static const char *const head[] = {
    "trial",         "status",   "value", "latest", "duration_s", "attempts",
    "intermediates", "ended_by", "why",   "from",   "from_how"};
#define N_HEAD (sizeof head / sizeof *head)

struct cell {
    size_t at, len; /* in cells_text */
    int64_t row;    /* number of the row that it is in */
};

struct table {
    FILE *out;
    struct columns values; /* that were reported, in the order in which they
                              came up */
    struct map value_names;
    bool limited; /* some result tells how far it is beyond limits */
    struct columns columns;
    struct map places;   /* name of a column -> its index, from 1 */
    struct map attempts; /* trial -> number of attempts that were begun, + 1 */
    bool lacks;          /* the log lacks the beginning of some attempts */
    struct cell *cells;  /* one for each column */
    struct buf cells_text, row;
    struct csv csv; /* writes into `row` */
    struct space
        *space;   /* by which parameters are spelled; NULL: as recorded */
    int64_t rows; /* lines at the first reading */
    int64_t now;
    uint64_t damaged;
    bool failed; /* out of memory */
};

static void
table_fini(struct table *t)
{
    columns_fini(&t->values);
    map_fini(&t->value_names);
    columns_fini(&t->columns);
    map_fini(&t->places);
    map_fini(&t->attempts);
    space_free(t->space);
    free(t->cells);
    buf_fini(&t->cells_text);
    buf_fini(&t->row);
}

static void
flush(struct table *t, size_t at)
{
    if (t->row.len < at || t->row.failed)
        return;
    fwrite(t->row.data, 1, t->row.len, t->out);
    buf_clear(&t->row);
}

/* ---- the names ---- */

static void
see_name(void *ctx, const char *name, struct jval value)
{
    struct table *t = ctx;

    (void)value;
    if (map_get(&t->places, name, strlen(name)) == NULL &&
        (columns_add(&t->columns, name, NULL) != 0 ||
         map_put(&t->places, name, strlen(name), t) != 0))
        t->failed = true;
}

static void
see_values(struct table *t, struct jval line)
{
    struct jval_iter it;
    struct jval v;

    t->limited = t->limited || jval_get(line, "violation", &v);
    if (!jval_get(line, "values", &v))
        return;
    it = jval_iter(v);
    while (jval_next(&it))
        if (map_get(&t->value_names, it.key, strlen(it.key)) == NULL &&
            (columns_add(&t->values, it.key, NULL) != 0 ||
             map_put(&t->value_names, it.key, strlen(it.key), t) != 0))
            t->failed = true;
}

static int
see_line(struct table *t, const struct lines *l, struct err *err)
{
    struct json *doc = json_parse(l->text, l->len, JSON_STRICT, NULL);
    struct jval v;
    int rc = 0;

    if (doc == NULL)
        t->damaged++;
    else
        see_values(t, json_root(doc));
    if (doc != NULL && jval_get(json_root(doc), "parameters", &v))
        rc = parameters_walk(v, see_name, t, err);
    json_free(doc);
    return t->failed ? err_set(err, ERR_MEMORY, "out of memory") : rc;
}

static int
place_names(struct table *t, const char *folder, struct err *err)
{
    if (columns_sort(&t->columns, folder, err) != 0)
        return -1;
    t->cells = calloc(t->columns.n + 1, sizeof *t->cells);
    if (t->cells == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < t->columns.n; i++) {
        const char *name = t->columns.names[i];

        if (map_put(&t->places, name, strlen(name), &t->cells[i]) != 0)
            return err_set(err, ERR_MEMORY, "out of memory");
    }
    return 0;
}

/* ---- the attempts ---- */

static int
read_attempts(struct table *t, const char *folder, struct err *err)
{
    struct history_reader *h = history_open(folder, err);
    struct history_fact f;
    int rc = h == NULL ? -1 : 0;

    if (h != NULL)
        history_leave_out(h, 1u << HISTORY_SUGGESTED | 1u << HISTORY_ADDED |
                                 1u << HISTORY_REPORTED |
                                 1u << HISTORY_DECIDED);
    while (rc == 0 && (rc = history_next(h, &f, err)) == 1) {
        rc = 0;
        if ((f.kind == HISTORY_BEGUN || f.kind == HISTORY_ENDED) &&
            f.trial != NULL &&
            map_put(&t->attempts, f.job, strlen(f.job),
                    (void *)(uintptr_t)(f.trial->attempts + 1)) != 0)
            rc = err_set(err, ERR_MEMORY, "out of memory");
    }
    t->lacks = rc != 0 || history_lacks(h);
    history_close(h);
    return rc;
}

/* How many attempts the trial had.  False: the log does not tell. */
static bool
attempts_of(const struct table *t, const char *trial, uint64_t *out)
{
    uintptr_t value = (uintptr_t)map_get(&t->attempts, trial, strlen(trial));

    *out = value == 0 ? 0 : value - 1;
    return *out > 0 || (value != 0 && !t->lacks);
}

/* ---- a row of CSV ---- */

static void
put_cell(void *ctx, const char *name, const char *value, size_t len)
{
    struct table *t = ctx;
    struct cell *cell = map_get(&t->places, name, strlen(name));

    *cell = (struct cell){t->cells_text.len, len, t->now};
    buf_add(&t->cells_text, value, len);
}

/* Adds a member: a text as it is, a number in JSON's spelling, else nothing. */
static void
add_member(struct csv *out, struct jval object, const char *key)
{
    const char *text;
    struct buf b;
    struct jval v;
    size_t len;

    if (!jval_get(object, key, &v) || jval_type(v) == JSON_NULL) {
        csv_text(out, NULL);
    } else if (jval_string(v, &text, &len)) {
        csv_field(out, text, len);
    } else {
        buf_init(&b, ROW_MAX);
        jval_write(v, &b);
        csv_text(out, buf_text(&b));
        buf_fini(&b);
    }
}

/* Adds the result, also one that is not finite, which the line has as text
 * alone. */
static void
add_value(struct csv *out, struct jval line)
{
    char text[NUMBER_TEXT_MAX];
    double value;

    if (!trial_uncounted_final(jval_text_of(line, "why"), &value)) {
        add_member(out, line, "value");
        return;
    }
    number_format(value, text);
    csv_text(out, text);
}

/* Adds the number of attempts: what the manager says itself counts first. */
static void
add_attempts(struct table *t, struct jval line)
{
    const char *trial;
    char text[24] = "";
    struct jval v;
    uint64_t n;

    if (jval_get(line, "attempts", &v) && jval_uint(v, &n))
        snprintf(text, sizeof text, "%" PRIu64, n);
    else if (jval_get(line, "trial", &v) && jval_string(v, &trial, NULL) &&
             attempts_of(t, trial, &n))
        snprintf(text, sizeof text, "%" PRIu64, n);
    csv_text(&t->csv, text);
}

/* Fills the cells of the parameters, as the trial got them. */
static int
add_parameters(struct table *t, struct jval parameters, struct err *err)
{
    struct json *doc;
    int rc;

    if (t->space == NULL)
        return parameters_flatten(parameters, put_cell, t, err);
    doc = parameters_given(t->space, parameters, err);
    rc =
        doc == NULL ? -1 : parameters_flatten(json_root(doc), put_cell, t, err);
    json_free(doc);
    return rc;
}

/* Adds the values by name. */
static void
add_values(struct table *t, struct jval line)
{
    struct jval v;
    bool has = jval_get(line, "values", &v);

    for (size_t i = 0; i < t->values.n; i++)
        if (has)
            add_member(&t->csv, v, t->values.names[i]);
        else
            csv_text(&t->csv, NULL);
    if (t->limited)
        add_member(&t->csv, line, "violation");
}

static int
add_row(struct table *t, struct jval line, struct err *err)
{
    struct jval v;

    for (size_t i = 0; i < N_HEAD; i++)
        if (strcmp(head[i], "attempts") == 0)
            add_attempts(t, line);
        else if (strcmp(head[i], "value") == 0)
            add_value(&t->csv, line);
        else
            add_member(&t->csv, line, head[i]);
    add_values(t, line);
    buf_clear(&t->cells_text);
    if (jval_get(line, "parameters", &v) && add_parameters(t, v, err) != 0)
        return -1;
    for (size_t i = 0; i < t->columns.n; i++)
        if (t->cells[i].row == t->now)
            csv_field(&t->csv, buf_text(&t->cells_text) + t->cells[i].at,
                      t->cells[i].len);
        else
            csv_text(&t->csv, NULL);
    csv_end(&t->csv);
    return buf_check(&t->cells_text, "the parameters of a trial", err);
}

/* Adds the head of a value's column; of one that a parameter, or a column of
 * every table, is called, too, value.NAME. */
static void
add_value_head(struct table *t, const char *name)
{
    bool taken = map_get(&t->places, name, strlen(name)) != NULL;
    struct buf b;

    for (size_t i = 0; i < N_HEAD; i++)
        taken = taken || strcmp(head[i], name) == 0;
    buf_init(&b, ROW_MAX);
    buf_printf(&b, "%s%s", taken ? "value." : "", name);
    csv_text(&t->csv, buf_text(&b));
    buf_fini(&b);
}

static void
add_head(struct table *t)
{
    for (size_t i = 0; i < N_HEAD; i++)
        csv_text(&t->csv, head[i]);
    for (size_t i = 0; i < t->values.n; i++)
        add_value_head(t, t->values.names[i]);
    if (t->limited)
        csv_text(&t->csv, "violation");
    for (size_t i = 0; i < t->columns.n; i++)
        csv_text(&t->csv, t->columns.names[i]);
    csv_end(&t->csv);
}

/* ---- a row of JSON: the line, and what it lacks ---- */

static void
add_object(struct table *t, const struct lines *l, struct jval line)
{
    const char *trial;
    struct json_writer w;
    struct jval v;
    size_t len = l->len;
    uint64_t n;
    bool known;

    buf_add_text(&t->row, t->now == 1 ? "" : ",\n");
    if (jval_get(line, "attempts", &v) || !jval_get(line, "trial", &v) ||
        !jval_string(v, &trial, NULL)) {
        buf_add(&t->row, l->text, len);
        return;
    }
    while (len > 0 && l->text[len - 1] != '}')
        len--;
    buf_add(&t->row, l->text, len);
    w = json_reopen_object(&t->row);
    known = attempts_of(t, trial, &n);
    json_add_unsigned_if(&w, "attempts", known, n);
    json_close(&w);
}

/* ---- the table ---- */

static int
write_line(struct table *t, enum export_form form, const struct lines *l,
           struct err *err)
{
    struct json *doc = json_parse(l->text, l->len, JSON_STRICT, NULL);
    int rc = 0;

    if (doc != NULL && jval_type(json_root(doc)) == JSON_OBJECT) {
        t->now++;
        if (form != EXPORT_JSON)
            rc = add_row(t, json_root(doc), err);
        else
            add_object(t, l, json_root(doc));
        flush(t, FLUSH_AT);
    }
    json_free(doc);
    return rc == 0 ? buf_check(&t->row, "a row", err) : rc;
}

static int
read_names(struct table *t, const char *folder, struct err *err)
{
    struct lines lines;
    int rc = lines_open(&lines, folder, FOLDER_RESULTS, err);

    while (rc == 0 && (rc = lines_next(&lines, err)) == 1) {
        rc = see_line(t, &lines, err);
        t->rows = lines.number;
        if (rc == 0)
            continue;
        break;
    }
    lines_close(&lines);
    return rc;
}

static int
write_rows(struct table *t, enum export_form form, const char *folder,
           struct err *err)
{
    struct lines lines;
    int rc = lines_open(&lines, folder, FOLDER_RESULTS, err);

    if (form != EXPORT_JSON)
        add_head(t);
    else
        buf_add_text(&t->row, "[\n");
    while (rc == 0 && lines.number < t->rows && lines_next(&lines, err) == 1)
        rc = write_line(t, form, &lines, err);
    if (form == EXPORT_JSON)
        buf_add_text(&t->row, t->now > 0 ? "\n]\n" : "]\n");
    flush(t, 0);
    lines_close(&lines);
    return rc;
}

int
export_trials(FILE *out, enum export_form form, const char *folder,
              uint64_t *damaged, struct err *err)
{
    struct table t = {.out = out, .space = results_space(folder)};
    struct err log = {0};
    int rc;

    buf_init(&t.cells_text, ROW_MAX);
    buf_init(&t.row, ROW_MAX);
    t.csv.out = &t.row;
    t.csv.safe = form == EXPORT_CSV_SAFE;
    /* trials of which it does not tell have no number */
    read_attempts(&t, folder, &log);
    rc = read_names(&t, folder, err);
    if (rc == 0)
        rc = place_names(&t, folder, err);
    if (rc == 0)
        rc = write_rows(&t, form, folder, err);
    if (rc == 0 && log.code != ERR_NONE) {
        *err = log;
        rc = -1;
    }
    *damaged = t.damaged;
    table_fini(&t);
    return rc;
}

/* ---- metrics ---- */

#define ROW_MAX ((size_t)1 << 30)

struct exporting {
    FILE *out;
    enum export_form form;
    struct buf row;
    struct csv csv; /* writes into the line */
    uint64_t rows;
};

static const char *
type_of(const struct history_metric *m)
{
    return m->final ? "final" : "intermediate";
}

static void
add_csv(struct exporting *e, const struct history_fact *f, const char *said)
{
    const struct history_metric *m = &f->metric;
    const uint64_t numbers[] = {m->attempt, m->sequence, (uint64_t)f->time_us};
    char text[3][24], value[NUMBER_TEXT_MAX] = "";

    for (size_t i = 0; i < 3; i++)
        snprintf(text[i], sizeof text[i], "%" PRIu64, numbers[i]);
    if (m->n_values > 0)
        number_format(m->values[0].value, value);
    csv_text(&e->csv, f->job);
    csv_text(&e->csv, text[0]);
    csv_text(&e->csv, type_of(m));
    csv_text(&e->csv, text[1]);
    csv_text(&e->csv, value);
    csv_text(&e->csv, said);
    csv_text(&e->csv, text[2]);
    csv_end(&e->csv);
}

static void
add_json(struct exporting *e, const struct history_fact *f, const char *said)
{
    const struct history_metric *m = &f->metric;
    struct json_writer w;

    buf_add_text(&e->row, e->rows == 0 ? "" : ",\n");
    w = json_begin_object(&e->row);
    json_add_text(&w, "trial", f->job);
    json_add_unsigned(&w, "attempt", m->attempt);
    json_add_text(&w, "type", type_of(m));
    json_add_unsigned(&w, "sequence", m->sequence);
    json_add_number(&w, "value",
                    m->n_values > 0 ? m->values[0].value : (double)NAN);
    json_add_text(&w, "said", said);
    json_add_integer(&w, "time_us", f->time_us);
    json_close(&w);
}

static int
add_metric(struct exporting *e, const struct history_fact *f, struct err *err)
{
    char *said = history_said(f);
    int rc;

    (e->form == EXPORT_JSON ? add_json : add_csv)(e, f, said);
    free(said);
    rc = buf_check(&e->row, "a metric", err);
    fwrite(buf_text(&e->row), 1, e->row.len, e->out);
    buf_clear(&e->row);
    e->rows++;
    return rc;
}

int
export_metrics(FILE *out, enum export_form form, const char *folder,
               struct err *err)
{
    struct exporting e = {.out = out, .form = form};
    struct history_reader *h = history_open(folder, err);
    struct history_fact fact;
    int rc = h == NULL ? -1 : 0;

    buf_init(&e.row, ROW_MAX);
    e.csv.out = &e.row;
    e.csv.safe = form == EXPORT_CSV_SAFE;
    if (h != NULL)
        history_leave_out(h, 1u << HISTORY_ADDED | 1u << HISTORY_DECIDED);
    fputs(form != EXPORT_JSON
              ? "trial,attempt,type,sequence,value,said,time_us\n"
              : "[\n",
          out);
    while (rc == 0 && (rc = history_next(h, &fact, err)) == 1)
        rc = fact.kind == HISTORY_REPORTED &&
                     fact.metric.standing != HISTORY_AGAIN
                 ? add_metric(&e, &fact, err)
                 : 0;
    if (form == EXPORT_JSON)
        fputs(e.rows > 0 ? "\n]\n" : "]\n", out);
    history_close(h);
    buf_fini(&e.row);
    return rc;
}
