/* SPDX-License-Identifier: MIT */
/* madeup FOLDER plain|rungs|stopping|population|crashed TRIALS: the folder of
 * an experiment that never ran, as its manager and its dispatcher would have
 * left it; the same bytes each time.  plain: a random search with conditional
 * parameters; rungs: successive halving by three; stopping: the same that only
 * stops; population: one of 20 that exploits; crashed: trials of 6 s, one after
 * the other, beside each of which the manager dies after 5 s, to be resumed
 * 32 s later, when the trial has long ended. */
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/number.h"
#include "log/record.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BEGAN_US INT64_C(1767225600000000)
#define SLOTS 8
#define MEMBERS 20
#define HEAD "{\"tuner\": {\"name\": \"random\", \"arguments\": {}}}"

struct made {
    const char *folder;
    struct buf log, results;
    int64_t free_us[SLOTS]; /* when each slot is free */
    uint64_t number, state;
    size_t devices;
};

/* What a trial is to be. */
struct plan {
    size_t id;
    double lr, momentum;
    int batch;
    int layers;    /* of a nested choice: 0: it has none */
    double budget; /* 0: none */
    long from;     /* -1: none */
    bool cloned;
    const char *status;
    int base, steps;
    double limit; /* of its values, were it to run for ever */
    char label[32];
};

static int
put(const char *folder, const char *name, const char *text, size_t len)
{
    struct err err = {0};
    char *path = file_join(folder, name);
    int rc = path == NULL ? -1 : file_write(path, text, len, &err);

    if (rc != 0)
        fprintf(stderr, "madeup: %s\n", err.text);
    free(path);
    return rc;
}

static const char experiment[] =
    "{\"id\": \"made-up <&> \\u00e9\", \"name\": \"made-up\", \"config\": "
    "\"e.yml\", \"optimize_mode\": \"minimize\", \"mode_from\": \"it\", "
    "\"seed\": 1, \"concurrency\": 8, \"max_trials\": 0, \"deterministic\": "
    "false, \"started_ns\": 1767225600000000000}";
static const char space[] =
    "{\"lr\": {\"_type\": \"loguniform\", \"_value\": [1e-05, 0.1]}, "
    "\"momentum\": {\"_type\": \"uniform\", \"_value\": [0, 1]}, "
    "\"batch\": {\"_type\": \"choice\", \"_value\": [16, 32, 64, 128]}, "
    "\"net\": {\"_type\": \"choice\", \"_value\": [{\"_name\": \"</script><b>\"}"
    ", {\"_name\": \"deep\", \"layers\": {\"_type\": \"randint\", \"_value\": "
    "[1, 7]}}]}}";

static double
uniform(struct made *m)
{
    m->state = m->state * UINT64_C(6364136223846793005) +
               UINT64_C(1442695040888963407);
    return (double)(m->state >> 11) / 9007199254740992.0;
}

static void
tell(struct made *m, enum record_kind kind, int64_t us, const char *payload)
{
    record_encode(&m->log, kind, ++m->number, us, payload, strlen(payload));
}

static void
write_parameters(const struct plan *p, char *out, size_t size)
{
    char lr[NUMBER_TEXT_MAX], momentum[NUMBER_TEXT_MAX], net[64], budget[48];

    number_format(p->lr, lr);
    number_format(p->momentum, momentum);
    snprintf(net, sizeof net,
             p->layers > 0 ? "{\"_name\": \"deep\", \"layers\": %d}"
                           : "{\"_name\": \"</script><b>\"}",
             p->layers);
    budget[0] = '\0';
    if (p->budget > 0)
        snprintf(budget, sizeof budget, ", \"TRIAL_BUDGET\": %g", p->budget);
    snprintf(out, size,
             "{\"lr\": %s, \"momentum\": %s, \"batch\": %d, \"net\": %s%s}", lr,
             momentum, p->batch, net, budget);
}

static double
value_at(const struct plan *p, int step)
{
    return p->limit + 0.6 / (step + 1);
}

static double
last_value(const struct plan *p)
{
    return value_at(p, p->base + p->steps - 1);
}

