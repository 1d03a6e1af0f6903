/* SPDX-License-Identifier: MIT */
#include "cli/module.h"

#include "bridge/bridge.h"
#include "core/err.h"
#include "core/file.h"
#include "store/sqlite.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A shared object of ours. */
struct module {
    const char *file;    /* "websocket.so" */
    const char *symbol;  /* that is looked up in it */
    const char *what;    /* "a manager's WebSocket", for errors */
    const char *name;    /* "WebSocket", for errors */
    const char *package; /* without which it is not built */
};

/* Where a module lies: in a build folder; installed; where a packager put
 * it. */
static const char *const places[] = {
    "%s/lib/%s",
    "%s/" TP_LIB "/tunepipe/%s",
#ifdef TP_MODULEDIR
    "%.0s" TP_MODULEDIR "/%s",
#endif
};
#define N_PLACES (sizeof places / sizeof *places)

/* Where the module lies, to be freed; NULL: nowhere. */
static char *
find_module(const char *folder, const char *file)
{
    for (size_t i = 0; i < N_PLACES; i++) {
        char *path;

        if (asprintf(&path, places[i], folder, file) < 0)
            return NULL;
        if (access(path, R_OK) == 0)
            return path;
        free(path);
    }
    return NULL;
}

static void *
load_symbol(const struct module *m, const char *path, struct err *err)
{
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL), *symbol;

    if (module == NULL) {
        err_set(err, ERR_CONFIG, "cannot load the %s module: %s", m->name,
                dlerror());
        return NULL;
    }
    symbol = dlsym(module, m->symbol);
    if (symbol == NULL)
        err_set(err, ERR_CONFIG, "%s: no %s module", path, m->name);
    return symbol;
}

/* The module's symbol; the module stays loaded.  NULL: there is no such module,
 * or it is something else (ERR_CONFIG). */
static void *
module_load(const struct module *m, struct err *err)
{
    char *folder = file_program_folder();
    char *path = folder == NULL ? NULL : find_module(folder, m->file);
    void *symbol = NULL;

    if (path != NULL)
        symbol = load_symbol(m, path, err);
    else
        err_set(err, ERR_CONFIG,
                "%s needs lib/%s, which this build lacks: install %s and make "
                "again",
                m->what, m->file, m->package);
    free(path);
    free(folder);
    return symbol;
}

/* ---- SQLite ---- */

const struct sql *
database_load(const char *what, struct err *err)
{
    const struct module module = {
        .file = "sqlite.so",
        .symbol = SQLITE_SYMBOL,
        .what = what,
        .name = "SQLite",
        .package = "libsqlite3-dev",
    };

    return module_load(&module, err);
}

/* ---- a manager's WebSocket ---- */

static const struct module module = {
    .file = "websocket.so",
    .symbol = BRIDGE_SYMBOL,
    .what = "a manager's WebSocket",
    .name = "WebSocket",
    .package = "libwebsockets-dev",
};

int
websocket_serve(const struct bridge_setup *setup, struct err *err)
{
    void *symbol = module_load(&module, err);
    bridge_run_fn *run;

    if (symbol == NULL) {
        close(setup->frames);
        return -1;
    }
    memcpy(&run, &symbol, sizeof run);
    return run(setup, err);
}
