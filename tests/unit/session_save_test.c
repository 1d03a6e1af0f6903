/* SPDX-License-Identifier: MIT */
/* Whole sessions, saved behind any command and loaded into a new one: what
 * they answer from there on is the same, and what they would save, too. */
#include "moment_help.h"

NOT_UNDER_TSAN;
NOT_WITH_CLANG;

/* moments[k] is how it stands behind the k first frames. */
static struct moment *
play_all(const struct session_setup *setup, const struct tape *t)
{
    struct moment *moments = calloc(t->n + 1, sizeof *moments);
    struct going g;

    going_start(&g, setup);
    moment_take(&moments[0], g.session);
    for (size_t i = 0; i < t->n; i++) {
        moments[i + 1].said = strdup(going_play(&g, &t->frames[i]));
        moment_take(&moments[i + 1], g.session);
    }
    going_stop(&g);
    return moments;
}

static void
free_moments(struct moment *moments, size_t n)
{
    for (size_t i = 0; i < n; i++)
        moment_fini(&moments[i]);
    free(moments);
}

static bool
measures(const struct session_setup *setup)
{
    return setup->n_filters > 0 &&
           strcmp(setup->filters[0].name, "timing") == 0;
}

/* From moments[k] on, in a new session. */
static void
go_on(const struct session_setup *setup, const struct tape *t,
      const struct moment *moments, size_t k)
{
    struct going g;
    struct err err;

    err_clear(&err);
    going_start(&g, setup);
    moment_load(&g, &moments[k], &err);
    CHECK_STR(err.text, "");
    moment_is(&moments[k], g.session);
    for (size_t i = k; i < t->n; i++)
        CHECK_STR(going_play(&g, &t->frames[i]), moments[i + 1].said);
    if (!measures(setup)) /* what it took then, and what it took now */
        moment_is(&moments[t->n], g.session);
    going_stop(&g);
}

/* Only as long as there is no search space nothing can be saved. */
static void
check_tape(const struct session_setup *setup, const struct tape *t,
           size_t stride)
{
    struct moment *moments = play_all(setup, t);
    size_t n = 0;

    for (size_t k = 0; k <= t->n; k += stride)
        if (moments[k].taken == 3) {
            go_on(setup, t, moments, k);
            n++;
        }
    CHECK(n * stride + 6 + stride >= t->n);
    free_moments(moments, t->n + 1);
}

/* ---- sessions that were recorded ---- */

static void
check_log(const char *name, size_t stride)
{
    struct tape *t = calloc(1, sizeof *t);
    struct json *head = tape_read(t, t_source(name));
    struct session_setup setup = {0};
    struct drive d;

    drive_setup(&d, "random", NULL, NULL, NULL); /* for its folders */
    CHECK_EQ(session_read_head(json_root(head), &setup, &d.err), 0);
    setup.paths = d.paths;
    check_tape(&setup, t, stride);
    json_free(head);
    tape_fini(t);
    free(t);
    drive_stop(&d);
}

TEST(session_save_goes_on_with_recorded_sessions)
{
    check_log("tests/data/logs/awkward.log", 1);
    check_log("tests/data/logs/medianstop.log", 23);
}

/* ---- sessions that were made up ---- */

#define NUMBERS                                                                 \
    "{\"lr\": {\"_type\": \"loguniform\", \"_value\": [0.001, 1]}, "            \
    "\"units\": {\"_type\": \"randint\", \"_value\": [1, 9]}, "                 \
    "\"net\": {\"_type\": \"choice\", \"_value\": [{\"_name\": \"\xc3\xa4\"}, " \
    "{\"_name\": \"b\", \"q\": {\"_type\": \"qnormal\", \"_value\": [1, 2, "    \
    "0.5]}}]}}"
