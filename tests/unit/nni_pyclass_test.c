/* SPDX-License-Identifier: MIT */
#include "nni/pyclass.h"

#include "core/err.h"

#include "t.h"

#include <stdlib.h>

/* What is refused before any program is started; tests/e2e/python_classes.sh
 * has the rest. */
static void
refused(const struct pyclass *c, const char *want)
{
    struct err err;

    CHECK(pyclass_arguments(c, &err) == NULL);
    CHECK_EQ(err.code, ERR_CONFIG);
    CHECK_HAS(err.text, want);
}

TEST(nni_pyclass_refuses_names_that_are_none)
{
    struct pyclass c = {.kind = "tuner", .class_name = "Mine"};

    refused(&c, "tuner Mine: className: expected MODULE.CLASS, got 'Mine'");
    c.class_file = "mine.so";
    refused(&c, "tuner Mine: classFileName: expected NAME.py, got 'mine.so'");
    c.class_file = ".py";
    refused(&c, "tuner Mine: classFileName: expected NAME.py, got '.py'");
}

TEST(nni_pyclass_needs_a_folder_and_an_interpreter)
{
    struct pyclass c = {.kind = "assessor",
                        .class_name = "Mine",
                        .class_file = "own/mine.py",
                        .code_directory = "nowhere"};
    struct err err;

    refused(&c, "assessor own.mine.Mine: codeDirectory: 'nowhere' is not a "
                "folder");
    c.code_directory = ".";
    setenv("PATH", "/nowhere::relative", 1);
    unsetenv(PYCLASS_INTERPRETER);
    refused(&c, "there is no python3 in PATH: install");
    setenv(PYCLASS_INTERPRETER, "pithon", 1);
    refused(&c, PYCLASS_INTERPRETER ": 'pithon' is no program");
    setenv(PYCLASS_INTERPRETER, ".", 1);
    CHECK(pyclass_interpreter(&err) == NULL);
    setenv(PYCLASS_INTERPRETER, "/bin/sh", 1);
    free(pyclass_interpreter(&err));
}
