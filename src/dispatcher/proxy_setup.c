/* SPDX-License-Identifier: MIT */
#include "dispatcher/proxy_setup.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/problems.h"
#include "plugin/arguments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { COMMAND, DEADLINE, OPTIMIZE_MODE, SEED, REQUIRED, TITLE, N_ARGS };

static const struct tp_arg table[N_ARGS] = {
    [COMMAND] = {.name = "command",
                 .type = TP_ARG_STRING,
                 .doc = "the program and its arguments: a list, or a text of "
                        "words with spaces between"},
    [DEADLINE] = {.name = "deadline",
                  .type = TP_ARG_DOUBLE,
                  .def = "60.0",
                  .low = 0.001,
                  .high = 1e6,
                  .doc = "seconds of silence after which what it was asked "
                         "has failed"},
    [OPTIMIZE_MODE] = {.name = "optimize_mode",
                       .type = TP_ARG_STRING,
                       .def = "\"maximize\"",
                       .choices = "maximize|minimize",
                       .doc = "what it takes for the best of a trial that was "
                              "stopped"},
    [SEED] = {.name = "seed",
              .type = TP_ARG_SEED,
              .nullable = 1,
              .def = "null",
              .doc = "TUNEPIPE_SEED in its environment; null: the session's"},
    [REQUIRED] = {.name = "required",
                  .type = TP_ARG_BOOL,
                  .def = "false",
                  .doc = "its end before its first ID ends the session"},
    [TITLE] = {.name = "title",
               .type = TP_ARG_STRING,
               .nullable = 1,
               .def = "null",
               .doc = "what messages call it; null: exec and its command"},
};

bool
proxy_is_named(const char *name)
{
    return name != NULL && strcasecmp(name, "exec") == 0;
}

const struct tp_arg *
proxy_arguments(size_t *n)
{
    *n = N_ARGS;
    return table;
}

/* ---- the command ---- */

/* A copy of the arguments in which a `command` that is a list has become a text
 * that holds the list as JSON: so it is kept.  NULL: out of memory. */
static struct json *
wrap_list(struct jval args)
{
    struct jval_iter it = jval_iter(args);
    struct json *doc;
    struct buf text, list;
    struct json_writer w;

    buf_init(&text, SIZE_MAX / 2);
    buf_init(&list, SIZE_MAX / 2);
    w = json_begin_object(&text);
    while (jval_next(&it)) {
        if (strcmp(it.key, "command") == 0 &&
            jval_type(it.value) == JSON_ARRAY) {
            jval_write(it.value, &list);
            json_add_text(&w, it.key, buf_text(&list));
        } else {
            jval_write(it.value, json_value(&w, it.key));
        }
    }
    json_close(&w);
    doc = text.failed || list.failed
              ? NULL
              : json_parse(text.data, text.len, JSON_STRICT, NULL);
    buf_fini(&text);
    buf_fini(&list);
    return doc;
}

static int
refuse_empty(const struct proxy_setup *s, struct err *err)
{
    return err_set(err, ERR_CONFIG,
                   "%s: classArgs.command: is empty, expected a program and "
                   "its arguments",
                   s->title);
}

/* Takes the words from a JSON list, each with its NUL; `words` has as much room
 * as `text` is long. */
static int
split_list(struct proxy_setup *s, const char *text, struct err *err)
{
    struct json *doc = json_parse(text, strlen(text), JSON_STRICT, err);
    char *to = s->words;
    size_t n, len, i;
    const char *word;

    if (doc == NULL) {
        err->code = ERR_CONFIG;
        return err_place(err, "%s: classArgs.command", s->title);
    }
    n = jval_count(json_root(doc));
    for (i = 0; i < n; i++) {
        if (!jval_string(jval_at(json_root(doc), i), &word, &len) ||
            strlen(word) != len)
            break;
        s->argv[i] = to;
        memcpy(to, word, len + 1);
        to += len + 1;
    }
    if (i < n)
        err_set(err, ERR_CONFIG,
                "%s: classArgs.command[%zu]: is %s, expected a text (in quotes "
                "where it looks like something else)",
                s->title, i, jval_type_name(jval_at(json_root(doc), i)));
    json_free(doc);
    if (i < n)
        return -1;
    return n == 0 || s->argv[0][0] == '\0' ? refuse_empty(s, err) : 0;
}

/* Takes the words from a text with spaces between.  Quotes are refused, as who
 * writes them expects a shell. */
