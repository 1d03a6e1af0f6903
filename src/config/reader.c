/* SPDX-License-Identifier: MIT */
#include "config/reader.h"

#include "config/experiment.h"
#include "config/yaml.h"
#include "core/buf.h"
#include "core/nearest.h"
#include "core/number.h"
#include "core/problems.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_MAX 128
#define JSON_TEXT_MAX (8 * YAML_TEXT_MAX)

/* Writes where it stands, in the file or on the command line. */
static void
write_place(const struct reader *r, unsigned line, const char *path, char *out,
            size_t size)
{
    size_t i = line - READER_OPTION;

    if (line < READER_OPTION)
        snprintf(out, size, "%s:%u: %s", r->file, line, path);
    else if (strcmp(path, r->option_keys[i]) == 0)
        snprintf(out, size, "--%s", r->options[i]);
    else
        snprintf(out, size, "--%s: %s", r->options[i], path);
}

void
reader_problem(struct reader *r, unsigned line, const char *path,
               const char *fmt, ...)
{
    char place[512 + KEY_PATH_MAX], text[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    write_place(r, line, path, place, sizeof place);
    problems_add(r->problems, place, "%s", text);
}

void
reader_note(struct reader *r, unsigned line, const char *path, const char *fmt,
            ...)
{
    char place[512 + KEY_PATH_MAX], text[512];
    va_list ap;

    if (r->notes == NULL)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    write_place(r, line, path, place, sizeof place);
    problems_add(r->notes, place, "%s", text);
}

static const struct key *
find_key(const struct key *keys, const char *name)
{
    for (const struct key *k = keys; k->name != NULL; k++)
        if (!(k->flags & KEY_REFUSED) && strcmp(k->name, name) == 0)
            return k;
    return NULL;
}

/* Of a key that is known elsewhere, at the top or in one of its maps, says
 * where it belongs. */
static bool
tell_home(const struct reader *r, const struct key *keys, const char *name,
          char *out, size_t size)
{
    if (r->top == NULL)
        return false;
    if (keys != r->top && find_key(r->top, name) != NULL) {
        snprintf(out, size, "; it stands at the top, beside trialCommand");
        return true;
    }
    for (const struct key *k = r->top; keys == r->top && k->name != NULL; k++)
        if (k->keys != NULL && find_key(k->keys, name) != NULL) {
            snprintf(out, size, "; it belongs into '%s'", k->name);
            return true;
        }
    return false;
}

static void
unknown_key(struct reader *r, const struct key *keys,
            const struct yaml_node *node, const char *path)
{
    const char *names[KEYS_MAX];
    char hint[128];
    size_t n = 0;

    for (const struct key *k = keys; k->name != NULL && n < KEYS_MAX; k++)
        if (!(k->flags & KEY_REFUSED))
            names[n++] = k->name;
    if (!tell_home(r, keys, node->key, hint, sizeof hint) &&
        nearest_hint(node->key, names, n, hint, sizeof hint)[0] == '\0' &&
        find_key(keys, "classArgs") != NULL)
        snprintf(hint, sizeof hint, "; arguments stand in 'classArgs'");
    reader_problem(r, node->key_line, path, "unknown key%s", hint);
}

static void
read_member(struct reader *r, const struct key *keys,
            const struct yaml_node *node, const char *path, void *base)
{
    const struct key *k = keys;

    while (k->name != NULL && strcmp(k->name, node->key) != 0)
        k++;
    if (k->name == NULL)
        unknown_key(r, keys, node, path);
    else if (k->flags & KEY_REFUSED)
        reader_problem(r, node->key_line, path, "%s", k->hint);
    else if (yaml_type(node) == YAML_TYPE_NULL)
        return; /* counts as absent */
    else if (r->dispatches && !(k->flags & KEY_DISPATCH))
        return;
    else if (k->set != NULL)
        k->set(r, k, node, path, (char *)base + k->offset);
    if (k->name != NULL && k->flags & KEY_IDLE)
        reader_note(r, node->key_line, path, "has no effect yet");
}

static void
require(struct reader *r, const struct key *k, const struct yaml_node *map,
        const char *path)
{
    const struct yaml_node *node = yaml_get(map, k->name);

    if (!(k->flags & KEY_REQUIRED) ||
        (r->dispatches && !(k->flags & KEY_DISPATCH)))
        return;
    if (node == NULL || yaml_type(node) == YAML_TYPE_NULL)
        reader_problem(r, node != NULL ? node->line : map->line, path,
                       "is required");
}

static void
join(char out[KEY_PATH_MAX], const char *path, const char *name)
{
    snprintf(out, KEY_PATH_MAX, "%s%s%s", path, path[0] != '\0' ? "." : "",
             name);
}

void
read_map(struct reader *r, const struct key *keys, const struct yaml_node *node,
         const char *path, void *base)
{
    char below[KEY_PATH_MAX];

    if (node->kind != YAML_MAP) {
        reader_problem(r, node->line, path, "expected a map, got %s",
                       yaml_type_name(node));
        return;
    }
    for (const struct yaml_node *c = node->children; c != NULL; c = c->next) {
        join(below, path, c->key);
        read_member(r, keys, c, below, base);
    }
    for (const struct key *k = keys; k->name != NULL; k++) {
        join(below, path, k->name);
        require(r, k, node, below);
    }
}

void
reader_expected(struct reader *r, const struct yaml_node *node,
                const char *path, const char *expected)
{
    struct yaml_node bare = *node;

    bare.plain = true;
    if (node->kind == YAML_SCALAR && node->line < READER_OPTION &&
        yaml_type(node) == YAML_TYPE_TEXT && yaml_type(&bare) != YAML_TYPE_TEXT)
        reader_problem(r, node->line, path,
                       "expected %s, got the text '%.100s': leave the quotes "
                       "out",
                       expected, node->text);
    else if (node->kind == YAML_SCALAR)
        reader_problem(r, node->line, path, "expected %s, got '%.100s'",
                       expected, node->text);
    else
        reader_problem(r, node->line, path, "expected %s, got %s", expected,
                       yaml_type_name(node));
}

bool
reader_regex(struct reader *r, const struct yaml_node *node, const char *path,
             int flags, regex_t *re)
{
    int rc = regcomp(re, node->text, REG_EXTENDED | flags);
    char why[128];

    if (rc == 0)
        return true;
    regerror(rc, re, why, sizeof why);
    reader_problem(r, node->line, path,
                   "'%.100s' is not a POSIX extended regular expression: %s",
                   node->text, why);
    return false;
}

static void
store(struct reader *r, const struct yaml_node *node, const char *path,
      char **target, char *text)
{
    if (text == NULL)
        reader_problem(r, node->line, path, "out of memory");
    free(*target);
    *target = text;
}

static bool
is_text(struct reader *r, const struct yaml_node *node, const char *path,
        const char *expected)
{
    if (node->kind == YAML_SCALAR && node->len > 0 &&
        strlen(node->text) == node->len)
        return true;
    if (node->kind == YAML_SCALAR && node->len > 0)
        reader_problem(r, node->line, path, "must not hold a NUL byte");
    else
        reader_expected(r, node, path, expected);
    return false;
}

void
set_text(struct reader *r, const struct key *key, const struct yaml_node *node,
         const char *path, void *target)
{
    (void)key;
    if (is_text(r, node, path, "a text"))
        store(r, node, path, target, strdup(node->text));
}

void
set_command(struct reader *r, const struct key *key,
            const struct yaml_node *node, const char *path, void *target)
{
    struct command_config *c = target;

    c->line = node->key_line;
    set_text(r, key, node, path, &c->text);
}

char *
reader_resolve(const struct reader *r, const char *path)
{
    const char *home = getenv("HOME");
    char *out = NULL;
    int rc;

    if (path[0] == '/')
        return strdup(path);
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    if (path[0] == '~' && (path[1] == '/' || path[1] == '\0') && home != NULL)
        rc = asprintf(&out, "%s%s", home, path + 1);
    else if (strcmp(path, ".") == 0 || path[0] == '\0')
        return strdup(r->folder);
    else
        rc = asprintf(&out, "%s/%s", r->folder, path);
    return rc < 0 ? NULL : out;
}

void
set_path(struct reader *r, const struct key *key, const struct yaml_node *node,
         const char *path, void *target)
{
    (void)key;
    if (is_text(r, node, path, "a path"))
        store(r, node, path, target, reader_resolve(r, node->text));
}

void
set_count(struct reader *r, const struct key *key, const struct yaml_node *node,
          const char *path, void *target)
{
    uint64_t value;

    (void)key;
    if (yaml_uint(node, &value) && value > 0)
        *(uint64_t *)target = value;
    else
        reader_expected(r, node, path, "an integer above 0");
}

void
set_duration(struct reader *r, const struct key *key,
             const struct yaml_node *node, const char *path, void *target)
{
    int64_t ms;

    (void)key;
    if (node->kind == YAML_SCALAR &&
        number_parse_duration_ms(node->text, &ms) && ms > 0)
        *(int64_t *)target = ms;
    else
        reader_expected(r, node, path,
                        "a duration above 0 such as 500s, 10m, 1.5h or 2d");
}

void
set_bool(struct reader *r, const struct key *key, const struct yaml_node *node,
         const char *path, void *target)
{
    (void)key;
    if (!yaml_bool(node, target))
        reader_expected(r, node, path, "true or false");
}

static void
unknown_word(struct reader *r, const struct key *key,
             const struct yaml_node *node, const char *path)
{
    const char *names[KEYS_MAX];
    char hint[128];
    struct buf list;
    size_t n = 0;

    buf_init(&list, 512);
    for (; n < KEYS_MAX && key->words[n].word != NULL; n++) {
        names[n] = key->words[n].word;
        buf_printf(&list, "%s%s", n > 0 ? ", " : "", names[n]);
    }
    nearest_hint(node->text, names, n, hint, sizeof hint);
    reader_problem(r, node->line, path, "expected one of %s, got '%.100s'%s",
                   buf_text(&list), node->text, hint);
    buf_fini(&list);
}

void
set_word(struct reader *r, const struct key *key, const struct yaml_node *node,
         const char *path, void *target)
{
    if (node->kind != YAML_SCALAR) {
        reader_expected(r, node, path, "a word");
        return;
    }
    for (const struct word *w = key->words; w->word != NULL; w++)
        if (strcmp(w->word, node->text) == 0) {
            *(int *)target = w->value;
            return;
        }
    unknown_word(r, key, node, path);
}

void
set_json_map(struct reader *r, const struct key *key,
             const struct yaml_node *node, const char *path, void *target)
{
    struct buf json;

    (void)key;
    if (node->kind != YAML_MAP) {
        reader_expected(r, node, path, "a map");
        return;
    }
    buf_init(&json, JSON_TEXT_MAX);
    if (yaml_write_json(node, r->file, path, &json, r->problems) == 0)
        store(r, node, path, target, buf_take(&json));
    buf_fini(&json);
}

void
set_map(struct reader *r, const struct key *key, const struct yaml_node *node,
        const char *path, void *target)
{
    read_map(r, key->keys, node, path, target);
}
