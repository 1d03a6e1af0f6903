/* SPDX-License-Identifier: MIT */
#include "nni/old_words.h"

#include "core/buf.h"
#include "core/err.h"
#include "json.h"
#include "nni/base64.h"
#include "nni/exp_params.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const sections[] = {"tuner", "assessor", "advisor"};
#define N_SECTIONS (sizeof sections / sizeof *sections)
#define CLASS "class_name"

static const struct {
    const char *word, *key;
    bool is_json;
} values[] = {
    {CLASS, "className", false},
    {"args", "classArgs", true},
    {"directory", "codeDir", false},
    {"class_filename", "classFileName", false},
};
#define N_VALUES (sizeof values / sizeof *values)

/* The value of the last --SECTION_WORD; NULL: there is none. */
static const char *
value_of(int argc, char **argv, const char *section, const char *word)
{
    const char *value = NULL;
    char name[64];
    size_t len;

    snprintf(name, sizeof name, "--%s_%s", section, word);
    len = strlen(name);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], name) == 0 && i + 1 < argc)
            value = argv[++i];
        else if (strncmp(argv[i], name, len) == 0 && argv[i][len] == '=')
            value = argv[i] + len + 1;
    }
    return value;
}

bool
old_words_are_there(int argc, char **argv)
{
    return value_of(argc, argv, "tuner", CLASS) != NULL ||
           value_of(argc, argv, "advisor", CLASS) != NULL;
}

static int
write_json(const char *text, const char *section, const char *word,
           struct buf *out, struct err *err)
{
    struct json *doc = json_parse(text, strlen(text), JSON_STRICT, err);

    if (doc == NULL) {
        if (err != NULL)
            err->code = ERR_CONFIG;
        return err_place(err, "--%s_%s", section, word);
    }
    jval_write(json_root(doc), out);
    json_free(doc);
    return 0;
}

static int
write_section(int argc, char **argv, const char *section, struct json_writer *w,
              struct err *err)
{
    if (value_of(argc, argv, section, CLASS) == NULL)
        return 0;
    json_open_object(w, section);
    for (size_t i = 0; i < N_VALUES; i++) {
        const char *text = value_of(argc, argv, section, values[i].word);

        if (text == NULL || text[0] == '\0')
            continue;
        if (!values[i].is_json)
            json_add_text(w, values[i].key, text);
        else if (write_json(text, section, values[i].word,
                            json_value(w, values[i].key), err) != 0)
            return -1;
    }
    json_close(w);
    return 0;
}

static int
write_all(int argc, char **argv, struct buf *out, struct err *err)
{
    struct json_writer w = json_begin_object(out);
    bool threads = false;

    for (int i = 1; i < argc; i++)
        threads = threads || strcmp(argv[i], "--multi_thread") == 0;
    json_add_bool(&w, "multiThread", threads);
    for (size_t i = 0; i < N_SECTIONS; i++)
        if (write_section(argc, argv, sections[i], &w, err) != 0)
            return -1;
    json_close(&w);
    return buf_check(out, "the configuration", err);
}

char *
old_words_convert(int argc, char **argv, struct err *err)
{
    struct buf json, text;
    char *out = NULL;

    buf_init(&json, EXP_PARAMS_MAX);
    buf_init(&text, 2 * EXP_PARAMS_MAX);
    if (write_all(argc, argv, &json, err) == 0) {
        base64_encode(json.data, json.len, &text);
        out = buf_take(&text);
        if (out == NULL)
            err_set(err, ERR_MEMORY, "out of memory");
    }
    buf_fini(&json);
    buf_fini(&text);
    return out;
}
