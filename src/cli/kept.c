/* SPDX-License-Identifier: MIT */
#include "cli/kept.h"

#include "config/experiment.h"
#include "core/err.h"
#include "core/file.h"
#include "manager/experiment_folder.h"
#include "manager/results.h"

#include <stdlib.h>

struct experiment *
kept_experiment(const struct results *r, struct problems *problems,
                struct err *err)
{
    char *config = file_join(r->folder, FOLDER_CONFIG);
    char *space = file_join(r->folder, FOLDER_SPACE);
    struct experiment *x = NULL;

    if (config == NULL || space == NULL)
        err_set(err, ERR_MEMORY, "out of memory");
    else
        x = experiment_read_kept(config, r->config, space, problems, err);
    if (x != NULL) { /* it may have been drawn */
        x->seed = r->seed;
        x->has_seed = true;
        x->deterministic = r->deterministic;
        x->minimize = r->minimize;
    }
    free(config);
    free(space);
    return x;
}
