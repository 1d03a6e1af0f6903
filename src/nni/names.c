/* SPDX-License-Identifier: MIT */
#include "nni/names.h"

#include "core/buf.h"
#include "core/err.h"
#include "plugin/paths.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
    enum plugin_kind kind;
    const char *name;
    const char *alias;  /* NULL: none */
    const char *plugin; /* NULL: tunepipe has none for it */
    /* Where plugin is NULL: what to take instead, and for what; else what is
     * said of it, where it is another algorithm. */
    const char *instead;
    const char *mode; /* optimize_mode where none is given; NULL: the algorithm
                         knows none, or demands one */
} known[] = {
    {PLUGIN_TUNER, "TPE", NULL, "tpe", NULL, "minimize"},
    {PLUGIN_TUNER, "TPE_legacy", NULL, "tpe", NULL, "minimize"},
    {PLUGIN_TUNER, "Random", NULL, "random", NULL, NULL},
    {PLUGIN_TUNER, "Anneal", NULL, "anneal", NULL, "minimize"},
    {PLUGIN_TUNER, "Evolution", NULL, "evolution", NULL, "maximize"},
    {PLUGIN_TUNER, "Batch", "BatchTuner", "batch", NULL, NULL},
    {PLUGIN_TUNER, "GridSearch", NULL, "grid", NULL, NULL},
    {PLUGIN_TUNER, "RegularizedEvolutionTuner", "RegularizedEvolution",
     "regularized_evolution", NULL, "maximize"},
    {PLUGIN_TUNER, "GP", "GPTuner", "gp",
     "NNI's GP is done by gp: cold_start_num is its n_startup_jobs, the other "
     "arguments are not looked at",
     "maximize"},
    {PLUGIN_TUNER, "Metis", "MetisTuner", "gp",
     "NNI's Metis is done by gp: cold_start_num is its n_startup_jobs, the "
     "other arguments are not looked at",
     "maximize"},
    {PLUGIN_TUNER, "SMAC", NULL, "smac", NULL, "maximize"},
    {PLUGIN_TUNER, "DNGO", "DNGOTuner", "gp",
     "NNI's DNGO is done by gp, without a neural network: trials_per_update is "
     "its n_startup_jobs, the other arguments are not looked at",
     "maximize"},
    {PLUGIN_TUNER, "PBT", "PBTTuner", "pbt", NULL, "maximize"},
    {PLUGIN_TUNER, "Hyperband", NULL, "hyperband", NULL, "maximize"},
    {PLUGIN_TUNER, "BOHB", NULL, "bohb", NULL, "maximize"},
    {PLUGIN_TUNER, "PPO", "PPOTuner", NULL,
     "regularized_evolution, for spaces made of choices", NULL},
    {PLUGIN_TUNER, "NetworkMorphism", NULL, NULL,
     "regularized_evolution, for an architecture written as choices",
     "maximize"},
    {PLUGIN_ASSESSOR, "Medianstop", NULL, "medianstop", NULL, "maximize"},
    {PLUGIN_ASSESSOR, "Curvefitting", NULL, "curvefitting", NULL, NULL},
};
#define N_KNOWN (sizeof known / sizeof *known)

/* The index of an algorithm; N_KNOWN: NNI has none of that name. */
static size_t
find(enum plugin_kind kind, const char *name)
{
    size_t i = 0;

    while (i < N_KNOWN &&
           (known[i].kind != kind || (strcasecmp(known[i].name, name) != 0 &&
                                      (known[i].alias == NULL ||
                                       strcasecmp(known[i].alias, name) != 0))))
        i++;
    return i;
}

bool
names_known(enum plugin_kind kind, const char *name)
{
    return find(kind, name) < N_KNOWN;
}

const char *
names_mode(enum plugin_kind kind, const char *name)
{
    size_t i = find(kind, name);

    return i < N_KNOWN ? known[i].mode : NULL;
}

const char *
names_note(const char *name)
{
    size_t i = find(PLUGIN_TUNER, name);

    return i < N_KNOWN && known[i].plugin != NULL &&
                   strcmp(name, known[i].plugin) != 0
               ? known[i].instead
               : NULL;
}

bool
names_is_advisor(const char *name)
{
    return strcasecmp(name, "Hyperband") == 0 || strcasecmp(name, "BOHB") == 0;
}

/* Whether a plugin of just that name exists: then it is used. */
static bool
is_there(const struct plugin_paths *paths, enum plugin_kind kind,
         const char *name)
{
    char *file = plugin_paths_find(paths, name, NULL);
    struct plugin *p;

    if (file != NULL) {
        free(file);
        return true; /* one that cannot be loaded is for its loader to tell */
    }
    p = plugin_load(paths, kind, name, NULL);
    plugin_unload(p);
    return p != NULL;
}

int
names_resolve(const struct plugin_paths *paths, enum plugin_kind kind,
              const char *name, const char **plugin, struct err *err)
{
    size_t i = find(kind, name);

    *plugin = name;
    if (i == N_KNOWN)
        return 0;
    if (known[i].plugin != NULL) {
        *plugin = known[i].plugin;
        return 0;
    }
    if (is_there(paths, kind, name))
        return 0;
    *plugin = known[i].name; /* whichever alias was given */
    if (is_there(paths, kind, known[i].name))
        return 0;
    return err_set(err, ERR_CONFIG,
                   "%s '%s' of NNI is not among tunepipe's; the nearest: %s",
                   plugin_kind_name(kind), name, known[i].instead);
}

