/* SPDX-License-Identifier: MIT */
#include "cli/log_print.h"
#include "cli/options.h"
#include "cli/target.h"
#include "cli/verb.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/log.h"
#include "core/number.h"
#include "core/visible.h"
#include "json.h"
#include "log/log.h"
#include "log/record.h"
#include "plugin/paths.h"
#include "replay/pace.h"
#include "replay/play.h"
#include "replay/ranking.h"
#include "replay/replay.h"
#include "replay/whatif.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct replay_words {
    bool verify, debug, json;
    uint64_t until;
    int64_t deadline_ms;
    const char *plugin_path, *speed, *pipe, *assessor, *assessor_args, *tuner;
};

/* ---- what --assessor and --tuner share ---- */

static int replay_pipe(const struct replay_words *w, const char *path,
                       FILE *out, struct err *err);
static int replay_assessor(const struct replay_words *w, const char *path,
                           const struct plugin_paths *paths,
                           const struct log *log, FILE *out, struct err *err);
static int replay_tuner(const struct replay_words *w, const char *path,
                        const struct plugin_paths *paths, const struct log *log,
                        FILE *out, struct err *err);

/* Prints that the "tuner" or "assessor" is told to do the opposite of what the
 * experiment does; `option` and a quote stand around the right arguments. */
static void
replay_print_against(FILE *out, const char *plugin, bool maximize,
                     const char *option, const char *quote)
{
    static const char *const modes[] = {"minimize", "maximize"};

    fprintf(out,
            "the %s is to %s, the experiment %ss: give it "
            "%s%s{\"optimize_mode\": \"%s\"}%s\n",
            plugin, modes[!maximize], modes[maximize], option, quote,
            modes[maximize], quote);
}

/* Writes "0.25, to minimize", or "0.25 by chebyshev, to minimize" of what is
 * made of several values. */
static void
print_value(FILE *out, double value, const char *scalarized, bool maximize)
{
    char text[NUMBER_TEXT_MAX];

    number_format(value, text);
    fprintf(out, "%s%s%s, to %s", text, scalarized != NULL ? " by " : "",
            scalarized != NULL ? scalarized : "",
            maximize ? "maximize" : "minimize");
}

/* ---- --assessor NAME, for people ---- */

static void
write_stop(const struct whatif_stop *s, char text[64])
{
    char value[NUMBER_TEXT_MAX];

    number_format(s->value, value);
    snprintf(text, 64, "stopped at step %zu (%s)", s->step, value);
}

static void
write_recorded(const struct whatif_trial *t, char text[64])
{
    char value[NUMBER_TEXT_MAX];

    number_format(t->final, value);
    if (t->really.stops)
        write_stop(&t->really, text);
    else
        snprintf(text, 64, "%s%s%s",
                 t->ended ? command_event_name(t->event) : "had not ended",
                 t->has_final ? " " : "", t->has_final ? value : "");
}

static void
print_whatif_trial(FILE *out, const struct whatif_trial *t)
{
    char recorded[64], then[64] = "the same", saves[64] = "";

    write_recorded(t, recorded);
    if (t->then.stops) {
        write_stop(&t->then, then);
        if (t->then.arrival == t->really.arrival)
            snprintf(then, sizeof then, "the same");
        else
            snprintf(saves, sizeof saves, "%zu steps, %.1f s", t->saved_steps,
                     t->saved_s);
    } else if (t->unknown) {
        snprintf(then, sizeof then, "goes on: unknown");
    }
    visible_printf(out, "%s%-12s %-8s %6zu  %-34s %-34s %s\n",
                   t->open ? "~" : " ", t->job, t->id, t->steps, recorded, then,
                   saves);
}

