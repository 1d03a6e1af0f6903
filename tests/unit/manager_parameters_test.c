/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/buf.h"
#include "core/err.h"
#include "manager/environment.h"
#include "manager/parameters.h"
#include "manager/trial.h"

#include <stdlib.h>
#include <string.h>

#define RECORD(parameters)                                        \
    "{\"parameter_id\": 4, \"parameter_source\": \"algorithm\", " \
    "\"parameters\": " parameters ", \"parameter_index\": 0}"

TEST(manager_record_is_taken_apart)
{
    struct suggestion r;
    struct err err;
    const char *text = RECORD("{\"x\": 1.0, \"s\": \"\\u00e9\"}");

    CHECK_EQ(suggestion_read(text, strlen(text), &r, &err), 0);
    CHECK_STR(r.id, "4");
    CHECK_STR(r.parameters, "{\"x\": 1.0, \"s\": \"\\u00e9\"}");
    suggestion_fini(&r);
    text = "{\"parameter_id\": \"0-3_1_5\", \"parameters\": \"text\"}";
    CHECK_EQ(suggestion_read(text, strlen(text), &r, &err), 0);
    CHECK_STR(r.id, "\"0-3_1_5\"");
    CHECK_STR(r.parameters, "\"text\"");
    suggestion_fini(&r);
}

TEST(manager_record_names_what_is_wrong)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"[]", "expected an object"},
        {"{}", "has no parameter_id"},
        {"{\"parameter_id\": null}", "expected a number or a text, got null"},
        {"{\"parameter_id\": 1.5}", "expected a number or a text"},
        {"{\"parameter_id\": 1}", "has no parameters"},
        {"{", ""},
        {"{\"parameter_id\": 1, \"parameters\": {\"x\": NaN}}", ""},
    };
    struct suggestion r;
    struct err err;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_EQ(
            suggestion_read(cases[i].text, strlen(cases[i].text), &r, &err),
            -1);
        CHECK_HAS(err.text, cases[i].want);
    }
}

static const char all_kinds[] =
    "{\"a\": 1e-05, \"i\": 7, \"s\": \"x\\ty\\nz\\\\ \\r'\\\"$(id)\", "
    "\"t\": true, \"n\": null, \"l\": [1, \"b\"], \"o\": {\"k\": 1}, "
    "\"c\": {\"_name\": \"relu\", \"slope\": 0.5, "
    "\"d\": {\"_name\": \"deep\"}}, \"na\\tme\": \"\", \"e.f\": 1, "
    "\"e f\": 2}";

TEST(manager_parameters_flatten_to_lines)
{
    struct json *doc =
        json_parse(all_kinds, strlen(all_kinds), JSON_STRICT, NULL);
    struct buf out;

    buf_init(&out, 4096);
    CHECK_EQ(parameters_write_tsv(json_root(doc), &out, NULL), 0);
    CHECK_STR(buf_text(&out), "a\t1e-05\n"
                              "i\t7\n"
                              "s\tx\\ty\\nz\\\\ \\r'\"$(id)\n"
                              "t\ttrue\n"
                              "n\tnull\n"
                              "l\t[1, \"b\"]\n"
                              "o\t{\"k\": 1}\n"
                              "c/_name\trelu\n"
                              "c/slope\t0.5\n"
                              "c/d/_name\tdeep\n"
                              "na\\tme\t\n"
                              "e.f\t1\n"
                              "e f\t2\n");
    buf_fini(&out);
    json_free(doc);
}

TEST(manager_parameters_that_are_no_object_have_no_lines)
{
    struct json *doc = json_parse("\"x\"", 3, JSON_STRICT, NULL);
    struct buf out;

    buf_init(&out, 4096);
    CHECK_EQ(parameters_write_tsv(json_root(doc), &out, NULL), 0);
    CHECK_EQ(out.len, 0);
    buf_fini(&out);
    json_free(doc);
}

TEST(manager_parameters_seed_differs_by_trial_and_experiment)
{
    uint64_t first = parameters_seed(1, "0");

    CHECK_EQ(first, parameters_seed(1, "0"));
    CHECK(first != parameters_seed(1, "1"));
    CHECK(first != parameters_seed(2, "0"));
    CHECK(parameters_seed(1, "\"0-1\"") != parameters_seed(1, "\"0-2\""));
    /* A stored promise: a trial repeated elsewhere gets the same seed. */
    CHECK_EQ(parameters_seed(2026, "7"), (long long)14878764360888454627u);
}