static void
tell_reports(struct made *m, const struct plan *p, int64_t from, int64_t each)
{
    char text[512];

    for (int s = 0; s < p->steps; s++) {
        snprintf(text, sizeof text,
                 "ME{\"parameter_id\": %s, \"trial_job_id\": \"%05zu\", "
                 "\"type\": \"PERIODICAL\", \"sequence\": %d, \"value\": "
                 "\"%.6f\", \"base\": %d}",
                 p->label, p->id, s, value_at(p, p->base + s), p->base);
        tell(m, RECORD_IN, from + (s + 1) * each, text);
    }
}

static void
add_result(struct made *m, const struct plan *p, const char *parameters,
           double seconds)
{
    bool final = strcmp(p->status, "succeeded") == 0;

    buf_printf(&m->results,
               "{\"trial\": \"%05zu\", \"parameter_id\": %s, \"seed\": 1, "
               "\"status\": \"%s\", \"why\": \"%s\", \"ended_by\": \"%s\", "
               "\"value\": ",
               p->id, p->label, p->status,
               strcmp(p->status, "failed") == 0 ? "exit status 1 <&>" : "",
               final ? "itself" : "assessor");
    if (final && p->id % 1000 == 7)
        buf_add_text(&m->results, "null");
    else if (final)
        buf_printf(&m->results, "%.9f", last_value(p));
    else
        buf_add_text(&m->results, "null");
    buf_printf(&m->results,
               ", \"latest\": %.9f, \"duration_s\": %.3f, "
               "\"intermediates\": %d, \"parameters\": %s}\n",
               last_value(p), seconds, p->steps, parameters);
}

static void
add_trial(struct made *m, const struct plan *p)
{
    char parameters[256], text[640], resume[96] = "";
    int64_t from, each = 400000 + (int64_t)(uniform(m) * 600000), to;
    size_t slot = 0;

    for (size_t i = 1; i < SLOTS; i++)
        slot = m->free_us[i] < m->free_us[slot] ? i : slot;
    from = m->free_us[slot] + 50000;
    to = from + each * (p->steps + 1);
    m->free_us[slot] = to;
    write_parameters(p, parameters, sizeof parameters);
    if (p->from >= 0)
        snprintf(resume, sizeof resume,
                 ", \"resume_from\": \"%05ld\", \"resume_how\": \"%s\"",
                 p->from, p->cloned ? "cloned" : "promoted");
    snprintf(text, sizeof text,
             "TR{\"parameter_id\": %s, \"parameter_source\": \"algorithm\", "
             "\"parameters\": %s, \"parameter_index\": 0%s}",
             p->label, parameters, resume);
    tell(m, RECORD_TUNER, from, text);
    snprintf(text, sizeof text,
             "NT{\"event\": \"started\", \"trial_job_id\": \"%05zu\", "
             "\"parameter_id\": %s, \"attempt\": 0, \"pid\": 1, \"device\": "
             "\"%zu\"}",
             p->id, p->label, slot % m->devices);
    tell(m, RECORD_IN, from, text);
    tell_reports(m, p, from, each);
    if (strcmp(p->status, "running") == 0)
        return;
    snprintf(text, sizeof text,
             "NT{\"event\": \"exited\", \"trial_job_id\": \"%05zu\", "
             "\"attempt\": 0, \"status\": \"exited 0\"}",
             p->id);
    tell(m, RECORD_IN, to, text);
    snprintf(text, sizeof text,
             "EN{\"trial_job_id\": \"%05zu\", \"event\": \"SUCCEEDED\", "
             "\"hyper_params\": \"{}\"}",
             p->id);
    tell(m, RECORD_IN, to, text);
    add_result(m, p, parameters, (double)(to - from) / 1e6);
}

static double
quality(struct made *m, const struct plan *p)
{
    double a = log10(p->lr) + 3, b = p->momentum - 0.8;

    return 0.05 + 0.06 * a * a + 0.4 * b * b +
           (p->layers > 0 ? 0.01 * (p->layers - 3) * (p->layers - 3) : 0.1) +
           0.02 * uniform(m);
}

static struct plan
sample(struct made *m, size_t id)
{
    struct plan p = {.id = id,
                     .lr = pow(10, -5 + 4 * uniform(m)),
                     .momentum = uniform(m),
                     .layers = uniform(m) < 0.6 ? 1 + (int)(6 * uniform(m)) : 0,
                     .batch = 16 << (id % 4),
                     .from = -1,
                     .status = "succeeded",
                     .steps = 20};

    snprintf(p.label, sizeof p.label, "%zu", id);
    p.limit = quality(m, &p);
    return p;
}

