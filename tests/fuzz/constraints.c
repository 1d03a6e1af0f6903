/* SPDX-License-Identifier: MIT */
/* Constraints: either a line that says why not, or code that can be evaluated
 * at any point of the space, twice with the same answer. */
#include "fuzz.h"

#include "core/problems.h"
#include "filters/constraints/rules.h"
#include "json.h"
#include "numerics/random.h"
#include "plugin/host.h"
#include "space/space.h"

#include <string.h>

static const char text_of_space[] =
    "{\"x\": {\"_type\": \"uniform\", \"_value\": [0, 1]},"
    " \"n\": {\"_type\": \"randint\", \"_value\": [1, 9]},"
    " \"opt\": {\"_type\": \"choice\", \"_value\": [\"adam\", \"sgd\"]},"
    " \"on\": {\"_type\": \"choice\", \"_value\": [true, false]},"
    " \"mixed\": {\"_type\": \"choice\", \"_value\": [1, \"one\", null]},"
    " \"net\": {\"_type\": \"choice\", \"_value\": [{\"_name\": \"a\"},"
    "  {\"_name\": \"b\", \"units\": {\"_type\": \"lognormal\", \"_value\":"
    "  [0, 1]}}]}}";
enum { DIMS = 7, POINTS = 8 };

static struct space *
space_new(void)
{
    struct json *doc =
        json_parse(text_of_space, strlen(text_of_space), JSON_STRICT, NULL);
    struct problems problems;
    struct space *s;

    problems_init(&problems);
    s = space_parse(json_root(doc), &problems);
    MUST(s != NULL && space_dims(s)->n_dims == DIMS);
    problems_fini(&problems);
    json_free(doc);
    return s;
}

static void
evaluate(const struct rules *r, const struct tp_host *host)
{
    char values[100];
    double x[DIMS];

    for (uint64_t i = 0; i < POINTS; i++) {
        const struct expression *broken;

        host->sample(host->ctx, i, x);
        broken = rules_broken(r, x);
        MUST(broken == rules_broken(r, x));
        if (broken != NULL)
            expression_describe(broken, host, r->space, x, values,
                                sizeof values);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), why[RULES_WHY_MAX] = "";
    struct space *space = space_new();
    struct host *host = host_new("fuzz", 1, RANDOM_TEST, NULL, NULL);
    struct rules rules;

    MUST(text != NULL && host != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    host_set_space(host, space);
    if (rules_init(&rules, text, host_services(host), space_dims(space), why) ==
        0)
        evaluate(&rules, host_services(host));
    else
        MUST(why[0] != '\0' && strchr(why, '\n') == NULL);
    rules_fini(&rules);
    host_free(host);
    space_free(space);
    free(text);
    return 0;
}
