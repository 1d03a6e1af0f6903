/* SPDX-License-Identifier: MIT */
#include "import/import.h"

#include "core/err.h"
#include "core/file.h"
#include "json.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX ((size_t)512 << 20)

void
import_init(struct import *im, const struct import_options *options)
{
    *im = (struct import){.options = options};
    buf_init(&im->lines, IMPORT_TEXT_MAX);
}

void
import_fini(struct import *im)
{
    buf_fini(&im->lines);
}

void
import_leave(struct import *im, const char *fmt, ...)
{
    size_t i = 0;
    char text[sizeof im->reasons[0].text];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    im->n_left++;
    while (i < im->n_reasons && strcmp(im->reasons[i].text, text) != 0)
        i++;
    if (i == IMPORT_REASONS_MAX)
        i--;
    if (i == im->n_reasons) {
        snprintf(im->reasons[i].text, sizeof text, "%s",
                 i == IMPORT_REASONS_MAX - 1 ? "other reasons" : text);
        im->n_reasons++;
    }
    im->reasons[i].n++;
}

void
import_name(struct buf *parameters, const char *name)
{
    struct json_writer w = json_begin(parameters);

    w.due = parameters->len > 0;
    json_value(&w, name);
}

static void
add_values(const struct import_trial *t, struct json_writer *w)
{
    json_open_array(w, "values");
    for (size_t i = 0; i < t->n_values; i++)
        json_add_number(w, NULL, t->values[i]);
    json_close(w);
    json_open_array(w, "directions");
    for (size_t i = 0; i < t->n_values; i++)
        json_add_text(w, NULL,
                      t->ways[i] == IMPORT_UNSAID     ? NULL
                      : t->ways[i] == IMPORT_MINIMIZE ? "minimize"
                                                      : "maximize");
    json_close(w);
}

void
import_take(struct import *im, const struct import_trial *t)
{
    struct json_writer w;
    struct buf from;

    for (size_t i = 0; i < (t->n_values > 0 ? t->n_values : 1); i++)
        if (!isfinite(t->n_values > 0 ? t->values[i] : t->value)) {
            import_leave(im, "its value is no finite number");
            return;
        }
    buf_init(&from, IMPORT_TEXT_MAX);
    buf_printf(&from, "%s: %s", im->source, t->name);
    w = json_begin_object(&im->lines);
    buf_printf(json_value(&w, "parameter"), "{%s}", buf_text(t->parameters));
    if (t->n_values > 0)
        add_values(t, &w);
    else
        json_add_number(&w, "value", t->value);
    if (t->n_values == 0 && t->way != IMPORT_UNSAID)
        json_add_bool(&w, "minimize", t->way == IMPORT_MINIMIZE);
    json_add_text(&w, "from", buf_text(&from));
    json_close(&w);
    buf_add_char(&im->lines, '\n');
    buf_fini(&from);
    im->n++;
}

static bool
is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Where NNI keeps its database in an experiment's folder. */
static int
import_folder(struct import *im, const char *folder, struct err *err)
{
    static const char *const places[] = {"db/nni.sqlite", "nni.sqlite"};
    int rc = 1;

    for (size_t i = 0; rc == 1 && i < sizeof places / sizeof *places; i++) {
        char *path = file_join(folder, places[i]);

        if (path != NULL && access(path, F_OK) == 0)
            rc = import_database(im, path, err);
        free(path);
    }
    return rc != 1 ? rc
                   : err_set(err, ERR_INPUT,
                             "%s: expected a file, or a folder of NNI's with "
                             "db/nni.sqlite",
                             folder);
}

/* Of whatever size; one is a file that can be read more than once. */
static bool
is_database(const char *path)
{
    static const char magic[] = "SQLite format 3"; /* with its NUL */
    char head[sizeof magic] = "";
    struct stat st;
    bool is = false;
    FILE *file;

    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    file = fopen(path, "re");
    if (file != NULL) {
        is = fread(head, 1, sizeof head, file) == sizeof head &&
             memcmp(head, magic, sizeof magic) == 0;
        fclose(file);
    }
    return is;
}

static int
import_text(struct import *im, const char *path, struct buf *text,
            struct err *err)
{
    if (file_read(path, FILE_MAX, text, err) != 0)
        return -1;
    if (strlen(buf_text(text)) != text->len)
        return err_set(err, ERR_INPUT, "%s: expected a text, has a NUL byte",
                       path);
    if (buf_text(text)[0] == '{')
        return import_optuna_journal(im, buf_text(text), err);
    return import_csv(im, buf_text(text), err);
}

int
import_source(struct import *im, const char *path, struct err *err)
{
    struct buf text;
    int rc;

    im->source = path;
    if (is_folder(path))
        return import_folder(im, path, err);
    buf_init(&text, FILE_MAX + 1);
    rc = is_database(path) ? import_database(im, path, err)
                           : import_text(im, path, &text, err);
    if (rc == 0)
        rc = buf_check(&im->lines, "what is imported", err);
    buf_fini(&text);
    return rc;
}
