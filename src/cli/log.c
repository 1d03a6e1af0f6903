/* SPDX-License-Identifier: MIT */
#include "cli/log_print.h"
#include "cli/moment.h"
#include "cli/options.h"
#include "cli/target.h"
#include "cli/verb.h"
#include "command.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/log.h"
#include "core/nearest.h"
#include "core/number.h"
#include "core/visible.h"
#include "log/log.h"
#include "log/record.h"
#include "log/repair.h"
#include "log/watch.h"
#include "plugin/paths.h"
#include "replay/logtrial.h"
#include "replay/standing.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What to show, as on the command line; NULL: any. */
struct log_words {
    const char *trial, *commands, *kinds, *since, *until;
    uint64_t from, to;
};

struct log_select {
    const char *commands; /* "ME,EN"; borrowed */
    uint32_t kinds;       /* a bit for each enum record_kind */
    uint64_t from, to;
    int64_t since, until; /* microseconds since 1970 */
    bool of_trial;
    struct logtrial trial;
};

static int log_repair(const char *log, const char *to, bool json,
                      struct err *err);

#define BIT(kind) (1u << (kind))
#define ALL 0xffffffffu

/* The marks that stand in front of records: who sent a frame, or what else it
 * is; the log's own records have one mark for each kind. */
static const struct {
    const char *word;
    uint32_t kinds;
} words[] = {
    {"manager", BIT(RECORD_IN)},
    {"tuner", BIT(RECORD_TUNER)},
    {"assessor", BIT(RECORD_ASSESSOR)},
    {"router", BIT(RECORD_ROUTER)},
    {"program", BIT(RECORD_TUNER_FRAME) | BIT(RECORD_ASSESSOR_FRAME) |
                    BIT(RECORD_TUNER_EVENT) | BIT(RECORD_ASSESSOR_EVENT)},
    {"skipped", BIT(RECORD_SKIPPED)},
    {"sync", BIT(RECORD_SYNC)},
    {"head", BIT(RECORD_HEAD)},
    {"resumed", BIT(RECORD_RESUMED)},
    {"segment", BIT(RECORD_SEGMENT)},
    {"end", BIT(RECORD_END)},
};
#define N_WORDS (sizeof words / sizeof *words)
#define N_KINDS (RECORD_SEGMENT + 1)

static uint32_t
kinds_of(const char *word, size_t len)
{
    for (size_t i = 0; i < N_WORDS; i++)
        if (strlen(words[i].word) == len &&
            memcmp(words[i].word, word, len) == 0)
            return words[i].kinds;
    for (unsigned k = 0; k < N_KINDS; k++) {
        const char *mark = record_kind_text((enum record_kind)k);

        if (strlen(mark) == len && memcmp(mark, word, len) == 0)
            return BIT(k);
    }
    return 0;
}

static int
unknown_kind(const char *word, size_t len, struct err *err)
{
    const char *names[N_WORDS];
    char shown[32], hint[64];

    if (len >= sizeof shown)
        len = sizeof shown - 1;
    memcpy(shown, word, len);
    shown[len] = '\0';
    for (size_t i = 0; i < N_WORDS; i++)
        names[i] = words[i].word;
    return err_set(
        err, ERR_USAGE,
        "--kind: expected manager, tuner, assessor, router, "
        "program, skipped, sync, head, resumed, segment, end, or marks as "
        "they are printed ('<', '>t'), not '%s'%s",
        shown, nearest_hint(shown, names, N_WORDS, hint, sizeof hint));
}

static int
read_kinds(const char *list, uint32_t *out, struct err *err)
{
    *out = 0;
    for (;;) {
        size_t len = strcspn(list, ",");
        uint32_t kinds = kinds_of(list, len);

        if (kinds == 0)
            return unknown_kind(list, len, err);
        *out |= kinds;
        if (list[len] == '\0')
            return 0;
        list += len + 1;
    }
}

