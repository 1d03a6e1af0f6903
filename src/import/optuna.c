/* SPDX-License-Identifier: MIT */
#include "import/optuna.h"

#include "core/err.h"
#include "core/number.h"
#include "import/import.h"
#include "json.h"

#include <math.h>
#include <string.h>

#define EXACT_MAX 9007199254740992.0 /* 2^53 */

typedef bool add_value(struct buf *out, struct jval attributes,
                       double internal);

static bool
add_float(struct buf *out, struct jval attributes, double internal)
{
    (void)attributes;
    json_write_double(out, internal);
    return isfinite(internal);
}

static bool
add_int(struct buf *out, struct jval attributes, double internal)
{
    (void)attributes;
    if (internal != floor(internal) || fabs(internal) > EXACT_MAX)
        return false;
    buf_printf(out, "%lld", (long long)internal);
    return true;
}

static bool
add_choice(struct buf *out, struct jval attributes, double internal)
{
    struct jval choices;

    if (!jval_get(attributes, "choices", &choices) ||
        jval_type(choices) != JSON_ARRAY || internal != floor(internal) ||
        internal < 0 || internal >= (double)jval_count(choices))
        return false;
    jval_write(jval_at(choices, (size_t)internal), out);
    return true;
}

/* Those of Optuna 3 and later, and of 1 and 2. */
static const struct {
    const char *name;
    add_value *add;
} kinds[] = {
    {"FloatDistribution", add_float},
    {"IntDistribution", add_int},
    {"CategoricalDistribution", add_choice},
    {"UniformDistribution", add_float},
    {"LogUniformDistribution", add_float},
    {"DiscreteUniformDistribution", add_float},
    {"IntUniformDistribution", add_int},
    {"IntLogUniformDistribution", add_int},
};

bool
optuna_add(struct import *im, struct buf *parameters, const char *name,
           double internal, const char *distribution)
{
    struct json *doc =
        json_parse(distribution, strlen(distribution), JSON_NAN, NULL);
    struct jval v, attributes = {NULL};
    const char *kind = "(none)";
    bool done = false;

    if (doc != NULL && jval_get(json_root(doc), "name", &v))
        jval_string(v, &kind, NULL);
    if (doc != NULL)
        jval_get(json_root(doc), "attributes", &attributes);
    import_name(parameters, name);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (attributes.node != NULL && strcmp(kinds[i].name, kind) == 0)
            done = kinds[i].add(parameters, attributes, internal);
    if (!done)
        import_leave(im, "parameter '%.60s' is of an unknown kind, '%.60s'",
                     name, kind);
    json_free(doc);
    return done;
}

int
optuna_objective(const struct import *im, uint64_t n)
{
    const char *text = im->options->value;
    uint64_t i = 0;

    if (text == NULL)
        return n == 1 ? 0 : n <= IMPORT_VALUES_MAX ? OPTUNA_ALL : -1;
    if (!number_parse_u64(text, strlen(text), &i) || i >= n)
        return -1;
    return (int)i;
}

int
optuna_no_study(const struct import *im, uint64_t n, struct err *err)
{
    if (im->options->study != NULL)
        return err_set(err, ERR_INPUT, "has no study '%.100s'",
                       im->options->study);
    return err_set(err, ERR_INPUT,
                   n == 0 ? "has no study"
                          : "has %llu studies: --study names one",
                   (unsigned long long)n);
}
