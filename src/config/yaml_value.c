/* SPDX-License-Identifier: MIT */
/* Scalars get their types here: YAML 1.2.2, section 10.3 (core schema). */
#include "config/yaml.h"

#include "core/buf.h"
#include "core/number.h"
#include "core/problems.h"
#include "json.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PATH_TEXT_MAX 256

static bool
is_one_of(const char *text, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcmp(text, *words) == 0)
            return true;
    return false;
}

static bool
is_null(const char *text)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL", NULL};

    return is_one_of(text, words);
}

static bool
is_bool(const char *text)
{
    static const char *const words[] = {"true",  "True",  "TRUE", "false",
                                        "False", "FALSE", NULL};

    return is_one_of(text, words);
}

/* Digits of base 8, 10 or 16 as the core schema writes them. */
static bool
is_int(const char *text)
{
    if (text[0] == '0' && (text[1] == 'o' || text[1] == 'x'))
        return text[2] != '\0' &&
               text[2 + strspn(text + 2, text[1] == 'o'
                                             ? "01234567"
                                             : "0123456789abcdefABCDEF")] ==
                   '\0';
    if (*text == '-' || *text == '+')
        text++;
    return *text != '\0' && text[strspn(text, "0123456789")] == '\0';
}

/* .inf, -.Inf, .NAN, ... : numbers that JSON does not have. */
static bool
is_beyond_json(const char *text)
{
    static const char *const words[] = {".inf", ".Inf", ".INF", ".nan",
                                        ".NaN", ".NAN", NULL};

    return is_one_of(text + (*text == '-' || *text == '+'), words);
}

static bool
is_float(const char *text, size_t len)
{
    double ignored;

    return number_parse(text, len, &ignored) || is_beyond_json(text);
}

enum yaml_type
yaml_type(const struct yaml_node *node)
{
    if (node->kind == YAML_MAP)
        return YAML_TYPE_MAP;
    if (node->kind == YAML_SEQUENCE)
        return YAML_TYPE_SEQUENCE;
    if (!node->plain || strlen(node->text) != node->len)
        return YAML_TYPE_TEXT;
    if (is_null(node->text))
        return YAML_TYPE_NULL;
    if (is_bool(node->text))
        return YAML_TYPE_BOOL;
    if (is_int(node->text))
        return YAML_TYPE_INT;
    if (is_float(node->text, node->len))
        return YAML_TYPE_FLOAT;
    return YAML_TYPE_TEXT;
}

const char *
yaml_type_name(const struct yaml_node *node)
{
    static const char *const names[] = {
        [YAML_TYPE_NULL] = "null",      [YAML_TYPE_BOOL] = "a bool",
        [YAML_TYPE_INT] = "an integer", [YAML_TYPE_FLOAT] = "a number",
        [YAML_TYPE_TEXT] = "a text",    [YAML_TYPE_SEQUENCE] = "a list",
        [YAML_TYPE_MAP] = "a map",
    };

    return names[yaml_type(node)];
}

bool
yaml_bool(const struct yaml_node *node, bool *out)
{
    static const struct {
        const char *word;
        bool value;
    } words[] = {{"true", true}, {"false", false}, {"yes", true},
                 {"no", false},  {"on", true},     {"off", false}};

    if (node->kind != YAML_SCALAR || !node->plain)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(node->text, words[i].word) == 0) {
            *out = words[i].value;
            return true;
        }
    return false;
}

/* The magnitude of an integer; false when it does not fit. */
static bool
int_magnitude(const char *text, bool *negative, uint64_t *out)
{
    static const char digits[] = "0123456789abcdef";
    unsigned base = 10;
    uint64_t v = 0;

    *negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    if (text[0] == '0' && (text[1] == 'o' || text[1] == 'x')) {
        base = text[1] == 'o' ? 8 : 16;
        text += 2;
    }
    for (; *text != '\0'; text++) {
        const char *found = strchr(digits, tolower((unsigned char)*text));
        unsigned digit = (unsigned)(found - digits);

        if (v > (UINT64_MAX - digit) / base)
            return false;
        v = v * base + digit;
    }
    *out = v;
    return true;
}

bool
yaml_uint(const struct yaml_node *node, uint64_t *out)
{
    bool negative;

    return yaml_type(node) == YAML_TYPE_INT &&
           int_magnitude(node->text, &negative, out) &&
           (!negative || *out == 0);
}

static void
write_int(const struct yaml_node *node, struct buf *out)
{
    uint64_t magnitude;
    bool negative;
    double value;

    if (int_magnitude(node->text, &negative, &magnitude) &&
        (!negative || magnitude <= (uint64_t)INT64_MAX + 1)) {
        buf_printf(out, "%s%llu", negative && magnitude > 0 ? "-" : "",
                   (unsigned long long)magnitude);
        return;
    }
    value = strtod(node->text, NULL); /* reads 0x too */
    if (node->text[1] == 'o') /* digits are base 8: exact but for rounding */
        for (const char *p = node->text + 2; *p != '\0'; p++)
            value = value * 8 + (*p - '0');
    json_write_double(out, value);
}

struct writer {
    const char *file;
    struct buf *out;
    struct problems *problems;
    int rc;
};

static void
refuse(struct writer *w, const struct yaml_node *node, const char *path,
       const char *expected)
{
    char place[512 + PATH_TEXT_MAX];

    snprintf(place, sizeof place, "%s:%u: %s", w->file, node->line, path);
    problems_add(w->problems, place, "expected %s, got '%.100s'", expected,
                 node->text);
    w->rc = -1;
}

static void
write_scalar(struct writer *w, const struct yaml_node *node, const char *path)
{
    double value;

    switch (yaml_type(node)) {
    case YAML_TYPE_NULL:
        buf_add_text(w->out, "null");
        break;
    case YAML_TYPE_BOOL:
        buf_add_text(w->out, tolower((unsigned char)node->text[0]) == 't'
                                 ? "true"
                                 : "false");
        break;
    case YAML_TYPE_INT:
        write_int(node, w->out);
        break;
    case YAML_TYPE_FLOAT:
        if (number_parse(node->text, node->len, &value))
            json_write_double(w->out, value);
        else
            refuse(w, node, path, "a finite number");
        break;
    case YAML_TYPE_TEXT:
        json_write_string(w->out, node->text, node->len);
        break;
    case YAML_TYPE_SEQUENCE:
    case YAML_TYPE_MAP:
        break;
    }
}

/* No deeper than YAML_DEPTH_MAX, which the parser saw to. */
static void
write_node(struct writer *w, const struct yaml_node *node, const char *path)
{
    struct json_writer json = json_begin(w->out);
    char below[PATH_TEXT_MAX];
    size_t i = 0;

    if (node->kind == YAML_SCALAR) {
        write_scalar(w, node, path);
        return;
    }
    if (node->kind == YAML_MAP)
        json_open_object(&json, NULL);
    else
        json_open_array(&json, NULL);
    for (const struct yaml_node *c = node->children; c != NULL; c = c->next) {
        if (c->key != NULL)
            snprintf(below, sizeof below, "%s.%s", path, c->key);
        else
            snprintf(below, sizeof below, "%s[%zu]", path, i);
        json_value(&json, c->key);
        write_node(w, c, below);
        i++;
    }
    json_close(&json);
}

int
yaml_write_json(const struct yaml_node *node, const char *file,
                const char *path, struct buf *out, struct problems *problems)
{
    struct writer w = {file, out, problems, 0};

    write_node(&w, node, path);
    return w.rc;
}
