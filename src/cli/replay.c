/* SPDX-License-Identifier: MIT */
#include "cli/verb.h"

#include "cli/options.h"
#include "core/err.h"
#include "core/file.h"
#include "core/log.h"
#include "dispatcher/commandlog.h"
#include "plugin/paths.h"
#include "replay/replay.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char help[] =
    "usage: tunepipe replay LOG [--verify] [--until N] [OPTIONS]\n"
    "\n"
    "Walks a command log (or the one in an experiment folder) with the same\n"
    "tuner, assessor and seed, and says whether every answer is the same.\n"
    "\n"
    "  --verify               only compare; without it each answer that the\n"
    "                         replay gives is printed, too: number of the\n"
    "                         command, sender, code, payload\n"
    "  --until N              handle the inputs up to this arrival number, and\n"
    "                         compare the answers to them\n"
    "  --plugin-path DIRS     folders of plugins, separated by colons\n"
    "  --debug                show the lines the handlers write\n"
    "\n"
    "Example: tunepipe replay tunepipe-experiments/digits-1 --verify\n"
    "\n"
    "Exit status: 0 identical; 1 a difference, of which the first is shown;\n"
    "2 usage; 3 the plugins cannot be loaded; 5 the log is damaged.\n";

static void
print_derived(void *ctx, const struct emission *e)
{
    static const char *const senders[] = {"tuner", "assessor", "router"};

    fprintf(ctx, "%" PRIu64 " %s %s %.*s\n", e->cause, senders[e->sender],
            command_info(e->code)->code, (int)e->len,
            e->len > 0 ? e->payload : "");
}

static void
print_report(FILE *out, const struct replay_report *r)
{
    fprintf(out,
            "identical: %" PRIu64 " commands, %" PRIu64 " answers to %" PRIu64
            " of them compared",
            r->commands, r->frames, r->causes);
    if (r->uncompared > 0)
        fprintf(out, ", %" PRIu64 " of skipped commands not compared",
                r->uncompared);
    fputc('\n', out);
    if (r->torn_bytes > 0)
        fprintf(out,
                "the log is cut off: %" PRIu64 " bytes at its end are no whole "
                "record\n",
                r->torn_bytes);
    if (!r->ended)
        fprintf(out,
                "the session did not end by itself: %" PRIu64
                " frames were derived that had not been sent\n",
                r->unsent);
}

/* The log itself, or the one in a folder; to be freed. */
static char *
find_log(const char *word)
{
    struct stat st;

    if (stat(word, &st) == 0 && S_ISDIR(st.st_mode))
        return file_join(word, COMMANDLOG_NAME);
    return strdup(word);
}

struct words {
    bool verify, debug;
    uint64_t until;
    const char *plugin_path;
};

#define OF(member) offsetof(struct words, member)
static const struct option options[] = {
    {"verify", OPTION_FLAG, OF(verify), NULL},
    {"until", OPTION_UINT, OF(until), "N"},
    {"debug", OPTION_FLAG, OF(debug), NULL},
    {"plugin-path", OPTION_TEXT, OF(plugin_path), "FOLDERS"},
};
#undef OF
#define N_OPTIONS (sizeof options / sizeof *options)

/* A log names plugins, not their folders: it is read on other machines. */
static void
hint_plugin_path(struct err *err)
{
    struct err was = *err;

    err_set(err, was.code, "%s; for one of yours give --plugin-path FOLDER",
            was.text);
}

static int
replay(const struct words *w, const char *word, FILE *out, struct err *err)
{
    struct log log = {
        .fd = w->debug ? 2 : -1, .most = LOG_DEBUG, .name = "tunepipe"};
    struct plugin_paths *paths = plugin_paths_new(w->plugin_path, err);
    char *path = find_log(word);
    struct replay_setup setup = {
        .path = path,
        .paths = paths,
        .log = &log,
        .until = w->until,
        .derived = w->verify ? NULL : print_derived,
        .ctx = out,
    };
    struct replay_report report;
    int rc = -1;

    if (path == NULL)
        err_set(err, ERR_MEMORY, "out of memory");
    else if (paths != NULL)
        rc = replay_run(&setup, &report, err);
    if (rc == 0)
        print_report(out, &report);
    else if (err->code == ERR_CONFIG && w->plugin_path == NULL)
        hint_plugin_path(err);
    plugin_paths_free(paths);
    free(path);
    return rc;
}

static int
run(int argc, char **argv)
{
    struct words w = {0};
    struct err err = {0};
    FILE *out;
    int fd, rc;

    if (options_parse(options, N_OPTIONS, &w, &argc, argv, &err) != 0)
        return verb_fail("replay", &err);
    if (argc != 2) {
        err_set(&err, ERR_USAGE, "expected one log; see --help");
        return verb_fail("replay", &err);
    }
    fd = verb_shield_stdout(&err);
    out = fd < 0 ? NULL : fdopen(fd, "w");
    if (out == NULL)
        return verb_fail("replay", &err);
    rc = replay(&w, argv[1], out, &err);
    fclose(out);
    return rc == 0 ? EXIT_DONE : verb_fail("replay", &err);
}

const struct verb verb_replay = {
    .name = "replay",
    .summary = "repeat a recorded session and compare every answer",
    .help = help,
    .run = run,
    .options = options,
    .n_options = N_OPTIONS,
    .operand = "FILE",
};