static void
print_whatif_best(FILE *out, const struct whatif *w)
{
    char value[NUMBER_TEXT_MAX];

    if (w->best == NULL) {
        visible_printf(out, "best trial: no trial has a final result\n");
        return;
    }
    visible_printf(out, "best trial: %s (", w->best->job);
    print_value(out, w->best->final, w->scalarized, w->maximize);
    visible_printf(out, "): ");
    if (!w->best->then.stops) {
        visible_printf(out, "survives\n");
        return;
    }
    visible_printf(out, "would be stopped at step %zu", w->best->then.step);
    if (w->best_left != NULL) {
        number_format(w->best_left->final, value);
        visible_printf(out, "; the best that survives: %s (%s)",
                       w->best_left->job, value);
    }
    fputc('\n', out);
}

static void
print_whatif_limits(FILE *out, const struct whatif *w)
{
    if (w->against)
        replay_print_against(out, "assessor", w->judged_up, "--assessor-args ",
                             "'");
    if (w->unknown > 0)
        visible_printf(
            out,
            "the log cannot tell: %zu trials that were really stopped "
            "would go on; what would have come is unknown\n",
            w->unknown);
    if (w->first != 0)
        visible_printf(
            out,
            "the first other decision is at command %" PRIu64
            ", on trial %s: the %zu trials given out behind it (~) might "
            "have been others, as the tuner goes by results\n",
            w->first, w->first_trial->job, w->open);
}

static void
print_whatif_table(FILE *out, const struct whatif *w)
{
    visible_printf(out, " %-12s %-8s %6s  %-34s %-34s %s\n", "trial", "id",
                   "steps", "recorded", "then", "saves");
    for (size_t i = 0; i < w->n; i++)
        print_whatif_trial(out, &w->trials[i]);
    visible_printf(out, "assessor: %s\n", w->assessor);
    visible_printf(
        out,
        "would stop %zu of %zu trials (recorded: %zu; %zu of them at the "
        "same step)\n",
        w->stopped_then, w->n, w->stopped_really, w->stopped_same);
    visible_printf(out,
                   "saves %zu of %zu recorded steps and %.1f s of trials\n",
                   w->saved_steps, w->steps, w->saved_s);
    print_whatif_best(out, w);
    print_whatif_limits(out, w);
}

/* ---- --assessor NAME, for programs ---- */

static void
add_stop(struct json_writer *w, const char *key, const struct whatif_stop *s)
{
    if (!json_open_object_if(w, key, s->stops))
        return;
    json_add_unsigned(w, "step", s->step);
    json_add_number(w, "value", s->value);
    json_add_unsigned(w, "command", s->arrival);
    json_add_integer(w, "time_us", s->time_us);
    json_close(w);
}

static void
add_whatif_job(struct json_writer *w, const char *key,
               const struct whatif_trial *t)
{
    json_add_text(w, key, t == NULL ? NULL : t->job);
}

static void
add_whatif_trial(struct json_writer *w, const struct whatif_trial *t)
{
    json_open_object(w, NULL);
    json_add_text(w, "trial", t->job);
    json_add_raw(w, "parameter_id", t->id);
    json_add_unsigned(w, "steps", t->steps);
    json_add_text(w, "event", t->ended ? command_event_name(t->event) : NULL);
    json_add_number(w, "final", t->has_final ? t->final : NAN);
    add_stop(w, "recorded", &t->really);
    add_stop(w, "then", &t->then);
    json_add_unsigned(w, "saved_steps", t->saved_steps);
    json_add_number(w, "saved_s",
                    t->then.stops ? (double)(t->end_us - t->then.time_us) / 1e6
                                  : 0);
    json_add_bool(w, "unknown", t->unknown);
    json_add_bool(w, "open", t->open);
    json_close(w);
}

