/* SPDX-License-Identifier: MIT */
#include "store/export.h"

#include "command.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/map.h"
#include "core/number.h"
#include "frame.h"
#include "json.h"
#include "log/record.h"
#include "store/csv.h"
#include "store/logwalk.h"
#include "store/metric.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROW_MAX ((size_t)1 << 30)

struct exporting {
    FILE *out;
    enum export_form form;
    struct map seen; /* trial, attempt and type -> metrics of these */
    struct buf row, key;
    struct csv csv; /* into row */
    uint64_t rows;
};

static const char *
type_of(const struct metric *m)
{
    return m->type == METRIC_FINAL ? "final" : "intermediate";
}

/* One that was told again keeps its number, and numbers only grow. */
static bool
is_new(struct exporting *e, const struct metric *m)
{
    void *value;

    buf_clear(&e->key);
    buf_printf(&e->key, "%s %" PRIu64 " %s", m->job, m->attempt, type_of(m));
    value = map_get(&e->seen, e->key.data, e->key.len);
    if (m->sequence < (uint64_t)(uintptr_t)value)
        return false;
    value = (void *)(uintptr_t)(m->sequence + 1);
    return map_put(&e->seen, e->key.data, e->key.len, value) == 0;
}

static void
add_csv(struct exporting *e, const struct metric *m, const char *said,
        int64_t time_us)
{
    const uint64_t numbers[] = {m->attempt, m->sequence, (uint64_t)time_us};
    char text[3][24], value[NUMBER_TEXT_MAX] = "";

    for (size_t i = 0; i < 3; i++)
        snprintf(text[i], sizeof text[i], "%" PRIu64, numbers[i]);
    if (m->has_value)
        number_format(m->value, value);
    csv_text(&e->csv, m->job);
    csv_text(&e->csv, text[0]);
    csv_text(&e->csv, type_of(m));
    csv_text(&e->csv, text[1]);
    csv_text(&e->csv, value);
    csv_text(&e->csv, said);
    csv_text(&e->csv, text[2]);
    csv_end(&e->csv);
}

static void
add_json(struct exporting *e, const struct metric *m, const char *said,
         int64_t time_us)
{
    buf_add_text(&e->row, e->rows == 0 ? "" : ",\n");
    buf_add_text(&e->row, "{\"trial\": ");
    json_write_text(&e->row, m->job);
    buf_printf(&e->row,
               ", \"attempt\": %" PRIu64 ", \"type\": \"%s\", "
               "\"sequence\": %" PRIu64 ", \"value\": ",
               m->attempt, type_of(m), m->sequence);
    json_write_number(&e->row, m->has_value ? m->value : (double)NAN);
    buf_add_text(&e->row, ", \"said\": ");
    json_write_text(&e->row, said);
    buf_printf(&e->row, ", \"time_us\": %" PRId64 "}", time_us);
}

static int
take_metric(void *ctx, const struct record *r, const char *payload, size_t len,
            struct err *err)
{
    const struct frame frame = {.code = "ME", .payload = payload, .len = len};
    struct command *cmd = command_decode(&frame, r->number, NULL);
    struct exporting *e = ctx;
    int rc = 0;

    if (cmd != NULL && cmd->metric.type != METRIC_REQUEST &&
        is_new(e, &cmd->metric)) {
        char *said = metric_said(&cmd->metric, payload, len);

        (e->form == EXPORT_JSON ? add_json : add_csv)(e, &cmd->metric, said,
                                                      r->time_us);
        free(said);
        rc = buf_check(&e->row, "a metric", err);
        fwrite(buf_text(&e->row), 1, e->row.len, e->out);
        buf_clear(&e->row);
        e->rows++;
    }
    command_free(cmd);
    return rc;
}

int
export_metrics(FILE *out, enum export_form form, const char *folder,
               struct err *err)
{
    struct exporting e = {.out = out, .form = form};
    bool lacks;
    int rc;

    buf_init(&e.row, ROW_MAX);
    e.csv.out = &e.row;
    e.csv.safe = form == EXPORT_CSV_SAFE;
    buf_init(&e.key, ROW_MAX);
    fputs(form != EXPORT_JSON
              ? "trial,attempt,type,sequence,value,said,time_us\n"
              : "[\n",
          out);
    rc = logwalk(folder, "ME", take_metric, &e, &lacks, err);
    if (form == EXPORT_JSON)
        fputs(e.rows > 0 ? "\n]\n" : "]\n", out);
    map_fini(&e.seen);
    buf_fini(&e.row);
    buf_fini(&e.key);
    return rc;
}
