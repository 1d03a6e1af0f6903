/* SPDX-License-Identifier: MIT */
/* The import tests of NNI's own test_builtin_tuners.py, and test_hpo_dedup.py
 * and test_evolution_tuner.py as far as they are of what is given out. */
#include "nnicase_help.h"

static const char *
animals(const char *sent)
{
    static char text[1000];
    struct json *doc;
    size_t len = 0;

    text[0] = '\0';
    for (size_t k = 0; (doc = suggestion(sent, k)) != NULL; k++) {
        struct jval p = member(json_root(doc), "parameters");
        const char *name;

        CHECK(jval_string(jval_type(p) == JSON_OBJECT ? member(p, "x") : p,
                          &name, NULL));
        len += (size_t)snprintf(text + len, sizeof text - len, "%s ", name);
        json_free(doc);
    }
    return text;
}

/* Two are imported, one of them with an object for a value; three are asked
 * for and reported; three more are imported, one for the second time; then
 * what is left is asked for. */
static void
check_import(size_t t)
{
    bool batch = strcmp(tuners[t].name, "BatchTuner") == 0;
    struct drive d;
    const char *first, *rest;

#define ANIMAL(name, value)                                       \
    batch ? "{\"parameter\": \"" name "\", \"value\": " value "}" \
          : "{\"parameter\": {\"x\": \"" name "\"}, \"value\": " value "}"
    drive_setup(&d, tuners[t].name, tuners[t].args, NULL, NULL);
    drive_start(&d);
    CHECK_HAS(drive_send(&d, "IN", "{\"x\": %s}", SPEC("choice", ANIMALS)),
              "ID");
    drive_send(&d, "FD", "[%s, %s]", ANIMAL("dog", "1.1"),
               ANIMAL("cat", "{\"default\": 0, \"tmp\": 2}"));
    first = drive_send(&d, "GE", "3");
    CHECK_EQ(suggestions(first), 3);
    printf("# %s: %s\n", tuners[t].name, animals(first));
    if (tuners[t].ends) { /* what was imported is not tried again */
        CHECK(strstr(animals(first), "dog") == NULL);
        CHECK(strstr(animals(first), "cat") == NULL);
    }
    for (int id = 0; id < 3; id++)
        report(&d, id);
    drive_send(&d, "FD", "[%s, %s, %s]", ANIMAL("dog", "\"1.1\""),
               ANIMAL("tiger", "0"), ANIMAL("panda", "3"));
    rest = drive_send(&d, "GE", "10");
    printf("# then: %s\n", animals(rest));
    CHECK_EQ(d.failed, 0);
    if (tuners[t].ends) {
        CHECK_HAS(rest, " NO ");
        CHECK(strstr(animals(rest), "tiger") == NULL);
        CHECK(strstr(animals(rest), "dog") == NULL);
    } else {
        CHECK_EQ(suggestions(rest), 10);
    }
    drive_stop(&d);
#undef ANIMAL
}

TEST(nni_test_builtin_tuners_import)
{
    for (size_t t = 0; t < N_TUNERS; t++)
        check_import(t);
}

/* NNI takes an imported 0 for no result. */
TEST(nni_import_of_zero_counts)
{
    struct drive d;
    struct json *doc;
    struct buf all;
    char *sent;

    buf_init(&all, 100000);
    for (int i = 0; i < 200; i++)
        buf_printf(&all, "%s{\"parameter\": {\"x\": 0.25}, \"value\": 0}",
                   i > 0 ? ", " : "");
    drive_setup(&d, "Anneal", NULL, NULL, NULL);
    drive_start(&d);
    drive_send(&d, "IN", "%s", HELP_SPACE);
    drive_send(&d, "FD", "[%s]", buf_text(&all));
    sent = strdup(drive_send(&d, "GE", "20"));
    for (size_t k = 0; (doc = suggestion(sent, k)) != NULL; k++) {
        double x = NAN;

        CHECK(
            jval_number(member(member(json_root(doc), "parameters"), "x"), &x));
        CHECK(fabs(x - 0.25) < 0.05); /* 1 / 21 around it */
        json_free(doc);
    }
    free(sent);
    buf_fini(&all);
    drive_stop(&d);
}

TEST(nni_test_hpo_dedup)
{
    static const char space[] =
        "{\"x\": " SPEC("choice", "\"a\", \"b\"") ", \"y\": " SPEC(
            "quniform", "0, 1, 0.6") ", \"z\": " SPEC("normal", "1, 0") "}";
    static const char *const want[] = {
        "\"a\", \"y\": 0.0", "\"a\", \"y\": 0.6", "\"a\", \"y\": 1.0",
        "\"b\", \"y\": 0.0", "\"b\", \"y\": 0.6", "\"b\", \"y\": 1.0"};

    for (size_t t = 0; t < 2; t++) {
        struct drive d;
        char text[100], *sent;

        drive_setup(&d, tuners[t].name, tuners[t].args, NULL, NULL);
        drive_start(&d);
        drive_send(&d, "IN", "%s", space);
        sent = strdup(drive_send(&d, "GE", "7"));
        for (size_t i = 0; i < 6; i++) {
            snprintf(text, sizeof text, "{\"x\": %s, \"z\": 1.0}", want[i]);
            CHECK_HAS(sent, text);
        }
        CHECK_HAS(sent, "2 NO ");
        free(sent);
        drive_stop(&d);
    }
}

/* NNI's split_index strips _index and _value from what it knows inside. */
TEST(nni_test_evolution_tuner_split_index)
{
    static const char space[] = "{\"optimizer\": " SPEC(
        "choice", "{\"_name\": \"sgd\", \"momentum\": {\"_type\": \"uniform\", "
                  "\"_value\": [0, 1]}}, {\"_name\": \"adam\"}") "}";
    struct drive d;
    char *sent;

    drive_setup(&d, "Evolution", "{\"population_size\": 40}", NULL, NULL);
    drive_start(&d);
    drive_send(&d, "IN", "%s", space);
    sent = strdup(drive_send(&d, "GE", "40"));
    CHECK(strstr(sent, "\"_index\"") == NULL);
    CHECK_HAS(sent, "{\"optimizer\": {\"_name\": \"adam\"}}");
    CHECK_HAS(sent, "{\"optimizer\": {\"_name\": \"sgd\", \"momentum\": ");
    CHECK_EQ(suggestions(sent), 40);
    free(sent);
    drive_stop(&d);
}

/* What NNI's reader would make objects of Python of, with pickled code in it,
 * are options like others. */
TEST(nni_keys_of_python_objects_are_plain)
{
    static const char magic[] = "{\"__ndarray__\": [1, 2], \"dtype\": \"f\"}, "
                                "{\"__nni_obj__\": \"gASVAAAAAAAAAIwI\"}";
    struct drive d;
    char *sent;

    drive_setup(&d, "GridSearch", NULL, NULL, NULL);
    drive_start(&d);
    drive_send(&d, "IN", "{\"x\": {\"_type\": \"choice\", \"_value\": [%s]}}",
               magic);
    sent = strdup(drive_send(&d, "GE", "2"));
    CHECK_HAS(sent, "{\"x\": {\"__ndarray__\": [1, 2], \"dtype\": \"f\"}}");
    CHECK_HAS(sent, "{\"x\": {\"__nni_obj__\": \"gASVAAAAAAAAAIwI\"}}");
    free(sent);
    drive_stop(&d);
}
