/* SPDX-License-Identifier: MIT */
/* fidelity - how good what tuners make of so many epochs is, where trials have
 * learning curves: a line of JSON for each tuner, problem and seed, see
 * search/runs.h; the "trials" of `best` are as many epochs as a whole curve
 * has. */
#include "budgets/play.h"

#include "core/buf.h"
#include "core/err.h"
#include "json.h"
#include "plugin/loader.h"
#include "plugin/paths.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: fidelity PLUGINS 'SPEC ...' 'PROBLEM ...' FIRST SEEDS FULL "
    "WORKERS\n"
    "SPEC is [LABEL=]TUNER[:ARGS][+ASSESSOR[:ARGS]][@nni], ARGS a JSON object "
    "without\nspaces; @nni: under a manager that knows no pause.  FULL: whole "
    "curves' worth\nof epochs.  In the environment: CURVES, see "
    "budgets/curves.h.\n";

enum { PLAYERS_MAX = 32 };

struct bench {
    struct plugin_paths *paths;
    struct player players[PLAYERS_MAX];
    char *labels[PLAYERS_MAX]; /* theirs */
    size_t n;
    struct plugin *loaded[2 * PLAYERS_MAX];
    size_t n_loaded;
    size_t full, workers;
    const char *command;
    bool failed;
};

/* Where ARGS ends: braces within texts are not looked for. */
static char *
skip_object(char *at)
{
    int depth = 0;

    do
        depth += (*at == '{') - (*at == '}');
    while (*at++ != '\0' && depth > 0);
    return at;
}

/* Cuts NAME[:ARGS] off, in place; *rest is what follows a '+'. */
static void
cut(char *text, char **name, char **args, char **rest)
{
    char *end = text + strcspn(text, ":+"), mark = *end;

    *name = text;
    *args = NULL;
    *end = '\0';
    if (mark == ':') {
        *args = end + 1;
        end = skip_object(*args);
        mark = *end;
        *end = '\0';
    }
    *rest = mark == '\0' ? NULL : end + 1;
}

/* What a plugin has to be told of the problem, where it asks for it. */
static void
write_default(const struct plugin *p, const char *args, const char *name,
              const char *value, struct buf *out)
{
    char quoted[64];

    snprintf(quoted, sizeof quoted, "\"%s\"", name);
    if (args != NULL && strstr(args, quoted) != NULL)
        return;
    for (size_t i = 0; i < p->n_args; i++)
        if (strcmp(p->args[i].name, name) == 0)
            buf_printf(out, "%s%s: %s", out->len > 1 ? ", " : "", quoted,
                       value);
}

/* The caller frees. */
static char *
complete_args(const struct plugin *p, const char *args, uint64_t longest)
{
    char most[32], turn[32];
    struct buf out;

    snprintf(most, sizeof most, "%" PRIu64, longest);
    snprintf(turn, sizeof turn, "%" PRIu64, (longest + 8) / 9);
    buf_init(&out, 65536);
    buf_add_char(&out, '{');
    write_default(p, args, "optimize_mode", "\"minimize\"", &out);
    write_default(p, args, "R", most, &out);
    write_default(p, args, "max_budget", most, &out);
    if (p->kind == PLUGIN_TUNER) /* of an assessor it is something else */
        write_default(p, args, "interval", turn, &out);
    if (args != NULL && strcmp(args, "{}") != 0)
        buf_printf(&out, "%s%s", out.len > 1 ? ", " : "", args + 1);
    else
        buf_add_char(&out, '}');
    return buf_take(&out);
}

static const struct plugin *
load(struct bench *b, enum plugin_kind kind, const char *name)
{
    struct err err;
    struct plugin *p = plugin_load(b->paths, kind, name, &err);

    if (p != NULL)
        return b->loaded[b->n_loaded++] = p;
    fprintf(stderr, "fidelity: %s\n", err.text);
    exit(2);
}

/* Cuts LABEL= off, or makes one of all but arguments. */
static char *
cut_label(char *spec, char **label)
{
    size_t head = strcspn(spec, ":=");

    *label = strndup(spec, head);
    return spec[head] == '=' ? spec + head + 1 : spec;
}

static bool
cut_end(char *text, const char *end)
{
    size_t len = strlen(text), n = strlen(end);

    if (len < n || strcmp(text + len - n, end) != 0)
        return false;
    text[len - n] = '\0';
    return true;
}

