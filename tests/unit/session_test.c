/* SPDX-License-Identifier: MIT */
#include "dispatcher/session.h"

#include "dispatcher_help.h"

#include "plugin/loader.h"
#include "plugin/tuner.h"

static char *
head_of(struct drive *d)
{
    struct buf head;
    struct json *doc;
    char *text;

    buf_init(&head, 1 << 20);
    session_write_head(d->session, &d->setup, &head);
    text = buf_take(&head);
    doc = json_parse(text, strlen(text), JSON_STRICT, &d->err);
    CHECK_STR(d->err.text, "");
    json_free(doc);
    return text;
}

TEST(session_head_comes_back)
{
    struct session_setup back = {0};
    struct drive d;
    struct json *doc;
    char *text, *again;

    drive_setup(&d, "later", "{\"at_once\": 3}", "medianstop", NULL);
    d.setup.seed = INT64_MAX;
    d.setup.policy = (struct policy){.stopped = TELL_BEST,
                                     .on_error = ERROR_FAIL,
                                     .ask_error = ASK_PRIOR,
                                     .extensions = true,
                                     .nni = true,
                                     .reissue = true};
    drive_start(&d);
    text = head_of(&d);
    CHECK_HAS(text, "\"program\": \"tunepipe\", \"version\": ");
    CHECK_HAS(text, "\"seed\": 9223372036854775807");
    CHECK_HAS(text, "\"at_once\": 3");
    CHECK_HAS(text, "\"nni\": true, \"again\": true");
    CHECK_HAS(text, "\"start_step\": 0"); /* defaults are written out */
    CHECK(strstr(text, "/tests/plugins") == NULL);
    doc = json_parse(text, strlen(text), JSON_STRICT, NULL);
    CHECK_EQ(session_read_head(json_root(doc), &back, &d.err), 0);
    CHECK_EQ(session_check_versions(d.session, json_root(doc), &d.err), 0);
    back.paths = d.paths;
    session_free(d.session);
    d.setup = back;
    drive_start(&d);
    again = head_of(&d);
    CHECK_STR(again, text);
    free(text);
    free(again);
    json_free(doc);
    drive_stop(&d);
}

TEST(session_head_holds_the_filters)
{
    struct session_setup back = {0};
    struct drive d;
    struct json *doc;
    char *text, *again;

    drive_setup(&d, "random", NULL, NULL, NULL);
    d.setup.filters[0].name = "timing";
    d.setup.filters[1].name = "log";
    d.setup.n_filters = 2;
    drive_start(&d);
    text = head_of(&d);
    CHECK_HAS(text, "\"filters\": [{\"name\": \"timing\", ");
    CHECK(strstr(text, "\"timing\"") < strstr(text, "\"log\""));
    CHECK(strstr(text, "\"log\"") < strstr(text, "\"dedup\""));
    doc = json_parse(text, strlen(text), JSON_STRICT, NULL);
    CHECK_EQ(session_read_head(json_root(doc), &back, &d.err), 0);
    CHECK_EQ(back.n_filters, 3);
    CHECK_EQ(session_check_versions(d.session, json_root(doc), &d.err), 0);
    back.paths = d.paths;
    session_free(d.session);
    d.setup = back;
    drive_start(&d);
    again = head_of(&d);
    CHECK_STR(again, text);
    free(text);
    free(again);
    json_free(doc);
    drive_stop(&d);
}

/* Replay uses what the head says and no default. */
TEST(session_of_a_head_without_filters_has_none)
{
    static const char head[] = "\"filters\": ";
    struct session_setup back = {0};
    struct drive d;
    struct json *doc;
    char *text, *at;

    drive_setup(&d, "random", NULL, NULL, NULL);
    drive_start(&d);
    CHECK_STR(tuner_filter(d.session->tuner, 0)->name, "dedup");
    text = head_of(&d);
    at = strstr(text, head);
    CHECK(at != NULL);
    at[1] = 'F'; /* an unknown key */
    doc = json_parse(text, strlen(text), JSON_STRICT, NULL);
    CHECK_EQ(session_read_head(json_root(doc), &back, &d.err), 0);
    CHECK_EQ(back.n_filters, 0);
    back.paths = d.paths;
    session_free(d.session);
    d.setup = back;
    drive_start(&d);
    CHECK(tuner_filter(d.session->tuner, 0) == NULL);
    free(text);
    json_free(doc);
    drive_stop(&d);
}

TEST(session_tells_another_version_of_a_filter)
{
    struct drive d;
    struct json *doc;
    char *text, *at;

    drive_setup(&d, "random", NULL, NULL, NULL);
    drive_start(&d);
    text = head_of(&d);
    at = strstr(text, "\"dedup\", \"version\": ");
    CHECK(at != NULL);
    at[strlen("\"dedup\", \"version\": ")] = '9';
    doc = json_parse(text, strlen(text), JSON_STRICT, NULL);
    CHECK_EQ(session_check_versions(d.session, json_root(doc), &d.err), -1);
    CHECK_STR(d.err.text,
              "filter dedup: recorded with version 9 of the algorithm, "
              "installed is version 1: its answers may differ");
    free(text);
    json_free(doc);
    drive_stop(&d);
}

/* The head with one thing changed. */
static int
read_changed(const char *from, const char *to, struct err *err)
{
    struct session_setup back = {0};
    struct drive d;
    struct json *doc;
    char *text, *at;
    char changed[8192];
    int rc;

    drive_setup(&d, "random", NULL, NULL, NULL);
    drive_start(&d);
    text = head_of(&d);
    at = strstr(text, from);
    CHECK(at != NULL);
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, to,
             at + strlen(from));
    doc = json_parse(changed, strlen(changed), JSON_STRICT, err);
    CHECK(doc != NULL);
    rc = session_read_head(json_root(doc), &back, err);
    if (rc == 0)
        rc = session_check_versions(d.session, json_root(doc), err);
    json_free(doc);
    free(text);
    drive_stop(&d);
    return rc;
}