#define FEWER                                                           \
    "{\"lr\": {\"_type\": \"loguniform\", \"_value\": [0.01, 0.5]}, "   \
    "\"units\": {\"_type\": \"randint\", \"_value\": [1, 5]}, "         \
    "\"net\": {\"_type\": \"choice\", \"_value\": [{\"_name\": \"b\", " \
    "\"q\": {\"_type\": \"qnormal\", \"_value\": [1, 2, 0.5]}}]}}"
#define STEPS                                                    \
    "{\"a\": {\"_type\": \"quniform\", \"_value\": [0, 4, 1]}, " \
    "\"b\": {\"_type\": \"choice\", \"_value\": [1.0, 1, \"x\", null]}}"
#define FEWER_STEPS                                              \
    "{\"a\": {\"_type\": \"quniform\", \"_value\": [0, 3, 1]}, " \
    "\"b\": {\"_type\": \"choice\", \"_value\": [\"x\", 1]}}"
#define SETS                                                            \
    "{\"c\": {\"_type\": \"choice\", \"_value\": [{\"a\": 1}, {\"a\": " \
    "2}, {\"a\": 3}, {\"a\": 1e300}, {\"a\": 5}, {\"a\": 6}]}}"
#define FEWER_SETS                                              \
    "{\"c\": {\"_type\": \"choice\", \"_value\": [{\"a\": 2}, " \
    "{\"a\": 1e300}, {\"a\": 7}]}}"

