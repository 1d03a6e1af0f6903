/* SPDX-License-Identifier: MIT */
#include "manager/environment.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/grow.h"
#include "core/number.h"
#include "core/problems.h"
#include "manager/parameters.h"
#include "objectives/objectives.h"
#include "manager/trial.h"
#include "trial/files.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VALUE_MAX 65536
#define NAME_MAX_BYTES ((size_t)64 << 20)

static void
add(struct environment *e, char *var)
{
    if (var == NULL || GROW(e->vars, e->n + 1, e->cap) != 0) {
        free(var);
        return;
    }
    e->vars[e->n++] = var;
    e->vars[e->n] = NULL;
}

static bool
has(const struct environment *e, const char *name, size_t len)
{
    return map_get(&e->names, name, len) != NULL;
}

static void
add_ours(struct environment *e, char *var)
{
    map_put(&e->names, var, strcspn(var, "="), e);
    add(e, var);
}

static void
set(struct environment *e, const char *name, const char *value)
{
    char *var = NULL;

    if (asprintf(&var, "%s=%s", name, value) >= 0)
        add_ours(e, var);
}

/* Makes a parameter's name fit for a variable. */
static void
make_fit(char *name, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                   "0123456789_",
                   name[i]) == NULL)
            name[i] = '_';
}

/* Sets the variable of a parameter, where no parameter before it has one of the
 * same name. */
static void
set_parameter(void *ctx, const char *name, const char *value, size_t len)
{
    struct environment *e = ctx;
    char *var = NULL;
    size_t at = strlen(TRIAL_ENV_PARAM_PREFIX), end;

    if (len > VALUE_MAX || memchr(value, '\0', len) != NULL ||
        asprintf(&var, TRIAL_ENV_PARAM_PREFIX "%s=%.*s", name, (int)len,
                 value) < 0)
        return;
    end = at + strlen(name);
    make_fit(var + at, end - at);
    if (has(e, var, end))
        free(var);
    else
        add_ours(e, var);
}

/* Puts our folder first in PATH.  Without a PATH a shell would look through
 * folders of its own, and with one it looks there alone, so the system's
 * folders come after ours. */
static void
set_path(struct environment *e, const char *program_folder)
{
    const char *path = getenv("PATH");
    char *value = NULL, system[256];

    if (program_folder == NULL)
        return;
    if (path == NULL && confstr(_CS_PATH, system, sizeof system) > 0)
        path = system;
    if (path != NULL && asprintf(&value, "%s:%s", program_folder, path) < 0)
        value = NULL;
    if (value != NULL)
        set(e, "PATH", value);
    free(value);
}

/* As a shell would set it there: a path to the folder by links stays. */
static void
set_folder(struct environment *e, const char *folder)
{
    const char *now = getenv("PWD");

    if (now != NULL && !file_is_same(now, folder))
        set(e, "PWD", folder);
}

/* Puts our folder last in PYTHONPATH, so that it hides no module of the user's.
 */
static void
set_python_path(struct environment *e, const char *folder)
{
    const char *path = getenv("PYTHONPATH");
    char *value = NULL;

    if (folder == NULL)
        return;
    if (path == NULL || path[0] == '\0') {
        set(e, "PYTHONPATH", folder);
    } else if (asprintf(&value, "%s:%s", path, folder) >= 0) {
        set(e, "PYTHONPATH", value);
        free(value);
    }
}

/* What a program in Python prints is to be read while it runs; Python itself
 * keeps it back where no terminal reads. */
static void
set_python_prints(struct environment *e)
{
    if (getenv("PYTHONUNBUFFERED") == NULL)
        set(e, "PYTHONUNBUFFERED", "1");
}

static void
set_nni(struct environment *e, const struct environment_of *of,
        const struct trial *trial)
{
    const char *name = strrchr(of->experiment_folder, '/');
    char number[32];

    snprintf(number, sizeof number, "%llu", (unsigned long long)trial->number);
    set(e, TRIAL_ENV_NNI_PLATFORM, "local");
    set(e, TRIAL_ENV_NNI_EXPERIMENT,
        name != NULL ? name + 1 : of->experiment_folder);
    set(e, TRIAL_ENV_NNI_SYS_DIR, trial->folder);
    set(e, TRIAL_ENV_NNI_OUTPUT_DIR, trial->folder);
    set(e, TRIAL_ENV_NNI_ID, trial->id);
    set(e, TRIAL_ENV_NNI_NUMBER, number);
    set(e, TRIAL_ENV_NNI_CODE_DIR, of->code_folder);
    set(e, TRIAL_ENV_NNI_MULTI_PHASE, "false");
    set(e, TRIAL_ENV_NNI_REUSE_MODE, "false");
}

