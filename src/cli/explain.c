/* SPDX-License-Identifier: MIT */
#include "cli/log_print.h"
#include "cli/options.h"
#include "cli/target.h"
#include "cli/verb.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/log.h"
#include "core/number.h"
#include "core/visible.h"
#include "history/folder.h"
#include "json.h"
#include "log/log.h"
#include "manager/custom.h"
#include "manager/results.h"
#include "objectives/objectives.h"
#include "plugin/paths.h"
#include "replay/explain.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- for people ---- */

static void
print_lines(const struct explain_lines *lines, FILE *out)
{
    for (size_t i = 0; i < lines->n; i++)
        visible_printf(out, "            %s: %s\n", lines->at[i].who,
                       lines->at[i].text);
}

/* Whether the trial's records may begin before those that the log still has. */
static bool
is_older(const struct explanation *x)
{
    return x->dropped > 0 && (x->suggestion == NULL || x->asked <= x->dropped);
}

/* Prints the parameters alone; the whole payload when it has none. */
static void
print_parameters(const char *suggestion, FILE *out)
{
    struct json *doc =
        json_parse(suggestion, strlen(suggestion), JSON_STRICT, NULL);
    struct jval parameters;
    struct buf text;

    buf_init(&text, SIZE_MAX / 2);
    if (doc != NULL && jval_get(json_root(doc), "parameters", &parameters))
        jval_write(parameters, &text);
    else
        buf_add_text(&text, suggestion);
    visible_printf(out, "parameters  %s\n", buf_text(&text));
    if (doc != NULL && jval_text_of(json_root(doc), "resume_from")[0] != '\0')
        visible_printf(
            out,
            "            %s from trial %s: to go on from its checkpoint, if "
            "it left one\n",
            jval_text_of(json_root(doc), "resume_how"),
            jval_text_of(json_root(doc), "resume_from"));
    buf_fini(&text);
    json_free(doc);
}

/* From whom a record of AD is, that is no suggestion on record. */
static const char *
who_added(const char *record)
{
    static const char *const sources[][2] = {
        {SOURCE_CUSTOM, "the user's own"},
        {SOURCE_REPEATED, "the user's wish, once more"},
    };
    struct json *doc = json_parse(record, strlen(record), JSON_STRICT, NULL);
    const char *who = "of an earlier run";

    for (size_t i = 0; doc != NULL && i < sizeof sources / sizeof *sources; i++)
        if (strcmp(jval_text_of(json_root(doc), "parameter_source"),
                   sources[i][0]) == 0)
            who = sources[i][1];
    json_free(doc);
    return who;
}

static void
print_suggestion(const struct explanation *x, FILE *out)
{
    char when[LOG_TIME_MAX];
    bool asked = strcmp(x->asked_by, "GE") == 0;

    if (x->suggestion == NULL && x->added != NULL) {
        print_parameters(x->added, out);
        visible_printf(out,
                       "            %s, told by command %" PRIu64 " (AD)\n",
                       who_added(x->added), x->recovered);
        return;
    }
    if (x->suggestion == NULL) {
        fputs("parameters  not of this tuner: ", out);
        if (is_older(x))
            visible_printf(out,
                           "or given out by command %" PRIu64
                           " or before, which are not on record any more\n",
                           x->dropped);
        else
            fputs("the user's own trial, or one that the log does not know\n",
                  out);
        return;
    }
    print_parameters(x->suggestion, out);
    if (is_older(x)) {
        visible_printf(out,
                       "            by command %" PRIu64
                       ", which is not on record any more, %s\n",
                       x->asked, log_time(x->asked_us, when));
        return;
    }
    if (x->asked_by[0] != '\0')
        visible_printf(out, "            %s command %" PRIu64 " (%s), %s\n",
                       asked ? "by" : "owed, and served behind", x->asked,
                       x->asked_by, log_time(x->asked_us, when));
    else
        visible_printf(out,
                       "            input %" PRIu64
                       ", from the program that is the tuner, %s\n",
                       x->asked, log_time(x->asked_us, when));
    print_lines(&x->why, out);
    if (x->why.n == 0)
        visible_printf(out, "            tuner %s did not say why\n",
                       x->tuner != NULL ? x->tuner : "?");
}

static void
print_reports(const struct explanation *x, FILE *out)
{
    char text[NUMBER_TEXT_MAX];

    visible_printf(out, "reports     %" PRIu64, x->reports);
    if (x->reports > 0) {
        number_format(x->latest, text);
        visible_printf(out, ", the latest %s at step %" PRIu64,
                       x->latest_values != NULL ? x->latest_values : text,
                       x->latest_step);
    }
    if (x->attempts > 1)
        visible_printf(out, ", in the last of %" PRIu64 " attempts",
                       x->attempts);
    if (x->final > 0) {
        number_format(x->result, text);
        visible_printf(out, "; final %s",
                       x->result_values != NULL ? x->result_values : text);
        number_format(x->violation, text);
        if (x->violation > 0)
            visible_printf(out, ", beyond the limits by %s", text);
        visible_printf(out, " (command %" PRIu64 ")", x->final);
    }
    if (is_older(x))
        visible_printf(out, "; behind command %" PRIu64, x->dropped);
    fputc('\n', out);
}

