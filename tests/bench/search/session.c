/* SPDX-License-Identifier: MIT */
/* DESIGN
 * With several trials at a time, the one whose (drawn) end is the earliest
 * reports next, then the next one is asked for: the same order for every
 * tuner, whatever the machine does.
 */
#include "session.h"

#include "archive.h"
#include "client.h"
#include "core/buf.h"
#include "core/err.h"
#include "json.h"
#include "numerics/elementary.h"
#include "numerics/random.h"
#include "problem.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct flight {
    uint64_t id;
    struct outcome outcome;
    double end;
};

struct state {
    const struct session *s;
    struct problem *problem;
    struct client *client;
    struct flight *flights;
    size_t n_flights, asked;
    double *best; /* after each trial */
    size_t n_best;
    double observed;        /* what the best trial reported */
    struct archive archive; /* of a problem with several costs */
};

double
session_duration(uint64_t seed, uint64_t trial)
{
    struct random_stream r = random_stream(seed, RANDOM_TEST, trial, 7);

    return num_exp(0.5 * random_normal(&r, 0));
}

/* 0: there are no more. */
static int
ask(struct state *st, double now, struct err *err)
{
    struct flight *f = &st->flights[st->n_flights];
    struct json *doc;
    struct jval parameters;
    int rc;

    if (client_request(st->client, 1, err) != 0)
        return -1;
    rc = client_trial(st->client, &f->id, &doc, err);
    if (rc <= 0)
        return rc;
    if (!jval_get(json_root(doc), "parameters", &parameters))
        rc = err_set(err, ERR_INPUT, "a trial without parameters");
    else if (problem_run(st->problem, st->asked, parameters, &f->outcome,
                         err) != 0)
        rc = -1;
    json_free(doc);
    if (rc < 0)
        return -1;
    f->end = now + session_duration(st->s->seed, st->asked);
    st->n_flights++;
    st->asked++;
    return 1;
}

/* What the best of all trials is after this one: of several costs, the share of
 * the ideal hypervolume that is still lost. */
static int
note_result(struct state *st, const struct outcome *of, struct err *err)
{
    double *best = &st->best[st->n_best];

    if (problem_n_costs(st->problem) == 1) {
        if (of->observed < st->observed) {
            st->observed = of->observed;
            *best = of->value;
        }
        return 0;
    }
    if (of->beyond <= 0 && archive_add(&st->archive, of->costs) != 0)
        return err_set(err, ERR_MEMORY, "out of memory");
    *best = 1 - st->archive.volume / problem_ideal(st->problem);
    return 0;
}

static void
send_result(struct state *st, uint64_t id, const struct outcome *of)
{
    struct buf text;

    if (problem_n_costs(st->problem) == 1) {
        client_result(st->client, id, of->observed);
        return;
    }
    buf_init(&text, 1 << 20);
    problem_write_costs(st->problem, of, &text);
    client_report(st->client, id, buf_text(&text));
    buf_fini(&text);
}

/* The trial that ends next reports; *now becomes when. */
static int
tell(struct state *st, double *now, struct err *err)
{
    size_t at = 0;
    struct flight f;

    for (size_t i = 1; i < st->n_flights; i++)
        if (st->flights[i].end < st->flights[at].end)
            at = i;
    f = st->flights[at];
    st->flights[at] = st->flights[--st->n_flights];
    st->best[st->n_best] = st->n_best > 0 ? st->best[st->n_best - 1] : INFINITY;
    *now = f.end;
    if (f.outcome.failed) {
        client_failure(st->client, f.id);
    } else {
        send_result(st, f.id, &f.outcome);
        if (note_result(st, &f.outcome, err) != 0)
            return -1;
    }
    st->n_best++;
    return 0;
}

static int
play(struct state *st, struct err *err)
{
    double now = 0;
    int more = 1;

    for (;;) {
        while (more > 0 && st->n_flights < st->s->width &&
               st->asked < st->s->budget)
            more = ask(st, now, err);
        if (more < 0)
            return -1;
        if (st->n_flights == 0)
            return 0;
        if (tell(st, &now, err) != 0)
            return -1;
    }
}

