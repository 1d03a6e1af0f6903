/* SPDX-License-Identifier: MIT */
/* tunepipe pause, tunepipe continue. */
#include "cli/options.h"
#include "cli/target.h"
#include "cli/verb.h"

#include "core/err.h"

#include <stddef.h>

#define DIR_IS                                                           \
    "\n"                                                                 \
    "DIR is the folder that `tunepipe run` printed; without it the\n"    \
    "newest in ./tunepipe-experiments.\n"                                \
    "\n"                                                                 \
    "Exit status: 0 done; 1 nobody runs it, or it is ending; 2 usage;\n" \
    "3 DIR is no experiment's folder.\n"                                 \
    "\n"

static const char pause_help[] =
    "usage: tunepipe pause [DIR]\n"
    "\n"
    "No more trials are begun, until `tunepipe continue`.  Those that run go\n"
    "on to their ends.\n" DIR_IS "Example: tunepipe pause\n";

static const char continue_help[] =
    "usage: tunepipe continue [DIR]\n"
    "\n"
    "Ends a pause: trials are begun again.\n" DIR_IS
    "Example: tunepipe continue\n";

static int
run(const char *verb, const char *request, int argc, char **argv)
{
    struct err err = {0};

    if (options_parse(NULL, 0, NULL, &argc, argv, &err) != 0)
        return verb_fail(verb, &err);
    return target_run_request(verb, argc, argv, request);
}

static int
run_pause(int argc, char **argv)
{
    return run("pause", REQUEST_PAUSE, argc, argv);
}

static int
run_continue(int argc, char **argv)
{
    return run("continue", REQUEST_CONTINUE, argc, argv);
}

const struct verb verb_pause = {
    .name = "pause",
    .summary = "begin no more trials for now",
    .help = pause_help,
    .run = run_pause,
    .operand = "FOLDER",
};

const struct verb verb_continue = {
    .name = "continue",
    .summary = "begin trials again after a pause",
    .help = continue_help,
    .run = run_continue,
    .operand = "FOLDER",
};