static const struct made_up {
    const char *tuner, *args, *assessor, *assessor_args, *filter;
    const char *spaces[2], *points[2];
    bool labels, extensions, nni;
} made_up[] = {
    {"random",
     "{\"optimize_mode\": \"minimize\"}",
     "medianstop",
     NULL,
     NULL,
     {NUMBERS, FEWER},
     {"{\"lr\": 0.1, \"units\": 3, \"net\": {\"_name\": \"\xc3\xa4\"}}",
      "{\"lr\": 0.1, \"units\": 3, \"net\": {\"_name\": \"b\", \"q\": 1.5}}"},
     false,
     true,
     false},
    {"random",
     NULL,
     "medianstop",
     "{\"start_step\": 2}",
     "timing",
     {STEPS, FEWER_STEPS},
     {"{\"a\": 2, \"b\": 1}", "{\"a\": 2, \"b\": \"x\"}"},
     false,
     false,
     false},
    {"later",
     "{\"at_once\": 3}",
     "medianstop",
     "{\"start_step\": 1}",
     NULL,
     {NUMBERS, FEWER},
     {"{\"lr\": 0.1, \"units\": 3, \"net\": {\"_name\": \"\xc3\xa4\"}}",
      "{\"lr\": 0.1, \"units\": 3, \"net\": {\"_name\": \"b\", \"q\": 1.5}}"},
     false,
     true,
     false},
    {"labels",
     NULL,
     "medianstop",
     NULL,
     "dedup",
     {NUMBERS, FEWER},
     {"{\"lr\": 0.1, \"units\": 3, \"net\": {\"_name\": \"\xc3\xa4\"}}",
      "{\"lr\": 0.1, \"units\": 3, \"net\": {\"_name\": \"b\", \"q\": 1.5}}"},
     true,
     true,
     false},
    {"ask_fails",
     "{\"id\": 9}",
     "assess_fails",
     NULL,
     "fallback",
     {NUMBERS, FEWER},
     {"{\"lr\": 0.1, \"units\": 3, \"net\": {\"_name\": \"\xc3\xa4\"}}",
      "{\"lr\": 0.1, \"units\": 3, \"net\": {\"_name\": \"b\", \"q\": 1.5}}"},
     false,
     true,
     false},
    {"grid",
     NULL,
     "medianstop",
     NULL,
     NULL,
     {STEPS, FEWER_STEPS},
     {"{\"a\": 2, \"b\": 1}", "{\"a\": 2, \"b\": \"x\"}"},
     false,
     true,
     false},
    {"batch",
     NULL,
     NULL,
     NULL,
     NULL,
     {SETS, FEWER_SETS},
     {"{\"a\": 3}", "{\"a\": 7}"},
     false,
     true,
     false},
    {"tells",
     NULL,
     "hears",
     NULL,
     "dedup",
     {"{\"x\": {\"_type\": \"uniform\", \"_value\": [0, 1e6]}}",
      "{\"x\": {\"_type\": \"uniform\", \"_value\": [0, 1e7]}}"},
     {"{\"x\": 0.0625}", "{\"x\": 0.03125}"},
     false,
     false,
     true},
    {"labels",
     NULL,
     "medianstop",
     NULL,
     NULL,
     {NUMBERS, FEWER},
     {"{\"lr\": 0.1, \"units\": 3, \"net\": {\"_name\": \"\xc3\xa4\"}}",
      "{\"lr\": 0.1, \"units\": 3, \"net\": {\"_name\": \"b\", \"q\": 1.5}}"},
     true,
     false,
     true},
    {"later",
     "{\"at_once\": 3}",
     "medianstop",
     "{\"start_step\": 1}",
     NULL,
     {NUMBERS, FEWER},
     {"{\"lr\": 0.1, \"units\": 3, \"net\": {\"_name\": \"\xc3\xa4\"}}",
      "{\"lr\": 0.1, \"units\": 3, \"net\": {\"_name\": \"b\", \"q\": 1.5}}"},
     false,
     false,
     true},
    {"advisor",
     "{\"budget\": 27}",
     NULL,
     NULL,
     NULL,
     {NUMBERS, FEWER},
     {"{\"lr\": 0.1, \"units\": 3, \"net\": {\"_name\": \"\xc3\xa4\"}}",
      "{\"lr\": 0.1, \"units\": 3, \"net\": {\"_name\": \"b\", \"q\": 1.5}}"},
     false,
     true,
     false},
    {"advisor",
     "{\"budget\": 4, \"eta\": 2, \"clones\": true, \"extra\": \"a\"}",
     NULL,
     NULL,
     "fallback",
     {NUMBERS, FEWER},
     {"{\"lr\": 0.1, \"units\": 3, \"net\": {\"_name\": \"\xc3\xa4\"}}",
      "{\"lr\": 0.1, \"units\": 3, \"net\": {\"_name\": \"b\", \"q\": 1.5}}"},
     false,
     true,
     false},
    {"advisor",
     "{\"budget\": 9}",
     NULL,
     NULL,
     "dedup",
     {NUMBERS, FEWER},
     {"{\"lr\": 0.1, \"units\": 3, \"net\": {\"_name\": \"\xc3\xa4\"}}",
      "{\"lr\": 0.1, \"units\": 3, \"net\": {\"_name\": \"b\", \"q\": 1.5}}"},
     false,
     false,
     false},
    {"advisor",
     "{\"budget\": 27}",
     NULL,
     NULL,
     NULL,
     {NUMBERS, FEWER},
     {"{\"lr\": 0.1, \"units\": 3, \"net\": {\"_name\": \"\xc3\xa4\"}}",
      "{\"lr\": 0.1, \"units\": 3, \"net\": {\"_name\": \"b\", \"q\": 1.5}}"},
     false,
     false,
     true},
};

static void
set_up(struct drive *d, struct tape *t, const struct made_up *m, size_t n)
{
    drive_setup(d, m->tuner, m->args, m->assessor, m->assessor_args);
    d->setup.policy.extensions = m->extensions;
    d->setup.policy.nni = d->setup.policy.reissue = m->nni;
    d->setup.policy.ask_error = ASK_PRIOR;
    if (m->filter != NULL) {
        d->setup.filters[0].name = m->filter;
        d->setup.n_filters = 1;
    }
    *t = (struct tape){.seed = n,
                       .several = t->several,
                       .labels = m->labels,
                       .nni = m->nni,
                       .pauses = strcmp(m->tuner, "advisor") == 0 ||
                                 strcmp(m->tuner, "asha") == 0};
    memcpy(t->spaces, m->spaces, sizeof t->spaces);
    memcpy(t->points, m->points, sizeof t->points);
    tape_make(t, n);
}

