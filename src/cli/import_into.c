/* SPDX-License-Identifier: MIT */
/* DESIGN.  What fits is left in the experiment's folder, from where its manager
 * takes it: at once where one lives, else the next one before it asks the tuner
 * for anything. */
#include "cli/import_into.h"

#include "cli/kept.h"
#include "cli/target.h"

#include "config/experiment.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/problems.h"
#include "history/folder.h"
#include "manager/imports.h"
#include "manager/results.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LINES_MAX ((size_t)1 << 30)

struct giving {
    const char *folder;
    const struct buf *lines;
    struct import_into *out;
    struct err *err;
};

bool
import_is_experiment(const char *folder)
{
    char *path = file_join(folder, FOLDER_EXPERIMENT);
    bool is = path != NULL && access(path, F_OK) == 0;

    free(path);
    return is;
}

/* Behind what no manager has taken yet. */
static int
leave(struct giving *g, const struct buf *fit)
{
    char *path = file_join(g->folder, FOLDER_IMPORT_NEW);
    struct buf all;
    int rc = 0;

    buf_init(&all, 2 * LINES_MAX);
    if (path == NULL)
        rc = err_set(g->err, ERR_MEMORY, "out of memory");
    else if (access(path, F_OK) == 0)
        rc = file_read(path, LINES_MAX, &all, g->err);
    if (rc == 0) {
        buf_add(&all, fit->data, fit->len);
        rc = buf_check(&all, "what is imported", g->err);
    }
    if (rc == 0)
        rc = file_write(path, buf_text(&all), all.len, g->err);
    buf_fini(&all);
    free(path);
    return rc;
}

/* As a run checks the file of its key `import`. */
static int
pick(struct giving *g, struct experiment *x, struct buf *fit)
{
    struct problems problems, notes;
    int rc;

    x->import = file_join(g->folder, FOLDER_IMPORT_NEW ".read");
    if (x->import == NULL)
        return err_set(g->err, ERR_MEMORY, "out of memory");
    rc = file_write(x->import, g->lines->data, g->lines->len, g->err);
    if (rc != 0)
        return rc;
    problems_init(&problems);
    problems_init(&notes);
    imports_load(x, fit, &problems, &notes);
    unlink(x->import);
    rc = problems_check(&problems, g->err);
    if (rc == 0)
        fputs(buf_text(&notes.lines), stderr);
    if (rc == 0 && fit->len == 0)
        rc = err_set(g->err, ERR_INPUT, "no trial fits the search space");
    for (size_t i = 0; i < fit->len; i++)
        g->out->fit += fit->data[i] == '\n';
    problems_fini(&problems);
    problems_fini(&notes);
    return rc;
}

static int
give(struct experiment *x, void *ctx)
{
    struct giving *g = ctx;
    struct buf fit;
    int rc;

    free(x->import);
    buf_init(&fit, LINES_MAX);
    rc = pick(g, x, &fit);
    if (rc == 0)
        rc = leave(g, &fit);
    buf_fini(&fit);
    return rc;
}

int
import_into(const char *folder, const struct buf *lines,
            struct import_into *out, struct err *err)
{
    struct results *r = results_load(folder, err);
    struct giving g = {NULL, lines, out, err};
    int rc;

    *out = (struct import_into){0};
    if (r == NULL)
        return -1;
    g.folder = r->folder;
    if (r->deterministic)
        rc = err_set(err, ERR_INPUT,
                     "%s is deterministic: what it begins with has to be "
                     "there when it begins",
                     r->id);
    else if (kept_with("import", r, give, &g) != 0)
        rc = err->code != ERR_NONE ? -1
                                   : err_set(err, ERR_CONFIG,
                                             "%s: its configuration cannot be "
                                             "used any more",
                                             r->id);
    else if (r->state == RESULTS_RUNNING)
        rc = target_tell(r->folder, REQUEST_IMPORT, err);
    else
        rc = 0;
    out->told = rc == 0 && r->state == RESULTS_RUNNING;
    results_free(r);
    return rc;
}
