/* SPDX-License-Identifier: MIT */
/* nni_child.h - the process that runs the dispatcher, seen from the one that
 * NNI's manager started.  The parent outlives it whatever becomes of it: a
 * plugin that crashes is named, and the command that it was at is noted for the
 * experiment to go on behind it. */
#ifndef CLI_NNI_CHILD_H
#define CLI_NNI_CHILD_H

#include "core/err.h"
#include "core/wake.h"
#include "supervisor/supervisor.h"

#include <pthread.h>
#include <stdbool.h>

struct nni_start;

struct nni_child {
    struct nni_start *start;
    struct supervised dispatcher;
    int words;     /* the child's last ones */
    int socket;    /* whose other end the child has; -1: none */
    int signal_fd; /* the parent's signals */
    bool guarded;  /* by a thread */
    pthread_t guard;
    struct wake over; /* there is nobody to pass signals to any more */
    bool known;       /* its end is: */
    struct supervised_end end;
    char text[ERR_TEXT_MAX + 128];
};

/* Before any thread is started.  1: in the parent; 0: in the child, which is
 * killed when the parent is gone; -1: err tells.  SIGTERM, SIGINT and
 * SIGHUP are blocked in both. */
int nni_child_fork(struct nni_child *c, struct nni_start *n, struct err *err);

/* In the child, at its end: where status is not EXIT_DONE, err is left to the
 * parent. */
void nni_child_leave(struct nni_child *c, int status, const struct err *err);

/* In the parent: SIGTERM, SIGINT and SIGHUP are the child's from now on, and
 * end the parent when it has ended.  `socket`, borrowed (-1: none), is at its
 * end of file when the child has ended, whoever else has its other end. */
int nni_child_guard(struct nni_child *c, int socket, struct err *err);

/* Waits two seconds for the child's end; a crash is told on stderr and in
 * dispatcher.log.  Why it ended; NULL: in order.  `c` is a struct nni_child,
 * see bridge.h. */
const char *nni_child_await(void *c);

/* There is nothing for the child to do any more: the socket says so, and if
 * that does not end it, a signal does. */
void nni_child_dismiss(struct nni_child *c);

/* Waits for the child's end: whether it failed, and was not stopped. */
bool nni_child_failed(struct nni_child *c);

/* Waits for the child's end, and ends the thread that guards it.  The exit
 * status of the parent: the child's, if that failed, else `status`. */
int nni_child_status(struct nni_child *c, int status);

#endif