TEST(session_save_goes_on_behind_any_command)
{
    bool all = getenv("TP_LONG") != NULL;
    struct tape *t = calloc(1, sizeof *t);

    for (size_t i = 0; i < sizeof made_up / sizeof *made_up; i++)
        for (size_t n = 150; n < (all ? 154 : 151); n++) {
            struct drive d;

            set_up(&d, t, &made_up[i], n);
            check_tape(&d.setup, t, all ? 1 : 3);
            tape_fini(t);
            drive_stop(&d);
        }
    free(t);
}

/* ---- several values ---- */

static const struct {
    struct made_up m;
    const char *objectives, *judged;
} several[] = {
#define SPACES                                                             \
    .spaces = {NUMBERS, FEWER},                                            \
    .points = {                                                            \
        "{\"lr\": 0.1, \"units\": 3, \"net\": {\"_name\": \"\xc3\xa4\"}}", \
        "{\"lr\": 0.1, \"units\": 3, \"net\": {\"_name\": \"b\", \"q\": 1.5}}"}
#define PAIR                                                               \
    "{\"objectives\": [{\"name\": \"acc\", \"direction\": \"maximize\"}, " \
    "{\"name\": \"ms\", \"direction\": \"minimize\"}]"
    {{.tuner = "several", .assessor = "medianstop", SPACES},
     PAIR ", \"resultConstraints\": [\"ms <= 20\", \"acc >= 0.2\"]}",
     NULL},
    {{.tuner = "evolution",
      .assessor = "medianstop",
      .extensions = true,
      SPACES},
     PAIR ", \"scalarize\": {\"method\": \"lexicographic\"}}",
     "acc"},
    {{.tuner = "asha", .extensions = true, SPACES}, PAIR "}", NULL},
    {{.tuner = "tpe", .assessor = "medianstop", .filter = "dedup", SPACES},
     "{\"objectives\": [{\"name\": \"ms\", \"direction\": \"minimize\"}], "
     "\"resultConstraints\": [\"acc >= 0.5\"]}",
     NULL},
};

TEST(session_save_goes_on_with_several_values)
{
    struct tape *t = calloc(1, sizeof *t);

    for (size_t i = 0; i < sizeof several / sizeof *several; i++) {
        struct json *doc = json_parse(several[i].objectives,
                                      strlen(several[i].objectives), 0, NULL);
        struct drive d;

        t->several = true;
        set_up(&d, t, &several[i].m, 150 + i);
        d.setup.objectives = json_root(doc);
        d.setup.assessor_objective = several[i].judged;
        d.setup.policy.stopped = i % 2 == 0 ? TELL_BEST : TELL_LATEST;
        check_tape(&d.setup, t, 3);
        tape_fini(t);
        drive_stop(&d);
        json_free(doc);
    }
    free(t);
}

/* ---- damage ---- */

/* It is refused, or it is something else; what came of it goes on. */
static bool
survives(const struct session_setup *setup, const struct tape *t,
         const struct moment *m, size_t k)
{
    struct going g;
    struct err err;
    int rc;

    err_clear(&err);
    going_start(&g, setup);
    rc = moment_load(&g, m, &err);
    CHECK_EQ(strlen(err.text) > 0, rc != 0);
    for (size_t i = k; rc == 0 && i < t->n; i++)
        going_play(&g, &t->frames[i]);
    going_stop(&g);
    return rc == 0;
}

/* Of each part, which setups have in common, each of them cuts off others. */
static void
check_damage(const struct session_setup *setup, const struct tape *t,
             struct moment *m, size_t k, uint64_t start)
{
    size_t cuts = getenv("TP_LONG") != NULL ? 400 : 120;
    uint64_t seed = start;

