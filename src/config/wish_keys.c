/* SPDX-License-Identifier: MIT */
#include "config/wish_keys.h"

#include "config/wishes.h"
#include "config/yaml.h"
#include "core/bytes.h"
#include "core/number.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#define RETRIES_MAX 1000
#define SIZE_EXPECTED "an amount of memory above 0 such as 512MiB, 2GB or 1.5g"

const struct word wish_limit_words[] = {{"auto", LIMIT_AUTO},
                                        {"cgroup", LIMIT_CGROUP},
                                        {"rlimit", LIMIT_RLIMIT},
                                        {"none", LIMIT_NONE},
                                        {NULL, 0}};

bool
wishes_reserve(const struct wishes *w)
{
    return w->memory > 0 || w->memory_auto;
}

void
wishes_fini(struct wishes *w)
{
    for (size_t i = 0; i < w->n_patterns; i++)
        free(w->patterns[i]);
    w->n_patterns = 0;
}

void
wish_devices(struct reader *r, const struct key *key,
             const struct yaml_node *node, const char *path, void *target)
{
    struct wishes *w = target;

    (void)key;
    if (!yaml_uint(node, &w->devices) || w->devices > WISHES_DEVICES_MAX) {
        reader_expected(r, node, path, "an integer from 0 to 64");
        return;
    }
    w->devices_managed = true;
    w->devices_line = node->key_line;
}

static void
add_index(struct reader *r, const struct yaml_node *node, const char *path,
          const char *text, size_t len, struct wishes *w)
{
    uint64_t index;

    if (!number_parse_u64(text, len, &index) || index >= WISHES_DEVICES_MAX)
        reader_problem(r, node->line, path,
                       "expected numbers from 0 to 63 such as 0, \"0,1\" or "
                       "[0, 1], got '%.*s'",
                       len > 100 ? 100 : (int)len, text);
    else if (w->indices >> index & 1)
        reader_problem(r, node->line, path, "has %d twice", (int)index);
    else
        w->indices |= (uint64_t)1 << index;
}

static void
add_indices(struct reader *r, const struct yaml_node *node, const char *path,
            struct wishes *w)
{
    const char *at = node->text;

    for (;;) {
        size_t len;

        at += strspn(at, " ");
        len = strcspn(at, ", ");
        add_index(r, node, path, at, len, w);
        at += len + strspn(at + len, " ");
        if (*at != ',')
            break;
        at++;
    }
    if (*at != '\0')
        reader_expected(r, node, path, "numbers with commas between them");
}

void
wish_indices(struct reader *r, const struct key *key,
             const struct yaml_node *node, const char *path, void *target)
{
    struct wishes *w = target;

    (void)key;
    w->indices = 0;
    w->indices_line = node->key_line;
    if (node->kind == YAML_SCALAR) {
        add_indices(r, node, path, w);
        return;
    }
    if (node->kind != YAML_SEQUENCE || node->count == 0) {
        reader_expected(r, node, path, "a number, \"0,1\" or a list");
        return;
    }
    for (const struct yaml_node *c = node->children; c != NULL; c = c->next) {
        if (c->kind == YAML_SCALAR)
            add_index(r, c, path, c->text, strlen(c->text), w);
        else
            reader_expected(r, c, path, "a number");
    }
}

static bool
is_size(const struct yaml_node *node, uint64_t *out)
{
    return node->kind == YAML_SCALAR && bytes_parse(node->text, out);
}

void
wish_memory(struct reader *r, const struct key *key,
            const struct yaml_node *node, const char *path, void *target)
{
    struct wishes *w = target;

    (void)key;
    w->memory_line = node->key_line;
    w->memory_auto =
        node->kind == YAML_SCALAR && strcmp(node->text, "auto") == 0;
    if (!w->memory_auto && (!is_size(node, &w->memory) || w->memory == 0))
        reader_expected(r, node, path, SIZE_EXPECTED ", or auto");
}

void
wish_device_memory(struct reader *r, const struct key *key,
                   const struct yaml_node *node, const char *path, void *target)
{
    struct wishes *w = target;

    (void)key;
    w->device_memory_line = node->key_line;
    if (!is_size(node, &w->device_memory) || w->device_memory == 0)
        reader_expected(r, node, path, SIZE_EXPECTED);
}

void
wish_floor(struct reader *r, const struct key *key,
           const struct yaml_node *node, const char *path, void *target)
{
    struct wishes *w = target;

    (void)key;
    if (!is_size(node, &w->floor))
        reader_expected(r, node, path,
                        "an amount of memory such as 0, 512MiB or 4GB");
}

void
wish_headroom(struct reader *r, const struct key *key,
              const struct yaml_node *node, const char *path, void *target)
{
    struct wishes *w = target;
    size_t len;

    (void)key;
    if (node->kind == YAML_SCALAR) {
        len = strspn(node->text, "0123456789");
        if (number_parse_u64(node->text, len, &w->headroom_percent) &&
            w->headroom_percent < 100 &&
            strcmp(node->text + len + strspn(node->text + len, " "), "%") == 0)
            return;
    }
    reader_expected(r, node, path, "a part from 0% to 99% such as 20%");
}

void
wish_retries(struct reader *r, const struct key *key,
             const struct yaml_node *node, const char *path, void *target)
{
    struct wishes *w = target;

    (void)key;
    if (!yaml_uint(node, &w->retries) || w->retries > RETRIES_MAX)
        reader_expected(r, node, path, "an integer from 0 to 1000");
}

static void
add_pattern(struct reader *r, const struct yaml_node *node, const char *path,
            struct wishes *w)
{
    regex_t re;

    if (node->kind != YAML_SCALAR || node->len == 0 ||
        strlen(node->text) != node->len) {
        reader_expected(r, node, path, "a text");
        return;
    }
    if (!reader_regex(r, node, path, REG_NOSUB, &re))
        return;
    regfree(&re);
    w->patterns[w->n_patterns] = strdup(node->text);
    if (w->patterns[w->n_patterns] == NULL)
        reader_problem(r, node->line, path, "out of memory");
    else
        w->n_patterns++;
}

void
wish_patterns(struct reader *r, const struct key *key,
              const struct yaml_node *node, const char *path, void *target)
{
    struct wishes *w = target;

    (void)key;
    wishes_fini(w);
    if (node->kind != YAML_SEQUENCE || node->count > WISHES_PATTERNS_MAX) {
        reader_expected(r, node, path, "a list of at most 16 texts");
        return;
    }
    for (const struct yaml_node *c = node->children; c != NULL; c = c->next)
        add_pattern(r, c, path, w);
}

static unsigned
count_bits(uint64_t set)
{
    unsigned n = 0;

    for (; set != 0; set &= set - 1)
        n++;
    return n;
}

void
wishes_check(struct reader *r, const struct wishes *w)
{
    unsigned allowed = count_bits(w->indices);

    if (w->device_memory > 0 && (!w->devices_managed || w->devices == 0))
        reader_problem(r, w->device_memory_line, "trialGpuMemory",
                       "needs trialGpuNumber above 0");
    if (w->indices != 0 && w->devices > allowed)
        reader_problem(r, w->devices_line, "trialGpuNumber",
                       "%d, but gpuIndices allows %u", (int)w->devices,
                       allowed);
}
