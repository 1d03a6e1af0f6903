/* SPDX-License-Identifier: MIT */
/* exp_params.h - what NNI's managers tell their dispatcher: --exp_params, an
 * experiment's configuration as JSON in base64.
 *
 * Knows NNI's two schemas: v1 (`builtinTunerName`, `classFileName`, ...; its
 * mark is the key trainingServicePlatform) and v2 (`name`, `codeDirectory`,
 * ...).  Either's words are taken in either, as NNI converted one into the
 * other in different ways over the years.  Keys that are no dispatcher's
 * business are passed over.  Immutable once read; one owner. */
#ifndef NNI_EXP_PARAMS_H
#define NNI_EXP_PARAMS_H

#include "json.h"

#include <stdbool.h>

struct err;

#define EXP_PARAMS_MAX ((size_t)16 << 20) /* bytes of JSON */

/* A tuner or an assessor: either a name, or a Python class of the user's.
 * Texts are borrowed from the document. */
struct nni_algorithm {
    bool given;
    const char *name;       /* of a built-in algorithm; NULL: it is a class */
    const char *class_name; /* "module.Class"; v1: "Class" */
    const char *code_directory; /* NULL: not given */
    const char *class_file;     /* v1's "my_tuner.py"; NULL: not given */
    struct jval args;           /* classArgs: an object, or null */
};

struct exp_params {
    struct json *doc;
    struct nni_algorithm tuner;    /* or NNI's advisor; always given */
    struct nni_algorithm assessor; /* not given beside an advisor */
    bool legacy;                   /* the v1 schema */
    bool advisor;                  /* the tuner was given as `advisor` */
    bool assessor_ignored;         /* one was given beside an advisor */
    bool multi_thread; /* multiThread is true, which tunepipe does not do */
};

/* Reads the argument `text`; exp_params_fini() is to be called in either case.
 * -1: err (ERR_CONFIG) reads "--exp_params: WHERE: ...". */
int exp_params_read(const char *text, struct exp_params *out, struct err *err);
void exp_params_fini(struct exp_params *p);

#endif
