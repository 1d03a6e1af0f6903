/* SPDX-License-Identifier: MIT */
#include "curves.h"

#include "command.h"
#include "sim/dice.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/problems.h"
#include "json.h"
#include "numerics/elementary.h"
#include "space/space.h"

#include <math.h>
#include <string.h>

enum { RATE, MOMENTUM, DECAY, UNITS, LAYERS, OPTIMIZER, DROPOUT, DIMS };

static const char space_text[] =
    "{\"rate\": {\"_type\": \"loguniform\", \"_value\": [0.0001, 1]},"
    " \"momentum\": {\"_type\": \"uniform\", \"_value\": [0, 0.99]},"
    " \"decay\": {\"_type\": \"loguniform\", \"_value\": [1e-6, 0.1]},"
    " \"units\": {\"_type\": \"qloguniform\", \"_value\": [8, 512, 1]},"
    " \"layers\": {\"_type\": \"randint\", \"_value\": [1, 7]},"
    " \"optimizer\": {\"_type\": \"choice\","
    "   \"_value\": [\"sgd\", \"adam\", \"rms\"]},"
    " \"dropout\": {\"_type\": \"uniform\", \"_value\": [0, 0.8]}}";

struct curves_kind {
    const char *name;
    double low, high; /* where the best rate lies, in ranges */
    double slowest;   /* epochs, at the lowest rate; 1 at the highest */
    double noise;     /* sigma */
    double diverges;  /* in a whole curve, at the highest rate */
};

static const struct curves_kind kinds[] = {
    {"aligned", 0.3, 0.7, 4, 0, 0},
    {"crossing", 0.1, 0.35, 40, 0, 0},
    {"noisy", 0.3, 0.7, 8, 0.02, 0},
    {"diverging", 0.2, 0.5, 12, 0.002, 0.6},
};

enum { LONGEST = 81 };
#define FLOOR 0.04 /* the error of the best setting after any time */
#define START 0.9  /* the error of every setting at first */

/* How much each parameter matters. */
static const double weights[DIMS] = {2, 0.6, 0.4, 0.8, 0.3, 0.3, 0.5};

const char *
curves_list(size_t i)
{
    size_t n = sizeof kinds / sizeof *kinds;

    return i < n ? kinds[i].name : drawn_list(i - n);
}

static const struct curves_kind *
find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

static int
parse_space(struct curves *c, struct jval root, struct err *err)
{
    struct problems problems;
    int rc = 0;

    problems_init(&problems);
    c->space = space_parse(root, &problems);
    if (c->space == NULL)
        rc = problems_check(&problems, err) != 0
                 ? -1
                 : err_set(err, ERR_MEMORY, "out of memory");
    problems_fini(&problems);
    return rc;
}

static int
open_own(struct curves *c, struct err *err)
{
    struct dice dice = {dice_mix(c->seed + 17)};
    struct json *doc = json_parse(space_text, sizeof space_text - 1, 0, err);
    int rc = doc == NULL ? -1 : parse_space(c, json_root(doc), err);

    json_free(doc);
    c->longest = LONGEST;
    c->optimum = FLOOR;
    for (size_t i = 0; i < DIMS; i++)
        c->best[i] = 0.15 + 0.7 * dice_unit(&dice);
    c->best[RATE] =
        c->kind->low + (c->kind->high - c->kind->low) * dice_unit(&dice);
    c->best[OPTIMIZER] = (double)dice_below(&dice, 3) / 2;
    return rc;
}

static int
open_drawn(struct curves *c, const struct drawn_kind *kind, struct err *err)
{
    struct json *doc;
    struct buf text;
    int rc;

    drawn_open(&c->drawn, kind, c->seed);
    c->longest = c->drawn.longest;
    c->optimum = drawn_optimum(&c->drawn);
    buf_init(&text, 65536);
    drawn_write_space(&c->drawn, &text);
    doc = json_parse(buf_text(&text), text.len, 0, err);
    rc = doc == NULL ? -1 : parse_space(c, json_root(doc), err);
    json_free(doc);
    buf_fini(&text);
    return rc;
}

static int
open_command(struct curves *c, const char *command, struct err *err)
{
    struct json *doc;
    struct jval space;
    double longest;
    int rc;

    if (command == NULL)
        return err_set(err, ERR_INPUT, "no problem '%s'; see CURVES", c->name);
    if (command_start(c, command, err) != 0)
        return -1;
    doc = command_read(c, err);
    if (doc == NULL)
        return -1;
    longest = jval_number_of(json_root(doc), "longest");
    c->optimum = jval_number_of(json_root(doc), "optimum");
    if (!jval_get(json_root(doc), "space", &space) || !(longest >= 1) ||
        longest > CURVES_MAX) {
        rc = err_set(err, ERR_INPUT, "%s: no space, or no length of curves",
                     command);
    } else {
        c->longest = (uint64_t)longest;
        rc = parse_space(c, space, err);
    }
    json_free(doc);
    return rc;
}

int
curves_open(struct curves *c, const char *name, uint64_t seed,
            const char *command, struct err *err)
{
    const struct drawn_kind *drawn = drawn_find(name);

    *c = (struct curves){
        .name = name, .seed = seed, .kind = find_kind(name), .pid = -1};
    if (drawn != NULL)
        return open_drawn(c, drawn, err);
    return c->kind != NULL ? open_own(c, err) : open_command(c, command, err);
}

void
curves_close(struct curves *c)
{
    space_free(c->space);
    if (c->pid > 0)
        command_stop(c);
}

/* In ranges of the parameter; a choice's elements lie in a row. */
static double
place(const struct tp_dim *dim, double x)
{
    return (x - dim->low) / (dim->high - dim->low);
}

/* Nearly: the sum of twelve. */
static double
gauss(struct dice *dice)
{
    double sum = -6;

    for (int i = 0; i < 12; i++)
        sum += dice_unit(dice);
    return sum;
}

static void
own_curve(const struct curves *c, const double *x, double *observed,
          double *truth)
{
    const struct tp_space *dims = space_dims(c->space);
    struct dice dice = {dice_mix(c->seed)};
    double off = 0, rate = place(TP_DIM(dims, RATE), x[RATE]), level, pace;

    for (size_t i = 0; i < DIMS; i++) {
        double away = place(TP_DIM(dims, i), x[i]) - c->best[i];
        uint64_t bits;

        memcpy(&bits, &x[i], sizeof bits);
        dice.state = dice_mix(dice.state ^ bits);
        off += weights[i] * away * away;
    }
    level = FLOOR + 0.6 * (1 - num_exp(-2 * off));
    pace = num_pow(c->kind->slowest, 1 - rate);
    for (uint64_t t = 0; t < c->longest; t++) {
        double much = (double)t / (double)c->longest;
        double fast = fmax(rate - c->best[RATE] - 0.05, 0);

        truth[t] =
            level + (START - level) * num_pow(1 + (double)(t + 1) / pace, -1.5);
        truth[t] += c->kind->diverges * fast * much;
        observed[t] = truth[t] + c->kind->noise * gauss(&dice);
    }
}

int
curves_at(struct curves *c, const double *x, double *observed, double *truth,
          struct err *err)
{
    if (c->drawn.kind != NULL) {
        drawn_curve(&c->drawn, space_dims(c->space), x, observed, truth);
        return 0;
    }
    if (c->kind == NULL) {
        if (command_ask(c, x, observed, err) != 0)
            return -1;
        memcpy(truth, observed, c->longest * sizeof *truth);
        return 0;
    }
    own_curve(c, x, observed, truth);
    return 0;
}