static void
make_plain(struct made *m, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct plan p = sample(m, i);
        double luck = uniform(m);

        if (luck < 0.04)
            p.status = "failed";
        else if (luck < 0.25)
            p.status = "stopped";
        else if (i + 5 > n)
            p.status = "running";
        p.steps = strcmp(p.status, "succeeded") == 0
                      ? 20
                      : 1 + (int)(uniform(m) * 12);
        add_trial(m, &p);
    }
}

static int
compare(const void *va, const void *vb)
{
    const struct plan *a = va, *b = vb;

    double x = last_value(a), y = last_value(b);

    return (x > y) - (x < y);
}

/* Brackets of 27 trials, of which a third goes on each time. */
static void
make_rungs(struct made *m, size_t n)
{
    struct plan rung[27];
    size_t id = 0;

    for (size_t bracket = 0; id + 40 <= n; bracket++) {
        int budget = 1;

        for (size_t count = 27; count > 0; count /= 3, budget *= 3) {
            for (size_t i = 0; i < count; i++) {
                bool first = count == 27;
                struct plan p = first ? sample(m, id) : rung[i];

                p.from = first ? -1 : (long)p.id;
                p.id = id++;
                p.budget = budget;
                p.base = first ? 0 : budget / 3;
                p.steps = budget - p.base;
                p.status = count > 1 ? "paused" : "succeeded";
                snprintf(p.label, sizeof p.label, "\"%zu-3_%d_%zu\"", bracket,
                         (int)(log(budget) / log(3) + 0.5), i);
                add_trial(m, &p);
                rung[i] = p;
            }
            qsort(rung, count, sizeof *rung, compare);
        }
    }
}

/* All are given 27 steps; at 1, 3 and 9 they are stopped that are not among the
 * best third of those that got there. */
static void
make_stopping(struct made *m, size_t n)
{
    double *at[3] = {calloc(n, sizeof(double)), calloc(n, sizeof(double)),
                     calloc(n, sizeof(double))};
    size_t got[3] = {0, 0, 0};

    for (size_t id = 0; id < n && at[0] && at[1] && at[2]; id++) {
        struct plan p = sample(m, id);
        int level = 1;

        p.budget = 27;
        p.steps = 27;
        for (size_t k = 0; k < 3 && p.steps == 27; k++, level *= 3) {
            size_t better = 0;

            at[k][got[k]++] = value_at(&p, level - 1);
            for (size_t i = 0; i < got[k]; i++)
                better += at[k][i] < value_at(&p, level - 1);
            if (better >= 1 && 3 * better >= got[k])
                p.steps = level;
        }
        p.status = p.steps == 27 ? "succeeded" : "stopped";
        add_trial(m, &p);
    }
    for (size_t k = 0; k < 3; k++)
        free(at[k]);
}

/* What member i of the next round is, from the members of this one, the best
 * first. */
static struct plan
next_member(struct made *m, const struct plan *members, size_t i, size_t id)
{
    bool cloned = i >= MEMBERS * 4 / 5;
    struct plan p = members[cloned ? i - MEMBERS * 4 / 5 : i];

    p.cloned = cloned;
    p.from = (long)p.id;
    p.base += p.steps;
    p.id = id;
    if (cloned) {
        p.lr *= uniform(m) < 0.5 ? 0.8 : 1.2;
        p.momentum *= 0.95;
    }
    return p;
}

static void
leave_exit_file(const struct made *m, const struct plan *p, int64_t from,
                int64_t to)
{
    char path[4096], text[128];

    snprintf(path, sizeof path, "%s/trials", m->folder);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/trials/%05zu", m->folder, p->id);
    mkdir(path, 0700);
    snprintf(text, sizeof text,
             "exited 0\nstarted_ns %" PRId64 "\nended_ns %" PRId64 "\n",
             from * 1000, to * 1000);
    if (put(path, "exit", text, strlen(text)) != 0)
        exit(1);
}