TEST(session_refuses_a_head_with_a_mistake)
{
    static const struct {
        const char *from, *to, *error;
    } cases[] = {
        {"\"seed\"", "\"sed\"", "head record: no 'seed'"},
        {"\"digits\": 14", "\"digits\": \"14\"",
         "head record: digits: expected an integer"},
        {"\"skip\"", "\"skp\"",
         "head record: on_error: expected one of skip, fail, got "
         "'skp' (did you mean 'skip'?)"},
        {"\"skip\"", "1", "head record: on_error: expected a text"},
        {"\"extensions\": false", "\"extensions\": 0",
         "head record: extensions: expected true or false"},
        {"\"tuner\": {", "\"tuner\": null, \"other\": {",
         "head record: tuner: expected one"},
        {"\"tuner\": {\"name\"", "\"tuner\": {\"nme\"",
         "head record: tuner: expected name and arguments"},
        {"\"filters\": [", "\"filters\": 1, \"other\": [",
         "head record: filters: expected a list of at most 16"},
        {"\"filters\": [", "\"filters\": [{\"name\": \"log\"}, ",
         "head record: filters[0]: expected name and arguments"},
        {"\"version\": 1", "\"version\": 99",
         "tuner random: recorded with version 99 of the algorithm, installed "
         "is version 1: its answers may differ"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err;

        CHECK_EQ(read_changed(cases[i].from, cases[i].to, &err), -1);
        CHECK_STR(err.text, cases[i].error);
        CHECK_EQ(err.code, i == 2 ? ERR_USAGE : ERR_LOG);
    }
}

TEST(session_tells_what_it_cannot_load)
{
    struct drive d;
    struct emitter emitter = {drive_emit, &d};

    drive_setup(&d, "randm", NULL, NULL, NULL);
    CHECK(session_new(&d.setup, emitter, NULL, &d.err) == NULL);
    CHECK_HAS(d.err.text, "randm");
    CHECK_EQ(d.err.code, ERR_CONFIG);
    d.setup.tuner = "random";
    d.setup.assessor = "random";
    CHECK(session_new(&d.setup, emitter, NULL, &d.err) == NULL);
    CHECK_HAS(d.err.text, "assessor");
    session_free(NULL);
    drive_stop(&d);
}

/* "Best" of a stopped trial is what the optimize_mode says. */
TEST(session_takes_the_mode_from_the_arguments)
{
    struct drive d;

    drive_setup(&d, "random", NULL, "medianstop",
                "{\"optimize_mode\": \"minimize\"}");
    drive_start(&d);
    CHECK(!d.session->policy.maximize);
    drive_stop(&d);
    drive_setup(&d, "random", NULL, "medianstop", NULL);
    drive_start(&d);
    CHECK(d.session->policy.maximize);
    drive_stop(&d);
    drive_setup(&d, "random", NULL, NULL, NULL);
    drive_start(&d);
    CHECK(d.session->policy.maximize);
    drive_stop(&d);
}

/* A filter that has the argument, among others. */
static void
add_filter(struct drive *d, struct json *args)
{
    d->setup.filters[0] =
        (struct session_filter){.name = "misfilter", .args = json_root(args)};
    d->setup.n_filters = 1;
}

TEST(session_tells_all_plugins_the_direction)
{
    struct json *how = drive_args("{\"how\": 5}"), *doc;
    struct session_setup back = {0};
    struct drive d;
    char *text, *at;
    int told = 0;

    drive_setup(&d, "tpe", "{\"optimize_mode\": null}", "medianstop", NULL);
    add_filter(&d, how);
    CHECK_EQ(policy_set_direction(&d.setup.policy, "maximize", &d.err), 0);
    drive_start(&d);
    CHECK(d.session->policy.maximize);
    text = head_of(&d);
    CHECK_HAS(text, "\"maximize\": true, \"direction\": \"maximize\"");
    for (at = text; (at = strstr(at, "\"optimize_mode\": \"maximize\"")); at++)
        told++;
    CHECK_EQ(told, 3);
    doc = json_parse(text, strlen(text), JSON_STRICT, NULL);
    CHECK_EQ(session_read_head(json_root(doc), &back, &d.err), 0);
    CHECK_STR(policy_direction(&back.policy), "maximize");
    free(text);
    json_free(doc);
    json_free(how);
    drive_stop(&d);
}

TEST(session_tells_no_direction_that_nobody_gave)
{
    struct drive d;
    char *text;

    drive_setup(&d, "random", NULL, "medianstop", NULL);
    drive_start(&d);
    CHECK(policy_direction(&d.session->policy) == NULL);
    text = head_of(&d);
    CHECK(strstr(text, "direction") == NULL);
    CHECK_HAS(text, "\"optimize_mode\": null");
    free(text);
    drive_stop(&d);
}

TEST(session_refuses_a_plugin_that_is_told_the_other_direction)
{
    struct drive d;
    struct emitter emitter = {drive_emit, &d};

    drive_setup(&d, "tpe", NULL, "medianstop",
                "{\"optimize_mode\": \"Minimize\"}"); /* as it may be written */
    CHECK_EQ(policy_set_direction(&d.setup.policy, "maximize", &d.err), 0);
    CHECK(session_new(&d.setup, emitter, NULL, &d.err) == NULL);
    CHECK_STR(d.err.text,
              "assessor medianstop: optimize_mode: is Minimize, and the "
              "experiment's direction is maximize: expected one of them, or "
              "the same in both");
    drive_stop(&d);
}
