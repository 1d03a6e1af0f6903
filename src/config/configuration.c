/* SPDX-License-Identifier: MIT */
#include "config/configuration.h"

#include "config/keys.h"
#include "config/overrides.h"
#include "config/reader.h"
#include "config/v1.h"
#include "config/yaml.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/nearest.h"
#include "core/problems.h"
#include "json.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define GRACE_MS_DEFAULT 5000
#define HOOK_CONCURRENCY_DEFAULT 4
#define HOOK_TIMEOUT_MS_DEFAULT 60000
#define PLACE_MS_DEFAULT 600000
#define WORKING_FOLDER "tunepipe-experiments"

static void
check_folder(struct reader *r, const struct draft *d,
             const struct yaml_node *root)
{
    const struct yaml_node *node = yaml_get(root, "trialCodeDirectory");
    struct stat st;

    if (d->x.trial_folder == NULL)
        return;
    if (stat(d->x.trial_folder, &st) != 0 || !S_ISDIR(st.st_mode))
        reader_problem(r, node != NULL ? node->line : root->line,
                       "trialCodeDirectory", "%s is not a folder",
                       d->x.trial_folder);
}

/* A place in the configuration that says which results are better. */
struct said {
    const char *path, *from; /* for problems, for people */
    const struct yaml_node *node;
};

/* Checks optimize_mode in arguments; what a Python class means by words of its
 * own is not known. */
static void
check_word(struct reader *r, const struct said *place,
           const struct yaml_node *algorithm)
{
    static const char *const words[] = {"maximize", "minimize"};
    char hint[128];

    if (yaml_get(algorithm, "className") == NULL)
        reader_problem(
            r, place->node->line, place->path,
            "expected maximize or minimize, got '%.100s'%s", place->node->text,
            nearest_hint(place->node->text, words, 2, hint, sizeof hint));
}

/* Takes a place's direction: the first place counts.  A folder from before
 * there was the key `direction` may hold two that contradict each other. */
static void
take_mode(struct reader *r, struct draft *d, struct said *first,
          const struct said *place)
{
    if (first->node == NULL) {
        *first = *place;
        d->x.minimize = strcmp(place->node->text, "minimize") == 0;
        d->x.mode_from = place->from;
    } else if (strcmp(first->node->text, place->node->text) != 0 &&
               d->kept_space == NULL) {
        reader_problem(r, place->node->line, place->path,
                       "is %s, and %s in line %u is %s: expected one of them, "
                       "or the same in both",
                       place->node->text, first->path, first->node->line,
                       first->node->text);
    }
}

/* Finds out which results are better. */
static void
find_mode(struct reader *r, struct draft *d, const struct yaml_node *root)
{
    const struct yaml_node *tuner = yaml_get(root, "tuner");
    const struct yaml_node *assessor = yaml_get(root, "assessor");
    const struct said places[] = {
        {"direction", EXPERIMENT_MODE_KEY, yaml_get(root, "direction")},
        {"tuner.classArgs.optimize_mode", "the tuner",
         yaml_get(yaml_get(tuner, "classArgs"), "optimize_mode")},
        {"assessor.classArgs.optimize_mode", "the assessor",
         yaml_get(yaml_get(assessor, "classArgs"), "optimize_mode")}};
    const struct yaml_node *algorithms[] = {NULL, tuner, assessor};
    bool named = yaml_get(root, "objectives") != NULL;
    struct said first = {0};

    d->x.mode_from = EXPERIMENT_MODE_UNSAID;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const struct yaml_node *node = places[i].node;

        if (node != NULL && node->kind == YAML_SEQUENCE)
            reader_problem(r, node->line, places[i].path,
                           "expected maximize or minimize, got a list: several "
                           "results and their directions are named by the key "
                           "`objectives`");
        if (named || node == NULL || node->kind != YAML_SCALAR ||
            yaml_type(node) == YAML_TYPE_NULL)
            continue;
        if (experiment_is_direction(node->text))
            take_mode(r, d, &first, &places[i]);
        else if (algorithms[i] != NULL) /* else the experiment tells it */
            check_word(r, &places[i], algorithms[i]);
    }
}

static char *
name_from_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = strdup(slash != NULL ? slash + 1 : path);
    char *dot = name != NULL ? strrchr(name, '.') : NULL;

    if (dot != NULL && dot != name)
        *dot = '\0';
    return name;
}

static void
fill_algorithm(struct algorithm *a, const char *folder)
{
    if (a->class_name != NULL && a->code_folder == NULL)
        a->code_folder = strdup(folder);
    if (a->line > 0 && a->args == NULL)
        a->args = strdup("{}");
}