static const char *
find(const struct environment *e, const char *name)
{
    const char *found = NULL;
    size_t len = strlen(name);

    for (size_t i = 0; i < e->n; i++)
        if (strncmp(e->vars[i], name, len) == 0 && e->vars[i][len] == '=') {
            CHECK(found == NULL);
            found = e->vars[i] + len + 1;
        }
    return found;
}

TEST(manager_environment_of_a_trial)
{
    struct json *doc =
        json_parse(all_kinds, strlen(all_kinds), JSON_STRICT, NULL);
    struct environment_of of = {"/opt/bin", "/py", "/w/e-1", "/code",
                                NULL,       NULL,  1,        true,
                                false,      false, NULL};
    struct trial *t = trial_new(7, "", 0, "\"0-3\"", all_kinds);
    struct environment e;

    setenv("PATH", "/usr/bin:/bin", 1);
    setenv("TUNEPIPE_PARAM_stale", "of a run around this one", 1);
    setenv("TUNEPIPE_TRIAL_ID", "stale", 1);
    setenv("MINE", "kept", 1);
    t->folder = strdup("/e/trials/00007");
    CHECK_EQ(environment_make(&e, &of, t, json_root(doc), NULL), 0);
    CHECK(e.vars[e.n] == NULL);
    CHECK_STR(find(&e, "TUNEPIPE_TRIAL_DIR"), "/e/trials/00007");
    CHECK_STR(find(&e, "TUNEPIPE_TRIAL_ID"), "00007");
    CHECK_STR(find(&e, "TUNEPIPE_PARAMETER_ID"), "0-3");
    CHECK_STR(find(&e, "TUNEPIPE_EXPERIMENT_DIR"), "/w/e-1");
    CHECK(find(&e, "TUNEPIPE_SEED") != NULL);
    CHECK_STR(find(&e, "TUNEPIPE_DIRECTION"), "minimize");
    CHECK_STR(find(&e, "PATH"), "/opt/bin:/usr/bin:/bin");
    CHECK_STR(find(&e, "MINE"), "kept");
    CHECK(find(&e, "TUNEPIPE_PARAM_stale") == NULL);
    CHECK_STR(find(&e, "TUNEPIPE_PARAM_a"), "1e-05");
    CHECK_STR(find(&e, "TUNEPIPE_PARAM_s"), "x\ty\nz\\ \r'\"$(id)");
    CHECK_STR(find(&e, "TUNEPIPE_PARAM_c__name"), "relu");
    CHECK_STR(find(&e, "TUNEPIPE_PARAM_c_d__name"), "deep");
    CHECK_STR(find(&e, "TUNEPIPE_PARAM_e_f"), "1"); /* the first of two */
    environment_fini(&e);
    trial_free(t);
    json_free(doc);
}

/* What NNI 2.7 gives a local trial; a manager may itself be a trial's child. */
TEST(manager_environment_of_nnis_trial_api)
{
    static const char *const want[][2] = {
        {"NNI_PLATFORM", "local"},     {"NNI_EXP_ID", "e-1"},
        {"NNI_SYS_DIR", "/w/t"},       {"NNI_OUTPUT_DIR", "/w/t"},
        {"NNI_TRIAL_JOB_ID", "00012"}, {"NNI_TRIAL_SEQ_ID", "12"},
        {"NNI_CODE_DIR", "/code"},     {"MULTI_PHASE", "false"},
        {"REUSE_MODE", "false"},
    };
    struct environment_of of = {"/opt/bin", "/py", "/w/e-1", "/code",
                                NULL,       NULL,  1,        true,
                                false,      false, NULL};
    struct trial *t = trial_new(12, "", 0, "0", "{}");
    struct json *doc = json_parse("{}", 2, JSON_STRICT, NULL);
    struct environment e;

    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        setenv(want[i][0], "stale", 1);
    setenv("NNI_TRIAL_COMMAND_CHANNEL", "http://localhost:8080", 1);
    setenv("NNI_MINE", "kept", 1);
    t->folder = strdup("/w/t");
    CHECK_EQ(environment_make(&e, &of, t, json_root(doc), NULL), 0);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        CHECK_STR(find(&e, want[i][0]), want[i][1]);
    CHECK(find(&e, "NNI_TRIAL_COMMAND_CHANNEL") == NULL);
    CHECK_STR(find(&e, "NNI_MINE"), "kept");
    environment_fini(&e);
    trial_free(t);
    json_free(doc);
}

