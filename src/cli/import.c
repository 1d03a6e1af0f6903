/* SPDX-License-Identifier: MIT */
#include "cli/module.h"
#include "cli/kept.h"
#include "cli/options.h"
#include "cli/target.h"
#include "cli/verb.h"
#include "config/experiment.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/problems.h"
#include "core/visible.h"
#include "history/folder.h"
#include "import/import.h"
#include "manager/imports.h"
#include "manager/results.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct import_into {
    uint64_t fit; /* trials that fit the experiment's search space */
    bool told; /* the tuner is told of them now; else when the experiment goes
                  on */
};

static int import_into(const char *folder, const struct buf *lines,
                       struct import_into *out, struct err *err);

#define LINES_MAX ((size_t)1 << 30)

struct giving {
    const char *folder;
    const struct buf *lines;
    struct import_into *out;
    struct err *err;
};

/* Puts the lines behind those that no manager has taken yet. */
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

/* Picks the lines that fit, as a run checks the file of its key `import`. */
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

/* Gives the lines (manager/imports.h) to the experiment; what does not fit its
 * search space is told on stderr.  -1: nothing was given. */
static int
import_into(const char *folder, const struct buf *lines,
            struct import_into *out, struct err *err)
{
    struct results *r = results_load(folder, RESULTS_NONE, err);
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

/* ---- the verb ---- */

static const char help[] =
    "usage: tunepipe import --into FILE|DIR [--value NAME] [--study NAME] [--json]\n"
    "                       SOURCE...\n"
    "\n"
    "Brings finished trials from elsewhere: writes FILE, a line of JSON each,\n"
    "for the key `import` of a new experiment or `tunepipe run --import FILE`.\n"
    "Its tuner is told of them before it is asked.  DIR, the folder of an\n"
    "experiment that there is already: its tuner is told at once where it runs,\n"
    "else when it goes on.  A SOURCE is\n"
    "\n"
    "  an experiment's folder of NNI's, or its db/nni.sqlite\n"
    "  Optuna's SQLite database, or its journal\n"
    "  CSV with a header: a column of values, all others are parameters\n"
    "\n"
    "What is not taken is counted and listed by its reason: trials that have\n"
    "not finished, parameters of an unknown kind.  Nothing is guessed.\n"
    "\n"
    "  --into FILE    written anew; or an experiment's folder\n"
    "  --value NAME   CSV: the column with the values (default: value);\n"
    "                 Optuna: the number of the objective, where there are\n"
    "                 several and one is wanted; else all are taken, in their\n"
    "                 order, for an experiment with as many objectives\n"
    "  --study NAME   Optuna: the study, where there are several\n"
    "  --json         {\"into\", \"trials\", \"fit\", \"told\", \"left_out\":\n"
    "                 [{\"trials\", \"reason\"}, ...]}; fit, how many fit the\n"
    "                 search space, and told, whether the tuner has heard of\n"
    "                 them, are null with a FILE\n"
    "\n"
    "Exit status: 0 done; 1 no trial was found, or the experiment takes none; 2\n"
    "usage; 3 a source cannot be read, or does not go with the experiment.\n"
    "\n"
    "Example: tunepipe import --into old.jsonl ~/nni-experiments/a1b2c3d4\n";

struct words {
    const char *into, *value, *study;
    bool json;
};

static const struct option options[] = {
    {"into", OPTION_TEXT, offsetof(struct words, into), "FILE"},
    {"value", OPTION_TEXT, offsetof(struct words, value), "NAME"},
    {"study", OPTION_TEXT, offsetof(struct words, study), "NAME"},
    {"json", OPTION_FLAG, offsetof(struct words, json), NULL},
};
#define N_OPTIONS (sizeof options / sizeof *options)

static const struct sql *
load(struct err *err)
{
    return database_load("tunepipe import of a database", err);
}

/* Says what was imported; `given` NULL: into a file. */
static void
tell(const struct import *im, const char *into, const struct import_into *given)
{
    visible_printf(stdout, "%s: %" PRIu64 " trials", into, im->n);
    if (given != NULL)
        printf(", %" PRIu64 " fit; %s", given->fit,
               given->told ? "its tuner is told"
                           : "its tuner is told when it goes on (tunepipe "
                             "resume)");
    printf("\n");
    for (size_t i = 0; i < im->n_reasons; i++)
        visible_printf(stdout, "left out: %" PRIu64 " of them: %s\n",
                       im->reasons[i].n, im->reasons[i].text);
}

static int
tell_json(const struct import *im, const char *into,
          const struct import_into *given, struct err *err)
{
    struct verb_json line;
    struct json_writer *w = verb_json_begin(&line);

    json_add_text(w, "into", into);
    json_add_unsigned(w, "trials", im->n);
    if (given != NULL) {
        json_add_unsigned(w, "fit", given->fit);
        json_add_bool(w, "told", given->told);
    } else {
        json_add_text(w, "fit", NULL);
        json_add_text(w, "told", NULL);
    }
    json_open_array(w, "left_out");
    for (size_t i = 0; i < im->n_reasons; i++) {
        json_open_object(w, NULL);
        json_add_unsigned(w, "trials", im->reasons[i].n);
        json_add_text(w, "reason", im->reasons[i].text);
        json_close(w);
    }
    return verb_json_print(&line, stdout, err);
}

static int
read_all(struct import *im, char **sources, struct err *err)
{
    for (; *sources != NULL; sources++)
        if (import_source(im, *sources, err) != 0) {
            if (err->code == ERR_INPUT || err->code == ERR_SYSTEM)
                err->code = ERR_CONFIG;
            return -1;
        }
    return 0;
}

static int
import(struct import *im, char **sources, const struct words *w,
       struct err *err)
{
    bool experiment = file_has(w->into, FOLDER_EXPERIMENT);
    struct import_into given = {0};
    int rc = read_all(im, sources, err);

    if (rc != 0)
        return rc;
    if (im->n == 0)
        rc = err_set(err, ERR_INPUT, "no finished trial was found");
    else if (experiment)
        rc = import_into(w->into, &im->lines, &given, err);
    else
        rc = file_write(w->into, buf_text(&im->lines), im->lines.len, err);
    if (rc != 0 && im->n > 0)
        return rc;
    if (!w->json)
        tell(im, w->into, experiment ? &given : NULL);
    else if (tell_json(im, w->into, experiment ? &given : NULL,
                       rc == 0 ? err : NULL) != 0)
        rc = -1;
    return rc;
}

static int
run(int argc, char **argv)
{
    struct words w = {0};
    struct import_options o = {.sql = load};
    struct err err = {0};
    struct import im;
    int status = EXIT_DONE;

    if (options_parse(options, N_OPTIONS, &w, &argc, argv, &err) != 0)
        return verb_fail("import", &err);
    if (argc < 2)
        err_set(&err, ERR_USAGE, "expected a source; see --help");
    else if (w.into == NULL)
        err_set(&err, ERR_USAGE, "expected --into FILE or DIR; see --help");
    if (err.code != ERR_NONE)
        return verb_fail("import", &err);
    o.value = w.value;
    o.study = w.study;
    import_init(&im, &o);
    argv[argc] = NULL;
    if (import(&im, argv + 1, &w, &err) != 0)
        status = verb_fail("import", &err);
    import_fini(&im);
    return verb_printed("import", status);
}

const struct verb verb_import = {
    .name = "import",
    .summary = "bring finished trials from NNI, Optuna or a table",
    .help = help,
    .run = run,
    .options = options,
    .n_options = N_OPTIONS,
    .operand = "FILE",
};