/* ---- arguments ---- */

/* What becomes of arguments of tuners that another stands for. */
static const struct {
    const char *name;          /* as in known */
    const char *theirs, *ours; /* NULL: not looked at */
} words[] = {
    {"GP", "cold_start_num", "n_startup_jobs"},
    {"GP", "utility", NULL},
    {"GP", "kappa", NULL},
    {"GP", "xi", NULL},
    {"GP", "nu", NULL},
    {"GP", "alpha", NULL},
    {"GP", "selection_num_warm_up", NULL},
    {"GP", "selection_num_starting_points", NULL},
    {"Metis", "cold_start_num", "n_startup_jobs"},
    {"Metis", "no_resampling", NULL},
    {"Metis", "no_candidates", NULL},
    {"Metis", "selection_num_starting_points", NULL},
    {"Metis", "exploration_probability", NULL},
    {"DNGO", "trials_per_update", "n_startup_jobs"},
    {"DNGO", "sample_size", NULL},
    {"DNGO", "num_epochs_per_training", NULL},
};
#define N_WORDS (sizeof words / sizeof *words)

/* The row of an argument; N_WORDS: it is kept.  key NULL: any of the name's. */
static size_t
find_word(const char *name, const char *key)
{
    size_t i = 0;

    while (i < N_WORDS && (strcmp(words[i].name, name) != 0 ||
                           (key != NULL && strcmp(words[i].theirs, key) != 0)))
        i++;
    return i;
}

static void
write_words(const char *name, struct jval args, const char *mode,
            struct buf *out)
{
    struct json_writer w = json_begin_object(out);
    struct jval_iter it = jval_iter(args);
    struct jval v;

    if (mode != NULL && !jval_get(args, "optimize_mode", &v))
        json_add_text(&w, "optimize_mode", mode);
    while (jval_next(&it)) {
        size_t i = find_word(name, it.key);

        if (i == N_WORDS)
            jval_write(it.value, json_value(&w, it.key));
        else if (words[i].ours != NULL)
            jval_write(it.value, json_value(&w, words[i].ours));
    }
    json_close(&w);
}

/* Those of the TPE before NNI 2.6. */

static const struct {
    const char *old, *now;
} lies[] = {{"min", "best"}, {"max", "worst"}, {"mean", "mean"}};

/* The liar of NNI's old TPE: "null" without parallel_optimize; NULL: neither,
 * for the plugin to refuse. */
static const char *
lie_of(struct jval args)
{
    struct jval parallel, v;
    const char *word = "min";
    bool on = false;

    if (jval_get(args, "parallel_optimize", &parallel) &&
        !jval_bool(parallel, &on))
        return NULL;
    if (jval_get(args, "constant_liar_type", &v) &&
        !jval_string(v, &word, NULL))
        return NULL;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++)
        if (strcmp(word, lies[i].old) == 0)
            return on ? lies[i].now : "null";
    return NULL;
}

/* lie_of() where args are those of that TPE; else NULL. */
static const char *
old_lie(const char *plugin, struct jval args)
{
    struct jval v;

    return plugin != NULL && strcmp(plugin, "tpe") == 0 &&
                   !jval_get(args, "tpe_args", &v) &&
                   (jval_get(args, "parallel_optimize", &v) ||
                    jval_get(args, "constant_liar_type", &v))
               ? lie_of(args)
               : NULL;
}

static void
write_translated(struct jval args, const char *lie, struct buf *out)
{
    struct json_writer w = json_begin_object(out);
    struct jval_iter it = jval_iter(args);

    json_open_object(&w, "tpe_args");
    json_add_text(&w, "constant_liar_type",
                  strcmp(lie, "null") == 0 ? NULL : lie);
    json_close(&w);
    while (jval_next(&it))
        if (strcmp(it.key, "parallel_optimize") != 0 &&
            strcmp(it.key, "constant_liar_type") != 0)
            jval_write(it.value, json_value(&w, it.key));
    json_close(&w);
}

int
names_translate(const char *name, struct jval args, const char *mode,
                struct json **out, struct err *err)
{
    size_t i = find(PLUGIN_TUNER, name);
    enum json_type type = jval_type(args);
    bool has_words = (type == JSON_OBJECT || type == JSON_NULL) &&
                     i < N_KNOWN && find_word(known[i].name, NULL) < N_WORDS;
    const char *lie = i < N_KNOWN ? old_lie(known[i].plugin, args) : NULL;
    struct buf text;

    *out = NULL;
    if (!has_words && lie == NULL)
        return 0;
    buf_init(&text, (size_t)16 << 20);
    if (has_words)
        write_words(known[i].name, args, mode, &text);
    else
        write_translated(args, lie, &text);
    if (buf_check(&text, "classArgs", err) == 0)
        *out = json_parse(buf_text(&text), text.len, JSON_STRICT, err);
    buf_fini(&text);
    return *out == NULL ? -1 : 0;
}
