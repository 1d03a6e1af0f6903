/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "config/experiment.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "json.h"
#include "manager/experiment_folder.h"
#include "manager/results.h"
#include "manager/table.h"
#include "manager/trial.h"
#include "objectives/objectives.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct experiment x = {.name = (char *)"A b/c: d!",
                              .file = (char *)"e.yml",
                              .search_space = (char *)"{}",
                              .working_folder = (char *)"w",
                              .mode_from = "the tuner",
                              .concurrency = 1};
static struct experiment_folder folder;

static void
make(void)
{
    struct err err = {0};

    CHECK_EQ(file_write("e.yml", "a: 1\n", 5, NULL), 0);
    CHECK_EQ(experiment_folder_make(&folder, &x, NULL, 99, &err), 0);
}

static void
add(uint64_t number, enum trial_state state, bool has_final, double value)
{
    struct trial *t = trial_new(number, "", 0, "1", "{\"a\": \"b\\u001b\"}");

    if (state != TRIAL_WAITING)
        t->state = state;
    t->final = (struct reported){has_final, value, NULL};
    CHECK_EQ(experiment_folder_add_result(&folder, t, "itself", 0.5, NULL), 0);
    trial_free(t);
}

TEST(manager_folder_has_a_name_fit_for_files)
{
    char *config;
    struct buf text;
    char *first;

    make();
    CHECK_EQ(strncmp(folder.path, "w/A-b-c-d-20", 12), 0);
    CHECK_STR(folder.id, folder.path + 2);
    first = strdup(folder.path);
    config = file_join(folder.path, FOLDER_CONFIG);
    buf_init(&text, 1 << 20);
    CHECK_EQ(file_read(config, 100, &text, NULL), 0);
    CHECK_STR(buf_text(&text), "a: 1\n");
    experiment_folder_close(&folder);
    make(); /* in the same second, most likely */
    CHECK(strcmp(folder.path, first) != 0);
    experiment_folder_close(&folder);
    buf_fini(&text);
    free(config);
    free(first);
}

static void
check_order(const struct result *const *items, size_t n, const char *want)
{
    struct buf got;

    buf_init(&got, 1000);
    for (size_t i = 0; i < n; i++)
        buf_printf(&got, "%d ", atoi(items[i]->trial));
    CHECK_STR(buf_text(&got), want);
    buf_fini(&got);
}

TEST(manager_results_rank_by_the_direction)
{
    const struct result *best[3], *all[7];
    struct results *r;
    struct err err;

    make();
    add(0, TRIAL_SUCCEEDED, true, 2);
    add(1, TRIAL_FAILED, true, 0.5); /* does not count */
    add(2, TRIAL_SUCCEEDED, true, NAN);
    add(3, TRIAL_SUCCEEDED, true, 3);
    add(4, TRIAL_SUCCEEDED, true, 3);
    add(5, TRIAL_TIMED_OUT, true, 1);
    add(6, TRIAL_STOPPED, false, 9);
    r = results_load(folder.path, RESULTS_ALL, &err);
    CHECK(r != NULL);
    CHECK_EQ(r->n, 7);
    CHECK_EQ(r->state, RESULTS_RUNNING);
    CHECK_EQ(r->seed, 99);
    CHECK_EQ(results_ranked(r, best, 3), 3);
    CHECK_STR(best[0]->trial, "00003"); /* the first of equals */
    CHECK_STR(best[1]->trial, "00004");
    CHECK_STR(best[2]->trial, "00000");
    for (size_t i = 0; i < r->n; i++)
        all[i] = &r->items[(i + 4) % r->n];
    results_sort(r, all, r->n);
    check_order(all, r->n, "3 4 0 5 1 2 6 "); /* these by number */
    r->minimize = true;
    results_sort(r, all, r->n);
    check_order(all, r->n, "5 0 3 4 1 2 6 ");
    results_free(r);
    experiment_folder_close(&folder);
}

/* c, of less budget, dominates b, which is on the front all the same. */
TEST(manager_results_rank_each_budget_by_fronts)
{
    static const struct {
        const char *trial, *values;
        double budget;
    } said[] = {
        {"c", "{\"ms\": 4, \"acc\": 0.9}", 1},
        {"d", "{\"ms\": 1.5, \"acc\": 0.1}", 3},
        {"b", "{\"ms\": 5, \"acc\": 0.8}", 3},
        {"a", "{\"ms\": 1, \"acc\": 0.2}", 3},
    };
    struct err err = {0};
    struct results r = {
        .objectives = objectives_read(
            "{\"objectives\": [{\"name\": \"ms\", \"direction\": "
            "\"minimize\"}, {\"name\": \"acc\", \"direction\": "
            "\"maximize\"}]}",
            &err)};
    const struct result *all[4];
    struct result items[4];
    char order[5] = "";

    CHECK_STR(err.text, "");
    for (size_t i = 0; i < 4; i++) {
        items[i] = (struct result){.trial = (char *)said[i].trial,
                                   .status = (char *)"succeeded",
                                   .has_value = true,
                                   .values = (char *)said[i].values,
                                   .budget = said[i].budget};
        all[i] = &items[i];
    }
    results_sort(&r, all, 4);
    for (size_t i = 0; i < 4; i++)
        order[i] = all[i]->trial[0];
    CHECK_STR(order, "abdc");
    objectives_free(r.objectives);
}

