/* SPDX-License-Identifier: MIT */
#include "cli/database.h"
#include "cli/options.h"
#include "cli/verb.h"

#include "core/err.h"
#include "core/file.h"
#include "import/import.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

static const char help[] =
    "usage: tunepipe import --into FILE [--value NAME] [--study NAME] SOURCE...\n"
    "\n"
    "Brings finished trials from elsewhere: writes FILE, a line of JSON each,\n"
    "for the key `import` of a new experiment or `tunepipe run --import FILE`.\n"
    "Its tuner is told of them before it is asked.  A SOURCE is\n"
    "\n"
    "  an experiment's folder of NNI's, or its db/nni.sqlite\n"
    "  Optuna's SQLite database, or its journal\n"
    "  CSV with a header: a column of values, all others are parameters\n"
    "\n"
    "What is not taken is counted and listed by its reason: trials that have\n"
    "not finished, parameters of an unknown kind.  Nothing is guessed.\n"
    "\n"
    "  --into FILE    written anew\n"
    "  --value NAME   CSV: the column with the values (default: value);\n"
    "                 Optuna: the number of the objective, where there are\n"
    "                 several\n"
    "  --study NAME   Optuna: the study, where there are several\n"
    "\n"
    "Exit status: 0 done; 1 no trial was found; 2 usage; 3 a source cannot be\n"
    "read.\n"
    "\n"
    "Example: tunepipe import --into old.jsonl ~/nni-experiments/a1b2c3d4\n";

struct words {
    const char *into, *value, *study;
};

static const struct option options[] = {
    {"into", OPTION_TEXT, offsetof(struct words, into), "FILE"},
    {"value", OPTION_TEXT, offsetof(struct words, value), "NAME"},
    {"study", OPTION_TEXT, offsetof(struct words, study), "NAME"},
};
#define N_OPTIONS (sizeof options / sizeof *options)

static const struct sql *
load(struct err *err)
{
    return database_load("tunepipe import of a database", err);
}

static void
tell(const struct import *im, const char *into)
{
    printf("%s: %" PRIu64 " trials\n", into, im->n);
    for (size_t i = 0; i < im->n_reasons; i++)
        printf("left out: %" PRIu64 " of them: %s\n", im->reasons[i].n,
               im->reasons[i].text);
}

static int
read_all(struct import *im, char **sources, const char *into, struct err *err)
{
    for (; *sources != NULL; sources++)
        if (import_source(im, *sources, err) != 0) {
            if (err->code == ERR_INPUT || err->code == ERR_SYSTEM)
                err->code = ERR_CONFIG;
            return -1;
        }
    if (im->n == 0) {
        tell(im, into);
        return err_set(err, ERR_INPUT, "no finished trial was found");
    }
    return file_write(into, buf_text(&im->lines), im->lines.len, err);
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
        err_set(&err, ERR_USAGE, "expected --into FILE; see --help");
    if (err.code != ERR_NONE)
        return verb_fail("import", &err);
    o.value = w.value;
    o.study = w.study;
    import_init(&im, &o);
    argv[argc] = NULL;
    if (read_all(&im, argv + 1, w.into, &err) != 0)
        status = verb_fail("import", &err);
    else
        tell(&im, w.into);
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
