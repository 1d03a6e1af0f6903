/* SPDX-License-Identifier: MIT */
/* RFC 4180, with or without carriage returns.  A cell in quotes is a text;
 * else a number, true and false are what they look like, and an empty cell is
 * no parameter at all. */
#include "import/import.h"

#include "core/err.h"
#include "core/nearest.h"
#include "core/number.h"
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 4096

struct cell {
    char *text;
    bool quoted;
};

struct row {
    struct cell cells[COLUMNS_MAX];
    size_t n;
};

static void
row_clear(struct row *row)
{
    for (size_t i = 0; i < row->n; i++)
        free(row->cells[i].text);
    row->n = 0;
}

/* The cell at *at, up to its comma or line end; false: a quote stays open. */
static bool
read_cell(const char **at, struct cell *cell)
{
    const char *p = *at;
    struct buf text;

    buf_init(&text, IMPORT_TEXT_MAX);
    cell->quoted = *p == '"';
    if (cell->quoted)
        for (p++; *p != '\0' && (*p != '"' || p[1] == '"'); p++) {
            p += *p == '"';
            buf_add_char(&text, *p);
        }
    if (cell->quoted && *p++ != '"') {
        buf_fini(&text);
        return false;
    }
    for (; *p != '\0' && *p != ',' && *p != '\n'; p++)
        if (*p != '\r')
            buf_add_char(&text, *p);
    cell->text = strdup(buf_text(&text));
    buf_fini(&text);
    *at = p;
    return cell->text != NULL;
}

/* 1: a row; 0: there are no more; -1. */
static int
read_row(const char **at, struct row *row, uint64_t *line, struct err *err)
{
    const char *begin = *at;

    row_clear(row);
    if (*begin == '\0')
        return 0;
    for (;;) {
        if (row->n == COLUMNS_MAX)
            return err_set(err, ERR_INPUT, "line %llu: more than %d columns",
                           (unsigned long long)*line, COLUMNS_MAX);
        if (!read_cell(at, &row->cells[row->n]))
            return err_set(err, ERR_INPUT, "line %llu: a quote stays open",
                           (unsigned long long)*line);
        row->n++;
        if (**at != ',')
            break;
        (*at)++;
    }
    *at += **at == '\n';
    for (const char *p = begin; p < *at; p++)
        *line += *p == '\n';
    return 1;
}

static int
find_value(const struct row *header, const char *name, size_t *out,
           struct err *err)
{
    const char *names[COLUMNS_MAX];
    char hint[128];

    for (size_t i = 0; i < header->n; i++) {
        names[i] = header->cells[i].text;
        if (strcmp(names[i], name) == 0) {
            *out = i;
            return 0;
        }
    }
    return err_set(
        err, ERR_INPUT, "no column '%.100s' for the values%s; --value names it",
        name, nearest_hint(name, names, header->n, hint, sizeof hint));
}

/* A parameter has one value.  Columns without a name are what is left of a
 * spreadsheet. */
static int
check_header(const struct row *header, struct err *err)
{
    for (size_t i = 0; i < header->n; i++)
        for (size_t k = 0; k < i; k++)
            if (header->cells[i].text[0] != '\0' &&
                strcmp(header->cells[i].text, header->cells[k].text) == 0)
                return err_set(err, ERR_INPUT,
                               "line 1: columns %zu and %zu are both '%.100s'",
                               k + 1, i + 1, header->cells[i].text);
    return 0;
}

static void
add_cell(struct buf *out, const struct cell *cell)
{
    struct json *doc = NULL;
    enum json_type type = JSON_STRING;

    if (!cell->quoted)
        doc = json_parse(cell->text, strlen(cell->text), JSON_STRICT, NULL);
    if (doc != NULL)
        type = jval_type(json_root(doc));
    if (type == JSON_BOOL || type == JSON_INT || type == JSON_UINT ||
        type == JSON_DOUBLE)
        buf_add_text(out, cell->text);
    else
        json_write_string(out, cell->text, strlen(cell->text));
    json_free(doc);
}

static void
take_row(struct import *im, const struct row *header, const struct row *row,
         size_t value, uint64_t line)
{
    struct import_trial t = {0};
    struct buf parameters;
    const char *text;
    char name[48];

    if (row->n != header->n) {
        import_leave(im, "a row with another number of cells than the header");
        return;
    }
    text = row->cells[value].text;
    if (!number_parse(text, strlen(text), &t.value)) {
        import_leave(im, text[0] == '\0' ? "no value"
                                         : "its value is no finite number");
        return;
    }
    buf_init(&parameters, IMPORT_TEXT_MAX);
    for (size_t i = 0; i < row->n; i++) {
        if (i == value ||
            (row->cells[i].text[0] == '\0' && !row->cells[i].quoted))
            continue;
        import_name(&parameters, header->cells[i].text);
        add_cell(&parameters, &row->cells[i]);
    }
    snprintf(name, sizeof name, "line %llu", (unsigned long long)line);
    t.parameters = &parameters;
    t.name = name;
    import_take(im, &t);
    buf_fini(&parameters);
}

static int
read_rows(struct import *im, const char *text, struct row *header,
          struct row *row, struct err *err)
{
    const char *name = im->options->value;
    uint64_t line = 1, at;
    size_t value = 0;
    int rc = read_row(&text, header, &line, err);

    if (rc == 0)
        return err_set(err, ERR_INPUT, "is empty, expected a header");
    if (rc < 0 || check_header(header, err) != 0 ||
        find_value(header, name != NULL ? name : "value", &value, err) != 0)
        return -1;
    for (;;) {
        at = line;
        rc = read_row(&text, row, &line, err);
        if (rc <= 0)
            return rc;
        if (row->n > 1 || row->cells[0].text[0] != '\0')
            take_row(im, header, row, value, at);
    }
}

int
import_csv(struct import *im, const char *text, struct err *err)
{
    struct row *rows = calloc(2, sizeof *rows);
    int rc;

    if (rows == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    if (strncmp(text, "\xef\xbb\xbf", 3) == 0) /* as spreadsheets begin it */
        text += 3;
    rc = read_rows(im, text, &rows[0], &rows[1], err);
    row_clear(&rows[0]);
    row_clear(&rows[1]);
    free(rows);
    return rc == 0 ? 0 : err_place(err, "%s", im->source);
}
