/* SPDX-License-Identifier: MIT */
#include "cli/options.h"
#include "cli/serve.h"
#include "cli/verb.h"
#include "client/stdio.h"
#include "core/err.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

static const char help[] =
    "usage: tunepipe study DIR --serve | --stdio | --foreground\n"
    "                      [--config FILE]\n"
    "\n"
    "A study is an experiment whose trials are run by those who ask for them:\n"
    "`tunepipe ask`, `tunepipe tell`, a program in Python, C or any language.\n"
    "All that works on an experiment's folder works on DIR.\n"
    "\n"
    "  --serve         returns when the study can be asked: its server lives,\n"
    "                  or one is started, which ends when nobody uses it\n"
    "  --stdio         takes requests from standard input and prints answers, a\n"
    "                  line of JSON each, until the end of input\n"
    "  --foreground    serves in this process, until nobody uses it\n"
    "  --config FILE   makes the study where DIR is absent or empty: the keys\n"
    "                  of tunepipe run without trialCommand; else it has to be\n"
    "                  the same study, and maxTrialNumber may be another\n"
    "\n"
    "Exit status: 0 it can be asked; 1 it cannot be started; 2 usage; 3 no\n"
    "study, another study, or its configuration is wrong; 5 the command log is\n"
    "damaged.\n"
    "\n"
    "Example: tunepipe study digits --serve --config digits.yml\n";

struct words {
    const char *config;
    bool serve, foreground, stdio;
};

static const struct option options[] = {
    {"config", OPTION_TEXT, offsetof(struct words, config), "FILE"},
    {"foreground", OPTION_FLAG, offsetof(struct words, foreground), NULL},
    {"serve", OPTION_FLAG, offsetof(struct words, serve), NULL},
    {"stdio", OPTION_FLAG, offsetof(struct words, stdio), NULL},
};
#define N_OPTIONS (sizeof options / sizeof *options)

/* Whoever started this may have closed its standard streams: what is opened
 * later must not be taken for one.  Nothing can be written to what is put in
 * the place of one, as to a closed one. */
static int
use_stdio(const char *folder, const char *config, struct err *err)
{
    int fd;

    do
        fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
    return stdio_serve(folder, config, STDIN_FILENO, stdout, err);
}

static int
run(int argc, char **argv)
{
    struct words w = {0};
    struct err err = {0};

    if (options_parse(options, N_OPTIONS, &w, &argc, argv, &err) == 0) {
        if (argc != 2)
            err_set(&err, ERR_USAGE, "expected one folder; see --help");
        else if (w.serve + w.foreground + w.stdio != 1)
            err_set(
                &err, ERR_USAGE,
                "expected one of --serve, --stdio, --foreground; see --help");
        else if (w.stdio && use_stdio(argv[1], w.config, &err) == 0)
            return EXIT_DONE;
    }
    return err.code != ERR_NONE
               ? verb_fail("study", &err)
               : serve("study", argv[1], w.config, w.foreground);
}

const struct verb verb_study = {
    .name = "study",
    .summary = "serve those who ask for trials",
    .help = help,
    .run = run,
    .options = options,
    .n_options = N_OPTIONS,
    .operand = "FOLDER",
};
