/* SPDX-License-Identifier: MIT */
#include "cli/options.h"
#include "cli/target.h"
#include "cli/verb.h"

#include "control/client.h"
#include "core/err.h"
#include "json.h"

#include <stdbool.h>
#include <stddef.h>

static const char help[] =
    "usage: tunepipe stop [DIR] [--now]\n"
    "\n"
    "Ends an experiment and all its trials, like Ctrl-C where it was started,\n"
    "and returns when nothing of it is left.  Each trial gets SIGTERM, and\n"
    "SIGKILL after its grace.  `tunepipe resume` can go on with it, and runs\n"
    "what was interrupted again.  DIR is the folder that `tunepipe run`\n"
    "printed; without it the newest in ./tunepipe-experiments.\n"
    "\n"
    "  --now   SIGKILL at once, also after a stop without it\n"
    "\n"
    "Exit status: 0 it has ended; 1 nobody runs it, or it could not end\n"
    "orderly; 2 usage; 3 DIR is no experiment's folder.\n"
    "\n"
    "Example: tunepipe stop\n";

struct words {
    bool now;
};

static const struct option options[] = {
    {"now", OPTION_FLAG, offsetof(struct words, now), NULL},
};
#define N_OPTIONS (sizeof options / sizeof *options)

static int
stop(const char *folder, const void *words, struct err *err)
{
    const struct words *w = words;
    struct control_client c;
    struct json *doc = NULL;
    struct jval answer;
    int rc;

    if (target_connect(&c, folder, err) != 0)
        return -1;
    rc = control_client_ask(&c, w->now ? REQUEST_STOP_NOW : REQUEST_STOP, &doc,
                            &answer, err);
    if (rc == 0)
        control_client_await_end(&c, "stop");
    json_free(doc);
    control_client_close(&c);
    return rc == 0 ? target_print_end(folder, err) : -1;
}

static int
run(int argc, char **argv)
{
    struct words w = {0};
    struct err err = {0};

    if (options_parse(options, N_OPTIONS, &w, &argc, argv, &err) != 0)
        return verb_fail("stop", &err);
    return target_run("stop", argc, argv, stop, &w);
}

const struct verb verb_stop = {
    .name = "stop",
    .summary = "end a running experiment and all its trials",
    .help = help,
    .run = run,
    .options = options,
    .n_options = N_OPTIONS,
    .operand = "FOLDER",
};