static void
print_comparison(const struct explanation *x, FILE *out)
{
    char value[NUMBER_TEXT_MAX], threshold[NUMBER_TEXT_MAX];

    number_format(x->value, value);
    number_format(x->threshold, threshold);
    if (!isnan(x->value))
        visible_printf(out, ": %s", value);
    if (!isnan(x->threshold))
        visible_printf(out, "%s limit %s", isnan(x->value) ? ":" : ",",
                       threshold);
}

/* What decides how long the trial runs: the tuner or the assessor. */
static const char *
judge_of(const struct explanation *x)
{
    return x->assessor != NULL ? "assessor" : "tuner";
}

static void
print_verdict(const struct explanation *x, FILE *out)
{
    static const char *const words[] = {
        [TRIAL_GO] = "not stopped ",      [TRIAL_STOP] = "stopped     ",
        [TRIAL_PAUSE] = "paused      ",   [TRIAL_FINISH] = "finished    ",
        [TRIAL_RELEASE] = "released    ",
    };

    if (x->judgements == 0) {
        if (x->assessor != NULL)
            visible_printf(out, "%s     by assessor %s%s\n",
                           x->killed > 0 ? "stopped" : "judged ", x->assessor,
                           x->killed > 0 ? ", which did not say why"
                                         : ": never");
        return;
    }
    visible_printf(out,
                   "judged      %" PRIu64 " time%s by %s %s, at last at step "
                   "%" PRIu64 " (command %" PRIu64 ")\n",
                   x->judgements, x->judgements == 1 ? "" : "s", judge_of(x),
                   x->assessor != NULL ? x->assessor : x->tuner, x->step,
                   x->judged);
    fputs(words[x->decision], out);
    if (x->decision == TRIAL_GO)
        fputs("at that step", out);
    else if (x->rule != NULL)
        visible_printf(out, "%s", x->rule);
    else
        visible_printf(out, "the %s's word", judge_of(x));
    print_comparison(x, out);
    fputc('\n', out);
    print_lines(&x->judged_why, out);
}

static void
print_end(const struct explanation *x, FILE *out)
{
    bool itself =
        strcmp(x->event, "SUCCEEDED") == 0 || strcmp(x->event, "FAILED") == 0;

    visible_printf(out, "end         %s (command %" PRIu64 ")", x->event,
                   x->ended);
    if (x->decided > 0 && x->decided != x->judged)
        visible_printf(out, ", on the tuner's word behind command %" PRIu64,
                       x->decided);
    else if (x->killed == 0 && x->decided == 0 && !itself)
        fputs(", the manager's word alone", out);
    fputc('\n', out);
}

static void
explain_print(const struct explanation *x, FILE *out)
{
    visible_printf(out, "trial       %s, parameter_id %s\n",
                   x->job != NULL ? x->job : "not known to have run",
                   x->parameter != NULL ? x->parameter : "none");
    print_suggestion(x, out);
    print_reports(x, out);
    print_verdict(x, out);
    if (x->ended == 0)
        fputs("end         none in this log\n", out);
    else
        print_end(x, out);
}

/* ---- the front ---- */

#define NAMED_MAX 8 /* trials that dominate it, by name */

/* How a trial with several values stands among all results. */
struct standing {
    bool known, on_front;
    size_t n; /* trials that dominate it */
    size_t n_named;
    char named[NAMED_MAX][24]; /* first those of the front */
};

/* The folder of the experiment whose log this is, to be freed; NULL: it is a
 * log alone. */
static char *
find_folder(const char *given, const char *log)
{
    char *folder = strdup(
        given != NULL && file_has(given, FOLDER_EXPERIMENT) ? given : log);
    char *slash = folder != NULL ? strrchr(folder, '/') : NULL;

    if (folder == NULL || file_has(folder, FOLDER_EXPERIMENT))
        return folder;
    if (slash != NULL)
        *slash = '\0';
    if (slash != NULL && file_has(folder, FOLDER_EXPERIMENT))
        return folder;
    free(folder);
    return NULL;
}

static void
name_dominating(struct standing *s, const char *trial)
{
    s->n++;
    if (s->n_named < NAMED_MAX)
        snprintf(s->named[s->n_named++], sizeof s->named[0], "%s", trial);
}