static void
set_devices(struct environment *e, const struct claim *claim, bool prepares)
{
    char list[256];

    if (!claim->managed && !prepares)
        return;
    set(e, TRIAL_ENV_DEVICES,
        prepares ? "" : claim_devices(claim->devices, list, sizeof list));
    set(e, TRIAL_ENV_DEVICE_ORDER, "PCI_BUS_ID");
}

/* Whether only a run around this one can have set the variable.  All others of
 * that kind need not be left out, since they are replaced. */
static bool
is_of_another_run(const char *var)
{
    static const char *const names[] = {
        TRIAL_ENV_PARAM_PREFIX, TRIAL_ENV_NNI_CHANNEL "=",
        TRIAL_ENV_LOCKSTEP "=", TRIAL_ENV_RESTORE "=",
        TRIAL_ENV_BUDGET "=",   TRIAL_ENV_PARAMETER_SOURCE "="};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(var, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static void
inherit(struct environment *e)
{
    for (char **var = environ; *var != NULL; var++)
        if (!is_of_another_run(*var) && !has(e, *var, strcspn(*var, "=")))
            add(e, strdup(*var));
}

/* Sets the parameter_id; where it is a text, without JSON's quotes. */
static void
set_parameter_id(struct environment *e, const char *id)
{
    struct json *doc = json_parse(id, strlen(id), JSON_STRICT, NULL);
    const char *label = id;

    if (doc != NULL)
        jval_string(json_root(doc), &label, NULL);
    set(e, TRIAL_ENV_PARAMETER_ID, label);
    json_free(doc);
}

static void
set_source(struct environment *e, const char *record)
{
    struct json *doc = json_parse(record, strlen(record), JSON_STRICT, NULL);
    const char *source =
        doc == NULL ? "" : jval_text_of(json_root(doc), "parameter_source");

    if (source[0] != '\0' && strcmp(source, "algorithm") != 0)
        set(e, TRIAL_ENV_PARAMETER_SOURCE, source);
    json_free(doc);
}

static void
set_steps(struct environment *e, const struct trial *trial)
{
    char text[NUMBER_TEXT_MAX];

    snprintf(text, sizeof text, "%llu", (unsigned long long)trial->step);
    set(e, TRIAL_ENV_STEP, text);
    if (trial->budget <= 0)
        return;
    if (trial->budget < 1e15 && trial->budget - floor(trial->budget) <= 0)
        snprintf(text, sizeof text, "%.0f", trial->budget);
    else
        number_format(trial->budget, text);
    set(e, TRIAL_ENV_BUDGET, text);
}

static void
set_objectives(struct environment *e, const struct objectives *of)
{
    struct buf names;

    buf_init(&names, OBJECTIVES_VALUES_MAX * (OBJECTIVES_NAME_MAX + 1));
    for (size_t i = 0; i < of->n_values; i++)
        buf_printf(&names, "%s%s", i > 0 ? "," : "", of->names[i]);
    set(e, TRIAL_ENV_OBJECTIVES, buf_text(&names));
    buf_fini(&names);
}

int
environment_make(struct environment *e, const struct environment_of *of,
                 const struct trial *trial, struct jval parameters,
                 struct err *err)
{
    char seed[32];

    *e = (struct environment){0};
    snprintf(
        seed, sizeof seed, "%llu",
        (unsigned long long)parameters_seed(of->seed, trial->parameter_id));
    set_path(e, of->program_folder);
    set(e, TRIAL_ENV_DIR, trial->folder);
    set(e, TRIAL_ENV_ID, trial->id);
    set_parameter_id(e, trial->parameter_id);
    set_source(e, trial->record);
    set(e, TRIAL_ENV_EXPERIMENT_DIR, of->experiment_folder);
    set(e, TRIAL_ENV_SEED, seed);
    set(e, TRIAL_ENV_DIRECTION, of->minimize ? "minimize" : "maximize");
    if (of->objectives != NULL)
        set_objectives(e, of->objectives);
    if (of->saving != NULL)
        set(e, TRIAL_ENV_CHECKPOINT, of->saving);
    if (of->restore != NULL)
        set(e, TRIAL_ENV_RESTORE, of->restore);
    set_steps(e, trial);
    if (of->lockstep)
        set(e, TRIAL_ENV_LOCKSTEP, "1");
    set_folder(e, of->code_folder);
    set_python_path(e, of->python_folder);
    set_python_prints(e);
    set_nni(e, of, trial);
    set_devices(e, &trial->claim, of->prepares);
    if (parameters_flatten(parameters, set_parameter, e, err) != 0)
        return -1;
    inherit(e);
    return e->n == 0 ? err_set(err, ERR_MEMORY, "out of memory") : 0;
}

void
environment_variable(const char *name, struct buf *out)
{
    size_t at;

    buf_add_text(out, TRIAL_ENV_PARAM_PREFIX);
    at = out->len;
    buf_add_text(out, name);
    if (out->len > at)
        make_fit(out->data + at, out->len - at);
}

/* ---- the names of a search space ---- */

struct naming {
    struct buf name;
    environment_take_name *take;
    void *ctx;
};

static bool
is_named(struct jval element)
{
    struct jval name;

    return jval_type(element) == JSON_OBJECT &&
           jval_get(element, "_name", &name);
}

static void walk_names(struct naming *n, struct jval object);

/* Walks the names within each element of a nested choice; false: the dimension
 * is no such choice. */
static bool
walk_elements(struct naming *n, struct jval dimension)
{
    struct jval values;
    bool nested = false;

    if (jval_type(dimension) != JSON_OBJECT ||
        !jval_get(dimension, "_value", &values) ||
        jval_type(values) != JSON_ARRAY)
        return false;
    buf_add_char(&n->name, '/');
    for (size_t i = 0; i < jval_count(values); i++)
        if (is_named(jval_at(values, i))) {
            nested = true;
            walk_names(n, jval_at(values, i));
        }
    return nested;
}

static void
walk_names(struct naming *n, struct jval object)
{
    struct jval_iter it = jval_iter(object);
    size_t prefix = n->name.len;

    while (jval_next(&it)) {
        size_t len;

        n->name.len = prefix;
        buf_add_text(&n->name, it.key);
        len = n->name.len;
        if (walk_elements(n, it.value))
            continue;
        n->name.len = len;
        n->take(n->ctx, buf_text(&n->name));
    }
    n->name.len = prefix;
}

void
environment_names(struct jval space, environment_take_name *take, void *ctx)
{
    struct naming n = {.take = take, .ctx = ctx};

    if (jval_type(space) != JSON_OBJECT)
        return;
    buf_init(&n.name, NAME_MAX_BYTES);
    walk_names(&n, space);
    buf_fini(&n.name);
}

/* ---- names that become the same ---- */

struct same_names {
    struct map seen; /* a variable's name -> the parameter's, ours to free */
    const char *place;
    struct problems *notes;
};

static void
check_name(void *ctx, const char *name)
{
    struct same_names *s = ctx;
    char *fit = strdup(name), *own;
    const char *first;

    if (fit == NULL)
        return;
    make_fit(fit, strlen(fit));
    first = map_get(&s->seen, fit, strlen(fit));
    if (first == NULL) {
        own = strdup(name);
        if (own != NULL && map_put(&s->seen, fit, strlen(fit), own) != 0)
            free(own);
    } else if (strcmp(first, name) != 0) {
        problems_add(s->notes, s->place,
                     "warning: parameters '%s' and '%s' both become "
                     "$" TRIAL_ENV_PARAM_PREFIX
                     "%s: a trial that has both finds '%s' there, and '%s' in "
                     "parameters.json alone: expected names that differ in "
                     "letters and digits",
                     first, name, fit, first, name);
    }
    free(fit);
}

void
environment_check_names(struct jval space, const char *place,
                        struct problems *notes)
{
    struct same_names s = {.place = place, .notes = notes};
    size_t at = 0;
    char *own;

    environment_names(space, check_name, &s);
    while ((own = map_next(&s.seen, &at)) != NULL)
        free(own);
    map_fini(&s.seen);
}

void
environment_fini(struct environment *e)
{
    for (size_t i = 0; i < e->n; i++)
        free(e->vars[i]);
    free(e->vars);
    map_fini(&e->names);
    *e = (struct environment){0};
}
