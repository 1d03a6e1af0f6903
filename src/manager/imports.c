/* SPDX-License-Identifier: MIT */
#include "manager/imports.h"

#include "command.h"
#include "config/experiment.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/map.h"
#include "core/problems.h"
#include "history/folder.h"
#include "json.h"
#include "manager/exchange.h"
#include "objectives/objectives.h"
#include "space/space.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX ((size_t)512 << 20)
#define FRAME_BYTES ((size_t)1 << 20) /* about so many in one FD */
#define NAMES_SHOWN 400

struct loading {
    const struct experiment *x;
    struct space *space;
    struct json *space_doc;
    double *point;
    struct buf *out;
    struct problems *problems, *notes;
    uint64_t line, n, fit;
    char unfit[256];    /* the first that does not fit, and why */
    struct map foreign; /* names that the space does not have */
    char names[NAMES_SHOWN];
};

static void
add_problem(struct loading *l, const char *text)
{
    char place[4400];

    snprintf(place, sizeof place, "%s:%llu", l->x->import,
             (unsigned long long)l->line);
    if (l->problems != NULL)
        problems_add(l->problems, place, "%s", text);
}

/* Lists the parameters that the space does not have, each once, as many as
 * there is room for. */
static void
list_foreign(struct loading *l, struct jval parameter)
{
    struct jval_iter it = jval_iter(parameter);
    struct jval known;
    size_t len = strlen(l->names);

    while (jval_next(&it)) {
        if (jval_get(json_root(l->space_doc), it.key, &known) ||
            map_get(&l->foreign, it.key, strlen(it.key)) != NULL)
            continue;
        map_put(&l->foreign, it.key, strlen(it.key), l);
        if (len + strlen(it.key) + 8 < sizeof l->names)
            len += (size_t)snprintf(l->names + len, sizeof l->names - len,
                                    "%s%s", len > 0 ? ", " : "", it.key);
    }
}

/* What is wrong with a value that is one of objectives; NULL: nothing. */
static const char *
check_objectives(const struct objectives *of, struct jval value,
                 struct err *err)
{
    struct objective_values all;

    if (objectives_take(of, value, &all, err) != 0)
        return err->text;
    for (size_t i = 0; i < of->n; i++)
        if (!isfinite(all.values[i]))
            return "expected finite numbers as its 'value'";
    return NULL;
}

/* What is wrong with an array of values in the order of the objectives; NULL:
 * nothing. */
static const char *
check_values(const struct objectives *of, struct jval root, struct jval values)
{
    struct jval directions;
    double number;

    if (of == NULL)
        return "has several values, and this experiment no objectives: "
               "expected tunepipe import --value N";
    if (jval_count(values) != of->n || of->n != of->n_values)
        return "expected as many 'values' as there are objectives, and no "
               "limits on others";
    for (size_t i = 0; i < of->n; i++)
        if (!jval_number(jval_at(values, i), &number) || !isfinite(number))
            return "expected finite numbers as its 'values'";
    if (!jval_get(root, "directions", &directions))
        return NULL;
    for (size_t i = 0; i < of->n && i < jval_count(directions); i++) {
        const char *text = NULL;

        if (jval_string(jval_at(directions, i), &text, NULL) &&
            (strcmp(text, "maximize") == 0) != of->items[i].maximize)
            return "is from a search with other 'directions' than the "
                   "objectives of this experiment have";
    }
    return NULL;
}

/* What is wrong with the line, whatever the search space is; NULL: nothing. */
static const char *
check_element(const struct loading *l, struct jval root, struct jval *parameter,
              struct err *err)
{
    const char *problem = NULL;
    struct jval value, v;
    bool minimize;
    double number;

    if (jval_type(root) != JSON_OBJECT)
        return "expected an object";
    if (!jval_get(root, "parameter", parameter) ||
        jval_type(*parameter) != JSON_OBJECT)
        return "expected an object as its 'parameter'";
    if (jval_get(root, "values", &value))
        return check_values(l->x->objectives, root, value);
    if (!jval_get(root, "value", &value))
        return "no 'value'";
    if (l->x->objectives != NULL)
        return check_objectives(l->x->objectives, value, err);
    if (!metric_read_value(value, &number, &problem))
        return problem;
    if (!isfinite(number))
        return "expected a finite number as its 'value'";
    if (jval_get(root, "minimize", &v) && jval_bool(v, &minimize) &&
        minimize != l->x->minimize)
        return minimize ? "is from a search that minimizes, and this "
                          "experiment maximizes"
                        : "is from a search that maximizes, and this "
                          "experiment minimizes";
    return NULL;
}