static int
split_words(struct proxy_setup *s, const char *text, struct err *err)
{
    static const char space[] = " \t\n";
    char *p = s->words;
    size_t n = 0;

    if (strpbrk(text, "'\"\\") != NULL)
        return err_set(err, ERR_CONFIG,
                       "%s: classArgs.command: is %.100s, whose quotes nobody "
                       "would read, expected a list: [python3, my tuner.py]",
                       s->title, text);
    memcpy(p, text, strlen(text) + 1);
    for (p += strspn(p, space); *p != '\0'; p += strspn(p, space)) {
        s->argv[n++] = p;
        p += strcspn(p, space);
        if (*p != '\0')
            *p++ = '\0';
    }
    return n == 0 ? refuse_empty(s, err) : 0;
}

static int
read_command(struct proxy_setup *s, const char *text, struct err *err)
{
    size_t size = strlen(text) + 1;

    s->words = malloc(size);
    s->argv = calloc(size + 1, sizeof *s->argv);
    if (s->words == NULL || s->argv == NULL)
        return err_set(err, ERR_MEMORY, "%s: out of memory", s->title);
    return text[0] == '[' ? split_list(s, text, err)
                          : split_words(s, text, err);
}

/* Makes the program's title: "tuner exec (python3 tuner.py)", or "tuner TITLE",
 * cut where it is long. */
static void
name_program(struct proxy_setup *s, const char *title)
{
    size_t len = strlen(s->title);

    if (title != NULL) {
        len -= sizeof "exec" - 1;
        snprintf(s->title + len, sizeof s->title - len, "%s", title);
        return;
    }

    for (size_t i = 0; s->argv[i] != NULL && len < sizeof s->title; i++)
        len += (size_t)snprintf(s->title + len, sizeof s->title - len, "%s%s",
                                i == 0 ? " (" : " ", s->argv[i]);
    if (len + 1 < sizeof s->title)
        memcpy(s->title + len, ")", 2);
    else
        memcpy(s->title + sizeof s->title - 5, "...)", 5);
}

/* ---- all of them ---- */

static int
read_arguments(struct proxy_setup *s, struct jval args, struct err *err)
{
    struct json *doc = NULL;
    struct problems problems;
    char where[sizeof s->title + 16];
    struct jval command;

    if (args.node != NULL && jval_get(args, "command", &command) &&
        jval_type(command) != JSON_ARRAY && jval_type(command) != JSON_STRING)
        return err_set(err, ERR_CONFIG,
                       "%s: classArgs.command: is %s, expected a list of texts "
                       "or a text",
                       s->title, jval_type_name(command));
    if (args.node != NULL && jval_type(args) == JSON_OBJECT) {
        doc = wrap_list(args);
        if (doc == NULL)
            return err_set(err, ERR_MEMORY, "%s: out of memory", s->title);
        args = json_root(doc);
    }
    snprintf(where, sizeof where, "%s: classArgs", s->title);
    problems_init(&problems);
    s->args = arguments_parse(table, N_ARGS, args, where, &problems);
    if (s->args == NULL)
        problems_join(&problems, err);
    problems_fini(&problems);
    json_free(doc);
    return s->args == NULL ? -1 : 0;
}

struct proxy_setup *
proxy_setup_read(const char *kind, struct jval args, uint64_t seed,
                 struct err *err)
{
    struct proxy_setup *s = calloc(1, sizeof *s);
    const struct tp_value *values;

    if (s == NULL) {
        err_set(err, ERR_MEMORY, "%s exec: out of memory", kind);
        return NULL;
    }
    snprintf(s->title, sizeof s->title, "%s exec", kind);
    s->seed = seed;
    if (read_arguments(s, args, err) != 0 ||
        read_command(s, arguments_values(s->args)[COMMAND].text, err) != 0) {
        proxy_setup_free(s);
        return NULL;
    }
    values = arguments_values(s->args);
    s->deadline_ms = (int64_t)(values[DEADLINE].number * 1000);
    arguments_seed(s->args, &s->seed);
    s->required = values[REQUIRED].integer != 0;
    name_program(s, values[TITLE].text);
    return s;
}

void
proxy_setup_free(struct proxy_setup *s)
{
    if (s == NULL)
        return;
    arguments_free(s->args);
    free(s->argv);
    free(s->words);
    free(s);
}

void
proxy_setup_write(const struct proxy_setup *s, struct buf *out)
{
    struct json_writer w = json_begin_object(out);

    json_add_text(&w, "name", "exec");
    json_add_integer(&w, "version", PROXY_VERSION);
    json_add_unsigned(&w, "seed", s->seed);
    arguments_write(s->args, json_value(&w, "arguments"));
    json_close(&w);
}
