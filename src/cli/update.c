/* SPDX-License-Identifier: MIT */
#include "cli/options.h"
#include "cli/target.h"
#include "cli/verb.h"

#include "core/buf.h"
#include "core/err.h"
#include "json.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

static const char help[] =
    "usage: tunepipe update [DIR] [--concurrency N] [--max-trials N]\n"
    "                       [--max-duration TIME]\n"
    "\n"
    "Changes an experiment while it runs, and for those who resume it.  DIR is\n"
    "the folder that `tunepipe run` printed; without it the newest in\n"
    "./tunepipe-experiments.\n"
    "\n"
    "  --concurrency N      so many trials at a time.  More are begun at once;\n"
    "                       with fewer none is ended, and none begun until so\n"
    "                       many have ended by themselves\n"
    "  --max-trials N       so many in all, instead of maxTrialNumber; those\n"
    "                       that have their parameters are run even beyond it\n"
    "  --max-duration TIME  such as 500s, 10m or 1.5h: so long in all, instead\n"
    "                       of maxExperimentDuration\n"
    "\n"
    "Exit status: 0 changed, all of it; 1 nothing was: nobody runs it, or it\n"
    "refuses; 2 usage; 3 DIR is no experiment's folder.\n"
    "\n"
    "Example: tunepipe update --concurrency 4\n";

struct words {
    uint64_t concurrency, max_trials;
    int64_t max_ms;
};

static const struct option options[] = {
    {"concurrency", OPTION_UINT, offsetof(struct words, concurrency), "N"},
    {"max-trials", OPTION_UINT, offsetof(struct words, max_trials), "N"},
    {"max-duration", OPTION_DURATION, offsetof(struct words, max_ms), "TIME"},
};
#define N_OPTIONS (sizeof options / sizeof *options)

/* a value that no experiment can have, for an option that is not given */
#define NOT_GIVEN UINT64_MAX

static int
write_request(const struct words *words, struct buf *out, struct err *err)
{
    const struct {
        const char *key, *option;
        uint64_t value;
    } changes[] = {
        {"concurrency", "--concurrency", words->concurrency},
        {"max_trials", "--max-trials", words->max_trials},
        {"max_duration_ms", "--max-duration", (uint64_t)words->max_ms},
    };
    struct json_writer w = json_begin_object(out);
    size_t n = 0;

    json_add_text(&w, "command", "update");
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        if (changes[i].value == NOT_GIVEN)
            continue;
        if (changes[i].value == 0)
            return err_set(err, ERR_USAGE, "%s: expected more than 0",
                           changes[i].option);
        json_add_unsigned(&w, changes[i].key, changes[i].value);
        n++;
    }
    json_close(&w);
    if (n == 0)
        return err_set(err, ERR_USAGE,
                       "expected --concurrency, --max-trials "
                       "or --max-duration; see --help");
    return 0;
}

static int
run(int argc, char **argv)
{
    struct words w = {NOT_GIVEN, NOT_GIVEN, -1};
    struct err err = {0};
    struct buf request;
    int status;

    buf_init(&request, 1000);
    if (options_parse(options, N_OPTIONS, &w, &argc, argv, &err) == 0 &&
        write_request(&w, &request, &err) == 0)
        status = target_run_request("update", argc, argv, buf_text(&request));
    else
        status = verb_fail("update", &err);
    buf_fini(&request);
    return status;
}

const struct verb verb_update = {
    .name = "update",
    .summary = "change a running experiment: concurrency, limits",
    .help = help,
    .run = run,
    .options = options,
    .n_options = N_OPTIONS,
    .operand = "FOLDER",
};