static bool
is_on_front(const struct results *r, const char *trial)
{
    for (size_t i = 0; i < r->front.n; i++)
        if (strcmp(r->front.points[i].trial, trial) == 0)
            return true;
    return false;
}

static void
find_dominating(struct standing *s, const struct results *r,
                const struct result *item)
{
    double value;

    for (int front = 1; front >= 0; front--)
        for (size_t i = 0; i < r->n; i++) {
            const struct result *other = &r->items[i];

            if (results_value(other, &value) &&
                is_on_front(r, other->trial) == (front == 1) &&
                results_is_better(r, other, item))
                name_dominating(s, other->trial);
        }
    s->known = true;
    s->on_front = s->n == 0;
}

static void
find_standing(struct standing *s, const char *folder, const char *job)
{
    struct results *r = folder == NULL || job == NULL
                            ? NULL
                            : results_load(folder, RESULTS_ALL, NULL);
    struct objective_values v;
    double value;

    for (size_t i = 0; r != NULL && r->objectives != NULL && i < r->n; i++)
        if (strcmp(r->items[i].trial, job) == 0 &&
            results_value(&r->items[i], &value) &&
            results_values(r->objectives, &r->items[i], &v)) {
            find_dominating(s, r, &r->items[i]);
            break;
        }
    results_free(r);
}

static void
print_standing(const struct standing *s, FILE *out)
{
    if (!s->known)
        return;
    if (s->on_front) {
        fputs("front       on it: no other trial dominates this one\n", out);
        return;
    }
    fputs("dominated   by", out);
    for (size_t i = 0; i < s->n_named; i++)
        visible_printf(out, "%s %s", i > 0 ? "," : "", s->named[i]);
    if (s->n > s->n_named)
        visible_printf(out, " and %zu more", s->n - s->n_named);
    fputc('\n', out);
}

static void
add_standing(struct json_writer *w, const struct standing *s)
{
    if (!s->known)
        return;
    json_add_bool(w, "on_front", s->on_front);
    json_open_array(w, "dominated_by");
    for (size_t i = 0; i < s->n_named; i++)
        json_add_text(w, NULL, s->named[i]);
    json_close(w);
    json_add_unsigned(w, "dominating", s->n);
}

/* ---- JSON ---- */

/* Adds the number of a command of the log; null for 0, which is none. */
static void
add_command(struct json_writer *w, const char *key, uint64_t arrival)
{
    json_add_unsigned_if(w, key, arrival != 0, arrival);
}

static void
add_lines(struct json_writer *w, const struct explain_lines *lines)
{
    json_open_array(w, "why");
    for (size_t i = 0; i < lines->n; i++) {
        json_open_object(w, NULL);
        json_add_text(w, "who", lines->at[i].who);
        json_add_text(w, "text", lines->at[i].text);
        json_close(w);
    }
    json_close(w);
}

static void
add_suggestion(struct json_writer *w, const struct explanation *x)
{
    json_add_text(w, "trial_job_id", x->job);
    json_add_text(w, "parameter_id", x->parameter);
    json_add_raw(w, "suggestion",
                 x->suggestion != NULL ? x->suggestion : x->added);
    if (json_open_object_if(w, "asked", x->asked != 0)) {
        json_add_unsigned(w, "command", x->asked);
        json_add_text(w, "code", x->asked_by);
        json_add_integer(w, "time_us", x->asked_us);
        json_close(w);
    }
    add_lines(w, &x->why);
    add_command(w, "recovered", x->recovered);
    add_command(w, "dropped", x->dropped);
}

static void
add_verdict(struct json_writer *w, const struct explanation *x)
{
    json_add_unsigned(w, "judgements", x->judgements);
    if (json_open_object_if(w, "verdict", x->judgements != 0)) {
        json_add_unsigned(w, "command", x->judged);
        json_add_unsigned(w, "step", x->step);
        json_add_bool(w, "stop", x->stop);
        json_add_text(w, "decision", trial_decision_name(x->decision));
        json_add_text(w, "rule", x->rule);
        json_add_number(w, "value", x->value);
        json_add_number(w, "threshold", x->threshold);
        add_lines(w, &x->judged_why);
        json_close(w);
    }
    add_command(w, "killed", x->killed);
    add_command(w, "decided", x->decided);
}

static void
add_outcome(struct json_writer *w, const struct explanation *x)
{
    if (json_open_object_if(w, "final", x->final != 0)) {
        json_add_unsigned(w, "command", x->final);
        json_add_number(w, "value", x->result);
        if (x->result_values != NULL)
            json_add_raw(w, "values", x->result_values);
        json_close(w);
    }
    if (json_open_object_if(w, "end", x->ended != 0)) {
        json_add_unsigned(w, "command", x->ended);
        json_add_text(w, "event", x->event);
        json_close(w);
    }
}

