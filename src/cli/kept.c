/* SPDX-License-Identifier: MIT */
#include "cli/kept.h"

#include "cli/verb.h"
#include "config/configuration.h"
#include "config/experiment.h"
#include "core/err.h"
#include "core/file.h"
#include "core/own.h"
#include "core/problems.h"
#include "history/folder.h"
#include "manager/results.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct experiment *
kept_read(const struct results *r, struct problems *problems, struct err *err)
{
    char *config = file_join(r->folder, FOLDER_CONFIG);
    char *space = file_join(r->folder, FOLDER_SPACE);
    struct experiment *x = NULL;

    if (config == NULL || space == NULL)
        err_set(err, ERR_MEMORY, "out of memory");
    else
        x = experiment_read_kept(config, r->config, space, r->overrides,
                                 problems, err);
    if (x != NULL) { /* the seed may have been drawn */
        x->seed = r->seed;
        x->has_seed = true;
        x->deterministic = r->deterministic;
        x->minimize = r->minimize;
    }
    free(config);
    free(space);
    return x;
}

int
kept_with(const char *verb, const struct results *r, kept_use *use, void *ctx)
{
    struct problems problems;
    struct experiment *x;
    struct err err = {0};
    int status;

    problems_init(&problems);
    x = kept_read(r, &problems, &err);
    if (x == NULL)
        fputs(buf_text(&problems.lines), stderr);
    status = x == NULL ? verb_fail(verb, &err) : use(x, ctx);
    experiment_free(x);
    problems_fini(&problems);
    return status;
}

int
kept_check_own(const struct results *r, struct err *err)
{
    char *config = file_join(r->folder, FOLDER_CONFIG);
    char *experiment = file_join(r->folder, FOLDER_EXPERIMENT);
    int rc = config == NULL || experiment == NULL
                 ? err_set(err, ERR_MEMORY, "out of memory")
                 : own_check(r->folder, 0, err);

    if (rc == 0)
        rc = own_check(config, 0, err);
    if (rc == 0 && r->overrides != NULL) /* they may name a plugin */
        rc = own_check(experiment, 0, err);
    free(experiment);
    free(config);
    return rc;
}

static int
check_plugin(const struct algorithm *a, struct err *err)
{
    const char *file = algorithm_plugin(a);

    /* a name without a folder is a plugin that comes with tunepipe */
    return file == NULL || strchr(file, '/') == NULL
               ? 0
               : own_check_plugin(file, err);
}

int
kept_check_plugins(const struct experiment *x, struct err *err)
{
    if (check_plugin(&x->tuner, err) != 0 ||
        check_plugin(&x->assessor, err) != 0)
        return -1;
    for (size_t i = 0; i < x->n_filters; i++)
        if (check_plugin(&x->filters[i], err) != 0)
            return -1;
    return 0;
}