static bool
is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* Checks the codes of commands.  Unknown ones are fine: a log may have them,
 * too. */
static int
check_commands(const char *list, struct err *err)
{
    for (const char *p = list;; p += 3) {
        if (!is_capital(p[0]) || !is_capital(p[1]) ||
            (p[2] != ',' && p[2] != '\0'))
            return err_set(err, ERR_USAGE,
                           "--command: expected codes of two capital letters, "
                           "such as ME,EN, not '%.60s'",
                           list);
        if (p[2] == '\0')
            return 0;
    }
}

static int
read_moment(const char *option, const char *word, int64_t now, int64_t *out,
            struct err *err)
{
    if (word == NULL || moment_parse(word, now, out, err) == 0)
        return 0;
    return err_place(err, "--%s", option);
}

/* Reads which records to show.  -1: err (ERR_USAGE) says which word is wrong.
 * Borrows the words. */
static int
log_select_init(struct log_select *s, const struct log_words *w,
                struct err *err)
{
    int64_t now = clock_realtime_ns() / 1000;

    *s = (struct log_select){.commands = w->commands,
                             .kinds = ALL,
                             .from = w->from,
                             .to = w->to,
                             .since = INT64_MIN,
                             .until = INT64_MAX,
                             .of_trial = w->trial != NULL};
    if (w->kinds != NULL && read_kinds(w->kinds, &s->kinds, err) != 0)
        return -1;
    if (w->commands != NULL && check_commands(w->commands, err) != 0)
        return -1;
    if (read_moment("since", w->since, now, &s->since, err) != 0 ||
        read_moment("until", w->until, now, &s->until, err) != 0)
        return -1;
    return 0;
}

/* For a trial: finds out under which names the log knows it.  That it knows
 * none is an error (ERR_INPUT) unless the trial `may_come`. */
static int
log_select_find(struct log_select *s, struct log_reader *file,
                const char *trial, bool may_come, struct err *err)
{
    int found;

    if (!s->of_trial)
        return 0;
    found = logtrial_find(&s->trial, file, trial, err);
    if (found < 0)
        return -1;
    if (found > 0 || may_come)
        return 0;
    return err_set(err, ERR_INPUT,
                   "the log has nothing of a trial '%.60s', expected a "
                   "trial_job_id, a parameter_id or a trial's number",
                   trial);
}

static void
log_select_fini(struct log_select *s)
{
    logtrial_fini(&s->trial);
}

static bool
has_command(const char *list, const struct record *r)
{
    const uint32_t framed = BIT(RECORD_IN) | BIT(RECORD_TUNER) |
                            BIT(RECORD_ASSESSOR) | BIT(RECORD_ROUTER) |
                            BIT(RECORD_TUNER_FRAME) |
                            BIT(RECORD_ASSESSOR_FRAME);

    if ((framed & BIT(r->kind)) == 0 || r->len < 2)
        return false;
    for (const char *p = list;; p += 3) {
        if (memcmp(p, r->payload, 2) == 0)
            return true;
        if (p[2] == '\0')
            return false;
    }
}

static bool
log_select_has(struct log_select *s, const struct record *r)
{
    return (s->kinds & BIT(r->kind)) != 0 && r->number >= s->from &&
           r->number <= s->to && r->time_us >= s->since &&
           r->time_us <= s->until &&
           (s->commands == NULL || has_command(s->commands, r)) &&
           (!s->of_trial || logtrial_has(&s->trial, r));
}

/* ---- --repair ---- */

struct printer {
    bool json, lost;
    bool failed; /* a line in JSON was not printed, for want of memory */
};

static const char *
word(enum repair_what what)
{
    switch (what) {
    case REPAIR_CORRECTED:
        return "corrected";
    case REPAIR_KEPT:
        return "kept";
    case REPAIR_LOST:
        return "lost";
    case REPAIR_BEHIND:
        return "not kept";
    case REPAIR_GIVEN_UP:
        break;
    }
    return "not looked through";
}

