/* SPDX-License-Identifier: MIT */
#include "cli/options.h"

#include "core/err.h"
#include "core/nearest.h"
#include "core/number.h"

#include <stdbool.h>
#include <string.h>

#define OPTIONS_MAX 64

static const struct option *
find(const struct option *options, size_t n, const char *word, size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(options[i].name) == len &&
            memcmp(options[i].name, word, len) == 0)
            return &options[i];
    return NULL;
}

static int
unknown(const struct option *options, size_t n, const char *word,
        struct err *err)
{
    const char *names[OPTIONS_MAX];
    const char *near;

    for (size_t i = 0; i < n && i < OPTIONS_MAX; i++)
        names[i] = options[i].name;
    near = nearest_name(word, names, n < OPTIONS_MAX ? n : OPTIONS_MAX);
    if (near == NULL)
        return err_set(err, ERR_USAGE, "unknown option --%s; see --help", word);
    return err_set(err, ERR_USAGE, "unknown option --%s (did you mean --%s?)",
                   word, near);
}

static bool
parse_size(const char *text, size_t *out)
{
    uint64_t value;

    if (!number_parse_size(text, &value))
        return false;
    *out = (size_t)value;
    return true;
}

static bool
append(struct option_list *list, const char *value)
{
    if (list->n == OPTION_LIST_MAX)
        return false;
    list->words[list->n++] = value;
    return true;
}

static int
store(const struct option *o, const char *value, void *words, struct err *err)
{
    static const char *const expected[] = {
        [OPTION_FLAG] = "no value",
        [OPTION_TEXT] = "a text",
        [OPTION_UINT] = "an integer >= 0",
        [OPTION_SIZE] = "a number of bytes such as 65536, 64k or 64M",
        [OPTION_DURATION] = "a duration such as 500s, 10m or 1.5h",
        [OPTION_LIST] = "at most 16 of these",
    };
    void *target = (char *)words + o->offset;
    bool ok = false;

    switch (o->kind) {
    case OPTION_FLAG:
        ok = value == NULL;
        *(bool *)target = true;
        break;
    case OPTION_TEXT:
        *(const char **)target = value;
        ok = true;
        break;
    case OPTION_UINT:
        ok = number_parse_u64(value, strlen(value), target);
        break;
    case OPTION_SIZE:
        ok = parse_size(value, target);
        break;
    case OPTION_DURATION:
        ok = number_parse_duration_ms(value, target);
        break;
    case OPTION_LIST:
        ok = append(target, value);
        break;
    }
    if (ok)
        return 0;
    return err_set(err, ERR_USAGE, "--%s: expected %s, got '%s'", o->name,
                   expected[o->kind], value);
}

int
options_parse(const struct option *options, size_t n, void *words, int *argc,
              char **argv, struct err *err)
{
    int kept = 1;

    for (int i = 1; i < *argc; i++) {
        const char *word = argv[i], *equals, *value;
        const struct option *o;
        size_t len;

        if (strcmp(word, "--") == 0) {
            while (++i < *argc)
                argv[kept++] = argv[i];
            break;
        }
        if (strncmp(word, "--", 2) != 0) {
            argv[kept++] = argv[i];
            continue;
        }
        word += 2;
        equals = strchr(word, '=');
        len = equals != NULL ? (size_t)(equals - word) : strlen(word);
        o = find(options, n, word, len);
        if (o == NULL)
            return unknown(options, n, word, err);
        value = equals != NULL ? equals + 1 : NULL;
        if (o->kind != OPTION_FLAG && value == NULL) {
            if (++i == *argc)
                return err_set(err, ERR_USAGE, "--%s: needs a value", o->name);
            value = argv[i];
        }
        if (store(o, value, words, err) != 0)
            return -1;
    }
    *argc = kept;
    argv[kept] = NULL;
    return 0;
}