/* Of a trial's records the last three tell the next manager. */
static void
make_crashed(struct made *m, size_t n)
{
    char parameters[256], text[640];
    int64_t from = BEGAN_US;

    for (size_t id = 0; id < n; id++, from += 40000000) {
        struct plan p = sample(m, id);

        p.steps = 1;
        write_parameters(&p, parameters, sizeof parameters);
        snprintf(text, sizeof text,
                 "TR{\"parameter_id\": %s, \"parameters\": %s}", p.label,
                 parameters);
        tell(m, RECORD_TUNER, from, text);
        snprintf(text, sizeof text,
                 "NT{\"event\": \"started\", \"trial_job_id\": \"%05zu\", "
                 "\"parameter_id\": %s, \"attempt\": 0}",
                 id, p.label);
        tell(m, RECORD_IN, from, text);
        tell(m, RECORD_IN, from + 5000000, "PI");
        tell(m, RECORD_RESUMED, from + 38000000, "goes on");
        tell_reports(m, &p, from + 38000000, 0);
        snprintf(text, sizeof text,
                 "NT{\"event\": \"exited\", \"trial_job_id\": \"%05zu\", "
                 "\"attempt\": 0, \"status\": \"exited 0\"}",
                 id);
        tell(m, RECORD_IN, from + 38000000, text);
        snprintf(text, sizeof text,
                 "EN{\"trial_job_id\": \"%05zu\", \"event\": \"SUCCEEDED\", "
                 "\"hyper_params\": \"{}\"}",
                 id);
        tell(m, RECORD_IN, from + 38000000, text);
        leave_exit_file(m, &p, from, from + 6000000);
        add_result(m, &p, parameters, 6);
    }
    snprintf(text, sizeof text, "{\"used_ns\": %zu}\n", n * 7000000000);
    if (put(m->folder, "budget.json", text, strlen(text)) != 0)
        exit(1);
}

/* In each round the worst fifth goes on as clones of the best fifth. */
static void
make_population(struct made *m, size_t n)
{
    struct plan members[MEMBERS], next[MEMBERS];

    for (size_t id = 0; id + MEMBERS <= n; id += MEMBERS) {
        for (size_t i = 0; i < MEMBERS; i++) {
            struct plan p =
                id == 0 ? sample(m, i) : next_member(m, members, i, id + i);

            p.steps = 5;
            snprintf(p.label, sizeof p.label, "%zu", p.id);
            p.limit = id == 0 || p.cloned ? quality(m, &p) : p.limit;
            p.status = id + 2 * MEMBERS > n ? "succeeded" : "paused";
            add_trial(m, &p);
            next[i] = p;
        }
        memcpy(members, next, sizeof members);
        qsort(members, MEMBERS, sizeof *members, compare);
    }
}

static const struct {
    const char *name;
    void (*make)(struct made *m, size_t n);
} kinds[] = {{"plain", make_plain},
             {"rungs", make_rungs},
             {"stopping", make_stopping},
             {"population", make_population},
             {"crashed", make_crashed}};
#define N_KINDS (sizeof kinds / sizeof *kinds)

int
main(int argc, char **argv)
{
    struct made m = {.state = 1, .devices = 4};
    struct err err = {0};
    size_t kind = 0;

    while (argc == 4 && kind < N_KINDS &&
           strcmp(kinds[kind].name, argv[2]) != 0)
        kind++;
    if (argc != 4 || kind == N_KINDS) {
        fputs("usage: madeup FOLDER plain|rungs|stopping|population|crashed "
              "TRIALS\n",
              stderr);
        return 2;
    }
    buf_init(&m.log, (size_t)1 << 30);
    buf_init(&m.results, (size_t)1 << 30);
    for (size_t i = 0; i < SLOTS; i++)
        m.free_us[i] = BEGAN_US;
    record_write_version(&m.log);
    record_encode(&m.log, RECORD_HEAD, 0, BEGAN_US, HEAD, strlen(HEAD));
    if (file_make_folder(argv[1], &err) != 0)
        return 1;
    m.folder = argv[1];
    kinds[kind].make(&m, strtoul(argv[3], NULL, 10));
    record_encode(&m.log, RECORD_SYNC, 0, m.free_us[0], "", 0);
    if (put(argv[1], "experiment.json", experiment, strlen(experiment)) != 0 ||
        put(argv[1], "search_space.json", space, strlen(space)) != 0 ||
        put(argv[1], "results.jsonl", m.results.data, m.results.len) != 0 ||
        put(argv[1], "command.log", m.log.data, m.log.len) != 0)
        return 1;
    buf_fini(&m.log);
    buf_fini(&m.results);
    return 0;
}
