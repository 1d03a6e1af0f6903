/* SPDX-License-Identifier: MIT */
#include "config/overrides.h"

#include "config/experiment.h"
#include "config/reader.h"
#include "config/yaml.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/number.h"
#include "core/problems.h"
#include "json.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX ((size_t)8 << 20)
#define TUNER 4

const char *const override_options[OVERRIDES] = {
    "seed", "max-trials", "name", "concurrency", [TUNER] = "tuner"};

static const char *const keys[OVERRIDES] = {
    "seed", "maxTrialNumber", "experimentName", "trialConcurrency", "tuner"};

/* ---- as they are kept ---- */

/* Adds a tuner, NAME or FILE, with arguments behind a colon. */
static int
add_tuner(struct json_writer *w, const char *value, struct err *err)
{
    bool plain = memchr(value, '/', strcspn(value, ":")) == NULL;
    char *here = NULL, *text = NULL;
    int rc = 0;

    while (strncmp(value, "./", 2) == 0)
        value += 2;
    if (plain || value[0] == '/') {
        json_add_text(w, override_options[TUNER], value);
        return 0;
    }
    here = getcwd(NULL, 0);
    if (here == NULL)
        rc = err_errno(err, ERR_SYSTEM, "--tuner: the working folder");
    else if ((text = file_join(here, value)) == NULL)
        rc = err_set(err, ERR_MEMORY, "out of memory");
    else
        json_add_text(w, override_options[TUNER], text);
    free(text);
    free(here);
    return rc;
}

/* Checks a number, so that a wrong one is a mistake of the command line. */
static int
check_number(size_t i, const char *value, struct err *err)
{
    static const struct {
        const char *expected; /* NULL: it is no number */
        uint64_t low, high;
    } numbers[OVERRIDES] = {
        {"an integer from 0 to 2^63-1", 0, INT64_MAX},
        {"an integer above 0", 1, UINT64_MAX},
        {NULL, 0, 0},
        {"an integer above 0", 1, UINT64_MAX},
    };
    uint64_t n;

    if (numbers[i].expected == NULL ||
        (number_parse_u64(value, strlen(value), &n) && n >= numbers[i].low &&
         n <= numbers[i].high))
        return 0;
    return err_set(err, ERR_USAGE, "--%s: expected %s, got '%.100s'",
                   override_options[i], numbers[i].expected, value);
}

int
overrides_write(const char *const values[OVERRIDES], char **out,
                struct err *err)
{
    struct json_writer w;
    struct buf text;
    size_t n = 0;
    int rc = 0;

    *out = NULL;
    buf_init(&text, TEXT_MAX);
    w = json_begin_object(&text);
    for (size_t i = 0; rc == 0 && i < OVERRIDES; i++) {
        n += values[i] != NULL;
        if (values[i] != NULL)
            rc = check_number(i, values[i], err);
        if (rc == 0 && values[i] != NULL && i == TUNER)
            rc = add_tuner(&w, values[i], err);
        else if (rc == 0 && values[i] != NULL)
            json_add_text(&w, override_options[i], values[i]);
    }
    json_close(&w);
    if (rc == 0 && n > 0) {
        *out = buf_take(&text);
        if (*out == NULL)
            rc = err_set(err, ERR_MEMORY, "out of memory");
    }
    buf_fini(&text);
    return rc;
}

/* Appends a word with quotes as a shell reads it back, where it needs them. */
static void
add_word(struct buf *out, const char *word)
{
    bool plain = word[0] != '\0' &&
                 word[strcspn(word, " \t\n\"'\\$`*?[](){}<>|&;!#~")] == '\0';

    if (!plain)
        buf_add_char(out, '\'');
    for (; *word != '\0'; word++)
        if (*word == '\'')
            buf_add_text(out, "'\\''");
        else
            buf_add_char(out, *word);
    if (!plain)
        buf_add_char(out, '\'');
}

void
overrides_show(const char *json, struct buf *out)
{
    struct json *doc = json_parse(json, strlen(json), JSON_STRICT, NULL);
    const char *text, *space = "";
    struct jval_iter it;

    if (doc == NULL)
        return;
    it = jval_iter(json_root(doc));
    while (jval_next(&it)) {
        if (!jval_string(it.value, &text, NULL))
            continue;
        buf_printf(out, "%s--%s ", space, it.key);
        add_word(out, text);
        space = " ";
    }
    json_free(doc);
}

/* ---- in the file's tree ---- */

static void
set_lines(struct yaml_node *node, unsigned line)
{
    node->line = node->key_line = line;
    for (struct yaml_node *c = node->children; c != NULL; c = c->next)
        set_lines(c, line);
}

/* Puts a text into a map; its type is open where it may be a number. */
static int
put_text(struct yaml_node *map, struct yaml_node *next, const char *key,
         const char *text, size_t len, unsigned line)
{
    struct yaml_node *node = yaml_new_text(line, text, len);

    if (node == NULL)
        return -1;
    node->plain = isdigit((unsigned char)text[0]) != 0;
    return yaml_put(map, next, key, node);
}

