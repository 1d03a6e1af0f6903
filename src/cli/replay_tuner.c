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
add_number(struct buf *out, const char *key, double value)
{
    buf_printf(out, ", \"%s\": ", key);
    json_write_number(out, value);
}

static void
add_job(struct buf *out, const char *key, const struct ranking_trial *t)
{
    buf_printf(out, "\"%s\": ", key);
    json_write_text(out, t == NULL ? NULL : t->job);
}

static void
add_trial(struct buf *out, const struct ranking_trial *t)
{
    buf_add_char(out, '{');
    add_job(out, "trial", t);
    buf_printf(out, ", \"parameter_id\": %s, \"parameters\": %s", t->id,
               t->parameters == NULL ? "null" : t->parameters);
    add_number(out, "final", t->has_final ? t->final : NAN);
    buf_printf(out, ", \"told\": %s, \"known_then\": %zu, \"known\": %zu",
               t->has_final && !t->unfit ? "true" : "false", t->known_then,
               t->known);
    add_number(out, "rank", t->rank);
    buf_printf(out, ", \"own\": %s}", t->own == NULL ? "null" : t->own);
}

static int
print_json(FILE *out, const struct ranking *r, struct err *err)
{
    struct buf text;

    buf_init(&text, SIZE_MAX / 2);
    buf_printf(&text,
               "{\"tuner\": %s, \"maximize\": %s, \"can_rank\": %s, "
               "\"trials\": %zu, \"told\": %zu, \"imported\": %zu, "
               "\"without_result\": %zu, \"unfit\": %zu",
               r->tuner, r->maximize ? "true" : "false",
               r->can_rank ? "true" : "false", r->n, r->told, r->imported,
               r->silent, r->unfit);
    add_number(&text, "mean_rank", r->mean_rank);
    buf_add_text(&text, ", ");
    add_job(&text, "best", r->best);
    buf_add_text(&text, ", \"best_preferred_from\": ");
    if (r->preferred)
        buf_printf(&text, "%zu", r->since);
    else
        buf_add_text(&text, "null");
    buf_add_text(&text, ", \"list\": [");
    for (size_t i = 0; i < r->n; i++) {
        buf_add_text(&text, i == 0 ? "" : ", ");
        add_trial(&text, &r->trials[i]);
    }
    buf_add_text(&text, "]}\n");
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