static void
print_numbers(const struct repair_find *f)
{
    printf("%" PRIu64 " whole records", f->records);
    if (f->first > 0)
        printf(", commands %" PRIu64 " to %" PRIu64, f->first, f->last);
}

static void
print_finding(void *ctx, const struct repair_find *f)
{
    struct printer *p = ctx;

    p->lost |= f->what != REPAIR_CORRECTED && f->what != REPAIR_KEPT;
    printf("%-9s  bytes %" PRIu64 " to %" PRIu64 ": ", word(f->what), f->offset,
           f->offset + f->bytes);
    switch (f->what) {
    case REPAIR_CORRECTED:
        printf("a record with one wrong bit, in byte %" PRIu64, f->first);
        break;
    case REPAIR_KEPT:
        print_numbers(f);
        break;
    case REPAIR_LOST:
        fputs(f->why, stdout);
        break;
    case REPAIR_BEHIND:
        print_numbers(f);
        fputs(", behind what is lost", stdout);
        break;
    case REPAIR_GIVEN_UP:
        fputs("they look like records too often", stdout);
        break;
    }
    putchar('\n');
}

static void
print_finding_json(void *ctx, const struct repair_find *f)
{
    struct printer *p = ctx;
    struct verb_json line;
    struct json_writer *w = verb_json_begin(&line);

    p->lost |= f->what != REPAIR_CORRECTED && f->what != REPAIR_KEPT;
    json_add_text(w, "what", word(f->what));
    json_add_unsigned(w, "offset", f->offset);
    json_add_unsigned(w, "bytes", f->bytes);
    if (f->what == REPAIR_CORRECTED) {
        json_add_unsigned(w, "byte", f->first);
    } else if (f->records > 0) {
        json_add_unsigned(w, "records", f->records);
        json_add_unsigned(w, "first", f->first);
        json_add_unsigned(w, "last", f->last);
    }
    if (f->why != NULL)
        json_add_text(w, "why", f->why);
    p->failed |= verb_json_print(&line, stdout, NULL) != 0;
}

static int
repair(const char *log, const char *to, struct printer *printer,
       struct err *err)
{
    struct repair_setup setup = {
        .log = log,
        .to = to,
        .found = printer->json ? print_finding_json : print_finding,
        .ctx = printer,
    };

    if (repair_run(&setup, err) != 0)
        return -1;
    if (!printer->json && !printer->lost)
        printf("nothing is lost\n");
    return 0;
}

/* ---- a log of several segments ---- */

/* Prints a segment: whole, where `why` is NULL; else why it is not. */
static void
print_segment(struct printer *p, const char *path, uint64_t records,
              const char *why)
{
    struct verb_json line;
    struct json_writer *w;

    if (!p->json && why == NULL) {
        visible_printf(stdout, "whole      %s: %" PRIu64 " records\n", path,
                       records);
        return;
    }
    if (!p->json) {
        printf("damaged    %s\n", why);
        return;
    }
    w = verb_json_begin(&line);
    json_add_text(w, "what", why == NULL ? "whole" : "damaged");
    json_add_text(w, "file", path);
    json_add_unsigned(w, "records", records);
    if (why != NULL)
        json_add_text(w, "why", why);
    p->failed |= verb_json_print(&line, stdout, NULL) != 0;
}

/* Whether a segment could be opened: of another one nothing can be said. */
static bool
is_open(const struct log_reader *f)
{
    return log_segment(f) == log_last_segment(f) ||
           strcmp(log_path_now(f), log_name(f)) != 0;
}

/* The file to be repaired, to be freed: the damaged segment, or the last one;
 * those before it are listed. */