static int
print_whatif_json(FILE *out, const struct whatif *what, struct err *err)
{
    struct verb_json line;
    struct json_writer *w = verb_json_begin(&line);

    json_add_raw(w, "assessor", what->assessor);
    json_add_bool(w, "maximize", what->maximize);
    if (what->scalarized != NULL)
        json_add_text(w, "scalarized", what->scalarized);
    json_add_unsigned(w, "trials", what->n);
    json_add_unsigned(w, "stopped", what->stopped_then);
    json_add_unsigned(w, "stopped_recorded", what->stopped_really);
    json_add_unsigned(w, "stopped_same", what->stopped_same);
    json_add_unsigned(w, "steps", what->steps);
    json_add_unsigned(w, "saved_steps", what->saved_steps);
    json_add_number(w, "saved_s", what->saved_s);
    add_whatif_job(w, "best", what->best);
    if (what->best != NULL)
        json_add_bool(w, "best_survives", !what->best->then.stops);
    else
        json_add_text(w, "best_survives", NULL);
    add_whatif_job(w, "best_left", what->best_left);
    json_add_unsigned(w, "unknown", what->unknown);
    json_add_unsigned(w, "first_other", what->first);
    json_add_unsigned(w, "open", what->open);
    json_open_array(w, "list");
    for (size_t i = 0; i < what->n; i++)
        add_whatif_trial(w, &what->trials[i]);
    return verb_json_print(&line, out, err);
}

/* Does --assessor.  0, or -1: err tells. */
static int
replay_assessor(const struct replay_words *w, const char *path,
                const struct plugin_paths *paths, const struct log *log,
                FILE *out, struct err *err)
{
    const char *args = w->assessor_args == NULL ? "{}" : w->assessor_args;
    struct json *doc = json_parse(args, strlen(args), JSON_UNIQUE, err);
    struct whatif_setup setup = {.path = path,
                                 .paths = paths,
                                 .log = log,
                                 .assessor = w->assessor,
                                 .until = w->until};
    struct whatif result;
    int rc;

    if (doc == NULL) {
        err->code = ERR_USAGE;
        return err_place(err, "--assessor-args");
    }
    setup.args = json_root(doc);
    rc = whatif_run(&setup, &result, err);
    if (rc == 0 && w->json)
        rc = print_whatif_json(out, &result, err);
    else if (rc == 0)
        print_whatif_table(out, &result);
    whatif_fini(&result);
    json_free(doc);
    return rc;
}

/* ---- --pipe 'COMMAND' ---- */

static const enum command_code codes[] = {CMD_INITIALIZED,  CMD_NEW_TRIAL,
                                          CMD_NO_MORE,      CMD_KILL_TRIAL,
                                          CMD_DECIDE_TRIAL, CMD_ACKNOWLEDGE};
#define N_CODES (sizeof codes / sizeof *codes)

static void
print_play_lines(FILE *out, const char *lines)
{
    const char *end;

    for (; (end = strchr(lines, '\n')) != NULL; lines = end + 1)
        visible_printf(out, "difference: %.*s\n", (int)(end - lines), lines);
}

static void
print_play_table(FILE *out, struct play_report *r, const char *command,
                 bool shell)
{
    visible_printf(out, "%zu of %zu frames sent to %s, started %s: %s\n",
                   r->sent, r->frames, command,
                   shell ? "by a shell" : "without a shell", r->how);
    visible_printf(out, "      recorded      came\n");
    for (size_t i = 0; i < N_CODES; i++) {
        const struct play_count *c = &r->counts[codes[i]];

        if (c->recorded > 0 || c->came > 0)
            visible_printf(out, "%s  %10zu%10zu\n",
                           command_info(codes[i])->code, c->recorded, c->came);
    }
    visible_printf(out, "%zu TR are the same to the byte\n", r->same_bytes);
    if (r->left_out > 0)
        visible_printf(out,
                       "%zu requests that the stop had dropped were not sent\n",
                       r->left_out);
    if (r->crossed > 0)
        visible_printf(
            out,
            "%zu kills had crossed the end of their trial: what a tuner "
            "hears of it may differ\n",
            r->crossed);
    if (r->resumed)
        visible_printf(out,
                       "the session had been stopped and resumed: played as "
                       "one, in which nothing became void by a stop\n");
    if (!r->ended)
        visible_printf(out,
                       "the session did not end by itself: ended with TE\n");
    print_play_lines(out, buf_text(&r->lines));
    if (r->differences > PLAY_LINES)
        visible_printf(out, "and %zu more\n", r->differences - PLAY_LINES);
    visible_printf(out, "%zu differences\n", r->differences);
}