    for (int i = 0; i < 3; i++) {
        struct buf *part = &m->parts[i];
        char *whole = part->data;
        size_t len = part->len, stride = 1 + len / cuts;

        for (part->len = start % stride; part->len < len; part->len += stride) {
            part->data = malloc(part->len + 1);
            memcpy(part->data, whole, part->len);
            CHECK(!survives(setup, t, m, k));
            free(part->data);
        }
        part->len = len;
        part->data = whole;
        for (size_t flip = 0; flip < cuts / 2; flip++) {
            size_t at = help_below(&seed, len * 8);

            part->data[at / 8] ^= (char)(1 << at % 8);
            survives(setup, t, m, k);
            part->data[at / 8] ^= (char)(1 << at % 8);
        }
    }
    CHECK(survives(setup, t, m, k));
}

TEST(session_save_refuses_or_survives_damage)
{
    struct tape *t = calloc(1, sizeof *t);

    for (size_t i = 0; i < sizeof made_up / sizeof *made_up; i++) {
        struct moment *moments;
        struct drive d;

        set_up(&d, t, &made_up[i], 80);
        moments = play_all(&d.setup, t);
        CHECK_EQ(moments[60].taken, 3);
        check_damage(&d.setup, t, &moments[60], 60, i);
        free_moments(moments, t->n + 1);
        tape_fini(t);
        drive_stop(&d);
    }
    free(t);
}

TEST(session_save_is_of_that_side_alone)
{
    struct tape *t = calloc(1, sizeof *t);
    struct moment *moments;
    struct drive d;
    struct err err;

    set_up(&d, t, &made_up[0], 60);
    moments = play_all(&d.setup, t);
    for (int i = 0; i < 3; i++) {
        struct buf *part = &moments[60].parts[i];
        struct unpack in;
        struct going g;

        buf_add(part, "more", 4);
        in = unpack_from(part->data, part->len);
        going_start(&g, &d.setup);
        CHECK_EQ(session_load(g.session, moment_sides[i], &in, &err), -1);
        CHECK_HAS(err.text, "snapshot: the ");
        CHECK_HAS(err.text, "'s part: 4 bytes too many");
        going_stop(&g);
    }
    free_moments(moments, t->n + 1);
    tape_fini(t);
    free(t);
    drive_stop(&d);
}

static const char *
ask(struct going *g, uint64_t arrival)
{
    struct tape_frame frame = {"GE", arrival, (char *)(uintptr_t) "1", 1};

    return going_play(g, &frame);
}

TEST(session_save_knows_that_it_is_closed)
{
    struct tape *t = calloc(1, sizeof *t);
    struct tape_frame space = {"IN", 1, (char *)(uintptr_t)HELP_SPACE,
                               strlen(HELP_SPACE)};
    struct going g, twin;
    struct moment m = {.said = NULL};
    struct drive d;
    struct err err;

    set_up(&d, t, &made_up[2], 60); /* later, three at once */
    going_start(&g, &d.setup);
    going_play(&g, &space);
    for (uint64_t i = 2; i < 7; i++)
        ask(&g, i);
    CHECK_EQ(side_owed(g.session->sides[SENDER_DEFAULT]), 2);
    side_close(g.session->sides[SENDER_DEFAULT]);
    moment_take(&m, g.session);
    going_start(&twin, &d.setup);
    CHECK_EQ(moment_load(&twin, &m, &err), 0);
    CHECK_STR(ask(&g, 7), "");
    CHECK_STR(ask(&twin, 7), "");
    session_undo_end(twin.session);
    CHECK_EQ(side_owed(twin.session->sides[SENDER_DEFAULT]), 0);
    CHECK_HAS(ask(&twin, 8), "\"parameter_id\": 5, ");
    going_stop(&g);
    going_stop(&twin);
    moment_fini(&m);
    tape_fini(t);
    free(t);
    drive_stop(&d);
}