static char *
survey(struct log_reader *f, struct printer *p, struct err *err)
{
    uint64_t n = 0, records = 0;
    enum log_status status;
    char *path = NULL;
    struct record r;

    for (;;) {
        const char *now;

        status = log_next(f, &r, err);
        if (status == LOG_RECORD && log_segment(f) == n) {
            records++;
            continue;
        }
        if (status == LOG_END || status == LOG_TORN)
            return path;
        now = log_path_now(f);
        if (path != NULL && strcmp(path, now) != 0)
            print_segment(p, path, records, NULL);
        if (status == LOG_DAMAGED)
            print_segment(p, now, records, err->text);
        free(path);
        if (status == LOG_DAMAGED && !is_open(f))
            return NULL;
        path = strdup(now);
        if (path == NULL)
            err_set(err, ERR_MEMORY, "out of memory");
        if (path == NULL || status == LOG_DAMAGED)
            return path;
        n = log_segment(f);
        records = 1;
    }
}

static bool
is_packed(const char *path)
{
    size_t len = strlen(path);

    return len > 3 && strcmp(path + len - 3, ".gz") == 0;
}

static int
repair_one_of(struct log_reader *f, const char *to, struct printer *printer,
              struct err *err)
{
    char *path = survey(f, printer, err);
    int rc =
        path == NULL || is_packed(path) ? -1 : repair(path, to, printer, err);

    if (rc == 0 && !printer->json)
        visible_printf(stdout,
                       "the new file: %s\n"
                       "it stands for %s%s\n",
                       to, path,
                       printer->lost
                           ? ", and what follows is lost with what is lost: "
                             "without that and all segments behind it, the "
                             "log goes on from the new file, renamed to "
                             "command.log"
                           : "");
    free(path);
    return rc;
}

/* Repairs a log, and prints what is kept and what is lost, a line each. */
static int
log_repair(const char *log, const char *to, bool json, struct err *err)
{
    struct printer printer = {.json = json};
    struct err why;
    struct log_reader *f = log_open(log, LOG_NO_ADVICE, &why);
    bool many = f != NULL && log_first_segment(f) != log_last_segment(f);
    int rc;

    rc = many ? repair_one_of(f, to, &printer, err)
              : repair(log, to, &printer, err);

    if (rc == 0 && printer.failed)
        rc = err_set(err, ERR_MEMORY, "out of memory: not all is told");

    /* another segment, or the first line, is damaged */
    if (rc == 0 && f == NULL)
        fprintf(stderr, "tunepipe log: %s\n", why.text);
    log_close(f);
    if (rc == 0 && !many && !json)
        visible_printf(stdout, "the new log: %s\n", to);
    return rc;
}

/* ---- --at ---- */

#define INPUT_SHOWN 60   /* bytes of the input's payload */
#define PENDING_SHOWN 10 /* inputs that are shown of each worker */

/* ---- --at, for people ---- */

static void
print_trial(const struct standing_trial *t, FILE *out)
{
    char value[NUMBER_TEXT_MAX];

    visible_printf(out, "  %-12s %-12s ",
                   t->parameter == NULL ? "-" : t->parameter,
                   t->job == NULL ? "-" : t->job);
    if (t->has_latest) {
        number_format(t->latest.value, value);
        visible_printf(out, "%s at step %" PRIu64, value, t->latest.step);
    } else {
        fputs(t->job == NULL ? "not heard of" : "no intermediate value", out);
    }
    if (t->attempt > 0)
        visible_printf(out, ", attempt %" PRIu64, t->attempt);
    if (t->told)
        fputs(", its result is known", out);
    if (t->stopped)
        fputs(", stopped", out);
    if (!t->out)
        fputs(", not the tuner's", out);
    fputc('\n', out);
}

static void
print_pending(const char *who, const struct standing_list *list, FILE *out)
{
    visible_printf(out, "%-11s ", who);
    if (list->n == 0)
        fputs("no answer was still to be written\n", out);
    for (size_t i = 0; i < list->n; i++) {
        const struct standing_pending *p = &list->at[i];

        if (i > 0)
            visible_printf(out, "%12s", "");
        if (i == PENDING_SHOWN) {
            visible_printf(out, "and to %zu more\n", list->n - i);
            break;
        }
        visible_printf(
            out, "%" PRIu64 " answer%s to %s %" PRIu64 " not yet written\n",
            p->frames, p->frames == 1 ? "" : "s",
            p->code[0] == '\0' ? "input" : p->code, p->cause);
    }
}