static int
print_play_json(FILE *out, struct play_report *r, bool shell, struct err *err)
{
    const char *lines = buf_text(&r->lines), *end;
    struct verb_json line;
    struct json_writer *w = verb_json_begin(&line);

    json_add_unsigned(w, "frames", r->frames);
    json_add_unsigned(w, "sent", r->sent);
    json_add_bool(w, "shell", shell);
    json_add_unsigned(w, "left_out", r->left_out);
    json_add_unsigned(w, "crossed", r->crossed);
    json_add_bool(w, "resumed", r->resumed);
    json_add_bool(w, "ended", r->ended);
    json_add_text(w, "end", r->how);
    json_open_object(w, "counts");
    for (size_t i = 0; i < N_CODES; i++) {
        json_open_object(w, command_info(codes[i])->code);
        json_add_unsigned(w, "recorded", r->counts[codes[i]].recorded);
        json_add_unsigned(w, "came", r->counts[codes[i]].came);
        json_close(w);
    }
    json_close(w);
    json_add_unsigned(w, "same_bytes", r->same_bytes);
    json_add_unsigned(w, "differences", r->differences);
    json_open_array(w, "lines");
    for (; (end = strchr(lines, '\n')) != NULL; lines = end + 1)
        json_add_string(w, NULL, lines, (size_t)(end - lines));
    return verb_json_print(&line, out, err);
}

/* Does --pipe.  Returns an exit status; -1: err tells why the log could not be
 * played. */
static int
replay_pipe(const struct replay_words *w, const char *path, FILE *out,
            struct err *err)
{
    bool shell;
    const char **argv = play_words(w->pipe, &shell, err);
    struct play_setup setup = {
        .path = path, .argv = argv, .deadline_ms = w->deadline_ms};
    struct play_report report;
    int rc = 0, status = -1;

    if (argv == NULL)
        return err_place(err, "--pipe");
    if (play_run(&setup, &report, err) == 0) {
        if (w->json)
            rc = print_play_json(out, &report, shell, err);
        else
            print_play_table(out, &report, w->pipe, shell);
        if (rc == 0)
            status = report.differences == 0 ? EXIT_DONE : EXIT_FAILED;
    }
    play_report_fini(&report);
    free(argv);
    return status;
}

/* ---- --tuner NAME[:JSON], for people ---- */

static void
write_final(const struct ranking_trial *t, char text[NUMBER_TEXT_MAX])
{
    if (t->has_final)
        number_format(t->final, text);
    else
        snprintf(text, NUMBER_TEXT_MAX, "none");
}

static void
print_ranking_trial(FILE *out, const struct ranking *r,
                    const struct ranking_trial *t)
{
    const char *job = t->job == NULL ? "-" : t->job;
    const char *parameters = t->parameters == NULL ? "-" : t->parameters;
    char final[NUMBER_TEXT_MAX], rank[16] = "-";

    write_final(t, final);
    if (!isnan(t->rank))
        snprintf(rank, sizeof rank, "%.1f %%", 100 * t->rank);
    visible_printf(out, "%-12s %-8s %-14s ", job, t->id, final);
    if (t->unfit)
        visible_printf(out,
                       "not told: it does not fit the search space any more\n");
    else if (!t->has_final)
        visible_printf(out, "not told: the log has no final result\n");
    else if (r->can_rank)
        visible_printf(out, "%8s  %s\n", rank, parameters);
    else
        visible_printf(out, "%s\n%38s%s\n", parameters, "instead: ",
                       t->own == NULL ? "nothing, it would wait" : t->own);
}

