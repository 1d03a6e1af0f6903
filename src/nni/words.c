/* SPDX-License-Identifier: MIT */
#include "nni/words.h"

#include "core/buf.h"
#include "core/err.h"
#include "json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char *const sections[] = {"advisor", "tuner", "assessor"};
#define N_SECTIONS (sizeof sections / sizeof *sections)

static const struct {
    const char *end; /* of the word, behind its section */
    const char *key;
    bool is_json;
} parts[] = {
    {"class_name", "className", false},
    {"class_filename", "classFileName", false},
    {"directory", "codeDir", false},
    {"args", "classArgs", true},
};
#define N_PARTS (sizeof parts / sizeof *parts)

/* What stands behind `--SECTION_END`, or behind its '='; NULL: nothing. */
static const char *
find(int argc, char *const *argv, const char *section, const char *end)
{
    const char *found = NULL;
    char word[64];
    size_t len;

    snprintf(word, sizeof word, "--%s_%s", section, end);
    len = strlen(word);
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], word, len) != 0)
            continue;
        if (argv[i][len] == '=')
            found = argv[i] + len + 1;
        else if (argv[i][len] == '\0' && i + 1 < argc)
            found = argv[++i];
    }
    return found;
}

static int
write_json(const char *section, const char *end, const char *text,
           struct buf *out, struct err *err)
{
    struct json *doc = json_parse(text, strlen(text), JSON_STRICT, err);

    if (doc == NULL) {
        if (err != NULL)
            err->code = ERR_CONFIG;
        return err_place(err, "--%s_%s", section, end);
    }
    jval_write(json_root(doc), out);
    json_free(doc);
    return 0;
}

/* Appends `, "tuner": {...}`; 0: it is not named. */
static int
write_section(int argc, char *const *argv, const char *section, struct buf *out,
              struct err *err)
{
    if (find(argc, argv, section, parts[0].end) == NULL)
        return 0;
    buf_printf(out, ", \"%s\": {", section);
    for (size_t i = 0, n = 0; i < N_PARTS; i++) {
        const char *text = find(argc, argv, section, parts[i].end);

        if (text == NULL)
            continue;
        buf_printf(out, "%s\"%s\": ", n++ > 0 ? ", " : "", parts[i].key);
        if (!parts[i].is_json)
            json_write_string(out, text, strlen(text));
        else if (write_json(section, parts[i].end, text, out, err) != 0)
            return -1;
    }
    buf_add_char(out, '}');
    return 1;
}

static bool
has(int argc, char *const *argv, const char *word)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], word) == 0)
            return true;
    return false;
}

int
words_write(int argc, char *const *argv, struct buf *out, struct err *err)
{
    size_t before = out->len;
    int rc = 0;

    buf_printf(out, "{\"trainingServicePlatform\": null, \"multiThread\": %s",
               has(argc, argv, "--multi_thread") ? "true" : "false");
    for (size_t i = 0; i < N_SECTIONS; i++) {
        int one = write_section(argc, argv, sections[i], out, err);

        if (one < 0)
            return -1;
        rc |= one;
    }
    buf_add_char(out, '}');
    if (rc == 0)
        out->len = before;
    return buf_check(out, "the command line", err) != 0 ? -1 : rc;
}
