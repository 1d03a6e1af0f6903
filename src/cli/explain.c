/* SPDX-License-Identifier: MIT */
#include "cli/verb.h"

#include "cli/explain_print.h"
#include "cli/options.h"
#include "core/err.h"
#include "core/log.h"
#include "log/log.h"
#include "plugin/paths.h"
#include "replay/explain.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static const char help[] =
    "usage: tunepipe explain DIR TRIAL [OPTIONS]\n"
    "\n"
    "Says why a trial got its parameters and why it was stopped, or not: what\n"
    "the tuner, its filters and the assessor say of it when the experiment is\n"
    "replayed from its log.  DIR is what `tunepipe run` printed, or a log;\n"
    "TRIAL is a trial_job_id, a parameter_id or a trial's number.\n"
    "\n"
    "  --json                 {\"trial_job_id\", \"parameter_id\", \"suggestion\",\n"
    "                         \"asked\": {\"command\", \"code\", \"time_us\"},\n"
    "                         \"why\": [{\"who\", \"text\"}, ...], \"recovered\",\n"
    "                         \"dropped\" (the log lacks the commands up to\n"
    "                         it), \"reports\", \"latest\": {\"step\", \"value\"},\n"
    "                         \"judgements\", \"verdict\": {\"command\",\n"
    "                         \"step\", \"stop\", \"decision\", \"rule\",\n"
    "                         \"value\", \"threshold\", \"why\"},\n"
    "                         \"killed\", \"decided\",\n"
    "                         \"final\": {\"command\", \"value\"},\n"
    "                         \"end\": {\"command\", \"event\"}}; null where\n"
    "                         there is none\n"
    "  --plugin-path DIRS     folders of plugins, separated by colons;\n"
    "                         a log names a plugin of yours, not its folder\n"
    "  --debug                show the lines the handlers write\n"
    "\n"
    "Example: tunepipe explain tunepipe-experiments/digits-1 7\n"
    "\n"
    "Exit status: 0 explained; 1 no such trial, or the replay differs; 2 usage;\n"
    "3 the plugins cannot be loaded; 5 the log is damaged, or none.\n";

struct words {
    bool json, debug;
    const char *plugin_path;
};

#define OF(member) offsetof(struct words, member)
static const struct option options[] = {
    {"json", OPTION_FLAG, OF(json), NULL},
    {"plugin-path", OPTION_TEXT, OF(plugin_path), "FOLDERS"},
    {"debug", OPTION_FLAG, OF(debug), NULL},
};
#undef OF
#define N_OPTIONS (sizeof options / sizeof *options)

static int
explain(const struct words *w, const char *path, const char *trial, FILE *out,
        struct err *err)
{
    struct log log = {
        .fd = w->debug ? 2 : -1, .most = LOG_DEBUG, .name = "tunepipe"};
    struct plugin_paths *paths = plugin_paths_new(w->plugin_path, err);
    struct explain_setup setup = {path, trial, paths, &log};
    struct explanation x = {0};
    int rc = paths == NULL ? -1 : explain_run(&setup, &x, err);

    if (rc == 0 && w->json)
        explain_print_json(&x, out);
    else if (rc == 0)
        explain_print(&x, out);
    if (rc == 0 && (fflush(out) != 0 || ferror(out)))
        rc = err_set(err, ERR_SYSTEM, "cannot write to stdout");
    explanation_fini(&x);
    plugin_paths_free(paths);
    return rc;
}

static int
run(int argc, char **argv)
{
    struct words w = {0};
    struct err err = {0};
    char *path = NULL;
    FILE *out = NULL;
    int fd, rc = -1;

    if (options_parse(options, N_OPTIONS, &w, &argc, argv, &err) != 0)
        return verb_fail("explain", &err);
    if (argc != 3) {
        err_set(&err, ERR_USAGE, "expected a folder and a trial; see --help");
        return verb_fail("explain", &err);
    }
    fd = verb_shield_stdout(&err);
    out = fd < 0 ? NULL : fdopen(fd, "w");
    path = out == NULL ? NULL : log_find(argv[1], &err);
    if (path != NULL)
        rc = explain(&w, path, argv[2], out, &err);
    if (out != NULL)
        fclose(out);
    free(path);
    return rc == 0 ? EXIT_DONE : verb_fail("explain", &err);
}

const struct verb verb_explain = {
    .name = "explain",
    .summary = "say why a trial got its parameters, and why it was stopped",
    .help = help,
    .run = run,
    .options = options,
    .n_options = N_OPTIONS,
    .operand = "FOLDER",
};