TEST(manager_environment_appends_to_pythonpath)
{
    static const char *const cases[][2] = {
        {"/a:/b", "/a:/b:/py"}, {"", "/py"}, {NULL, "/py"}};
    struct environment_of of = {"/opt/bin", "/py", "/e",  "/code", NULL, NULL,
                                1,          true,  false, false,   NULL};
    struct trial *t = trial_new(0, "", 0, "0", "{}");
    struct json *doc = json_parse("{}", 2, JSON_STRICT, NULL);
    struct environment e;

    t->folder = strdup("/t");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsetenv("PYTHONPATH");
        if (cases[i][0] != NULL)
            setenv("PYTHONPATH", cases[i][0], 1);
        CHECK_EQ(environment_make(&e, &of, t, json_root(doc), NULL), 0);
        CHECK_STR(find(&e, "PYTHONPATH"), cases[i][1]);
        environment_fini(&e);
    }
    setenv("PYTHONPATH", "/a", 1);
    of.python_folder = NULL;
    unsetenv("PYTHONUNBUFFERED");
    CHECK_EQ(environment_make(&e, &of, t, json_root(doc), NULL), 0);
    CHECK_STR(find(&e, "PYTHONPATH"), "/a");
    CHECK_STR(find(&e, "PYTHONUNBUFFERED"), "1");
    environment_fini(&e);
    setenv("PYTHONUNBUFFERED", "", 1);
    CHECK_EQ(environment_make(&e, &of, t, json_root(doc), NULL), 0);
    CHECK_STR(find(&e, "PYTHONUNBUFFERED"), "");
    environment_fini(&e);
    trial_free(t);
    json_free(doc);
}

TEST(manager_environment_finds_tunepipe_without_a_path)
{
    struct environment_of of = {"/opt/bin", "/py", "/w/e-1", "/code",
                                NULL,       NULL,  1,        true,
                                false,      false, NULL};
    struct trial *t = trial_new(0, "", 0, "0", "{}");
    struct json *doc = json_parse("{}", 2, JSON_STRICT, NULL);
    struct environment e;

    unsetenv("PATH");
    t->folder = strdup("/t");
    CHECK_EQ(environment_make(&e, &of, t, json_root(doc), NULL), 0);
    CHECK_STR(find(&e, "PATH"), "/opt/bin:/bin:/usr/bin");
    environment_fini(&e);
    trial_free(t);
    json_free(doc);
}

TEST(manager_environment_leaves_out_what_does_not_fit)
{
    struct buf text;
    struct environment_of of = {NULL, NULL, "/e",  "/code", NULL, NULL,
                                1,    true, false, false,   NULL};
    struct trial *t = trial_new(0, "", 0, "0", "{}");
    struct environment e;
    struct json *doc;

    buf_init(&text, 100000);
    buf_add_text(&text, "{\"nul\": \"a\\u0000b\", \"big\": \"");
    for (int i = 0; i < 70000; i++)
        buf_add_char(&text, 'x');
    buf_add_text(&text, "\", \"ok\": 1}");
    doc = json_parse(text.data, text.len, JSON_STRICT, NULL);
    CHECK(doc != NULL);
    t->folder = strdup("/t");
    CHECK_EQ(environment_make(&e, &of, t, json_root(doc), NULL), 0);
    CHECK(find(&e, "TUNEPIPE_PARAM_nul") == NULL);
    CHECK(find(&e, "TUNEPIPE_PARAM_big") == NULL);
    CHECK_STR(find(&e, "TUNEPIPE_PARAM_ok"), "1");
    environment_fini(&e);
    trial_free(t);
    json_free(doc);
    buf_fini(&text);
}