static void
print_owed(const struct standing *s, FILE *out)
{
    fputs("owed        ", out);
    if (s->n_owed == 0)
        fputs("nothing", out);
    for (size_t i = 0; i < s->n_owed; i++) {
        visible_printf(out, "%s%" PRIu64, i > 0 ? ", " : "", s->owed[i].first);
        if (s->owed[i].count > 1)
            visible_printf(out, " to %" PRIu64,
                           s->owed[i].first + s->owed[i].count - 1);
    }
    fputc('\n', out);
}

static void
print_standing(const struct standing *s, FILE *out)
{
    char when[LOG_TIME_MAX];
    size_t n_out = 0;

    for (size_t i = 0; i < s->n_trials; i++)
        n_out += s->trials[i].out;
    visible_printf(out, "at          command %" PRIu64, s->at);
    if (s->time_us > 0)
        visible_printf(
            out, ", %s: %.*s%s", log_time(s->time_us, when), INPUT_SHOWN,
            s->input == NULL ? "of a program" : s->input,
            s->input != NULL && strlen(s->input) > INPUT_SHOWN ? "..." : "");
    visible_printf(out, "\nspace       %s\n", s->has_space ? "set" : "not set");
    visible_printf(out, "next id     %" PRIu64 "\n", s->next_id);
    visible_printf(out,
                   "trials      %zu out, %" PRIu64 " finished, %" PRIu64
                   " ended without a result; %" PRIu64 " stopped so far\n",
                   n_out, s->finished, s->resultless, s->kills);
    if (s->n_trials > 0)
        visible_printf(out, "  %-12s %-12s latest\n", "parameter_id", "trial");
    for (size_t i = 0; i < s->n_trials; i++)
        print_trial(&s->trials[i], out);
    print_owed(s, out);
    print_pending("tuner", &s->pending[0], out);
    print_pending("assessor", &s->pending[1], out);
}

/* ---- --at, as JSON ---- */

static void
add_trial(struct json_writer *w, const struct standing_trial *t)
{
    json_open_object(w, NULL);
    json_add_text(w, "parameter_id", t->parameter);
    json_add_text(w, "trial_job_id", t->job);
    json_add_unsigned(w, "attempt", t->attempt);
    json_add_bool(w, "out", t->out);
    json_add_bool(w, "told", t->told);
    json_add_bool(w, "stopped", t->stopped);
    if (json_open_object_if(w, "latest", t->has_latest)) {
        json_add_unsigned(w, "step", t->latest.step);
        json_add_number(w, "value", t->latest.value);
        json_close(w);
    }
    json_close(w);
}

static void
add_pending(struct json_writer *w, const char *who,
            const struct standing_list *list)
{
    json_open_array(w, who);
    for (size_t i = 0; i < list->n; i++) {
        json_open_object(w, NULL);
        json_add_unsigned(w, "command", list->at[i].cause);
        json_add_text(w, "code", list->at[i].code);
        json_add_unsigned(w, "answers", list->at[i].frames);
        json_close(w);
    }
    json_close(w);
}

