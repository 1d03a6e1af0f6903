/* SPDX-License-Identifier: MIT */
#include "cost.h"

#include "client.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "dims.h"
#include "json.h"
#include "numerics/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CYCLES 31
#define AT_ONCE 100
#define LIMIT_NS ((int64_t)20 * 1000000000) /* for the cycles */

const struct cost cost_unknown = {NAN, NAN, NAN, NAN, NAN, NAN};

struct dispatcher {
    const char *program, *plugins, *tuner;
};

static const struct dim dims[] = {
    {"u0", DIM_UNIFORM, 0, 1, 0, {0}, 0, 0},
    {"u1", DIM_UNIFORM, -5, 5, 0, {0}, 0, 0},
    {"u2", DIM_UNIFORM, 0, 100, 0, {0}, 0, 0},
    {"l0", DIM_LOG, 1e-5, 1, 0, {0}, 0, 0},
    {"l1", DIM_LOG, 1e-3, 1e3, 0, {0}, 0, 0},
    {"q0", DIM_GRID, 0, 100, 5, {0}, 0, 0},
    {"q1", DIM_GRID, 1, 15, 1, {0}, 0, 0},
    {"i0", DIM_INTEGER, 0, 20, 0, {0}, 0, 0},
    {"c0", DIM_CHOICE, 0, 0, 0, {"relu", "tanh", "gelu", "elu"}, 0, 0},
    {"c1", DIM_CHOICE, 0, 0, 0, {"a", "b", "c", "d", "e", "f"}, 0, 0},
    {0},
};

/* ---- what is sent ---- */

static void
random_point(uint64_t id, struct point *p)
{
    struct random_stream r = random_stream(5, RANDOM_TEST, id, 0);

    *p = (struct point){0};
    for (size_t i = 0; i < dims_count(dims); i++) {
        double u = random_uniform(&r, (uint32_t)i);

        p->active |= (uint32_t)1 << i;
        p->option[i] = (int)(u * (double)dims_options(&dims[i]));
        p->value[i] = dims_value(&dims[i], u);
        p->unit[i] = dims_unit(&dims[i], p->value[i]);
    }
}

static double
objective(const struct point *p)
{
    double sum = 0;

    for (size_t i = 0; i < dims_count(dims); i++) {
        double away = p->unit[i] - 0.1 * (double)(i + 1);

        if (dims[i].kind != DIM_CHOICE)
            sum += away * away;
        else
            sum += p->option[i] == 2 ? 0 : 0.2;
    }
    return sum;
}

static void
import(struct client *c, size_t from, size_t to)
{
    struct point p;
    struct buf b;

    buf_init(&b, (size_t)1 << 28);
    buf_add_char(&b, '[');
    for (size_t i = from; i < to; i++) {
        random_point(i, &p);
        buf_add_text(&b, i == from ? "" : ", ");
        buf_add_text(&b, "{\"parameter\": ");
        dims_write_point(dims, &p, &b);
        buf_add_text(&b, ", \"value\": ");
        json_write_double(&b, objective(&p));
        buf_add_char(&b, '}');
    }
    buf_add_char(&b, ']');
    client_add(c, "FD", buf_text(&b));
    buf_fini(&b);
}

/* ---- one process ---- */

struct trial {
    uint64_t id;
    double value;
};

/* -1: err says why; 1: so, too, but that there are no trials now. */
static int
receive(struct client *c, struct trial *out, struct err *err)
{
    struct jval parameters;
    struct json *doc;
    struct point p;
    int rc = client_trial(c, &out->id, &doc, err);

    if (rc == 0) {
        err_set(err, ERR_INPUT, "has no more trials");
        return 1;
    }
    if (rc < 0)
        return -1;
    rc = -1;
    if (!jval_get(json_root(doc), "parameters", &parameters))
        err_set(err, ERR_INPUT, "a trial without parameters");
    else
        rc = dims_read(dims, parameters, &p, err);
    json_free(doc);
    out->value = objective(&p);
    return rc;
}

