/* SPDX-License-Identifier: MIT */
#include "store/export.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/number.h"
#include "history/history.h"
#include "json.h"
#include "store/csv.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define ROW_MAX ((size_t)1 << 30)

struct exporting {
    FILE *out;
    enum export_form form;
    struct buf row;
    struct csv csv; /* into row */
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
