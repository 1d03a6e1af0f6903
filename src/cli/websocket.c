/* SPDX-License-Identifier: MIT */
#include "cli/websocket.h"

#include "bridge/bridge.h"
#include "core/err.h"
#include "core/file.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A build folder; installed; where a packager put it. */
static const char *const places[] = {
    "%s/lib/websocket.so",
    "%s/../lib/tunepipe/websocket.so",
#ifdef TP_MODULEDIR
    TP_MODULEDIR "/websocket.so",
#endif
};
#define N_PLACES (sizeof places / sizeof *places)

/* To be freed; NULL: it is nowhere. */
static char *
find_module(const char *folder)
{
    for (size_t i = 0; i < N_PLACES; i++) {
        char *path;

        if (asprintf(&path, places[i], folder) < 0)
            return NULL;
        if (access(path, R_OK) == 0)
            return path;
        free(path);
    }
    return NULL;
}

static bridge_run_fn *
load(const char *path, struct err *err)
{
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL), *symbol;
    bridge_run_fn *run = NULL;

    if (module == NULL) {
        err_set(err, ERR_CONFIG, "cannot load the WebSocket module: %s",
                dlerror());
        return NULL;
    }
    symbol = dlsym(module, BRIDGE_SYMBOL);
    if (symbol == NULL)
        err_set(err, ERR_CONFIG, "%s: no WebSocket module", path);
    memcpy(&run, &symbol, sizeof run);
    return run; /* it stays loaded */
}

static bridge_run_fn *
find(struct err *err)
{
    char *folder = file_program_folder();
    char *path = folder == NULL ? NULL : find_module(folder);
    bridge_run_fn *run = NULL;

    if (path != NULL)
        run = load(path, err);
    else
        err_set(err, ERR_CONFIG,
                "a manager's WebSocket needs lib/websocket.so, which this "
                "build lacks: install libwebsockets-dev and make again");
    free(path);
    free(folder);
    return run;
}

int
websocket_serve(const struct bridge_setup *setup, struct err *err)
{
    bridge_run_fn *run = find(err);

    if (run == NULL) {
        close(setup->frames);
        return -1;
    }
    return run(setup, err);
}
