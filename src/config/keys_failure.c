/* SPDX-License-Identifier: MIT */
#include "config/keys_failure.h"

#include "config/experiment.h"

#include "config/yaml.h"
#include "core/number.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static void
set_retry(struct reader *r, const struct key *key, const struct yaml_node *node,
          const char *path, void *target)
{
    (void)key;
    if (!yaml_uint(node, target))
        reader_expected(r, node, path, "an integer, 0 or above");
}

static void
set_value(struct reader *r, const struct key *key, const struct yaml_node *node,
          const char *path, void *target)
{
    double *value = target;

    (void)key;
    if (node->kind != YAML_SCALAR ||
        !number_parse(node->text, strlen(node->text), value) ||
        !isfinite(*value))
        reader_expected(r, node, path, "a number");
}

static const struct word then_words[] = {
    {"skip", FAILURE_SKIP}, {"report", FAILURE_REPORT}, {NULL, 0}};
const struct word repeated_words[] = {{"pause", REPEATED_PAUSE},
                                      {"end", REPEATED_END},
                                      {"ignore", REPEATED_IGNORE},
                                      {NULL, 0}};

#define IN(member) offsetof(struct on_failure, member)
const struct key failure_keys[] = {
    {"retry", set_retry, IN(retry), 0, NULL, NULL, NULL},
    {"backoff", set_duration, IN(backoff_ms), 0, NULL, NULL, NULL},
    {"then", set_word, IN(then), 0, NULL, then_words, NULL},
    {"value", set_value, IN(value), 0, NULL, NULL, NULL},
    {NULL, NULL, 0, 0, NULL, NULL, NULL}};

void
set_failure(struct reader *r, const struct key *key,
            const struct yaml_node *node, const char *path, void *target)
{
    const struct on_failure *f = target;
    bool valued = yaml_get(node, "value") != NULL;

    read_map(r, key->keys, node, path, target);
    if (f->then == FAILURE_REPORT && !valued)
        reader_problem(r, node->key_line, path,
                       "then: report needs `value`, the result that the tuner "
                       "is told");
    else if (f->then == FAILURE_SKIP && valued)
        reader_problem(r, node->key_line, path,
                       "value is for then: report, which is not said");
}