static int64_t
cpu_ns(const struct client *c)
{
    struct timespec t;
    clockid_t clock;

    if (clock_getcpuclockid(client_pid(c), &clock) != 0 ||
        clock_gettime(clock, &t) != 0)
        return 0;
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static double
resident_bytes(const struct client *c)
{
    char path[64], line[256];
    uint64_t kib = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%ld/status", (long)client_pid(c));
    f = fopen(path, "re");
    while (f != NULL && kib == 0 && fgets(line, sizeof line, f) != NULL)
        sscanf(line, "VmRSS: %" SCNu64, &kib);
    if (f != NULL)
        fclose(f);
    return (double)kib * 1024;
}

/* The trials between let none of it wait in a queue, which takes memory. */
static int
fill(struct client *c, size_t n, struct trial *last, struct err *err)
{
    for (size_t at = 0; at < n; at += AT_ONCE) {
        size_t left = n - at;

        if (at > 0)
            client_result(c, last->id, last->value);
        import(c, at, at + (left < AT_ONCE ? left : AT_ONCE) - 1);
        if (client_request(c, 1, err) != 0 || receive(c, last, err) != 0)
            return -1;
    }
    return 0;
}

static int
order(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* Reports the trial and gets the next one, over and over. */
static int
cycle(struct client *c, struct trial *trial, size_t n, struct cost *cost,
      struct err *err)
{
    int64_t wall[CYCLES], cpu = cpu_ns(c), start = clock_monotonic_ns();
    size_t done = 0;

    while (done < n && clock_monotonic_ns() - start < LIMIT_NS) {
        int64_t from = clock_monotonic_ns();

        client_result(c, trial->id, trial->value);
        if (client_request(c, 1, err) != 0 || receive(c, trial, err) != 0)
            return -1;
        wall[done++] = clock_monotonic_ns() - from;
    }
    qsort(wall, done, sizeof wall[0], order);
    cost->cycle_us = (double)wall[done / 2] / 1e3;
    cost->cpu_us = (double)(cpu_ns(c) - cpu) / 1e3 / (double)done;
    return 0;
}

/* Many at once, which then report; an ask behind them waits for all. */
static int
batch(struct client *c, struct cost *cost, struct err *err)
{
    struct trial trials[COST_BATCH], last;
    int64_t cpu = cpu_ns(c);

    if (client_request(c, COST_BATCH, err) != 0)
        return -1;
    for (size_t i = 0; i < COST_BATCH; i++) {
        int rc = receive(c, &trials[i], err);

        if (rc != 0)
            return rc < 0 ? -1 : 0; /* not so many at once: not known */
    }
    cost->batch_us = (double)(cpu_ns(c) - cpu) / 1e3 / COST_BATCH;
    cpu = cpu_ns(c);
    for (size_t i = 0; i < COST_BATCH; i++)
        client_result(c, trials[i].id, trials[i].value);
    if (client_request(c, 1, err) != 0 || receive(c, &last, err) != 0)
        return -1;
    cost->tell_us = (double)(cpu_ns(c) - cpu) / 1e3 - cost->cpu_us;
    cost->tell_us = fmax(cost->tell_us, 0) / COST_BATCH;
    return 0;
}

static struct client *
start(const struct dispatcher *d, const char *count, struct err *err)
{
    const char *argv[24] = {NULL};
    const char *const words[] = {d->program,
                                 "dispatch",
                                 "--quiet",
                                 "--plugin-path",
                                 d->plugins,
                                 "--seed",
                                 "1",
                                 "--tuner",
                                 d->tuner,
                                 "--tuner-args",
                                 "{\"optimize_mode\":\"minimize\"}"};
    struct client *c;
    struct buf space;
    size_t n = 0;

    if (count != NULL) {
        argv[n++] = "valgrind";
        argv[n++] = "--tool=callgrind";
        argv[n++] = "--callgrind-out-file=/dev/null";
        argv[n++] = count;
    }
    memcpy(&argv[n], words, sizeof words);
    c = client_open(argv, err);
    if (c == NULL)
        return NULL;
    buf_init(&space, 1 << 16);
    dims_write_space(dims, &space);
    if (client_begin(c, buf_text(&space), err) != 0) {
        client_close(c, NULL);
        c = NULL;
    }
    buf_fini(&space);
    return c;
}

/* ---- instructions ---- */

/* Of a process with so many cycles. */
static int
count_once(const struct dispatcher *d, size_t n, size_t cycles, double *out,
           struct err *err)
{
    char log[] = "/tmp/ask-XXXXXX", option[64], line[256];
    const char *at;
    struct trial trial;
    struct cost cost;
    struct client *c;
    int fd = mkstemp(log), rc = -1;
    FILE *f;

    if (fd < 0)
        return err_errno(err, ERR_SYSTEM, "%s", log);
    snprintf(option, sizeof option, "--log-file=%s", log);
    c = start(d, option, err);
    if (c != NULL && fill(c, n, &trial, err) == 0)
        rc = cycle(c, &trial, cycles, &cost, err);
    if (client_close(c, rc == 0 ? err : NULL) != 0)
        rc = -1;
    *out = NAN;
    f = fdopen(fd, "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        at = strstr(line, "Collected : ");
        if (at != NULL)
            sscanf(at, "Collected : %lf", out);
    }
    if (f != NULL)
        fclose(f);
    remove(log);
    return rc;
}

static int
count_cycles(const struct dispatcher *d, size_t n, struct cost *cost,
             struct err *err)
{
    double few, many;

    if (count_once(d, n, 5, &few, err) != 0 ||
        count_once(d, n, 15, &many, err) != 0)
        return -1;
    cost->instructions = (many - few) / 10;
    return 0;
}

int
cost_measure(const char *program, const char *plugins, const char *tuner,
             size_t n, bool count, struct cost *out, struct err *err)
{
    const struct dispatcher d = {program, plugins, tuner};
    struct trial trial;
    struct client *c;
    int rc = -1;

    *out = cost_unknown;
    c = start(&d, NULL, err);
    if (c != NULL && fill(c, n, &trial, err) == 0) {
        rc = cycle(c, &trial, CYCLES, out, err);
        if (rc == 0)
            rc = batch(c, out, err);
        out->resident = resident_bytes(c);
    }
    if (client_close(c, rc == 0 ? err : NULL) != 0)
        rc = -1;
    if (rc == 0 && count && n <= COST_COUNT_MAX)
        rc = count_cycles(&d, n, out, err);
    return rc;
}