static void
fill_tuner(struct experiment *x)
{
    if (x->tuner.line > 0)
        return;
    x->tuner.name = strdup(EXPERIMENT_TUNER);
    x->tuner.args = strdup("{}");
}

static bool
is_bare(const struct algorithm *a)
{
    return (a->line > 0 && a->args == NULL) ||
           (a->class_name != NULL && a->code_folder == NULL);
}

/* Puts the key `constraints` as a filter around all others, so that none of
 * them replaces a point that satisfies the constraints. */
static void
wrap_constraints(struct reader *r, struct draft *d)
{
    struct experiment *x = &d->x;
    struct algorithm *first = &x->filters[0];
    struct json_writer w;
    struct buf args;

    if (d->constraints == NULL || d->constraints[0] == '\0')
        return;
    if (x->n_filters == EXPERIMENT_FILTERS_MAX) {
        reader_problem(r, d->constraints_line, "constraints",
                       "is one more filter than %d, which is the most",
                       EXPERIMENT_FILTERS_MAX);
        return;
    }
    buf_init(&args, 8 * YAML_TEXT_MAX);
    w = json_begin_object(&args);
    json_add_text(&w, "constraints", d->constraints);
    json_close(&w);
    memmove(first + 1, first, x->n_filters * sizeof *first);
    x->n_filters++;
    *first = (struct algorithm){.name = strdup("constraints"),
                                .args = buf_take(&args),
                                .line = d->constraints_line};
    if (first->name == NULL || first->args == NULL)
        reader_problem(r, d->constraints_line, "constraints", "out of memory");
    buf_fini(&args);
}

static bool
is_incomplete(const struct experiment *x)
{
    return x->name == NULL || x->trial_folder == NULL ||
           x->working_folder == NULL || is_bare(&x->tuner) ||
           is_bare(&x->assessor) || x->tuner.args == NULL ||
           (x->tuner.line == 0 && x->tuner.name == NULL);
}

static void
fill_defaults(struct reader *r, struct draft *d, const struct yaml_node *root)
{
    struct experiment *x = &d->x;

    if (x->name == NULL)
        x->name = name_from_file(x->file);
    if (x->trial_folder == NULL)
        x->trial_folder = strdup(x->folder);
    if (x->working_folder == NULL)
        x->working_folder = reader_resolve(r, WORKING_FOLDER);
    fill_algorithm(&x->tuner, x->folder);
    fill_algorithm(&x->assessor, x->folder);
    for (size_t i = 0; i < x->n_filters; i++)
        fill_algorithm(&x->filters[i], x->folder);
    wrap_constraints(r, d);
    if (d->log == LOG_WISH_DEBUG)
        x->debug = true;
    x->last_is_final = d->final == FINAL_LAST ||
                       (d->final == FINAL_UNSET && x->n_patterns > 0);
    find_mode(r, d, root);
    objectivekeys_check(r, d, root);
    fill_tuner(x);
    x->tuner_overridden = x->tuner.line >= READER_OPTION;
    if (is_incomplete(x))
        reader_problem(r, root->line, "the defaults", "out of memory");
}

static void
take_kept_space(struct reader *r, struct draft *d)
{
    if (d->kept_space == NULL)
        return;
    free(d->x.search_space);
    d->x.search_space = NULL;
    d->space_line = 0;
    free(d->space_file);
    d->space_file = strdup(d->kept_space);
    if (d->space_file == NULL)
        reader_problem(r, 0, "searchSpace", "out of memory");
}

static void
read_tree(struct reader *r, struct draft *d, const struct yaml_node *root,
          enum experiment_use use)
{
    if (root->kind != YAML_MAP) {
        reader_problem(r, root->line, "the document",
                       "expected a map of keys, got %s", yaml_type_name(root));
        return;
    }
    read_map(r, config_keys, root, "", d);
    if (!r->dispatches) {
        take_kept_space(r, d);
        spacekey_check(r, d, root);
        wishes_check(r, &d->x.wishes);
        if (use == EXPERIMENT_STUDY && yaml_get(root, "trialCommand") == NULL &&
            yaml_get(root, "trainingService") == NULL)
            d->x.platform = PLATFORM_client;
        if (d->x.platform != PLATFORM_client)
            check_folder(r, d, root);
        if (d->x.platform != PLATFORM_client &&
            d->x.trial_command.text == NULL &&
            yaml_get(root, "trialCommand") == NULL)
            reader_problem(r, root->line, "trialCommand", "is required");
    }
    if (d->x.platform == PLATFORM_client && d->x.on_repeated == REPEATED_UNSAID)
        d->x.on_repeated = REPEATED_IGNORE; /* whoever asks sees them fail */
    fill_defaults(r, d, root);
}

