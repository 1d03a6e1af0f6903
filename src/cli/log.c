/* SPDX-License-Identifier: MIT */
#include "cli/verb.h"

#include "cli/log_at.h"
#include "cli/log_print.h"
#include "cli/log_repair.h"
#include "cli/log_select.h"
#include "cli/options.h"
#include "core/err.h"
#include "log/log.h"
#include "log/record.h"
#include "log/watch.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static const char help[] =
    "usage: tunepipe log LOG [OPTIONS]\n"
    "\n"
    "Prints a command log (or the one in an experiment folder), a line a\n"
    "record: the number of the inbound command (for an answer: of its cause),\n"
    "the time, who sends it, code and payload.\n"
    "\n"
    "  <   from the manager        >t  from the tuner's worker\n"
    "  S   not (wholly) handled    >a  from the assessor's worker\n"
    "  M   all before is on disk   >r  from the router\n"
    "  H   head    E  end          R   the session goes on\n"
    "  G   begins behind segments of the log that are gone, or elsewhere\n"
    "  <t  <a  !t  !a  of programs (`exec`)\n"
    "                              (all of it: PROTOCOL.md, \"The log\")\n"
    "\n"
    "Which records (all that are given must hold):\n"
    "  --trial TRIAL      of one trial, by trial_job_id, parameter_id or number:\n"
    "                     its TR, ME, NT, KI, DT, AK, EN\n"
    "  --command CODES    with these codes: ME,EN\n"
    "  --kind KINDS       manager, tuner, assessor, router, program, skipped,\n"
    "                     sync, head, resumed, segment, end, or the marks above\n"
    "  --from N           with these numbers, both included\n"
    "  --to N\n"
    "  --since TIME       not before, not after; TIME: 2026-11-21T19:30:00, a\n"
    "  --until TIME       date, or how long ago: 10m\n"
    "\n"
    "  --follow   go on with what is being written, until the writer is gone\n"
    "  --json     one JSON object a line: {\"kind\", \"number\", \"time_us\",\n"
    "             \"segment\", \"offset\", \"payload\"}; offset is in the segment\n"
    "\n"
    "  --at N          how things stood when command N had been handled, by a\n"
    "                  replay up to there: trials that are out, ids that are\n"
    "                  owed, answers that had not been written yet\n"
    "  --plugin-path FOLDERS   for --at: of plugins, separated by colons;\n"
    "                          a log names a plugin of yours, not its folder\n"
    "\n"
    "  --repair FILE   keep what is provable of a damaged log in a new file, and\n"
    "                  say what is lost; the log itself stays as it is\n"
    "\n"
    "Example: tunepipe log tunepipe-experiments/digits-1 --trial 7\n"
    "\n"
    "Exit status: 0 done; 1 not all, no such trial, or the replay differs; 2\n"
    "usage; 3 the plugins cannot be loaded; 5 the log is damaged (--repair:\n"
    "nothing can be kept), or none.\n";

struct words {
    struct log_words select;
    bool follow, json;
    const char *repair, *plugin_path;
    uint64_t at; /* UINT64_MAX: not given */
};

#define OF(member) offsetof(struct words, member)
static const struct option options[] = {
    {"trial", OPTION_TEXT, OF(select.trial), "TRIAL"},
    {"command", OPTION_TEXT, OF(select.commands), "CODES"},
    {"kind", OPTION_TEXT, OF(select.kinds), "KINDS"},
    {"from", OPTION_UINT, OF(select.from), "N"},
    {"to", OPTION_UINT, OF(select.to), "N"},
    {"since", OPTION_TEXT, OF(select.since), "TIME"},
    {"until", OPTION_TEXT, OF(select.until), "TIME"},
    {"follow", OPTION_FLAG, OF(follow), NULL},
    {"json", OPTION_FLAG, OF(json), NULL},
    {"repair", OPTION_TEXT, OF(repair), "FILE"},
    {"at", OPTION_UINT, OF(at), "N"},
    {"plugin-path", OPTION_TEXT, OF(plugin_path), "FOLDERS"},
};
#undef OF
#define N_OPTIONS (sizeof options / sizeof *options)

struct printing {
    const struct words *words;
    struct log_select select;
    struct log_reader *file;
    struct log_watch *follow; /* NULL: what is there is all */
    bool ended;               /* by its last record, but for sync marks */
};

