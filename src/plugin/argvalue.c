/* SPDX-License-Identifier: MIT */
#include "plugin/argvalue.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/nearest.h"
#include "core/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name, *expected;
} types[] = {
    [TP_ARG_INT] = {"integer", "an integer"},
    [TP_ARG_DOUBLE] = {"number", "a number"},
    [TP_ARG_BOOL] = {"bool", "true or false"},
    [TP_ARG_STRING] = {"string", "a string"},
    [TP_ARG_SEED] = {"seed", "an integer from 0 to 9223372036854775807"},
};

const char *
argvalue_type_name(int type)
{
    if (type < TP_ARG_INT || type > TP_ARG_SEED)
        return NULL;
    return types[type].name;
}

const char *
argvalue_show(struct jval v, char *out)
{
    struct buf b;

    buf_init(&b, 4096); /* where this fails, the type's name will do */
    jval_write(v, &b);
    if (b.failed)
        snprintf(out, ARGVALUE_SHOWN, "%s", jval_type_name(v));
    else if (b.len < ARGVALUE_SHOWN)
        snprintf(out, ARGVALUE_SHOWN, "%s", buf_text(&b));
    else
        snprintf(out, ARGVALUE_SHOWN, "%.*s...", ARGVALUE_SHOWN - 5,
                 buf_text(&b));
    buf_fini(&b);
    return out;
}

static bool
bounded(const struct tp_arg *arg)
{
    return (arg->type == TP_ARG_INT || arg->type == TP_ARG_DOUBLE) &&
           (arg->low != 0 || arg->high != 0);
}

static void
add_bound(struct buf *b, const struct tp_arg *arg, const char *word, double v)
{
    char text[NUMBER_TEXT_MAX];

    if (!isfinite(v))
        return;
    if (arg->type == TP_ARG_INT)
        snprintf(text, sizeof text, "%.0f", v);
    else
        number_format(v, text);
    buf_printf(b, ", %s %s", word, text);
}

const char *
argvalue_expected(const struct tp_arg *arg, char *out)
{
    struct buf b;

    buf_init(&b, ARGVALUE_EXPECTED);
    if (arg->type == TP_ARG_STRING && arg->choices != NULL)
        for (const char *c = arg->choices; *c != '\0'; c++)
            buf_add(&b, *c == '|' ? " or " : c, *c == '|' ? 4 : 1);
    else
        buf_add_text(&b, types[arg->type].expected);
    if (bounded(arg)) {
        add_bound(&b, arg, "at least", arg->low);
        add_bound(&b, arg, "at most", arg->high);
    }
    if (arg->nullable)
        buf_add_text(&b, ", or null");
    snprintf(out, ARGVALUE_EXPECTED, "%s", buf_text(&b));
    buf_fini(&b);
    return out;
}

static int
unexpected(const struct tp_arg *arg, struct jval v, const char *hint,
           struct err *err)
{
    char shown[ARGVALUE_SHOWN], expected[ARGVALUE_EXPECTED];

    return err_set(err, ERR_CONFIG, "is %s, expected %s%s",
                   argvalue_show(v, shown), argvalue_expected(arg, expected),
                   hint);
}

/* Splits "a|b|c" into words; returns how many. */
static size_t
split_choices(const char *choices, char words[][ARGVALUE_CHOICE_LEN_MAX + 1],
              const char **names)
{
    size_t n = 0;

    while (n < ARGVALUE_CHOICES_MAX) {
        size_t len = strcspn(choices, "|");

        snprintf(words[n], ARGVALUE_CHOICE_LEN_MAX + 1, "%.*s", (int)len,
                 choices);
        names[n] = words[n];
        n++;
        if (choices[len] == '\0')
            break;
        choices += len + 1;
    }
    return n;
}

/* Finds the choice that a text means, written to `out`: in any case, as NNI
 * reads them. */
static int
find_choice(const struct tp_arg *arg, struct jval v, const char *text,
            char out[ARGVALUE_CHOICE_LEN_MAX + 1], struct err *err)
{
    char words[ARGVALUE_CHOICES_MAX][ARGVALUE_CHOICE_LEN_MAX + 1], hint[128];
    const char *names[ARGVALUE_CHOICES_MAX];
    size_t n = split_choices(arg->choices, words, names), found = n;

    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], text) == 0 ||
            (found == n && strcasecmp(names[i], text) == 0))
            found = i;
    if (found == n)
        return unexpected(arg, v,
                          nearest_hint(text, names, n, hint, sizeof hint), err);
    memcpy(out, words[found], sizeof words[found]);
    return 0;
}

static int
read_string(const struct tp_arg *arg, struct jval v, struct tp_value *out,
            struct err *err)
{
    char word[ARGVALUE_CHOICE_LEN_MAX + 1];
    const char *text;
    size_t len;

    if (!jval_string(v, &text, &len))
        return unexpected(arg, v, "", err);
    if (strlen(text) != len)
        return err_set(err, ERR_CONFIG, "has a NUL in it");
    if (arg->choices != NULL) {
        if (find_choice(arg, v, text, word, err) != 0)
            return -1;
        text = word;
    }
    out->text = strdup(text);
    return out->text != NULL ? 0 : err_set(err, ERR_MEMORY, "out of memory");
}

static bool
read_number(const struct tp_arg *arg, struct jval v, struct tp_value *out)
{
    bool b;

    if (arg->type == TP_ARG_BOOL) {
        if (!jval_bool(v, &b))
            return false;
        out->integer = b;
        return true;
    }
    if (arg->type == TP_ARG_DOUBLE) {
        if (!jval_number(v, &out->number) || !isfinite(out->number))
            return false;
    } else {
        if (!jval_int(v, &out->integer))
            return false;
        out->number = (double)out->integer;
    }
    if (arg->type == TP_ARG_SEED)
        return out->integer >= 0;
    return !bounded(arg) ||
           (out->number >= arg->low && out->number <= arg->high);
}

int
argvalue_read(const struct tp_arg *arg, struct jval v, struct tp_value *out,
              struct err *err)
{
    argvalue_clear(out);
    if (jval_type(v) == JSON_NULL) {
        if (!arg->nullable)
            return unexpected(arg, v, "", err);
        out->is_null = 1;
        return 0;
    }
    if (arg->type == TP_ARG_STRING)
        return read_string(arg, v, out, err);
    return read_number(arg, v, out) ? 0 : unexpected(arg, v, "", err);
}

int
argvalue_default(const struct tp_arg *arg, struct tp_value *out,
                 struct err *err)
{
    struct json *doc = json_parse(arg->def, strlen(arg->def), 0, err);
    int rc;

    if (doc == NULL)
        return err_place(err, "default '%.60s'", arg->def);
    rc = argvalue_read(arg, json_root(doc), out, err);
    json_free(doc);
    return rc == 0 ? 0 : err_place(err, "default");
}

void
argvalue_clear(struct tp_value *v)
{
    free((char *)(uintptr_t)v->text);
    *v = (struct tp_value){0};
}

void
argvalue_write(const struct tp_arg *arg, const struct tp_value *v,
               struct buf *out)
{
    if (v->is_null)
        buf_add_text(out, "null");
    else if (arg->type == TP_ARG_BOOL)
        buf_add_text(out, v->integer ? "true" : "false");
    else if (arg->type == TP_ARG_STRING)
        json_write_string(out, v->text, strlen(v->text));
    else if (arg->type == TP_ARG_DOUBLE)
        json_write_double(out, v->number);
    else
        buf_printf(out, "%" PRId64, v->integer);
}