/* Appends the line, with values by name. */
static void
add_line(const struct loading *l, struct jval root, const char *text,
         size_t len)
{
    const struct objectives *of = l->x->objectives;
    struct jval_iter it = jval_iter(root);
    struct json_writer w;
    struct jval values;

    if (of == NULL || !jval_get(root, "values", &values)) {
        buf_add(l->out, text, len);
        return;
    }
    w = json_begin_object(l->out);
    while (jval_next(&it))
        if (strcmp(it.key, "values") == 0) {
            json_open_object(&w, "value");
            for (size_t i = 0; i < of->n; i++)
                jval_write(jval_at(values, i), json_value(&w, of->names[i]));
            json_close(&w);
        } else if (strcmp(it.key, "directions") != 0) {
            jval_write(it.value, json_value(&w, it.key));
        }
    json_close(&w);
}

static void
take_line(struct loading *l, const char *text, size_t len)
{
    struct err err = {0};
    struct json *doc = json_parse(text, len, JSON_STRICT, &err);
    const char *problem = err.text;
    struct jval parameter;

    if (doc != NULL)
        problem = check_element(l, json_root(doc), &parameter, &err);
    if (problem != NULL) {
        add_problem(l, problem);
        json_free(doc);
        return;
    }
    l->n++;
    if (space_encode(l->space, parameter, l->point, &err) == 0) {
        l->fit++;
        list_foreign(l, parameter);
        add_line(l, json_root(doc), text, len);
        buf_add_char(l->out, '\n');
    } else if (l->unfit[0] == '\0') {
        snprintf(l->unfit, sizeof l->unfit, "line %llu: %.200s",
                 (unsigned long long)l->line, err.text);
    }
    json_free(doc);
}

static void
add_notes(const struct loading *l)
{
    if (l->notes == NULL)
        return;
    problems_add(l->notes, l->x->import, "%llu of %llu trials are imported",
                 (unsigned long long)l->fit, (unsigned long long)l->n);
    if (l->fit < l->n)
        problems_add(l->notes, l->x->import,
                     "%llu do not fit the search space; the first: %s",
                     (unsigned long long)(l->n - l->fit), l->unfit);
    if (l->names[0] != '\0')
        problems_add(l->notes, l->x->import,
                     "not in the search space, and left out: %s", l->names);
}

static void
take_lines(struct loading *l, const char *text)
{
    while (*text != '\0') {
        size_t len = strcspn(text, "\n");

        l->line++;
        if (strspn(text, " \t\r") < len)
            take_line(l, text, len);
        text += len;
        text += *text == '\n';
    }
}

/* Parses the search space, whose problems are told where the configuration is
 * checked. */
static int
open_space(struct loading *l)
{
    struct problems inner;

    l->space_doc = json_parse(l->x->search_space, strlen(l->x->search_space),
                              JSON_STRICT, NULL);
    if (l->space_doc == NULL)
        return -1;
    problems_init(&inner);
    l->space = space_parse(json_root(l->space_doc), &inner);
    problems_fini(&inner);
    if (l->space != NULL)
        l->point = calloc(space_dims(l->space)->n_dims + 1, sizeof *l->point);
    return l->point != NULL ? 0 : -1;
}

void
imports_load(const struct experiment *x, struct buf *out,
             struct problems *problems, struct problems *notes)
{
    struct loading l = {
        .x = x, .out = out, .problems = problems, .notes = notes};
    struct err err = {0};
    struct buf text;

    if (x->import == NULL)
        return;
    buf_init(&text, FILE_MAX + 1);
    if (file_read(x->import, FILE_MAX, &text, &err) != 0) {
        if (problems != NULL)
            problems_add(problems, "import", "%s", err.text);
    } else if (open_space(&l) == 0) {
        take_lines(&l, buf_text(&text));
        add_notes(&l);
    }
    map_fini(&l.foreign);
    free(l.point);
    space_free(l.space);
    json_free(l.space_doc);
    buf_fini(&text);
}

