/* SPDX-License-Identifier: MIT */
#include "cli/module.h"

#include "core/err.h"
#include "core/file.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A build folder; installed; where a packager put it. */
static const char *const places[] = {
    "%s/lib/%s",
    "%s/../lib/tunepipe/%s",
#ifdef TP_MODULEDIR
    "%.0s" TP_MODULEDIR "/%s",
#endif
};
#define N_PLACES (sizeof places / sizeof *places)

/* To be freed; NULL: it is nowhere. */
static char *
find(const char *folder, const char *file)
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
load(const struct module *m, const char *path, struct err *err)
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

void *
module_load(const struct module *m, struct err *err)
{
    char *folder = file_program_folder();
    char *path = folder == NULL ? NULL : find(folder, m->file);
    void *symbol = NULL;

    if (path != NULL)
        symbol = load(m, path, err);
    else
        err_set(err, ERR_CONFIG,
                "%s needs lib/%s, which this build lacks: install %s and make "
                "again",
                m->what, m->file, m->package);
    free(path);
    free(folder);
    return symbol;
}