/* Its arguments, and to minimize unless they say what to do. */
static void
write_args(const char *args, struct buf *out)
{
    static const char mode[] = "\"optimize_mode\":\"minimize\"";

    args = args == NULL ? "{}" : args;
    if (args[0] != '{' || strstr(args, "optimize_mode") != NULL)
        buf_add_text(out, args); /* wrong ones are the dispatcher's to tell */
    else
        buf_printf(out, "{%s%s%s", mode, args[1] == '}' ? "" : ",", args + 1);
}

static struct client *
open_client(const struct session *s, const struct problem *p, struct err *err)
{
    struct client *c;
    struct buf args, objectives;
    char seed[24];
    const char *argv[] = {
        s->program, "dispatch",     "--quiet", "--plugin-path",
        s->plugins, "--seed",       seed,      "--tuner",
        s->tuner,   "--tuner-args", NULL,      NULL,
        NULL,       NULL,
    };

    buf_init(&args, 1 << 20);
    write_args(s->args, &args);
    argv[10] = buf_text(&args);
    buf_init(&objectives, 1 << 20);
    if (problem_n_costs(p) > 1) {
        problem_write_objectives(p, &objectives);
        argv[11] = "--objectives";
        argv[12] = buf_text(&objectives);
    }
    snprintf(seed, sizeof seed, "%" PRIu64, s->seed);
    c = client_open(argv, err);
    buf_fini(&objectives);
    buf_fini(&args);
    return c;
}

static int
run(struct state *st, struct err *err)
{
    struct buf space;
    int rc = -1;

    buf_init(&space, 1 << 20);
    st->problem = problem_new(st->s->problem, st->s->seed, err);
    if (st->problem != NULL) {
        archive_init(&st->archive, problem_n_costs(st->problem),
                     problem_reference(st->problem));
        st->client = open_client(st->s, st->problem, err);
    }
    if (st->client != NULL) {
        problem_write_space(st->problem, &space);
        rc = client_begin(st->client, buf_text(&space), err);
        if (rc == 0)
            rc = play(st, err);
        if (client_close(st->client, rc == 0 ? err : NULL) != 0)
            rc = -1;
    }
    buf_fini(&space);
    return rc;
}

static void
write_line(const struct state *st, const struct err *err, FILE *out)
{
    const struct session *s = st->s;
    struct buf b;

    buf_init(&b, (size_t)1 << 28);
    buf_add_text(&b, "{\"problem\": ");
    json_write_string(&b, s->problem, strlen(s->problem));
    buf_add_text(&b, ", \"family\": ");
    json_write_string(&b, s->family, strlen(s->family));
    buf_add_text(&b, ", \"solver\": ");
    json_write_string(&b, s->label, strlen(s->label));
    buf_printf(&b, ", \"seed\": %" PRIu64 ", \"mode\": \"", s->seed);
    if (s->width > 1)
        buf_printf(&b, "par:%zu\"", s->width);
    else
        buf_add_text(&b, "seq\"");
    buf_printf(&b, ", \"budget\": %zu", s->budget);
    if (err != NULL) {
        buf_add_text(&b, ", \"error\": ");
        json_write_string(&b, err->text, strlen(err->text));
    }
    buf_add_text(&b, ", \"optimum\": ");
    json_write_double(&b, problem_optimum(st->problem));
    buf_add_text(&b, ", \"best\": [");
    for (size_t i = 0; i < st->n_best; i++) {
        buf_add_text(&b, i > 0 ? ", " : "");
        json_write_double(&b, st->best[i]);
    }
    fprintf(out, "%s]}\n", buf_text(&b));
    buf_fini(&b);
}

int
session_run(const struct session *s, FILE *out, struct err *err)
{
    struct state st = {.s = s, .observed = INFINITY};
    int rc;

    st.best = calloc(s->budget + 1, sizeof *st.best);
    st.flights = calloc(s->width + 1, sizeof *st.flights);
    if (st.best == NULL || st.flights == NULL)
        rc = err_set(err, ERR_MEMORY, "out of memory");
    else
        rc = run(&st, err);
    if (st.problem != NULL)
        write_line(&st, rc == 0 ? NULL : err, out);
    archive_fini(&st.archive);
    problem_free(st.problem);
    free(st.best);
    free(st.flights);
    return rc;
}
