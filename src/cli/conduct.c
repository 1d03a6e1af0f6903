/* SPDX-License-Identifier: MIT */
#include "cli/conduct.h"

#include "cli/verb.h"
#include "core/err.h"
#include "core/visible.h"
#include "manager/manager.h"
#include "manager/results.h"
#include "manager/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int
status_of(const struct manager_outcome *out)
{
    if (out->ok)
        return EXIT_DONE;
    return out->end == MANAGER_CONFIG ? EXIT_CONFIG : EXIT_FAILED;
}

void
conduct_print(const char *verb, const char *folder)
{
    struct err err = {0};
    struct results *r = results_load(folder, RESULTS_COUNTS, &err);

    if (r != NULL)
        table_print(stdout, r, false);
    else
        verb_fail(verb, &err);
    results_free(r);
}

int
conduct(const char *verb, const struct experiment *x,
        struct manager_options *options)
{
    struct manager_outcome out;
    struct err err = {0};
    int rc;

    options->out_fd = STDOUT_FILENO;
    options->err_fd = STDERR_FILENO;
    rc = manager_run(x, options, &out, &err);
    if (out.folder != NULL && out.initialized)
        conduct_print(verb, out.folder);
    free(out.folder);
    if (rc != 0)
        return verb_fail(verb, &err);
    if (!out.ok && out.end <= MANAGER_INTERRUPTED) /* the rest was told */
        visible_printf(stderr, "tunepipe %s: %s%s\n", verb, out.reason,
                       out.end <= MANAGER_DURATION ? "; no trial has a result"
                                                   : "");
    return status_of(&out);
}