/* Parses a tuner's arguments; NULL: they are wrong, which is a problem. */
static struct yaml_node *
parse_args(struct reader *r, const char *text, unsigned line)
{
    struct err err = {0};
    struct json *doc = json_parse(text, strlen(text), JSON_UNIQUE, &err);
    struct yaml_node *node = NULL;
    struct buf again;

    if (doc == NULL) {
        reader_problem(r, line, "tuner", "arguments: %s", err.text);
        return NULL;
    }
    buf_init(&again, TEXT_MAX);
    jval_write(json_root(doc), &again); /* JSON is YAML, too */
    if (buf_check(&again, "arguments", &err) != 0)
        reader_problem(r, line, "tuner", "%s", err.text);
    else
        node = yaml_parse(buf_text(&again), again.len, "--tuner", r->problems);
    if (node != NULL)
        set_lines(node, line);
    buf_fini(&again);
    json_free(doc);
    return node;
}

static bool
has_name(const struct yaml_node *tuner, const char *name, size_t len)
{
    const struct yaml_node *old = yaml_get(tuner, "name");

    return old != NULL && old->kind == YAML_SCALAR && old->len == len &&
           strncasecmp(old->text, name, len) == 0;
}

/* Makes the direction that the arguments of the tuner before tell the
 * experiment's, unless that has one. */
static int
keep_direction(struct yaml_node *root, struct yaml_node *args)
{
    struct yaml_node *mode =
        (struct yaml_node *)yaml_get(args, "optimize_mode");

    if (mode == NULL || mode->kind != YAML_SCALAR ||
        !experiment_is_direction(mode->text) ||
        yaml_get(root, "direction") != NULL)
        return 0;
    return yaml_put(root, NULL, "direction", yaml_take(args, mode));
}

/* Gives the new tuner, a map, its arguments: those of `text`, or those in the
 * file where they are meant for it, too. */
static int
put_args(struct reader *r, struct yaml_node *root, struct yaml_node *old,
         struct yaml_node *tuner, const char *text)
{
    size_t len = strcspn(text, ":");
    struct yaml_node *args =
        old == NULL ? NULL : (struct yaml_node *)yaml_get(old, "classArgs");
    struct yaml_node *given = NULL;

    if (text[len] == ':') {
        given = parse_args(r, text + len + 1, tuner->line);
        if (given == NULL)
            return 0;
    } else if (args != NULL && has_name(old, text, len)) {
        given = yaml_take(old, args);
        args = NULL;
    } else if (args != NULL && args->count > 0) {
        reader_note(r, args->key_line, "tuner.classArgs",
                    "left out, but for the direction: they are not of the "
                    "tuner that --tuner names");
    }
    if (args != NULL && args->kind == YAML_MAP &&
        keep_direction(root, args) != 0) {
        yaml_node_free(given);
        return -1;
    }
    return given == NULL ? 0 : yaml_put(tuner, NULL, "classArgs", given);
}

static struct yaml_node *
make_tuner(struct reader *r, struct yaml_node *root, struct yaml_node *old,
           const char *text, unsigned line)
{
    struct yaml_node *tuner = yaml_new_map(line);
    size_t len = strcspn(text, ":");
    const char *key = memchr(text, '/', len) != NULL ? "plugin" : "name";

    if (tuner == NULL || put_text(tuner, NULL, key, text, len, line) != 0 ||
        put_args(r, root, old, tuner, text) != 0) {
        yaml_node_free(tuner);
        return NULL;
    }
    return tuner;
}

static int
put(struct reader *r, struct yaml_node *root, size_t i, const char *text)
{
    struct yaml_node *old = (struct yaml_node *)yaml_get(root, keys[i]);
    struct yaml_node *next = old == NULL ? NULL : old->next;
    unsigned line = READER_OPTION + (unsigned)i;
    struct yaml_node *tuner;
    int rc;

    if (i == TUNER) {
        tuner = make_tuner(r, root, old, text, line);
        rc = tuner == NULL ? -1 : yaml_put(root, next, keys[i], tuner);
    } else {
        rc = put_text(root, next, keys[i], text, strlen(text), line);
    }
    if (old != NULL)
        yaml_node_free(yaml_take(root, old));
    return rc;
}

void
overrides_put(struct reader *r, struct yaml_node *root, const char *json)
{
    struct err err = {0};
    struct json *doc = json_parse(json, strlen(json), JSON_STRICT, &err);
    const char *text;
    struct jval v;

    r->options = override_options;
    r->option_keys = keys;
    if (doc == NULL)
        reader_problem(r, READER_OPTION, "overrides", "%s", err.text);
    for (size_t i = 0; doc != NULL && i < OVERRIDES; i++) {
        unsigned line = READER_OPTION + (unsigned)i;

        if (!jval_get(json_root(doc), override_options[i], &v))
            continue;
        if (!jval_string(v, &text, NULL))
            reader_problem(r, line, keys[i], "expected a text");
        else if (put(r, root, i, text) != 0)
            reader_problem(r, line, keys[i], "out of memory");
    }
    json_free(doc);
}