/* All that is there. */
static enum log_status
print_rest(struct printing *p, struct err *err)
{
    struct record r;
    enum log_status status;

    while ((status = log_next(p->file, &r, err)) == LOG_RECORD) {
        p->ended = r.kind == RECORD_END || (p->ended && r.kind == RECORD_SYNC);
        if (!log_select_has(&p->select, &r))
            continue;
        if (p->words->json)
            log_print_json(&r, log_segment(p->file), log_offset(p->file));
        else
            log_print_plain(&r);
    }
    return status;
}

/* And all that comes. */
static enum log_status
print_coming(struct printing *p, struct err *err)
{
    enum log_status status = print_rest(p, err);
    enum log_watch_word word = LOG_WATCH_MORE;

    while (status != LOG_DAMAGED && word != LOG_WATCH_DEAF) {
        int more = log_grow(p->file, err);

        if (more < 0)
            return LOG_DAMAGED;
        if (more > 0) {
            status = print_rest(p, err);
            continue;
        }
        if (word == LOG_WATCH_GONE)
            break;
        fflush(stdout);
        word = log_watch_wait(p->follow, err);
        if (word == LOG_WATCH_FAILED)
            return LOG_DAMAGED;
    }
    if (word == LOG_WATCH_GONE && !p->ended && status != LOG_DAMAGED)
        fputs("tunepipe log: nobody writes this log, and it has no end\n",
              stderr);
    return status;
}

static int
print_all(struct printing *p, struct err *err)
{
    enum log_status status =
        p->follow == NULL ? print_rest(p, err) : print_coming(p, err);

    if (status == LOG_TORN)
        fprintf(stderr,
                "tunepipe log: the log is cut off: %" PRIu64
                " bytes at its end are no whole record\n",
                log_torn(p->file));
    return status == LOG_DAMAGED ? -1 : 0;
}

/* What is there is printed all the same. */
static void
tell_lack(const struct log_reader *file)
{
    struct err err;

    if (log_lacks(file, &err))
        fprintf(stderr, "tunepipe log: %s\n", err.text);
    if (!log_is_begun(file))
        fprintf(stderr, "tunepipe log: %s: has no head: it was never begun\n",
                log_name(file));
}

static int
print(const struct words *w, const char *path, struct err *err)
{
    struct printing p = {.words = w};
    int rc = log_select_init(&p.select, &w->select, err);

    if (rc == 0) {
        p.file = log_open(path, 0, err);
        p.follow =
            w->follow && p.file != NULL ? log_watch_new(path, err) : NULL;
        rc = p.file == NULL || (w->follow && p.follow == NULL) ? -1 : 0;
    }
    if (rc == 0)
        tell_lack(p.file);
    if (rc == 0)
        rc =
            log_select_find(&p.select, p.file, w->select.trial, w->follow, err);
    if (rc == 0)
        rc = print_all(&p, err);
    log_select_fini(&p.select);
    log_watch_free(p.follow);
    log_close(p.file);
    return rc;
}

static int
answer(const struct words *w, const char *path, struct err *err)
{
    bool at = w->at != UINT64_MAX, repair = w->repair != NULL;

    if (at + repair + w->follow > 1)
        return err_set(err, ERR_USAGE,
                       "expected only one of --at, --follow and --repair");
    if (w->at == 0)
        return err_set(err, ERR_USAGE, "--at: expected 1 or more, not 0");
    if (at)
        return log_at(path, w->at, w->plugin_path, w->json, err);
    if (repair)
        return log_repair(path, w->repair, w->json, err);
    return print(w, path, err);
}

static int
run(int argc, char **argv)
{
    struct words w = {.select.to = UINT64_MAX, .at = UINT64_MAX};
    struct err err;
    char *path;
    int status = EXIT_DONE;

    if (options_parse(options, N_OPTIONS, &w, &argc, argv, &err) != 0)
        return verb_fail("log", &err);
    if (argc != 2) {
        err_set(&err, ERR_USAGE, "expected one log; see --help");
        return verb_fail("log", &err);
    }
    path = log_find(argv[1], &err);
    if (path == NULL || answer(&w, path, &err) != 0)
        status = verb_fail("log", &err);
    free(path);
    return verb_printed("log", status);
}

const struct verb verb_log = {
    .name = "log",
    .summary = "print a recorded session",
    .help = help,
    .run = run,
    .options = options,
    .n_options = N_OPTIONS,
    .operand = "FILE",
};