TEST(manager_results_survive_a_crash)
{
    struct results *r;
    struct err err;

    make();
    add(0, TRIAL_SUCCEEDED, true, 2);
    CHECK_EQ(write(folder.results_fd, "nonsense\n{\"trial\": \"000", 23), 23);
    close(folder.lock_fd); /* as the kernel does at a death */
    folder.lock_fd = -1;
    r = results_load(folder.path, RESULTS_ALL, &err);
    CHECK_EQ(r->n, 1);
    CHECK_EQ(r->damaged, 1);
    CHECK_EQ(r->state, RESULTS_DIED);
    results_free(r);
    CHECK_EQ(
        experiment_folder_finish(&folder, true, true, "finished", 1.5, NULL),
        0);
    r = results_load(folder.path, RESULTS_ALL, &err);
    CHECK_EQ(r->state, RESULTS_ENDED);
    CHECK_STR(r->reason, "finished");
    CHECK(r->duration_s == 1.5);
    results_free(r);
    experiment_folder_close(&folder);
}

TEST(manager_results_name_a_folder_that_is_none)
{
    struct err err;

    CHECK(results_load("absent", RESULTS_ALL, &err) == NULL);
    CHECK_HAS(err.text, "absent: No such file or directory");
    CHECK(results_load(".", RESULTS_ALL, &err) == NULL);
    CHECK_HAS(err.text, "is no experiment's folder");
}

static char *
print(const struct results *r, bool json)
{
    FILE *out = fopen("out", "w+");
    struct buf text;
    char *taken;

    CHECK(out != NULL);
    if (json)
        CHECK_EQ(table_print_json(out, r, NULL), 0);
    else
        table_print(out, r, true);
    fclose(out);
    buf_init(&text, 1 << 20);
    CHECK_EQ(file_read("out", 1 << 19, &text, NULL), 0);
    taken = buf_take(&text);
    buf_fini(&text);
    return taken;
}

TEST(manager_table_is_json_and_harmless_text)
{
    struct results *r;
    struct json *doc;
    struct jval best, v;
    char *text;

    make();
    r = results_load(folder.path, RESULTS_ALL, NULL);
    text = print(r, true);
    CHECK_STR(text, "{\"best\": null, \"trials\": []}\n");
    free(text);
    results_free(r);
    add(0, TRIAL_SUCCEEDED, true, 2);
    add(1, TRIAL_STOPPED, false, 0);
    r = results_load(folder.path, RESULTS_ALL, NULL);
    text = print(r, true);
    doc = json_parse(text, strlen(text), JSON_STRICT, NULL);
    CHECK(doc != NULL);
    CHECK(jval_get(json_root(doc), "best", &best));
    CHECK(jval_get(best, "parameters", &v));
    CHECK_EQ(jval_count(v), 1);
    CHECK(jval_get(json_root(doc), "trials", &v));
    CHECK_EQ(jval_count(v), 2);
    CHECK_HAS(text, "\"best\": {\"trial\": \"00000\", \"value\": 2.0, "
                    "\"parameters\": {\"a\": \"b\\u001b\"}}");
    json_free(doc);
    free(text);
    text = print(r, false);
    CHECK_HAS(text, "best 2, trial 00000 (maximize, as the tuner says)");
    CHECK_HAS(text, "trials: 2 ended: 1 succeeded, 1 stopped");
    CHECK(strchr(text, '\033') == NULL);
    free(text);
    results_free(r);
    experiment_folder_close(&folder);
}

TEST(manager_results_line_of_each_kind)
{
    static const char line[] =
        "{\"trial\": \"00007\", \"parameter_id\": \"1_0_5\", \"seed\": 12, "
        "\"new\": [{\"trial\": \"x\"}], \"status\": \"failed\", \"value\": null, "
        "\"latest\": -2.5e-3, \"duration_s\": 1.5, \"prepare_s\": null, "
        "\"why\": \"a \\\"b\\\"\\u00e9\", \"from\": \"00003\", \"from_how\": "
        "\"promoted\", \"intermediates\": 3, \"parameters\": {\"a\": [1, "
        "{}], \"TRIAL_BUDGET\": 9}}";
    static const char *const bad[] = {"",
                                      "[]",
                                      "{\"trial\": }",
                                      "{\"trial\": \"1\"",
                                      "{\"trial\": \"1\"} 2",
                                      "{\"trial\": \"1\",}",
                                      "{\"parameters\": {\"a\" 1}}"};
    struct result r;

    CHECK_EQ(results_line(line, sizeof line - 1, &r), 0);
    CHECK_STR(r.trial, "00007");
    CHECK_STR(r.parameter_id, "\"1_0_5\"");
    CHECK_EQ(r.seed, 12);
    CHECK_STR(r.status, "failed");
    CHECK(!r.has_value && r.has_latest && r.latest == -2.5e-3);
    CHECK(r.duration_s == 1.5 && !r.has_prepare);
    CHECK_STR(r.why, "a \"b\"\xc3\xa9");
    CHECK_STR(r.ended_by, "");
    CHECK_STR(r.from, "00003");
    CHECK_STR(r.from_how, "promoted");
    CHECK_EQ(r.intermediates, 3);
    CHECK_EQ(r.steps, 3);
    CHECK_STR(r.parameters, "{\"a\": [1, {}], \"TRIAL_BUDGET\": 9}");
    CHECK(r.budget == 9);
    result_fini(&r);
    CHECK_EQ(results_line("{}", 2, &r), 0);
    CHECK_STR(r.parameters, "null");
    CHECK_STR(r.trial, "");
    result_fini(&r);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_EQ(results_line(bad[i], strlen(bad[i]), &r), -1);
}