static int
explain_print_json(const struct explanation *x, const struct standing *s,
                   FILE *out, struct err *err)
{
    struct verb_json line;
    struct json_writer *w = verb_json_begin(&line);

    add_suggestion(w, x);
    json_add_unsigned(w, "reports", x->reports);
    if (json_open_object_if(w, "latest", x->reports != 0)) {
        json_add_unsigned(w, "step", x->latest_step);
        json_add_number(w, "value", x->latest);
        if (x->latest_values != NULL)
            json_add_raw(w, "values", x->latest_values);
        json_close(w);
    }
    add_verdict(w, x);
    add_outcome(w, x);
    add_standing(w, s);
    return verb_json_print(&line, out, err);
}

/* ---- the verb ---- */

static const char help[] =
    "usage: tunepipe explain [DIR] TRIAL [OPTIONS]\n"
    "\n"
    "Says why a trial got its parameters and why it was stopped, or not: what\n"
    "the tuner, its filters and the assessor say of it when the experiment is\n"
    "replayed from its log.  DIR is what `tunepipe run` printed, or a log;\n"
    "without it the newest in ./tunepipe-experiments.  TRIAL is a trial_job_id,\n"
    "a parameter_id or a trial's number.\n"
    "\n"
    "  --json                 {\"trial_job_id\", \"parameter_id\", \"suggestion\",\n"
    "                         \"asked\": {\"command\", \"code\", \"time_us\"},\n"
    "                         \"why\": [{\"who\", \"text\"}, ...], \"recovered\"\n"
    "                         (the AD whose record the suggestion is, where it\n"
    "                         is no tuner's), \"dropped\" (the log lacks the commands up to\n"
    "                         it), \"reports\", \"latest\": {\"step\", \"value\"},\n"
    "                         \"judgements\", \"verdict\": {\"command\",\n"
    "                         \"step\", \"stop\", \"decision\", \"rule\",\n"
    "                         \"value\", \"threshold\", \"why\"},\n"
    "                         \"killed\", \"decided\",\n"
    "                         \"final\": {\"command\", \"value\"}, where there\n"
    "                         are several also \"values\", as in \"latest\",\n"
    "                         and \"on_front\", \"dominated_by\" (trials),\n"
    "                         \"dominating\" (how many),\n"
    "                         \"end\": {\"command\", \"event\"}}; null where\n"
    "                         there is none\n"
    "  --plugin-path DIRS     folders of plugins, separated by colons;\n"
    "                         a log names a plugin of yours, not its folder\n"
    "  --debug                show the lines the handlers write\n"
    "\n"
    "Example: tunepipe explain tunepipe-experiments/digits-1 7\n"
    "\n"
    "Exit status: 0 explained; 1 no such trial, or the replay differs; 2 usage;\n"
    "3 the plugins cannot be loaded, or there is no experiment; 5 the log is\n"
    "damaged, or none.\n";

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
explain(const struct words *w, const char *dir, const char *path,
        const char *trial, FILE *out, struct err *err)
{
    struct standing standing = {0};
    char *folder = find_folder(dir, path);
    struct log log = {
        .fd = w->debug ? 2 : -1, .most = LOG_DEBUG, .name = "tunepipe"};
    struct plugin_paths *paths = plugin_paths_new(w->plugin_path, err);
    struct explain_setup setup = {path, trial, paths, &log};
    struct explanation x = {0};
    int rc = paths == NULL ? -1 : explain_run(&setup, &x, err);

    if (rc == 0)
        find_standing(&standing, folder, x.job);
    if (rc == 0 && w->json)
        rc = explain_print_json(&x, &standing, out, err);
    else if (rc == 0)
        explain_print(&x, out);
    if (rc == 0 && !w->json)
        print_standing(&standing, out);
    if (rc == 0 && (fflush(out) != 0 || ferror(out)))
        rc = err_set(err, ERR_SYSTEM, "cannot write to stdout");
    explanation_fini(&x);
    plugin_paths_free(paths);
    free(folder);
    return rc;
}

static int
run(int argc, char **argv)
{
    struct words w = {0};
    struct err err = {0};
    const char *dir;
    char *path = NULL;
    FILE *out;
    int rc = -1;

    if (options_parse(options, N_OPTIONS, &w, &argc, argv, &err) != 0)
        return verb_fail("explain", &err);
    if (target_before(argc, argv, false, "[DIR] TRIAL, a folder and a trial",
                      &dir, &err) != 0)
        return verb_fail("explain", &err);
    out = verb_own_stdout(&err);
    path = out == NULL ? NULL : target_log("explain", dir, &err);
    if (path != NULL)
        rc = explain(&w, dir, path, argv[argc - 1], out, &err);
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
