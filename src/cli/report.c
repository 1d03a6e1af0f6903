/* SPDX-License-Identifier: MIT */
#include "cli/verb.h"

#include "cli/follow_experiment.h"
#include "cli/options.h"
#include "cli/target.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/visible.h"
#include "report/report.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const char help[] =
    "usage: tunepipe report [DIR] [--out FILE] [--json] [--page N]\n"
    "                       [--watch] [--refresh SECONDS]\n"
    "\n"
    "Writes one HTML file that shows an experiment and needs nothing else, no\n"
    "network either: the best so far, the parameters and which of them matter,\n"
    "the front of several objectives and its hypervolume, learning curves,\n"
    "rungs and survivors, the family tree of a population,\n"
    "who ran when and where, and a table of all trials.  Works while the\n"
    "experiment runs, and after a crash.  DIR is the folder that `tunepipe\n"
    "run` printed; without it the newest in ./tunepipe-experiments.\n"
    "\n"
    "  --out FILE         there instead of DIR/report.html; the old one is\n"
    "                     replaced at once, and only its owner may read it\n"
    "  --watch            write it anew while the experiment runs, and once\n"
    "                     more at its end; a browser that shows it follows\n"
    "  --refresh SECONDS  the same, so often at most (default 5)\n"
    "  --json             what the page shows as data, on stdout: of all\n"
    "                     trials, however many\n"
    "  --page N           page N, from 1, of 50,000 trials each, by number,\n"
    "                     into DIR/report-N.html\n"
    "\n"
    "A page that would pass 20 MB, as that of some 100,000 trials, shows those\n"
    "that run, the best, those that were the best when they ended, and one in\n"
    "so many of the others.  --page has all, one page after the other.\n"
    "\n"
    "Exit status: 0; 1 it cannot be written; 2 usage; 3 DIR is no\n"
    "experiment's folder; 5 the log is damaged.\n"
    "\n"
    "Example: tunepipe report tunepipe-experiments/digits-20260131-101500\n";

#define FILE_NAME "report.html"
#define PAGE_NAME "report-%" PRIu64 ".html"
#define REFRESH_DEFAULT 5
#define REFRESH_MAX 86400
#define NOT_GIVEN UINT64_MAX
#define PAGE_MAX ((size_t)1 << 30)

struct words {
    bool json, watch;
    const char *out;
    uint64_t refresh_s, page;
};

#define OF(member) offsetof(struct words, member)
static const struct option options[] = {
    {"out", OPTION_TEXT, OF(out), "FILE"},
    {"watch", OPTION_FLAG, OF(watch), NULL},
    {"refresh", OPTION_UINT, OF(refresh_s), "SECONDS"},
    {"json", OPTION_FLAG, OF(json), NULL},
    {"page", OPTION_UINT, OF(page), "N"},
};
#undef OF
#define N_OPTIONS (sizeof options / sizeof *options)

/* What is written, and where to. */
struct writing {
    const char *folder, *out; /* NULL: stdout */
    struct report_want want;
    bool json;
    uint64_t refresh_s; /* 0: once */
    bool told;          /* it was said which file that is */
};

static int
check_words(struct words *w, struct err *err)
{
    if (w->refresh_s != NOT_GIVEN &&
        (w->refresh_s < 1 || w->refresh_s > REFRESH_MAX))
        return err_set(err, ERR_USAGE,
                       "--refresh: expected 1 to %d seconds, not %" PRIu64,
                       REFRESH_MAX, w->refresh_s);
    if (w->page < 1)
        return err_set(err, ERR_USAGE, "--page: expected 1 or more, not 0");
    w->watch = w->watch || w->refresh_s != NOT_GIVEN;
    if (w->json && w->watch)
        return err_set(err, ERR_USAGE, "expected --json or --watch, not both");
    return 0;
}

static int
put(const struct writing *w, const struct buf *text, struct err *err)
{
    if (w->out != NULL)
        return file_write(w->out, text->data, text->len, err);
    fwrite(text->data, 1, text->len, stdout);
    return 0;
}

static void
tell(struct writing *w, const struct report *r)
{
    if (w->out != NULL && !w->told && r->left_out == 0)
        visible_printf(stdout, "%s: %zu trials\n", w->out, r->n_trials);
    else if (w->out != NULL && !w->told)
        visible_printf(
            stdout,
            "%s: %zu of %" PRIu64 " trials; all: --page 1 to %" PRIu64 "\n",
            w->out, r->n_trials, r->n_trials + r->left_out, r->pages);
    fflush(stdout);
    w->told = true;
}

static int
write_report(void *ctx, struct err *err)
{
    struct writing *w = ctx;
    struct report *r = report_load(w->folder, w->want, err);
    struct buf text;
    int rc = r == NULL ? -1 : 0;

    buf_init(&text, PAGE_MAX);
    if (rc == 0 && w->json) {
        report_write_json(r, &text);
        rc = buf_check(&text, "the report", err);
    } else if (rc == 0) {
        rc = report_write_page(r, w->refresh_s, &text, err);
    }
    if (rc == 0)
        rc = put(w, &text, err);
    if (rc == 0)
        tell(w, r);
    buf_fini(&text);
    report_free(r);
    return rc;
}

static int
report(const char *folder, const void *ctx, struct err *err)
{
    const struct words *words = ctx;
    char name[64] = FILE_NAME, *own;
    struct writing w = {
        .folder = folder,
        .out = words->out,
        .want = {.all = words->json,
                 .page = words->page == NOT_GIVEN ? 0 : words->page},
        .json = words->json,
        .refresh_s = !words->watch                   ? 0
                     : words->refresh_s == NOT_GIVEN ? REFRESH_DEFAULT
                                                     : words->refresh_s,
    };
    int64_t rest_ns = (int64_t)w.refresh_s * 1000000000;
    int rc;

    if (w.want.page > 0)
        snprintf(name, sizeof name, PAGE_NAME, w.want.page);
    own = words->json || w.out != NULL ? NULL : file_join(folder, name);
    if (w.out == NULL)
        w.out = own;
    if (w.out == NULL && !words->json)
        return err_set(err, ERR_MEMORY, "out of memory");
    rc = words->watch
             ? follow_experiment(folder, rest_ns, write_report, &w, err)
             : write_report(&w, err);
    free(own);
    return rc;
}

static int
run(int argc, char **argv)
{
    struct words w = {.refresh_s = NOT_GIVEN, .page = NOT_GIVEN};
    struct err err = {0};

    if (options_parse(options, N_OPTIONS, &w, &argc, argv, &err) != 0 ||
        check_words(&w, &err) != 0)
        return verb_fail("report", &err);
    return target_read("report", argc, argv, report, &w);
}

const struct verb verb_report = {
    .name = "report",
    .summary = "write an HTML page that shows an experiment",
    .help = help,
    .run = run,
    .options = options,
    .n_options = N_OPTIONS,
    .operand = "FOLDER",
};
