/* SPDX-License-Identifier: MIT */
/* module.h - shared objects of our own, loaded by the verbs that need them, so
 * that nobody else needs the libraries behind them.  Any thread. */
#ifndef CLI_MODULE_H
#define CLI_MODULE_H

struct err;

struct module {
    const char *file;    /* "websocket.so" */
    const char *symbol;  /* what it is asked for */
    const char *what;    /* "a manager's WebSocket", for errors */
    const char *name;    /* "WebSocket", for errors */
    const char *package; /* whose lack leaves it out */
};

/* Its symbol; it stays loaded.  NULL: there is no such module, or it is
 * something else (ERR_CONFIG). */
void *module_load(const struct module *m, struct err *err);

#endif
