/* SPDX-License-Identifier: MIT */
/* tunepipe replay LOG --tuner NAME[:JSON] */
#include "cli/replay_modes.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/number.h"
#include "core/visible.h"
#include "json.h"
#include "replay/ranking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- for people ---- */

static void
write_final(const struct ranking_trial *t, char text[NUMBER_TEXT_MAX])
{
    if (t->has_final)
        number_format(t->final, text);
    else
        snprintf(text, NUMBER_TEXT_MAX, "none");
}

static void
print_trial(FILE *out, const struct ranking *r, const struct ranking_trial *t)
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
print_best(FILE *out, const struct ranking *r)
{
    char value[NUMBER_TEXT_MAX];

    if (r->best == NULL) {
        visible_printf(out, "best trial: no trial has a final result\n");
        return;
    }
    number_format(r->best->final, value);
    visible_printf(
        out, "best trial: %s (%s, to %s): given out with %zu results known",
        r->best->job, value, r->maximize ? "maximize" : "minimize",
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
print_limits(FILE *out, const struct ranking *r)
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
print_table(FILE *out, const struct ranking *r)
{
    visible_printf(out, "%-12s %-8s %-14s %s\n", "trial", "id", "result",
                   r->can_rank
                       ? "better than  parameters (of the search space, "
                         "before its result)"
                       : "parameters");
    for (size_t i = 0; i < r->n; i++)
        print_trial(out, r, &r->trials[i]);
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
    print_best(out, r);
    print_limits(out, r);
}

/* ---- for programs ---- */

static void
add_trial(struct json_writer *w, const struct ranking_trial *t)
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
print_json(FILE *out, const struct ranking *r, struct err *err)
{
    struct json_writer w;
    struct buf text;

    buf_init(&text, SIZE_MAX / 2);
    w = json_begin_object(&text);
    json_add_raw(&w, "tuner", r->tuner);
    json_add_bool(&w, "maximize", r->maximize);
    json_add_bool(&w, "can_rank", r->can_rank);
    json_add_unsigned(&w, "trials", r->n);
    json_add_unsigned(&w, "told", r->told);
    json_add_unsigned(&w, "imported", r->imported);
    json_add_unsigned(&w, "without_result", r->silent);
    json_add_unsigned(&w, "unfit", r->unfit);
    json_add_number(&w, "mean_rank", r->mean_rank);
    json_add_text(&w, "best", r->best == NULL ? NULL : r->best->job);
    json_add_unsigned_if(&w, "best_preferred_from", r->preferred, r->since);
    json_open_array(&w, "list");
    for (size_t i = 0; i < r->n; i++)
        add_trial(&w, &r->trials[i]);
    json_end(&w);
    buf_add_char(&text, '\n');
    return replay_print_json(out, &text, err);
}

int
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
        rc = print_json(out, &result, err);
    else if (rc == 0)
        print_table(out, &result);
    ranking_fini(&result);
    json_free(doc);
    free(name);
    return rc;
}