/* Notes the file's path and folder.  `as`: where it counts as lying; NULL:
 * where it lies. */
static int
find_place(struct experiment *x, const char *path, const char *as,
           struct err *err)
{
    char *slash;

    x->file = as != NULL ? strdup(as) : realpath(path, NULL);
    if (x->file == NULL)
        return err_errno(err, ERR_CONFIG, "%s: cannot open", path);
    x->folder = strdup(x->file);
    slash = x->folder != NULL ? strrchr(x->folder, '/') : NULL;
    if (slash == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    slash[slash == x->folder ? 1 : 0] = '\0';
    return 0;
}

static int
read_draft(struct draft *d, const char *path, const char *as,
           enum experiment_use use, struct problems *problems,
           struct problems *notes, struct err *err)
{
    struct reader r = {.file = path,
                       .dispatches = use == EXPERIMENT_DISPATCH,
                       .problems = problems,
                       .notes = notes,
                       .top = config_keys};
    struct yaml_node *root;
    struct buf text;
    int rc = -1;

    buf_init(&text, 2 * YAML_TEXT_MAX);
    if (find_place(&d->x, path, as, err) != 0 ||
        file_read(path, YAML_TEXT_MAX, &text, err) != 0) {
        if (err != NULL) {
            err->code = ERR_CONFIG;
            problems_add(problems, "", "%s", err->text);
        }
        goto out;
    }
    r.folder = d->x.folder;
    root = yaml_parse(text.len > 0 ? text.data : "", text.len, path, problems);
    if (root != NULL) {
        v1_convert(&r, root);
        if (d->x.overrides != NULL && root->kind == YAML_MAP)
            overrides_put(&r, root, d->x.overrides);
        read_tree(&r, d, root, use);
    }
    yaml_node_free(root);
    rc = problems_check(problems, err);
out:
    buf_fini(&text);
    return rc;
}

static struct experiment *
read_one(const char *path, const char *as, const char *space,
         const char *overrides, enum experiment_use use,
         experiment_check *check, struct problems *problems,
         struct problems *notes, struct err *err)
{
    struct draft d = {
        .x = {.concurrency = 1,
              .early_stopped = STOPPED_LATEST,
              .sync = {SYNC_INTERVAL, SYNC_INTERVAL_MS_DEFAULT},
              .segments = {SEGMENT_SIZE_DEFAULT, OLD_KEEP},
              .grace_ms = GRACE_MS_DEFAULT,
              .wishes = WISHES_DEFAULT,
              .cluster = CLUSTER_DEFAULT,
              .place_ms = PLACE_MS_DEFAULT,
              .hook_concurrency = HOOK_CONCURRENCY_DEFAULT,
              .hook_timeout_ms = HOOK_TIMEOUT_MS_DEFAULT,
              .on_failure = {.backoff_ms = FAILURE_BACKOFF_MS_DEFAULT}},
        .kept_space = space};
    struct experiment *x = NULL;
    int rc = -1;

    if (overrides != NULL && (d.x.overrides = strdup(overrides)) == NULL)
        err_set(err, ERR_MEMORY, "out of memory");
    else
        rc = read_draft(&d, path, as, use, problems, notes, err);
    if (check != NULL && d.x.search_space != NULL && d.x.space_place != NULL)
        check(&d.x, path, problems, notes);
    if (rc == 0) {
        x = malloc(sizeof *x);
        if (x == NULL)
            err_set(err, ERR_MEMORY, "out of memory");
    }
    if (x != NULL)
        *x = d.x;
    else
        experiment_fini(&d.x);
    free(d.space_file);
    free(d.constraints);
    return x;
}

struct experiment *
experiment_read(const char *path, enum experiment_use use,
                struct problems *problems, struct problems *notes,
                struct err *err)
{
    return read_one(path, NULL, NULL, NULL, use, NULL, problems, notes, err);
}

struct experiment *
experiment_read_checked(const char *path, enum experiment_use use,
                        const char *overrides, experiment_check *check,
                        struct problems *problems, struct problems *notes,
                        struct err *err)
{
    return read_one(path, NULL, NULL, overrides, use, check, problems, notes,
                    err);
}

struct experiment *
experiment_read_kept(const char *path, const char *original, const char *space,
                     const char *overrides, struct problems *problems,
                     struct err *err)
{
    return read_one(path, original, space, overrides, EXPERIMENT_STUDY, NULL,
                    problems, NULL, err);
}
