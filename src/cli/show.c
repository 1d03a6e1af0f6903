/* SPDX-License-Identifier: MIT */
#include "cli/options.h"
#include "cli/target.h"
#include "cli/verb.h"

#include "cli/module.h"
#include "core/err.h"
#include "core/nearest.h"
#include "manager/results.h"
#include "manager/table.h"
#include "manager/trial.h"
#include "store/page.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: tunepipe show [DIR] [--all | PAGE] [--json]\n"
    "\n"
    "Prints the results of an experiment from its folder: the best\n"
    "parameters, the ten best trials, or with objectives all of the front,\n"
    "its knee marked *, and how many ended how.  DIR is the\n"
    "folder that `tunepipe run` printed; without it the newest in\n"
    "./tunepipe-experiments.  Works while the experiment runs and after a\n"
    "crash.\n"
    "\n"
    "  --all    every trial: the best first, of those that have budgets the\n"
    "           best of the greatest one; behind them those without a result,\n"
    "           by number; the last intermediate value stands in brackets\n"
    "           where there is no final one\n"
    "  --json   {\"best\": {\"trial\", \"value\", \"budget\" (where others\n"
    "           had less), \"parameters\", \"checkpoint\" (where one is kept)},\n"
    "           \"trials\": [{\"trial\", \"parameter_id\", \"seed\", "
    "\"status\",\n"
    "           \"why\", \"value\", \"latest\", \"duration_s\",\n"
    "           \"prepare_s\", \"intermediates\", \"parameters\"}, ...]};\n"
    "           with objectives best is an array of the front, of trial,\n"
    "           values, violation, knee, parameters, beside hypervolume,\n"
    "           grew_by and since; trials have values by name, too;\n"
    "           best is null when there is no result; trials are in the\n"
    "           order of their ends\n"
    "\n"
    "PAGE: some of the trials that have ended, whatever their number; at once\n"
    "where DIR has a database (tunepipe index), which is brought up to date.\n"
    "  --page N       page N, from 1; the default when another of these is "
    "given\n"
    "  --per-page M   so many trials on a page (default 50)\n"
    "  --sort ORDER   value (default): the best first, as with --all; ended,\n"
    "                 in the order of their ends; trial, by number; duration,\n"
    "                 the longest first\n"
    "  --status S     only those that ended so: succeeded, failed, ...\n"
    "With --json: {\"page\", \"per_page\", \"total\", \"trials\": "
    "[...]}.\n"
    "\n"
    "Exit status: 0; 1 not all printed; 2 usage; 3 DIR is no experiment's\n"
    "folder.\n"
    "\n"
    "Example: tunepipe show tunepipe-experiments/digits-20260131-101500\n";

#define PER_PAGE_DEFAULT 50
#define PER_PAGE_MAX 1000000

struct words {
    bool all, json;
    uint64_t page, per_page; /* NOT_GIVEN */
    const char *sort, *status;
};

#define OF(member) offsetof(struct words, member)
static const struct option options[] = {
    {"all", OPTION_FLAG, OF(all), NULL},
    {"json", OPTION_FLAG, OF(json), NULL},
    {"page", OPTION_UINT, OF(page), "N"},
    {"per-page", OPTION_UINT, OF(per_page), "M"},
    {"sort", OPTION_TEXT, OF(sort), "value|ended|trial|duration"},
    {"status", OPTION_TEXT, OF(status), "STATUS"},
};
#undef OF
#define N_OPTIONS (sizeof options / sizeof *options)

#define NOT_GIVEN UINT64_MAX

static bool
wants_page(const struct words *w)
{
    return w->page != NOT_GIVEN || w->per_page != NOT_GIVEN ||
           w->sort != NULL || w->status != NULL;
}

static int
check_status(const char *word, struct err *err)
{
    const char *names[TRIAL_STATES];
    char hint[128];
    size_t n = 0;

    for (int i = TRIAL_SUCCEEDED; i < TRIAL_STATES; i++) {
        names[n++] = trial_state_name((enum trial_state)i);
        if (strcmp(word, names[n - 1]) == 0)
            return 0;
    }
    return err_set(
        err, ERR_USAGE,
        "--status: '%s' is no end of a trial%s; see tunepipe-run(1), "
        "TRIAL STATES",
        word, nearest_hint(word, names, n, hint, sizeof hint));
}

static int
read_want(const struct words *w, struct page_want *out, struct err *err)
{
    *out = (struct page_want){
        .number = w->page == NOT_GIVEN ? 1 : w->page,
        .per_page = w->per_page == NOT_GIVEN ? PER_PAGE_DEFAULT : w->per_page,
        .status = w->status};
    if (w->all)
        return err_set(err, ERR_USAGE, "expected --all or a page, not both");
    if (out->per_page < 1 || out->per_page > PER_PAGE_MAX)
        return err_set(err, ERR_USAGE,
                       "--per-page: expected 1 to %d, not %" PRIu64,
                       PER_PAGE_MAX, out->per_page);
    if (out->number < 1 || out->number > UINT32_MAX)
        return err_set(err, ERR_USAGE,
                       "--page: expected 1 or more, not %" PRIu64, out->number);
    if (w->status != NULL && check_status(w->status, err) != 0)
        return -1;
    return w->sort == NULL ? 0 : page_sort_parse(w->sort, &out->sort, err);
}

/* Reads a page from the database.  1: there is no database that helps. */
static int
find_page(struct page *p, const char *folder, const struct page_want *want)
{
    struct err err = {0};
    const struct sql *sql = database_load("", NULL);
    int rc = sql == NULL ? 1 : page_of_database(p, sql, folder, want, &err);

    if (rc < 0)
        fprintf(stderr,
                "tunepipe show: warning: %s; the files are read instead\n",
                err.text);
    return rc == 0 ? 0 : 1;
}

static int
print_page(const struct words *w, const struct page *p,
           const struct page_want *want, struct err *err)
{
    if (w->json)
        return page_print_json(stdout, p, want, err);
    page_print(stdout, p, want);
    return 0;
}

static struct results *
load(const char *folder, enum results_part part, struct err *err)
{
    struct results *r = results_load(folder, part, err);

    if (r == NULL)
        err->code = ERR_CONFIG;
    return r;
}

static int
show_page(const char *folder, const void *words, struct err *err)
{
    const struct words *w = words;
    struct results *r = NULL;
    struct page_want want;
    struct page page = {0};
    int rc;

    if (read_want(w, &want, err) != 0)
        return -1;
    rc = find_page(&page, folder, &want);
    if (rc == 1) {
        r = load(folder, RESULTS_ALL, err);
        rc = r == NULL ? -1 : page_of_results(&page, r, &want, err);
    }
    if (rc == 0)
        rc = print_page(w, &page, &want, err);
    page_fini(&page);
    results_free(r);
    return rc;
}

static int
show(const char *folder, const void *words, struct err *err)
{
    const struct words *w = words;
    struct results *r =
        load(folder, w->json || w->all ? RESULTS_ALL : RESULTS_COUNTS, err);
    int rc = 0;

    if (r == NULL)
        return -1;
    if (w->json)
        rc = table_print_json(stdout, r, err);
    else
        table_print(stdout, r, w->all);
    results_free(r);
    return rc;
}

static int
run(int argc, char **argv)
{
    struct words w = {.page = NOT_GIVEN, .per_page = NOT_GIVEN};
    struct err err = {0};

    if (options_parse(options, N_OPTIONS, &w, &argc, argv, &err) != 0)
        return verb_fail("show", &err);
    return target_read("show", argc, argv, wants_page(&w) ? show_page : show,
                       &w);
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
