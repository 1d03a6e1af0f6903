/* SPDX-License-Identifier: MIT */
/* pyclass.h - a tuner or an assessor that is a Python class written for NNI, as
 * the program `exec` that runs it: tuners/nni/nni_class.py behind an
 * interpreter that has nni.
 *
 * Knows where both lie; what Python makes of the class, the program itself
 * tells, before anything is asked of it (`required`). */
#ifndef NNI_PYCLASS_H
#define NNI_PYCLASS_H

#include "json.h"

#include <stdbool.h>

struct err;

/* An environment variable with the interpreter's name or path; without it
 * python3 along PATH is taken. */
#define PYCLASS_INTERPRETER "TUNEPIPE_PYTHON"

struct pyclass {
    const char *kind;           /* "tuner" or "assessor" */
    const char *class_name;     /* "module.Class"; with class_file: "Class" */
    const char *code_directory; /* NULL: none */
    const char *class_file;     /* v1's "my_tuner.py"; NULL: none */
    struct jval args;           /* classArgs: an object, null, or no node */
    bool owes; /* the manager knows of suggestions that come later; NNI's
                  managers do not, and ask again */
};

/* The classArgs of `exec`, an object that is to be freed.  NULL: err
 * (ERR_CONFIG) is one line, "tuner module.Class: ...", on a folder that is
 * none, or no interpreter, and what to install. */
struct json *pyclass_arguments(const struct pyclass *c, struct err *err);

/* The interpreter's path, absolute, to be freed.  NULL: err says what to
 * install. */
char *pyclass_interpreter(struct err *err);

#endif
