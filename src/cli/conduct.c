/* SPDX-License-Identifier: MIT */
#include "cli/conduct.h"

#include "cli/verb.h"
#include "core/err.h"
#include "core/file.h"
#include "dispatcher/commandlog.h"
#include "dispatcher/logfile.h"
#include "dispatcher/logvoid.h"
#include "manager/manager.h"
#include "manager/results.h"
#include "manager/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int
walk_file(struct logfile *file, manager_record *take, void *ctx,
          struct err *err)
{
    struct record record;
    enum logfile_status status;

    while ((status = logfile_next(file, &record, err)) == LOGFILE_RECORD)
        take(ctx, &record);
    return status == LOGFILE_DAMAGED ? -1 : 0;
}

static int
walk_log(const char *folder, manager_record *take, void *ctx, struct err *err)
{
    char *path = file_join(folder, COMMANDLOG_NAME);
    struct logfile *file;
    struct stat st;
    int rc;

    if (path == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    if (stat(path, &st) != 0 || logvoid(folder)) {
        free(path);
        return 0;
    }
    file = logfile_open(path, err);
    rc = file == NULL ? -1 : walk_file(file, take, ctx, err);
    logfile_close(file);
    free(path);
    return rc;
}

static int
status_of(const struct manager_outcome *out)
{
    if (out->ok)
        return EXIT_DONE;
    if (!out->initialized && (out->end == MANAGER_REFUSED ||
                              (out->end == MANAGER_DISPATCHER &&
                               out->dispatcher_status == EXIT_CONFIG)))
        return EXIT_CONFIG;
    return EXIT_FAILED;
}

void
conduct_print(const char *verb, const char *folder)
{
    struct err err = {0};
    struct results *r = results_load(folder, &err);

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
    options->walk_log = walk_log;
    rc = manager_run(x, options, &out, &err);
    if (out.folder != NULL && out.initialized)
        conduct_print(verb, out.folder);
    free(out.folder);
    if (rc != 0)
        return verb_fail(verb, &err);
    if (!out.ok && out.end <= MANAGER_INTERRUPTED) /* the rest was told */
        fprintf(stderr, "tunepipe %s: %s%s\n", verb, out.reason,
                out.end <= MANAGER_DURATION ? "; no trial has a result" : "");
    return status_of(&out);
}
