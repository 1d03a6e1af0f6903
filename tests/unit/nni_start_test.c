/* SPDX-License-Identifier: MIT */
/* What NNI's managers say when they start their dispatcher: base64, both
 * schemas of the configuration, names. */
#include "t.h"

#include "core/buf.h"
#include "core/err.h"
#include "nni/base64.h"
#include "nni/exp_params.h"
#include "nni/names.h"
#include "plugin/paths.h"

#include <string.h>

TEST(nni_base64_is_read_strictly)
{
    static const struct {
        const char *text, *want; /* NULL: refused, with `error` */
        const char *error;
    } cases[] = {
        {"", "", NULL},
        {"Zg==", "f", NULL},
        {"Zm8=", "fo", NULL},
        {"Zm9v", "foo", NULL},
        {"Zm9vYg==", "foob", NULL},
        {"Zm9vYmE=", "fooba", NULL},
        {"Zm9vYmFy", "foobar", NULL},
        {"+/+/", "\xfb\xff\xbf", NULL},
        {"Zm9", NULL, "3 characters, expected a multiple of four"},
        {"Zm9vYg", NULL, "6 characters, expected a multiple of four"},
        {"Zm9v Yg=", NULL, "character 4: expected A-Z, a-z, 0-9, '+' or '/'"},
        {"Zm9v\n", NULL, "character 4:"},
        {"Z-9v", NULL, "character 1:"},
        {"Zg==Zg==", NULL, "character 2: expected '=' only as the last"},
        {"Z===", NULL, "character 1: expected '=' only as the last"},
        {"====", NULL, "character 0:"},
        {"\xc3\xbc==", NULL, "character 0:"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        struct buf out;
        int rc;

        buf_init(&out, 100);
        rc = base64_decode(cases[i].text, strlen(cases[i].text), &out, &err);
        CHECK_EQ(rc, cases[i].want == NULL ? -1 : 0);
        if (rc == 0)
            CHECK_STR(buf_text(&out), cases[i].want);
        else
            CHECK_HAS(err.text, cases[i].error);
        buf_fini(&out);
    }
}

TEST(nni_base64_over_its_cap_is_refused)
{
    struct err err = {0};
    struct buf out;

    buf_init(&out, 2);
    CHECK_EQ(base64_decode("Zm9v", 4, &out, &err), -1);
    CHECK_EQ(err.code, ERR_MEMORY);
    buf_fini(&out);
}

/* ---- exp_params ---- */

static void
encode(const char *text, char *out)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnop"
                                  "qrstuvwxyz0123456789+/";
    size_t len = strlen(text);

    for (size_t i = 0; i < len; i += 3) {
        unsigned long bits = 0;

        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (i + k < len ? (unsigned char)text[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            *out++ = i + k > len ? '=' : letters[bits >> (18 - 6 * k) & 63];
    }
    *out = '\0';
}

static int
read_params(const char *json, struct exp_params *out, struct err *err)
{
    char text[4096];

    encode(json, text);
    return exp_params_read(text, out, err);
}

TEST(nni_exp_params_of_the_second_schema)
{
    struct exp_params p;
    struct jval v = {NULL};
    int64_t step;

    CHECK_EQ(
        read_params(
            "{\"experimentType\": \"hpo\", \"searchSpaceFile\": \"s\", "
            "\"tunerGpuIndices\": [0], \"debug\": 7, \"tuner\": {\"name\": "
            "\"TPE\", \"classArgs\": null}, \"assessor\": {\"name\": "
            "\"Medianstop\", \"classArgs\": {\"start_step\": 5}}, "
            "\"deprecated\": {\"multiThread\": true}}",
            &p, NULL),
        0);
    CHECK(!p.legacy && !p.advisor && p.multi_thread && p.tuner.given);
    CHECK_STR(p.tuner.name, "TPE");
    CHECK_EQ(jval_type(p.tuner.args), JSON_NULL);
    CHECK(p.assessor.given && jval_get(p.assessor.args, "start_step", &v));
    CHECK(jval_int(v, &step) && step == 5);
    exp_params_fini(&p);
}

TEST(nni_exp_params_of_the_first_schema)
{
    struct exp_params p;

    CHECK_EQ(
        read_params("{\"trainingServicePlatform\": \"local\", \"multiThread\": "
                    "false, \"tuner\": {\"builtinTunerName\": \"Anneal\", "
                    "\"gpuIndices\": \"0\", \"checkpointDir\": \"\", "
                    "\"includeIntermediateResults\": false}, \"assessor\": "
                    "{\"builtinAssessorName\": \"Curvefitting\"}}",
                    &p, NULL),
        0);
    CHECK(p.legacy && !p.multi_thread);
    CHECK_STR(p.tuner.name, "Anneal");
    CHECK_STR(p.assessor.name, "Curvefitting");
    exp_params_fini(&p);
}

TEST(nni_exp_params_of_a_python_class)
{
    static const char *const v2 = "{\"tuner\": {\"name\": null, \"className\": "
                                  "\"a.B\", \"codeDirectory\": \"/d\"}}";
    static const char *const v1 =
        "{\"trainingServicePlatform\": \"local\", \"tuner\": {\"codeDir\": "
        "\"/d\", \"classFileName\": \"a.py\", \"className\": \"B\"}}";
    struct exp_params p;

    CHECK_EQ(read_params(v2, &p, NULL), 0);
    CHECK(p.tuner.name == NULL && p.tuner.class_file == NULL);
    CHECK_STR(p.tuner.class_name, "a.B");
    CHECK_STR(p.tuner.code_directory, "/d");
    exp_params_fini(&p);
    CHECK_EQ(read_params(v1, &p, NULL), 0);
    CHECK_STR(p.tuner.class_name, "B");
    CHECK_STR(p.tuner.class_file, "a.py");
    CHECK_STR(p.tuner.code_directory, "/d");
    exp_params_fini(&p);
}

TEST(nni_exp_params_with_an_advisor)
{
    struct exp_params p;

    CHECK_EQ(read_params("{\"advisor\": {\"builtinAdvisorName\": \"BOHB\"}, "
                         "\"assessor\": {\"name\": \"Medianstop\"}}",
                         &p, NULL),
             0);
    CHECK(p.advisor && p.assessor_ignored && !p.assessor.given);
    CHECK_STR(p.tuner.name, "BOHB");
    exp_params_fini(&p);
    CHECK_EQ(read_params("{\"advisor\": null, \"tuner\": {\"name\": \"TPE\"}, "
                         "\"assessor\": null}",
                         &p, NULL),
             0);
    CHECK(!p.advisor && !p.assessor_ignored && !p.assessor.given);
    exp_params_fini(&p);
}

TEST(nni_exp_params_that_are_wrong)
{
    static const struct {
        const char *json, *error;
    } cases[] = {
        {"", "--exp_params: byte 0: expected a value"},
        {"{\"tuner\": {\"name\": \"TPE\"}", "--exp_params: byte 25:"},
        {"{\"tuner\": {\"name\": NaN}}", "--exp_params: byte 19:"},
        {"[]", "expected an experiment's configuration, an object, got an"},
        {"{}", "--exp_params: tuner: missing, expected an object such as"},
        {"{\"tuner\": 1}",
         "--exp_params: tuner: expected an object such as {\"name\": \"TPE\"}, "
         "got '1'"},
        {"{\"tuner\": {}}", "--exp_params: tuner: expected a name, as in"},
        {"{\"tuner\": {\"name\": \"\"}}", "tuner: expected a name"},
        {"{\"tuner\": {\"name\": [1]}}",
         "--exp_params: tuner.name: expected a text, got '[1]'"},
        {"{\"tuner\": {\"name\": \"a\\u0000b\"}}",
         "tuner.name: expected a text without \\u0000, got "},
        {"{\"tuner\": {\"className\": \"A\", \"codeDir\": 1}}",
         "--exp_params: tuner.codeDir: expected a text, got '1'"},
        {"{\"tuner\": {\"name\": \"TPE\", \"classArgs\": \"x\"}}",
         "tuner.classArgs: expected an object, got '\"x\"'"},
        {"{\"tuner\": {\"name\": \"TPE\"}, \"assessor\": {}}",
         "assessor: expected a name, as in {\"name\": \"Medianstop\"}"},
        {"{\"advisor\": {\"x\": 1}}", "advisor: expected a name"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct exp_params p;
        struct err err = {0};

        CHECK_EQ(read_params(cases[i].json, &p, &err), -1);
        CHECK_EQ(err.code, ERR_CONFIG);
        CHECK_HAS(err.text, cases[i].error);
        exp_params_fini(&p);
    }
}

/* ---- names ---- */

static struct json *
parse(const char *text)
{
    struct json *doc = json_parse(text, strlen(text), JSON_STRICT, NULL);

    CHECK(doc != NULL);
    return doc;
}

TEST(nni_names_stand_for_plugins_in_any_case)
{
    static const struct {
        const char *name, *plugin;
    } cases[] = {
        {"TPE", "tpe"},
        {"tpe_LEGACY", "tpe"},
        {"BatchTuner", "batch"},
        {"gridsearch", "grid"},
        {"RegularizedEvolutionTuner", "regularized_evolution"},
        {"pbttuner", "pbt"},
        {"SMAC", "smac"},
        {"GP", "gp"},
        {"GPTuner", "gp"},
        {"metis", "gp"},
        {"MetisTuner", "gp"},
        {"DNGO", "gp"},
        {"cmaes", "cmaes"},
        {"/some/where.so", "/some/where.so"},
    };
    struct plugin_paths *paths = plugin_paths_new(t_build("plugins"), NULL);
    const char *plugin;

    CHECK(paths != NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_EQ(
            names_resolve(paths, PLUGIN_TUNER, cases[i].name, &plugin, NULL),
            0);
        CHECK_STR(plugin, cases[i].plugin);
    }
    CHECK_EQ(names_resolve(paths, PLUGIN_ASSESSOR, "MEDIANSTOP", &plugin, NULL),
             0);
    CHECK_STR(plugin, "medianstop");
    CHECK(names_known(PLUGIN_TUNER, "ppotuner"));
    CHECK(!names_known(PLUGIN_TUNER, "Medianstop"));
    CHECK(names_is_advisor("bohb") && !names_is_advisor("PBT"));
    plugin_paths_free(paths);
}

TEST(nni_names_that_nothing_stands_for_tell_the_nearest)
{
    struct plugin_paths *paths = plugin_paths_new(t_build("plugins"), NULL);
    const char *plugin;
    struct err err;

    CHECK(paths != NULL);
    CHECK_EQ(
        names_resolve(paths, PLUGIN_TUNER, "NetworkMorphism", &plugin, &err),
        -1);
    CHECK_EQ(err.code, ERR_CONFIG);
    CHECK_HAS(err.text, "the nearest: regularized_evolution");
    plugin_paths_free(paths);
}

struct translation {
    const char *name, *args, *want; /* NULL: left as they are */
};

static void
check_translations(const struct translation *cases, size_t n, const char *mode)
{
    for (size_t i = 0; i < n; i++) {
        struct json *args = parse(cases[i].args), *out, *want;

        CHECK_EQ(
            names_translate(cases[i].name, json_root(args), mode, &out, NULL),
            0);
        CHECK((out == NULL) == (cases[i].want == NULL));
        if (out != NULL) {
            want = parse(cases[i].want);
            CHECK(jval_equal(json_root(out), json_root(want)));
            json_free(want);
        }
        json_free(out);
        json_free(args);
    }
}

TEST(nni_arguments_of_the_older_tpe_are_translated)
{
    static const struct translation cases[] = {
        {"tpe", "{}", NULL},
        {"TPE_legacy", "{\"constant_liar_type\": \"max\"}",
         "{\"tpe_args\": {\"constant_liar_type\": null}}"},
        {"tpe", "null", NULL},
        {"anneal", "{\"parallel_optimize\": true}", NULL},
        {"tpe", "{\"parallel_optimize\": 1}", NULL},
        {"tpe", "{\"constant_liar_type\": \"median\"}", NULL},
        {"tpe", "{\"constant_liar_type\": \"min\", \"tpe_args\": {}}", NULL},
        {"tpe",
         "{\"optimize_mode\": \"maximize\", \"parallel_optimize\": true}",
         "{\"tpe_args\": {\"constant_liar_type\": \"best\"}, "
         "\"optimize_mode\": \"maximize\"}"},
        {"tpe", "{\"constant_liar_type\": \"max\"}",
         "{\"tpe_args\": {\"constant_liar_type\": null}}"},
        {"tpe",
         "{\"constant_liar_type\": \"max\", \"parallel_optimize\": true}",
         "{\"tpe_args\": {\"constant_liar_type\": \"worst\"}}"},
    };

    check_translations(cases, sizeof cases / sizeof *cases, NULL);
}

TEST(nni_arguments_of_tuners_that_another_stands_for_are_translated)
{
    static const struct translation cases[] = {
        {"GP",
         "{\"optimize_mode\": \"minimize\", \"utility\": \"ei\", "
         "\"kappa\": 5.0, \"xi\": 0.0, \"nu\": 2.5, \"alpha\": 1e-06, "
         "\"cold_start_num\": 7, \"selection_num_warm_up\": 100000, "
         "\"selection_num_starting_points\": 250, \"seed\": 3}",
         "{\"optimize_mode\": \"minimize\", \"n_startup_jobs\": 7, "
         "\"seed\": 3}"},
        {"GPTuner", "null", "{\"optimize_mode\": \"maximize\"}"},
        {"metis", "{}", "{\"optimize_mode\": \"maximize\"}"},
        {"MetisTuner",
         "{\"no_resampling\": true, \"no_candidates\": false, "
         "\"selection_num_starting_points\": 600, "
         "\"cold_start_num\": 10, \"kapa\": 1, "
         "\"exploration_probability\": 0.9}",
         "{\"n_startup_jobs\": 10, \"kapa\": 1, "
         "\"optimize_mode\": \"maximize\"}"},
        {"DNGO",
         "{\"sample_size\": 1000, \"trials_per_update\": 20, "
         "\"num_epochs_per_training\": 500}",
         "{\"n_startup_jobs\": 20, \"optimize_mode\": \"maximize\"}"},
        {"SMAC", "{\"config_dedup\": true}", NULL},
        {"no_such", "{\"cold_start_num\": 7}", NULL},
    };

    check_translations(cases, sizeof cases / sizeof *cases, "maximize");
}
