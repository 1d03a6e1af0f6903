/* SPDX-License-Identifier: MIT */
/* websocket.h - where the bridge to a manager's WebSocket is found: a shared
 * object, so that only who is given a URL needs libwebsockets. */
#ifndef CLI_WEBSOCKET_H
#define CLI_WEBSOCKET_H

struct bridge_setup;
struct err;

/* bridge_run() of bridge/bridge.h, which see; -1 also when there is no such
 * shared object (ERR_CONFIG), then setup->frames is closed. */
int websocket_serve(const struct bridge_setup *setup, struct err *err);

#endif
