/* SPDX-License-Identifier: MIT */
#include "cli/export_schedule.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/number.h"
#include "core/problems.h"
#include "dispatcher/session.h"
#include "history/folder.h"
#include "json.h"
#include "log/log.h"
#include "log/record.h"
#include "space/space.h"
#include "store/lineage.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX ((size_t)64 << 20)

static struct space *
read_space(const char *folder, struct err *err)
{
    char *path = file_join(folder, FOLDER_SPACE);
    struct json *doc = NULL;
    struct space *space = NULL;
    struct problems problems;
    struct buf text;

    buf_init(&text, TEXT_MAX);
    problems_init(&problems);
    if (path == NULL)
        err_set(err, ERR_MEMORY, "out of memory");
    else if (file_read(path, TEXT_MAX, &text, err) == 0)
        doc = json_parse(buf_text(&text), text.len, JSON_STRICT, err);
    if (doc != NULL) {
        space = space_parse(json_root(doc), &problems);
        if (space == NULL)
            problems_join(&problems, err);
    }
    problems_fini(&problems);
    json_free(doc);
    buf_fini(&text);
    free(path);
    return space;
}

/* As pbt_replay's schedule.h has names. */
static void
write_name(struct buf *out, const char *name)
{
    for (; *name != '\0'; name++)
        if (strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                   "0123456789_./-",
                   *name) != NULL)
            buf_add_char(out, *name);
        else
            buf_printf(out, "%%%02X", (unsigned char)*name);
}

static void
write_point(struct buf *out, const struct space *space, const double *x)
{
    const struct tp_space *s = space_dims(space);

    for (size_t i = 0; i < s->n_dims; i++) {
        const struct tp_dim *d = TP_DIM(s, i);
        char value[NUMBER_TEXT_MAX];

        if (isnan(x[i]))
            continue;
        buf_add_char(out, ' ');
        write_name(out, d->name);
        number_format(space_value(space, i, x[i]), value);
        if (d->kind == TP_CHOICE)
            buf_printf(out, "=#%" PRIu64, (uint64_t)x[i]);
        else
            buf_printf(out, "=%s", value);
    }
}

static int
write_schedule(struct buf *out, const struct lineage *l, const char *folder,
               struct err *err)
{
    struct space *space = read_space(folder, err);
    double *x = NULL;
    int rc = space == NULL ? -1 : 0;

    if (space != NULL) {
        x = calloc(space_dims(space)->n_dims + 1, sizeof *x);
        rc = x == NULL ? err_set(err, ERR_MEMORY, "out of memory") : 0;
    }
    for (size_t i = 0; rc == 0 && i < l->n; i++) {
        rc = space_encode(space, lineage_parameters(&l->trials[i]), x, err);
        if (rc != 0) {
            err_place(err, "trial %s", l->trials[i].job);
            break;
        }
        buf_printf(out, "%s%" PRIu64 ":", i > 0 ? "; " : "", l->trials[i].from);
        write_point(out, space, x);
    }
    free(x);
    space_free(space);
    return rc;
}

static void
write_json(struct buf *out, const struct lineage *l, const char *schedule)
{
    struct json_writer w = json_begin_object(out);

    json_open_array(&w, "segments");
    for (size_t i = 0; i < l->n; i++) {
        json_open_object(&w, NULL);
        json_add_text(&w, "trial", l->trials[i].job);
        json_add_unsigned(&w, "from", l->trials[i].from);
        jval_write(lineage_parameters(&l->trials[i]),
                   json_value(&w, "parameters"));
        json_close(&w);
    }
    json_close(&w);
    json_add_text(&w, "schedule", schedule);
    json_close(&w);
    buf_add_char(out, '\n');
}

/* Which results are better stays as it was. */
static void
write_mode(struct buf *out, const char *folder)
{
    struct session_setup setup = {.tuner = NULL};
    struct record head;
    struct log_reader *log = log_open_in(folder, 0, NULL);
    struct json *doc =
        log != NULL ? session_load_head(log, &head, &setup, NULL) : NULL;
    const char *mode;
    struct jval v;

    if (doc != NULL && jval_get(setup.tuner_args, "optimize_mode", &v) &&
        jval_string(v, &mode, NULL))
        buf_printf(out, "    optimize_mode: %s\n", mode);
    json_free(doc);
    log_close(log);
}

/* The text has no character that YAML's quotes would need to be told of. */
static void
write_yaml(struct buf *out, const struct lineage *l, const char *schedule,
           const char *folder)
{
    struct jval budget;

    buf_printf(out, "# The line that led to trial %s:\n",
               l->trials[l->n - 1].job);
    for (size_t i = 0; i < l->n; i++) {
        buf_printf(out, "#   from %" PRIu64 ", trial %s: ", l->trials[i].from,
                   l->trials[i].job);
        jval_write(lineage_parameters(&l->trials[i]), out);
        buf_add_char(out, '\n');
    }
    buf_printf(out,
               "tuner:\n"
               "  name: pbt_replay\n"
               "  classArgs:\n"
               "    schedule: \"%s\"\n",
               schedule);
    write_mode(out, folder);
    if (jval_get(lineage_parameters(&l->trials[l->n - 1]), "TRIAL_BUDGET",
                 &budget)) {
        buf_add_text(out, "    max_budget: ");
        jval_write(budget, out);
        buf_add_char(out, '\n');
    }
}

int
export_schedule(FILE *out, bool as_json, const char *folder, const char *trial,
                struct err *err)
{
    struct lineage l;
    struct buf schedule, text;
    int rc;

    if (lineage_read(&l, folder, trial, err) != 0)
        return -1;
    buf_init(&schedule, TEXT_MAX);
    buf_init(&text, TEXT_MAX);
    rc = write_schedule(&schedule, &l, folder, err);
    if (rc == 0) {
        if (as_json)
            write_json(&text, &l, buf_text(&schedule));
        else
            write_yaml(&text, &l, buf_text(&schedule), folder);
        rc = buf_check(&text, "the schedule", err);
    }
    if (rc == 0)
        fwrite(buf_text(&text), 1, text.len, out);
    buf_fini(&schedule);
    buf_fini(&text);
    lineage_fini(&l);
    return rc;
}
