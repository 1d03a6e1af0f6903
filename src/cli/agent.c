/* SPDX-License-Identifier: MIT */
#include "agent/agent.h"
#include "agent/attach.h"
#include "cli/options.h"
#include "cli/verb.h"

#include "core/err.h"

#include <stddef.h>
#include <stdint.h>

static const char help[] =
    "usage: tunepipe agent --folder FOLDER [--timeout TIME] [--grace TIME]\n"
    "                      [--max-output BYTES]\n"
    "       tunepipe agent --experiment FOLDER --code FOLDER [OPTION...]\n"
    "       tunepipe agent --attach SOCKET\n"
    "\n"
    "Carries out trials on this machine for a manager on another one, which\n"
    "starts it (trainingService: mode: pilots, tunepipe-slurm(7)): nobody needs\n"
    "to call it by hand.\n"
    "\n"
    "  --folder FOLDER     says there, in the file `address`, how it is reached\n"
    "  --timeout TIME      without a manager its trials go on so long; default:\n"
    "                      10m\n"
    "  --grace TIME        between a trial's SIGTERM and its SIGKILL; default: 5s\n"
    "  --max-output BYTES  of each output of a trial; default: no limit\n"
    "  --experiment FOLDER this folder of the manager's is not on this machine:\n"
    "                      files go over the channel, and how it is reached is\n"
    "                      said on standard output.  The next ones tell what else\n"
    "                      is elsewhere:\n"
    "    --code FOLDER     the code of trials\n"
    "    --programs FOLDER, --python FOLDER\n"
    "                      tunepipe's own programs and Python package\n"
    "  --attach SOCKET     leads from standard input and output to an agent that\n"
    "                      runs on this machine\n"
    "\n"
    "Exit status: 0 it was told to end, or no manager came; 1 it could not go\n"
    "on, or there is no agent; 2 usage.\n"
    "\n"
    "Example: tunepipe agent --folder /home/x/experiment/jobs/pilots/0\n";

struct words {
    const char *folder, *attach, *experiment, *code, *programs, *python;
    int64_t timeout, grace;
    size_t output;
};

static const struct option options[] = {
    {"folder", OPTION_TEXT, offsetof(struct words, folder), "FOLDER"},
    {"timeout", OPTION_DURATION, offsetof(struct words, timeout), "TIME"},
    {"grace", OPTION_DURATION, offsetof(struct words, grace), "TIME"},
    {"max-output", OPTION_SIZE, offsetof(struct words, output), "BYTES"},
    {"experiment", OPTION_TEXT, offsetof(struct words, experiment), "FOLDER"},
    {"code", OPTION_TEXT, offsetof(struct words, code), "FOLDER"},
    {"programs", OPTION_TEXT, offsetof(struct words, programs), "FOLDER"},
    {"python", OPTION_TEXT, offsetof(struct words, python), "FOLDER"},
    {"attach", OPTION_TEXT, offsetof(struct words, attach), "SOCKET"},
};
#define N_OPTIONS (sizeof options / sizeof *options)

static int
go(const struct words *w, struct err *err)
{
    const struct agent_setup setup = {.folder = w->folder,
                                      .experiment = w->experiment,
                                      .code = w->code,
                                      .programs = w->programs,
                                      .python = w->python,
                                      .timeout_ms = w->timeout,
                                      .grace_ms = w->grace,
                                      .max_output = w->output};

    if ((w->folder != NULL) + (w->attach != NULL) + (w->experiment != NULL) !=
        1)
        return err_set(err, ERR_USAGE,
                       "expected --folder, --experiment or --attach; see "
                       "--help");
    return w->attach != NULL ? attach(w->attach, err) : agent_run(&setup, err);
}

static int
run(int argc, char **argv)
{
    struct words words = {.timeout = 600000, .grace = 5000};
    struct err err = {0};
    int rc = options_parse(options, N_OPTIONS, &words, &argc, argv, &err);

    if (rc == 0 && argc > 1)
        rc =
            err_set(&err, ERR_USAGE, "unexpected '%.40s'; see --help", argv[1]);
    if (rc == 0)
        rc = go(&words, &err);
    return rc == 0 ? EXIT_DONE : verb_fail("agent", &err);
}

const struct verb verb_agent = {
    .name = "agent",
    .summary = "carry out trials for a manager on another machine",
    .help = help,
    .run = run,
    .options = options,
    .n_options = N_OPTIONS,
};
