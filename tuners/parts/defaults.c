/* SPDX-License-Identifier: MIT */
#include "parts/defaults.h"

#include <stdlib.h>
#include <string.h>

static int
fill_text(struct tp_value *v, char *text, const char *def)
{
    size_t len = strlen(def);

    if (len < 2 || def[0] != '"' || def[len - 1] != '"' ||
        len - 2 >= DEFAULTS_TEXT_MAX || strchr(def, '\\') != NULL)
        return -1;
    memcpy(text, def + 1, len - 2);
    text[len - 2] = '\0';
    v->text = text;
    return 0;
}

static int
fill_number(struct tp_value *v, const char *def)
{
    char *end;

    v->number = strtod(def, &end);
    v->integer = strtoll(def, NULL, 10);
    return *end == '\0' && end != def ? 0 : -1;
}

static int
fill_bool(struct tp_value *v, const char *def)
{
    v->integer = strcmp(def, "true") == 0;
    return v->integer || strcmp(def, "false") == 0 ? 0 : -1;
}

static int
fill_one(struct tp_value *v, char *text, const struct tp_arg *arg)
{
    if (arg->def == NULL)
        return -1;
    if (strcmp(arg->def, "null") == 0) {
        v->is_null = 1;
        return 0;
    }
    if (arg->type == TP_ARG_STRING)
        return fill_text(v, text, arg->def);
    if (arg->type == TP_ARG_BOOL)
        return fill_bool(v, arg->def);
    return fill_number(v, arg->def);
}

int
defaults_fill(struct defaults *d, const struct tp_arg *args, size_t n,
              const char *mode)
{
    memset(d, 0, sizeof *d);
    if (n > DEFAULTS_MAX)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(args[i].name, "optimize_mode") == 0)
            d->values[i].text = mode;
        else if (fill_one(&d->values[i], d->texts[i], &args[i]) != 0)
            return -1;
    }
    return 0;
}