static void
print_ranking_best(FILE *out, const struct ranking *r)
{
    if (r->best == NULL) {
        visible_printf(out, "best trial: no trial has a final result\n");
        return;
    }
    visible_printf(out, "best trial: %s (", r->best->job);
    print_value(out, r->best->final, r->scalarized, r->maximize);
    visible_printf(out, "): given out with %zu results known",
                   r->best->known_then);
    if (!r->can_rank)
        visible_printf(out, "\n");
    else if (!r->preferred)
        visible_printf(
            out,
            "; this tuner did not prefer it to %.0f %% of the search "
            "space before its result\n",
            100 * RANKING_TOP);
    else if (r->since < r->best->known_then)
        visible_printf(
            out,
            "; this tuner prefers it to %.0f %% of the search space from "
            "%zu on, %zu earlier\n",
            100 * RANKING_TOP, r->since, r->best->known_then - r->since);
    else
        visible_printf(
            out,
            "; this tuner prefers it to %.0f %% of the search space from "
            "%zu on, no earlier\n",
            100 * RANKING_TOP, r->since);
}

static void
print_ranking_limits(FILE *out, const struct ranking *r)
{
    if (r->against)
        replay_print_against(out, "tuner", r->maximize, "", "");
    if (r->silent + r->unfit > 0)
        visible_printf(
            out,
            "not told: %zu trials without a final result (stopped, failed "
            "or still running), %zu that do not fit\n",
            r->silent, r->unfit);
    visible_printf(
        out, "the log cannot tell what this tuner's own suggestions would "
             "have brought: what it asks for is not in it\n");
}

static void
print_ranking_table(FILE *out, const struct ranking *r)
{
    visible_printf(out, "%-12s %-8s %-14s %s\n", "trial", "id", "result",
                   r->can_rank
                       ? "better than  parameters (of the search space, "
                         "before its result)"
                       : "parameters");
    for (size_t i = 0; i < r->n; i++)
        print_ranking_trial(out, r, &r->trials[i]);
    visible_printf(out, "tuner: %s\n", r->tuner);
    visible_printf(out, "told: %zu results of %zu trials, %zu imported\n",
                   r->told, r->n, r->imported);
    if (!r->can_rank)
        visible_printf(out,
                       "this tuner cannot rank parameters (it has no `score`): "
                       "beside the recorded ones stand its own\n");
    else if (isnan(r->mean_rank))
        visible_printf(out, "it has no opinion of any of them\n");
    else
        visible_printf(
            out,
            "on average it likes them better than %.1f %% of %d samples "
            "of the search space; by chance: 50 %%\n",
            100 * r->mean_rank, RANKING_SAMPLES);
    print_ranking_best(out, r);
    print_ranking_limits(out, r);
}

/* ---- --tuner NAME[:JSON], for programs ---- */

static void
add_ranking_trial(struct json_writer *w, const struct ranking_trial *t)
{
    json_open_object(w, NULL);
    json_add_text(w, "trial", t->job);
    json_add_raw(w, "parameter_id", t->id);
    json_add_raw(w, "parameters", t->parameters);
    json_add_number(w, "final", t->has_final ? t->final : NAN);
    json_add_bool(w, "told", t->has_final && !t->unfit);
    json_add_unsigned(w, "known_then", t->known_then);
    json_add_unsigned(w, "known", t->known);
    json_add_number(w, "rank", t->rank);
    json_add_raw(w, "own", t->own);
    json_close(w);
}

static int
print_ranking_json(FILE *out, const struct ranking *r, struct err *err)
{
    struct verb_json line;
    struct json_writer *w = verb_json_begin(&line);

    json_add_raw(w, "tuner", r->tuner);
    json_add_bool(w, "maximize", r->maximize);
    if (r->scalarized != NULL)
        json_add_text(w, "scalarized", r->scalarized);
    json_add_bool(w, "can_rank", r->can_rank);
    json_add_unsigned(w, "trials", r->n);
    json_add_unsigned(w, "told", r->told);
    json_add_unsigned(w, "imported", r->imported);
    json_add_unsigned(w, "without_result", r->silent);
    json_add_unsigned(w, "unfit", r->unfit);
    json_add_number(w, "mean_rank", r->mean_rank);
    json_add_text(w, "best", r->best == NULL ? NULL : r->best->job);
    json_add_unsigned_if(w, "best_preferred_from", r->preferred, r->since);
    json_open_array(w, "list");
    for (size_t i = 0; i < r->n; i++)
        add_ranking_trial(w, &r->trials[i]);
    return verb_json_print(&line, out, err);
}

