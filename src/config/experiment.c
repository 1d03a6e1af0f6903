/* SPDX-License-Identifier: MIT */
#include "config/experiment.h"

#include "config/labels.h"
#include "objectives/objectives.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
algorithm_fini(struct algorithm *a)
{
    free(a->name);
    free(a->plugin);
    free(a->class_name);
    free(a->code_folder);
    free(a->args);
    free(a->objective);
}

const char *
algorithm_plugin(const struct algorithm *a)
{
    return a->plugin != NULL ? a->plugin : a->name;
}

void
experiment_fini(struct experiment *x)
{
    free(x->file);
    free(x->folder);
    free(x->overrides);
    free(x->name);
    free(x->search_space);
    free(x->space_place);
    free(x->space_named);
    map_fini(&x->space_lines);
    for (size_t i = 0; i < x->n_enqueued; i++)
        free(x->enqueued[i].parameters);
    free(x->enqueued);
    free(x->trial_command.text);
    free(x->prepare_command.text);
    free(x->trial_folder);
    free(x->working_folder);
    free(x->log_folder);
    free(x->import);
    for (size_t i = 0; i < x->n_patterns; i++) {
        free(x->patterns[i].name);
        free(x->patterns[i].regex);
    }
    free(x->on_failure.values);
    objectives_free(x->objectives);
    free(x->objectives_json);
    wishes_fini(&x->wishes);
    cluster_fini(&x->cluster);
    labels_fini(&x->wishes.labels);
    algorithm_fini(&x->tuner);
    algorithm_fini(&x->assessor);
    for (size_t i = 0; i < x->n_filters; i++)
        algorithm_fini(&x->filters[i]);
    for (size_t i = 0; i < x->n_hooks; i++) {
        free(x->hooks[i].glob);
        free(x->hooks[i].command);
    }
}

void
experiment_free(struct experiment *x)
{
    if (x != NULL)
        experiment_fini(x);
    free(x);
}

const char *
early_stopped_name(enum early_stopped policy)
{
    static const char *const names[] = {[STOPPED_IGNORE] = "ignore",
                                        [STOPPED_LATEST] = "latest",
                                        [STOPPED_BEST] = "best"};

    return names[policy];
}

const char *
experiment_direction(const struct experiment *x)
{
    if (strcmp(x->mode_from, EXPERIMENT_MODE_UNSAID) == 0)
        return NULL;
    return x->minimize ? "minimize" : "maximize";
}

bool
experiment_is_direction(const char *word)
{
    return strcmp(word, "minimize") == 0 || strcmp(word, "maximize") == 0;
}

void
experiment_space_place(const struct experiment *x, const char *problem,
                       char *out, size_t size)
{
    size_t len = strcspn(problem, ":");
    uintptr_t line = 0;

    /* The entry itself, or what it is a part of. */
    while (len > 0 &&
           (line = (uintptr_t)map_get(&x->space_lines, problem, len)) == 0)
        do
            len--;
        while (len > 0 && problem[len] != '.' && problem[len] != '[');
    if (line == 0)
        snprintf(out, size, "%s", x->space_place);
    else
        snprintf(out, size, "%s:%u%s", x->space_named, (unsigned)line,
                 x->space_key);
}
