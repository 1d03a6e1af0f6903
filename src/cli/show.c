/* SPDX-License-Identifier: MIT */
#include "cli/options.h"
#include "cli/verb.h"

#include "core/err.h"
#include "manager/results.h"
#include "manager/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

static const char help[] =
    "usage: tunepipe show DIR [--all] [--json]\n"
    "\n"
    "Prints the results of an experiment from its folder: the best\n"
    "parameters, the ten best trials, how many ended how.  DIR is what\n"
    "`tunepipe run` printed.  Works while the experiment runs and after a\n"
    "crash.\n"
    "\n"
    "  --all    every trial, in the order of their ends; the last\n"
    "           intermediate value stands in brackets where there is no\n"
    "           final one\n"
    "  --json   {\"best\": {\"trial\", \"value\", \"parameters\"},\n"
    "           \"trials\": [{\"trial\", \"parameter_id\", \"seed\", "
    "\"status\",\n"
    "           \"why\", \"value\", \"latest\", \"duration_s\",\n"
    "           \"prepare_s\", \"intermediates\", \"parameters\"}, ...]}; best is null\n"
    "           when there is no result\n"
    "\n"
    "Exit status: 0; 1 not all printed; 2 usage; 3 DIR is no experiment's\n"
    "folder.\n"
    "\n"
    "Example: tunepipe show tunepipe-experiments/digits-20260131-101500\n";

struct words {
    bool all, json;
};

static const struct option options[] = {
    {"all", OPTION_FLAG, offsetof(struct words, all), NULL},
    {"json", OPTION_FLAG, offsetof(struct words, json), NULL},
};
#define N_OPTIONS (sizeof options / sizeof *options)

static int
run(int argc, char **argv)
{
    struct words w = {0};
    struct err err = {0};
    struct results *r;
    int rc = 0;

    if (options_parse(options, N_OPTIONS, &w, &argc, argv, &err) != 0)
        return verb_fail("show", &err);
    if (argc != 2) {
        err_set(&err, ERR_USAGE, "expected one folder; see --help");
        return verb_fail("show", &err);
    }
    r = results_load(argv[1], &err);
    if (r == NULL) {
        err.code = ERR_CONFIG;
        return verb_fail("show", &err);
    }
    if (w.json)
        rc = table_print_json(stdout, r, &err);
    else
        table_print(stdout, r, w.all);
    results_free(r);
    return verb_printed("show", rc == 0 ? EXIT_DONE : verb_fail("show", &err));
}

const struct verb verb_show = {
    .name = "show",
    .summary = "print an experiment's results",
    .help = help,
    .run = run,
    .options = options,
    .n_options = N_OPTIONS,
    .operand = "FOLDER",
};