/* Does --tuner.  0, or -1: err tells. */
static int
replay_tuner(const struct replay_words *w, const char *path,
             const struct plugin_paths *paths, const struct log *log, FILE *out,
             struct err *err)
{
    size_t len = strcspn(w->tuner, ":");
    const char *args = w->tuner[len] == ':' ? w->tuner + len + 1 : "{}";
    struct json *doc = json_parse(args, strlen(args), JSON_UNIQUE, err);
    char *name = strndup(w->tuner, len);
    struct ranking_setup setup = {
        .path = path, .paths = paths, .log = log, .until = w->until};
    struct ranking result = {0};
    int rc = -1;

    if (doc == NULL && err->code == ERR_INPUT)
        err->code = ERR_USAGE;
    if (doc == NULL)
        err_place(err, "--tuner %.64s", name == NULL ? "" : name);
    else if (name == NULL || len == 0)
        err_set(err, name == NULL ? ERR_MEMORY : ERR_USAGE,
                "--tuner: expected NAME or NAME:JSON, got '%.100s'", w->tuner);
    else {
        setup.tuner = name;
        setup.args = json_root(doc);
        rc = ranking_run(&setup, &result, err);
    }
    if (rc == 0 && w->json)
        rc = print_ranking_json(out, &result, err);
    else if (rc == 0)
        print_ranking_table(out, &result);
    ranking_fini(&result);
    json_free(doc);
    free(name);
    return rc;
}

/* ---- the verb ---- */

static const char help[] =
    "usage: tunepipe replay [LOG] [--verify | --speed real|N|max] [--until N]\n"
    "       tunepipe replay [LOG] --pipe COMMAND [--deadline DURATION] [--json]\n"
    "       tunepipe replay [LOG] --assessor NAME [--assessor-args JSON] [--json]\n"
    "       tunepipe replay [LOG] --tuner NAME[:JSON] [--json]\n"
    "\n"
    "Walks a command log (or the one in an experiment folder; without LOG that of\n"
    "the newest in ./tunepipe-experiments) with the same tuner, assessor and\n"
    "seed, and says whether every answer is the same.\n"
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
    "shown (with --pipe all); 2 usage; 3 the plugins cannot be loaded, or there\n"
    "is no experiment; 5 the log is damaged.\n";

/* What is printed, and where. */
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

/* Prints a record when it is due. */
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

/* Replays the log.  Returns the exit status, or -1: err tells. */
static int
replay(const struct replay_words *w, const char *word, FILE *out,
       struct err *err)
{
    struct log log = {
        .fd = w->debug ? 2 : -1, .most = LOG_DEBUG, .name = "tunepipe"};
    struct plugin_paths *paths = plugin_paths_new(w->plugin_path, err);
    char *path = target_log("replay", word, err);
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

/* Refuses options that belong to different usages. */
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
    int rc;

    if (options_parse(options, N_OPTIONS, &w, &argc, argv, &err) != 0)
        return verb_fail("replay", &err);
    if (argc > 2)
        err_set(&err, ERR_USAGE, "'%s': expected one log; see --help", argv[2]);
    if (argc > 2 || check_words(&w, &err) != 0)
        return verb_fail("replay", &err);
    out = verb_own_stdout(&err);
    if (out == NULL)
        return verb_fail("replay", &err);
    rc = replay(&w, argc == 2 ? argv[1] : NULL, out, &err);
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
