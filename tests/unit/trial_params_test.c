/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/err.h"
#include "core/file.h"
#include "trial/files.h"
#include "trial/params.h"

#include <string.h>

static struct params *
load(const char *text, struct err *err)
{
    CHECK_EQ(file_write(TRIAL_PARAMETERS_TSV, text, strlen(text), err), 0);
    return params_load(".", err);
}

TEST(trial_params_finds_and_unescapes)
{
    struct params *p;
    struct err err;
    const char *const *names;
    size_t n;

    p = load("lr\t0.001\nactivation/_name\tleaky_relu\n"
             "a\\tb\tx\\\\\\n\\r\\t\nempty\t\nlast\t[1, 2]",
             &err);
    CHECK(p != NULL);
    CHECK_STR(params_find(p, "lr"), "0.001");
    CHECK_STR(params_find(p, "activation/_name"), "leaky_relu");
    CHECK_STR(params_find(p, "a\tb"), "x\\\n\r\t");
    CHECK_STR(params_find(p, "empty"), "");
    CHECK_STR(params_find(p, "last"), "[1, 2]");
    CHECK(params_find(p, "activation") == NULL);
    names = params_names(p, &n);
    CHECK_EQ(n, 5);
    CHECK_STR(names[1], "activation/_name");
    params_free(p);
    params_free(NULL);
}

TEST(trial_params_may_be_none)
{
    struct err err;
    struct params *p = load("", &err);

    CHECK(p != NULL);
    CHECK(params_find(p, "") == NULL);
    params_free(p);
}

TEST(trial_params_names_file_and_line_of_a_mistake)
{
    static const char *const bad[][2] = {
        {"a\t1\nb\n", "parameters.tsv: line 2: expected NAME"},
        {"a\t1\t2\n", "line 1: expected one TAB"},
        {"a\tx\\q\n", "line 1: expected one TAB, and after a backslash"},
        {"a\tx\\", "line 1: "},
        {"\n", "line 1: expected NAME"},
    };
    struct err err;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(load(bad[i][0], &err) == NULL);
        CHECK_EQ(err.code, ERR_INPUT);
        CHECK_HAS(err.text, bad[i][1]);
    }
    CHECK_EQ(file_write(TRIAL_PARAMETERS_TSV, "a\t\0\n", 4, &err), 0);
    CHECK(params_load(".", &err) == NULL);
    CHECK_HAS(err.text, "NUL byte at offset 2");
    CHECK(params_load("nowhere", &err) == NULL);
    CHECK_HAS(err.text, "nowhere/parameters.tsv");
}
