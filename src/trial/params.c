/* SPDX-License-Identifier: MIT */
#include "trial/params.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "trial/files.h"
#include "trial/note.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX ((size_t)64 * 1024 * 1024)

struct params {
    char *text; /* names and values point into it */
    const char **names, **values;
    size_t n;
};

/* Undoes the backslash sequences in place; false when one is unknown. */
static bool
unescape(char *text)
{
    static const char from[] = "\\tnr", to[] = "\\\t\n\r";
    char *out = text;

    for (; *text != '\0'; text++) {
        const char *which;

        if (*text != '\\') {
            *out++ = *text;
            continue;
        }
        text++;
        which = *text != '\0' ? strchr(from, *text) : NULL;
        if (which == NULL)
            return false;
        *out++ = to[which - from];
    }
    *out = '\0';
    return true;
}

static int
add_line(struct params *params, char *line, struct err *err)
{
    char *tab = strchr(line, '\t');

    if (tab == NULL)
        return err_set(err, ERR_INPUT,
                       "line %zu: expected NAME, a TAB and a value",
                       params->n + 1);
    *tab = '\0';
    if (strchr(tab + 1, '\t') != NULL || !unescape(line) || !unescape(tab + 1))
        return err_set(err, ERR_INPUT,
                       "line %zu: expected one TAB, and after a backslash one "
                       "of \\ t n r",
                       params->n + 1);
    params->names[params->n] = line;
    params->values[params->n] = tab + 1;
    params->n++;
    return 0;
}

/* Cuts the text into lines; what follows the last LF is a line as well. */
static int
parse(struct params *params, size_t len, struct err *err)
{
    size_t lines = 1;
    char *line = params->text, *next;

    if (strlen(params->text) != len)
        return err_set(err, ERR_INPUT, "a NUL byte at offset %zu",
                       strlen(params->text));
    for (size_t i = 0; i < len; i++)
        lines += params->text[i] == '\n';
    params->names = calloc(lines, sizeof(*params->names));
    params->values = calloc(lines, sizeof(*params->values));
    if (params->names == NULL || params->values == NULL)
        return err_set(err, ERR_MEMORY, "no memory for %zu lines", lines);
    for (; line != NULL && *line != '\0'; line = next) {
        next = strchr(line, '\n');
        if (next != NULL)
            *next++ = '\0';
        if (add_line(params, line, err) != 0)
            return -1;
    }
    return 0;
}

struct params *
params_load(const char *folder, struct err *err)
{
    struct params *params = calloc(1, sizeof(*params));
    char *path = file_join(folder, TRIAL_PARAMETERS_TSV);
    struct buf b;
    size_t len;

    buf_init(&b, FILE_MAX);
    if (params == NULL || path == NULL) {
        err_set(err, ERR_MEMORY, "no memory for the parameters");
        goto fail;
    }
    if (file_read(path, FILE_MAX - 1, &b, err) != 0)
        goto fail;
    len = b.len;
    params->text = buf_take(&b);
    if (params->text == NULL) {
        err_set(err, ERR_MEMORY, "%s: no memory for it", path);
        goto fail;
    }
    if (parse(params, len, err) != 0) {
        err_place(err, "%s", path);
        goto fail;
    }
    free(path);
    return params;

fail:
    buf_fini(&b);
    free(path);
    params_free(params);
    return NULL;
}

void
params_free(struct params *params)
{
    if (params == NULL)
        return;
    free(params->names);
    free(params->values);
    free(params->text);
    free(params);
}

const char *
params_find(const struct params *params, const char *name)
{
    for (size_t i = 0; i < params->n; i++)
        if (strcmp(params->names[i], name) == 0)
            return params->values[i];
    return NULL;
}

const char *const *
params_names(const struct params *params, size_t *n)
{
    *n = params->n;
    return params->names;
}

void
params_note_absent(const char *folder, const char *name)
{
    note_add(folder, TRIAL_ABSENT, name, TRIAL_ABSENT_LINE);
}