int
imports_keep(const struct experiment *x, const char *folder, struct err *err)
{
    char *path = NULL;
    struct buf lines;
    int rc;

    if (x->import == NULL)
        return 0;
    buf_init(&lines, 2 * FILE_MAX);
    imports_load(x, &lines, NULL, NULL);
    rc = buf_check(&lines, "what is imported", err);
    if (rc == 0 && (path = file_join(folder, FOLDER_IMPORT)) == NULL)
        rc = err_set(err, ERR_MEMORY, "out of memory");
    if (rc == 0)
        rc = file_write(path, buf_text(&lines), lines.len, err);
    free(path);
    buf_fini(&lines);
    return rc;
}

/* Sends the lines in as many FD as it takes; the first *skip of these are
 * counted down, and not sent. */
static void
send_lines(struct exchange *to, const char *lines, uint64_t *skip)
{
    const char *code = command_info(CMD_IMPORT)->code;
    struct buf frame;

    buf_init(&frame, 2 * FILE_MAX);
    while (*lines != '\0') {
        buf_clear(&frame);
        while (*lines != '\0' && frame.len < FRAME_BYTES) {
            size_t len = strcspn(lines, "\n");

            buf_add_text(&frame, frame.len == 0 ? "[" : ", ");
            buf_add(&frame, lines, len);
            lines += len + (lines[len] == '\n');
        }
        buf_add_char(&frame, ']');
        if (*skip > 0)
            (*skip)--;
        else if (!frame.failed)
            exchange_send(to, code, frame.data, frame.len);
    }
    buf_fini(&frame);
}

void
imports_send(struct exchange *to, const char *lines, uint64_t skip)
{
    send_lines(to, lines, &skip);
}

/* The path of a batch: batch 0 came with the experiment, the others later. */
static char *
batch_path(const char *folder, uint64_t batch)
{
    char *path = NULL;

    if (batch == 0)
        return file_join(folder, FOLDER_IMPORT);
    return asprintf(&path, "%s/import.%llu.jsonl", folder,
                    (unsigned long long)batch) < 0
               ? NULL
               : path;
}

static int
send_file(struct exchange *to, const char *path, uint64_t *skip, uint64_t *n,
          struct err *err)
{
    struct buf lines;
    int rc;

    buf_init(&lines, 2 * FILE_MAX);
    rc = file_read(path, FILE_MAX, &lines, err);
    if (rc == 0)
        send_lines(to, buf_text(&lines), skip);
    for (size_t i = 0; rc == 0 && i < lines.len; i++)
        *n += lines.data[i] == '\n';
    buf_fini(&lines);
    return rc;
}

int
imports_send_kept(struct exchange *to, const char *folder, uint64_t skip,
                  struct err *err)
{
    bool more = true;
    uint64_t n = 0;
    int rc = 0;

    for (uint64_t batch = 0; rc == 0 && more; batch++) {
        char *path = batch_path(folder, batch);
        bool there = path != NULL && access(path, F_OK) == 0;

        if (path == NULL)
            rc = err_set(err, ERR_MEMORY, "out of memory");
        else if (there)
            rc = send_file(to, path, &skip, &n, err);
        more = there || batch == 0;
        free(path);
    }
    return rc;
}

/* The path of the next batch, to be freed; NULL: out of memory. */
static char *
next_batch(const char *folder)
{
    char *path = NULL;

    for (uint64_t batch = 1;; batch++) {
        free(path);
        path = batch_path(folder, batch);
        if (path == NULL || access(path, F_OK) != 0)
            return path;
    }
}

int
imports_accept(struct exchange *to, const char *folder, uint64_t *n,
               struct err *err)
{
    char *from = file_join(folder, FOLDER_IMPORT_NEW);
    char *path = next_batch(folder);
    uint64_t skip = 0;
    int rc = 0;

    *n = 0;
    if (from == NULL || path == NULL)
        rc = err_set(err, ERR_MEMORY, "out of memory");
    else if (rename(from, path) == 0)
        rc = send_file(to, path, &skip, n, err);
    else if (errno != ENOENT)
        rc = err_errno(err, ERR_SYSTEM, "%s", from);
    free(from);
    free(path);
    return rc;
}
