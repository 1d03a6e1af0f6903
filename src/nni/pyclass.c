/* SPDX-License-Identifier: MIT */
#include "nni/pyclass.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROGRAM "nni_class.py"
#define PYTHON "python3"
#define ARGUMENTS_MAX ((size_t)16 << 20)
#define WORD_MAX ((size_t)128 << 10) /* the system's limit for one argument */

/* How long the program may be silent, in seconds: about as long as NNI would
 * wait. */
#define DEADLINE "3600.0"

static int
out_of_memory(struct err *err)
{
    return err_set(err, ERR_MEMORY, "out of memory");
}

/* ---- where things lie ---- */

static bool
is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           access(path, X_OK) == 0;
}

/* The path of a program, to be freed; NULL: none along PATH has this name. */
static char *
find_along_path(const char *name)
{
    const char *path = getenv("PATH");
    char *found = NULL;

    while (path != NULL && *path != '\0' && found == NULL) {
        size_t len = strcspn(path, ":");

        if (len > 0 && asprintf(&found, "%.*s/%s", (int)len, path, name) < 0)
            return NULL;
        if (found != NULL && !is_program(found)) {
            free(found);
            found = NULL;
        }
        path += len + (path[len] == ':');
    }
    return found;
}

/* Makes a path absolute, for a program that runs elsewhere; takes it. */
static char *
make_absolute(char *path)
{
    char *here, *whole = NULL;

    if (path == NULL || path[0] == '/')
        return path;
    here = getcwd(NULL, 0);
    if (here != NULL)
        whole = file_join(here, path);
    free(here);
    free(path);
    return whole;
}

char *
pyclass_interpreter(struct err *err)
{
    const char *told = getenv(PYCLASS_INTERPRETER);
    const char *name = told != NULL && told[0] != '\0' ? told : PYTHON;
    char *found = strchr(name, '/') == NULL ? find_along_path(name)
                  : is_program(name)        ? strdup(name)
                                            : NULL;

    if (found == NULL && name == told)
        err_set(err, ERR_CONFIG,
                PYCLASS_INTERPRETER ": '%.200s' is no program, expected a "
                                    "Python interpreter that has the package "
                                    "nni",
                name);
    else if (found == NULL)
        err_set(err, ERR_CONFIG,
                "it is a Python class, and there is no " PYTHON " in PATH: "
                "install Python 3.6 or later and, for it, the package nni, "
                "or name an interpreter that has it in " PYCLASS_INTERPRETER);
    return make_absolute(found);
}

/* The path of nni_class.py, to be freed. */
static char *
find_program(struct err *err)
{
    char *found = file_shared("tuners/nni", PROGRAM), *folder;

    if (found != NULL)
        return found;
    folder = file_program_folder();
    err_set(err, ERR_CONFIG,
            PROGRAM ", which runs Python classes, is not in "
                    "../share/tunepipe from %s: install tunepipe again",
            folder != NULL ? folder : "tunepipe's folder");
    free(folder);
    return NULL;
}

/* Checks a folder; *out is its path, to be freed; NULL: none is given. */
static int
find_folder(const char *path, char **out, struct err *err)
{
    struct stat st;

    *out = path != NULL ? realpath(path, NULL) : NULL;
    if (path == NULL ||
        (*out != NULL && stat(*out, &st) == 0 && S_ISDIR(st.st_mode)))
        return 0;
    return err_set(err, ERR_CONFIG,
                   "codeDirectory: '%.200s' is not a folder, expected that of "
                   "the Python module",
                   path);
}

/* ---- the class ---- */