static void
add_player(struct bench *b, char *spec)
{
    char **label = &b->labels[b->n];
    struct player *p = &b->players[b->n++];
    char *name, *args, *rest;

    spec = cut_label(spec, label);
    p->label = *label;
    p->extensions = !cut_end(spec, "@nni");
    cut(spec, &name, &args, &rest);
    p->tuner = load(b, PLUGIN_TUNER, name);
    p->args = args;
    if (rest == NULL)
        return;
    cut(rest, &name, &args, &rest);
    p->assessor = load(b, PLUGIN_ASSESSOR, name);
    p->assessor_args = args;
}

static void
print_run(const struct bench *b, const char *label, const struct curves *c,
          const struct played_out *out)
{
    printf("{\"problem\": \"%s\", \"family\": \"%s\", \"solver\": \"%s\", "
           "\"seed\": %" PRIu64 ", \"mode\": \"epochs:%zu\", \"budget\": %zu, ",
           c->name, c->name, label, c->seed, b->workers, b->full);
    if (c->optimum == c->optimum)
        printf("\"optimum\": %.17g, ", c->optimum);
    printf("\"started\": %zu, \"points\": %zu, \"stopped\": %zu, "
           "\"completed\": %zu, \"best\": [",
           out->started, out->points, out->stopped, out->completed);
    for (size_t i = 0; i < b->full; i++)
        printf("%s%.9g", i == 0 ? "" : ", ", out->best[i]);
    printf("]}\n");
}

static void
run(struct bench *b, const struct player *p, struct curves *c)
{
    struct player whole = *p;
    char *args = complete_args(p->tuner, p->args, c->longest);
    char *assessor_args =
        p->assessor == NULL
            ? NULL
            : complete_args(p->assessor, p->assessor_args, c->longest);
    struct played_out out;
    struct err err = {0};

    whole.args = args;
    whole.assessor_args = assessor_args;
    if (play(&whole, c, b->workers, b->full, &out, &err) == 0) {
        print_run(b, p->label, c, &out);
    } else {
        fprintf(stderr, "fidelity: %s on %s, seed %" PRIu64 ": %s\n", p->label,
                c->name, c->seed, err.text);
        b->failed = true;
    }
    free(args);
    free(assessor_args);
}

static void
run_all(struct bench *b, const char *problem, uint64_t seed)
{
    struct curves c;
    struct err err;

    if (curves_open(&c, problem, seed, b->command, &err) != 0) {
        fprintf(stderr, "fidelity: %s\n", err.text);
        exit(2);
    }
    for (size_t i = 0; i < b->n; i++)
        run(b, &b->players[i], &c);
    curves_close(&c);
}

static uint64_t
number(const char *text, uint64_t low, uint64_t high)
{
    char *end;
    uint64_t n = strtoull(text, &end, 10);

    if (*text != '\0' && *end == '\0' && n >= low && n <= high)
        return n;
    fprintf(stderr,
            "fidelity: expected a number from %" PRIu64 " to %" PRIu64
            ", not '%s'\n",
            low, high, text);
    exit(2);
}

static void
close_all(struct bench *b)
{
    for (size_t i = 0; i < b->n_loaded; i++)
        plugin_unload(b->loaded[i]);
    for (size_t i = 0; i < b->n; i++)
        free(b->labels[i]);
    plugin_paths_free(b->paths);
}

int
main(int argc, char **argv)
{
    struct bench b = {.command = getenv("CURVES")};
    uint64_t first, seeds;
    char *rest = NULL;
    struct err err;

    if (argc != 8) {
        fputs(usage, stderr);
        return 2;
    }
    b.paths = plugin_paths_new(argv[1], &err);
    first = number(argv[4], 0, UINT32_MAX);
    seeds = number(argv[5], 1, UINT32_MAX);
    b.full = number(argv[6], 1, PLAY_FULL_MAX);
    b.workers = number(argv[7], 1, 64);
    for (char *spec = strtok_r(argv[2], " ", &rest);
         spec != NULL && b.n < PLAYERS_MAX; spec = strtok_r(NULL, " ", &rest))
        add_player(&b, spec);
    rest = NULL;
    for (char *problem = strtok_r(argv[3], " ", &rest); problem != NULL;
         problem = strtok_r(NULL, " ", &rest))
        for (uint64_t seed = first; seed < first + seeds; seed++)
            run_all(&b, problem, seed);
    close_all(&b);
    return b.failed;
}
