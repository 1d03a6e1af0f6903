/* SPDX-License-Identifier: MIT */
#include "cli/websocket.h"

#include "bridge/bridge.h"
#include "cli/module.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

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