/* Appends "module.Class". */
static int
write_name(const struct pyclass *c, struct buf *out, struct err *err)
{
    size_t len = c->class_file != NULL ? strlen(c->class_file) : 0;

    if (len > 0 && (len < 4 || strcmp(c->class_file + len - 3, ".py") != 0))
        return err_set(err, ERR_CONFIG,
                       "classFileName: expected NAME.py, got '%.100s'",
                       c->class_file);
    if (len > 0) {
        buf_add(out, c->class_file, len - 3);
        buf_add_char(out, '.');
        for (size_t i = 0; i < out->len; i++)
            if (out->data[i] == '/')
                out->data[i] = '.';
    } else if (strchr(c->class_name, '.') == NULL) {
        return err_set(err, ERR_CONFIG,
                       "className: expected MODULE.CLASS, got '%.100s'",
                       c->class_name);
    }
    buf_add_text(out, c->class_name);
    return 0;
}

static int
write_class_args(struct jval args, struct buf *out, struct err *err)
{
    if (args.node == NULL || jval_type(args) == JSON_NULL) {
        buf_add_text(out, "{}");
        return 0;
    }
    if (jval_type(args) != JSON_OBJECT)
        return err_set(err, ERR_CONFIG, "classArgs: is %s, expected an object",
                       jval_type_name(args));
    jval_write(args, out);
    if (out->len < WORD_MAX)
        return 0;
    return err_set(err, ERR_CONFIG,
                   "classArgs: %zu bytes of JSON, expected less than %zu",
                   out->len, WORD_MAX);
}

/* The words of the program's command; the first three are to be freed. */
struct parts {
    char *python, *program, *folder;
    const char *name, *args;
};

/* Writes the classArgs of `exec`, an object. */
static void
write_arguments(const struct pyclass *c, const struct parts *parts,
                struct buf *out)
{
    const char *const words[] = {
        parts->python,
        parts->program,
        c->kind,
        parts->name,
        "--args",
        parts->args,
        c->owes ? "--owe" : NULL,
        parts->folder != NULL ? "--directory" : NULL,
        parts->folder,
    };
    struct json_writer w = json_begin_object(out);
    const char *mode;
    struct jval v;

    json_open_array(&w, "command");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i] != NULL)
            json_add_text(&w, NULL, words[i]);
    json_close(&w);
    json_add_raw(&w, "deadline", DEADLINE);
    json_add_bool(&w, "required", true);
    json_add_text(&w, "title", parts->name);
    if (c->args.node != NULL && jval_get(c->args, "optimize_mode", &v) &&
        jval_string(v, &mode, NULL) &&
        (strcmp(mode, "minimize") == 0 || strcmp(mode, "maximize") == 0))
        json_add_text(&w, "optimize_mode", mode);
    json_close(&w);
}

/* ---- both ---- */

static int
find_parts(const struct pyclass *c, struct parts *out, struct err *err)
{
    if (find_folder(c->code_directory, &out->folder, err) != 0 ||
        (out->python = pyclass_interpreter(err)) == NULL ||
        (out->program = find_program(err)) == NULL)
        return -1;
    return 0;
}

static struct json *
find_and_write(const struct pyclass *c, const char *name, struct err *err)
{
    struct parts parts = {.name = name};
    struct json *doc = NULL;
    struct buf args, text;

    buf_init(&args, ARGUMENTS_MAX);
    buf_init(&text, 8 * ARGUMENTS_MAX);
    if (find_parts(c, &parts, err) == 0 &&
        write_class_args(c->args, &args, err) == 0) {
        parts.args = buf_text(&args);
        write_arguments(c, &parts, &text);
        if (args.failed || text.failed)
            out_of_memory(err);
        else
            doc = json_parse(text.data, text.len, JSON_STRICT, err);
    }
    buf_fini(&args);
    buf_fini(&text);
    free(parts.python);
    free(parts.program);
    free(parts.folder);
    return doc;
}

struct json *
pyclass_arguments(const struct pyclass *c, struct err *err)
{
    struct json *doc = NULL;
    struct buf name;

    buf_init(&name, WORD_MAX);
    if (write_name(c, &name, err) == 0) {
        if (name.failed)
            out_of_memory(err);
        else
            doc = find_and_write(c, buf_text(&name), err);
    }
    if (doc == NULL)
        err_place(err, "%s %.100s", c->kind,
                  name.len > 0 ? buf_text(&name) : c->class_name);
    buf_fini(&name);
    return doc;
}
