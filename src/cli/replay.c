/* SPDX-License-Identifier: MIT */
#include "cli/verb.h"

#include "cli/log_print.h"
#include "cli/options.h"
#include "cli/replay_modes.h"
#include "core/err.h"
#include "core/log.h"
#include "core/visible.h"
#include "log/log.h"
#include "log/record.h"
#include "plugin/paths.h"
#include "replay/pace.h"
#include "replay/replay.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static const char help[] =
    "usage: tunepipe replay LOG [--verify | --speed real|N|max] [--until N]\n"
    "       tunepipe replay LOG --pipe COMMAND [--deadline DURATION] [--json]\n"
    "       tunepipe replay LOG --assessor NAME [--assessor-args JSON] [--json]\n"
    "       tunepipe replay LOG --tuner NAME[:JSON] [--json]\n"
    "\n"
    "Walks a command log (or the one in an experiment folder) with the same\n"
    "tuner, assessor and seed, and says whether every answer is the same.\n"
    "Or plays the manager's side of it to another dispatcher.  Or tells what\n"
    "another assessor would have done with its trials, or what another tuner\n"
    "would have thought of them.\n"
    "\n"
    "  --verify               only compare; without it each answer that the\n"
    "                         replay gives is printed, too: number of the\n"
    "                         command, sender, code, payload\n"
    "  --until N              handle the inputs up to this arrival number, and\n"
    "                         compare the answers to them\n"
    "  --speed real|N|max     print the recorded frames of both sides as they\n"
    "                         come: paced as recorded, N times as fast, or at\n"
    "                         once\n"
    "  --pipe 'COMMAND'       a program that speaks the protocol on its\n"
    "                         standard input and output (PROTOCOL.md); a shell\n"
    "                         starts it only if the text needs one.  It gets\n"
    "                         the manager's frames, each when the answers that\n"
    "                         it depends on have come; how many frames of each\n"
    "                         code it sends, which ids, which kills, is\n"
    "                         compared\n"
    "  --deadline DURATION    how long that program may be silent (default\n"
    "                         60s)\n"
    "  --assessor NAME        a plugin's name or file: which of the recorded\n"
    "                         trials it would have stopped, when, what that\n"
    "                         saves, and whether the best one survives\n"
    "  --assessor-args JSON   its arguments, as an object\n"
    "  --tuner NAME[:JSON]    a plugin's name or file, and its arguments: how it\n"
    "                         would have ranked each trial's parameters, before\n"
    "                         its result, among samples of the search space,\n"
    "                         and from when on it would have preferred the best\n"
    "  --json                 with --pipe, --assessor and --tuner: one JSON\n"
    "                         object\n"
    "  --plugin-path DIRS     folders of plugins, separated by colons;\n"
    "                         a log names a plugin of yours, not its folder\n"
    "  --debug                show the lines the handlers write\n"
    "\n"
    "Example: tunepipe replay tunepipe-experiments/digits-1 --verify\n"
    "         tunepipe replay digits-1 --assessor medianstop\n"
    "         tunepipe replay digits-1 --tuner 'tpe:{\"seed\": 7}'\n"
    "\n"
    "Exit status: 0 identical, or told; 1 a difference, of which the first is\n"
    "shown (with --pipe all); 2 usage; 3 the plugins cannot be loaded; 5 the log\n"
    "is damaged.\n";

/* Who prints what, and when. */
struct show {
    FILE *out;
    struct pace pace;
};

static void
print_derived(void *ctx, const struct emission *e)
{
    static const char *const senders[] = {"tuner", "assessor", "router"};
    struct show *show = ctx;

    visible_printf(show->out, "%" PRIu64 " %s %s %.*s\n", e->cause,
                   senders[e->sender], command_info(e->code)->code, (int)e->len,
                   e->len > 0 ? e->payload : "");
}

/* A line when the record is due. */
static int
print_paced(void *ctx, const struct record *r, struct err *err)
{
    struct show *show = ctx;
    struct pace *pace = &show->pace;

    if (pace_wait(pace, r->time_us, err) != 0)
        return -1;
    if (r->kind == RECORD_HEAD || r->kind == RECORD_SYNC)
        return 0;
    fprintf(show->out, "%12.6f %8" PRIu64 " %-2s ",
            (double)(pace->last_us - pace->first_us) / 1e6, r->number,
            record_kind_text(r->kind));
    log_print_payload(r, show->out);
    fputc('\n', show->out);
    fflush(show->out);
    return 0;
}

