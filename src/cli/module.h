/* SPDX-License-Identifier: MIT */
/* module.h - shared objects of our own, loaded by the verbs that need them, so
 * that nobody else needs the libraries behind them.  Any thread. */
#ifndef CLI_MODULE_H
#define CLI_MODULE_H

struct bridge_setup;
struct err;
struct sql;

/* SQLite, borrowed, for ever.  NULL: this build lacks it (ERR_CONFIG).  `what`
 * is who needs it, for the error: "tunepipe index". */
const struct sql *database_load(const char *what, struct err *err);

/* bridge_run() of bridge/bridge.h, which see; -1 also when this build lacks
 * the WebSocket (ERR_CONFIG), then setup->frames is closed. */
int websocket_serve(const struct bridge_setup *setup, struct err *err);

#endif