static int
print_standing_json(const struct standing *s, FILE *out, struct err *err)
{
    struct verb_json line;
    struct json_writer *w = verb_json_begin(&line);

    json_add_unsigned(w, "at", s->at);
    json_add_integer(w, "time_us", s->time_us);
    json_add_text(w, "input", s->input);
    json_add_bool(w, "space", s->has_space);
    json_add_unsigned(w, "next_id", s->next_id);
    json_add_unsigned(w, "finished", s->finished);
    json_add_unsigned(w, "resultless", s->resultless);
    json_add_unsigned(w, "stopped", s->kills);
    json_open_array(w, "trials");
    for (size_t i = 0; i < s->n_trials; i++)
        add_trial(w, &s->trials[i]);
    json_close(w);
    json_open_array(w, "owed");
    for (size_t i = 0; i < s->n_owed; i++) {
        json_open_object(w, NULL);
        json_add_unsigned(w, "first", s->owed[i].first);
        json_add_unsigned(w, "count", s->owed[i].count);
        json_close(w);
    }
    json_close(w);
    json_open_object(w, "pending");
    add_pending(w, "tuner", &s->pending[0]);
    add_pending(w, "assessor", &s->pending[1]);
    return verb_json_print(&line, out, err);
}

static int
print_at(const struct standing *s, bool json, FILE *out, struct err *err)
{
    if (json && print_standing_json(s, out, err) != 0)
        return -1;
    if (!json)
        print_standing(s, out);
    if (ferror(out) || fflush(out) != 0)
        return err_set(err, ERR_SYSTEM, "cannot write to stdout");
    return 0;
}

/* Prints the session's state; `plugin_path` as in paths.h. */
static int
log_at(const char *log, uint64_t at, const char *plugin_path, bool json,
       struct err *err)
{
    struct log silent = {.fd = -1, .most = LOG_ERROR, .name = "tunepipe"};
    FILE *out = verb_own_stdout(err);
    struct plugin_paths *paths =
        out == NULL ? NULL : plugin_paths_new(plugin_path, err);
    struct standing_setup setup = {log, at, paths, &silent};
    struct standing s = {0};
    int rc = paths == NULL ? -1 : standing_run(&setup, &s, err);

    if (rc == 0)
        rc = print_at(&s, json, out, err);
    standing_fini(&s);
    plugin_paths_free(paths);
    if (out != NULL)
        fclose(out);
    return rc;
}

/* ---- the verb ---- */

static const char help[] =
    "usage: tunepipe log [LOG] [OPTIONS]\n"
    "\n"
    "Prints a command log (or the one in an experiment folder; without LOG that\n"
    "of the newest in ./tunepipe-experiments), a line a record: the number of the\n"
    "inbound command (for an answer: of its cause), the time, who sends it, code\n"
    "and payload.\n"
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
    "usage; 3 the plugins cannot be loaded, or there is no experiment; 5 the log\n"
    "is damaged (--repair: nothing can be kept), or none.\n";

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
    struct log_watch *follow; /* NULL: what is there now is all */
    bool ended; /* the last record ends the session, but for sync marks */
};

/* Prints all that is there. */
static enum log_status
print_rest(struct printing *p, struct err *err)
{
    struct record r;
    enum log_status status;

    while ((status = log_next(p->file, &r, err)) == LOG_RECORD) {
        p->ended = r.kind == RECORD_END || (p->ended && r.kind == RECORD_SYNC);
        if (!log_select_has(&p->select, &r))
            continue;
        if (!p->words->json)
            log_print_plain(&r);
        else if (log_print_json(&r, log_segment(p->file), log_offset(p->file),
                                err) != 0)
            return LOG_DAMAGED;
    }
    return status;
}

/* Prints all that is there, and all that comes. */
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

/* Tells that first segments are missing; what is there is printed all the
 * same. */
static void
tell_lack(const struct log_reader *file)
{
    struct err err;

    if (log_lacks(file, &err))
        fprintf(stderr, "tunepipe log: %s\n", err.text);
    if (!log_is_begun(file))
        visible_printf(stderr,
                       "tunepipe log: %s: has no head: it was never begun\n",
                       log_name(file));
}

static int
print_records(const struct words *w, const char *path, struct err *err)
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
    return print_records(w, path, err);
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
    if (argc > 2) {
        err_set(&err, ERR_USAGE, "'%s': expected one log; see --help", argv[2]);
        return verb_fail("log", &err);
    }
    path = target_log("log", argc == 2 ? argv[1] : NULL, &err);
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