static void
print_report(FILE *out, const struct replay_report *r)
{
    fprintf(out,
            "identical: %" PRIu64 " commands, %" PRIu64 " answers to %" PRIu64
            " of them compared",
            r->commands, r->frames, r->causes);
    if (r->uncompared > 0)
        fprintf(out,
                "; %" PRIu64 " cannot be (the router's, or of commands that "
                "were not handled here)",
                r->uncompared);
    fputc('\n', out);
    if (r->restored > 0)
        fprintf(out,
                "begun with the snapshot behind command %" PRIu64
                ": the segments before it were dropped\n",
                r->restored);
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

#define OF(member) offsetof(struct replay_words, member)
static const struct option options[] = {
    {"verify", OPTION_FLAG, OF(verify), NULL},
    {"until", OPTION_UINT, OF(until), "N"},
    {"speed", OPTION_TEXT, OF(speed), "real|max"},
    {"pipe", OPTION_TEXT, OF(pipe), "COMMAND"},
    {"deadline", OPTION_DURATION, OF(deadline_ms), "DURATION"},
    {"assessor", OPTION_TEXT, OF(assessor), "ASSESSOR"},
    {"assessor-args", OPTION_TEXT, OF(assessor_args), "JSON"},
    {"tuner", OPTION_TEXT, OF(tuner), "TUNER"},
    {"json", OPTION_FLAG, OF(json), NULL},
    {"debug", OPTION_FLAG, OF(debug), NULL},
    {"plugin-path", OPTION_TEXT, OF(plugin_path), "FOLDERS"},
};
#undef OF
#define N_OPTIONS (sizeof options / sizeof *options)

static int
compare(const struct replay_words *w, const char *path,
        const struct plugin_paths *paths, const struct log *log, FILE *out,
        struct err *err)
{
    struct show show = {.out = out, .pace = {.fd = -1}};
    struct replay_setup setup = {.path = path,
                                 .paths = paths,
                                 .log = log,
                                 .until = w->until,
                                 .ctx = &show};
    struct replay_report report;
    double speed;
    int rc;

    if (w->speed != NULL) {
        if (pace_parse(w->speed, &speed, err) != 0)
            return err_place(err, "--speed");
        if (pace_open(&show.pace, speed, err) != 0)
            return -1;
        setup.next = print_paced;
    } else if (!w->verify) {
        setup.derived = print_derived;
    }
    rc = replay_run(&setup, &report, err);
    if (rc == 0)
        print_report(out, &report);
    pace_close(&show.pace);
    return rc;
}

/* The exit status, or -1: err tells. */
static int
replay(const struct replay_words *w, const char *word, FILE *out,
       struct err *err)
{
    struct log log = {
        .fd = w->debug ? 2 : -1, .most = LOG_DEBUG, .name = "tunepipe"};
    struct plugin_paths *paths = plugin_paths_new(w->plugin_path, err);
    char *path = log_find(word, err);
    int rc = -1;

    if (path != NULL && w->pipe != NULL)
        rc = replay_pipe(w, path, out, err);
    else if (path != NULL && paths != NULL && w->tuner != NULL)
        rc = replay_tuner(w, path, paths, &log, out, err);
    else if (path != NULL && paths != NULL)
        rc = w->assessor != NULL
                 ? replay_assessor(w, path, paths, &log, out, err)
                 : compare(w, path, paths, &log, out, err);
    plugin_paths_free(paths);
    free(path);
    return rc;
}

/* Each of the usages has options of its own. */
static int
check_words(const struct replay_words *w, struct err *err)
{
    int modes = (w->pipe != NULL) + (w->assessor != NULL) + (w->tuner != NULL) +
                w->verify + (w->speed != NULL);

    if (modes > 1)
        return err_set(err, ERR_USAGE,
                       "expected one of --verify, --speed, --pipe, "
                       "--assessor and --tuner");
    if (w->until > 0 && w->pipe != NULL)
        return err_set(err, ERR_USAGE,
                       "--until: expected without --pipe, which plays a whole "
                       "session");
    if (w->json && w->pipe == NULL && w->assessor == NULL && w->tuner == NULL)
        return err_set(err, ERR_USAGE,
                       "--json: expected with --pipe, --assessor or --tuner");
    if (w->assessor_args != NULL && w->assessor == NULL)
        return err_set(err, ERR_USAGE,
                       "--assessor-args: expected with --assessor");
    return 0;
}

static int
run(int argc, char **argv)
{
    struct replay_words w = {.deadline_ms = 60000};
    struct err err = {0};
    FILE *out;
    int fd, rc;

    if (options_parse(options, N_OPTIONS, &w, &argc, argv, &err) != 0)
        return verb_fail("replay", &err);
    if (argc != 2)
        err_set(&err, ERR_USAGE, "expected one log; see --help");
    if (argc != 2 || check_words(&w, &err) != 0)
        return verb_fail("replay", &err);
    fd = verb_shield_stdout(&err);
    out = fd < 0 ? NULL : fdopen(fd, "w");
    if (out == NULL)
        return verb_fail("replay", &err);
    rc = replay(&w, argv[1], out, &err);
    if (fclose(out) != 0 && rc == EXIT_DONE)
        rc = err_errno(&err, ERR_SYSTEM, "cannot write to stdout");
    return rc >= 0 ? rc : verb_fail("replay", &err);
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
