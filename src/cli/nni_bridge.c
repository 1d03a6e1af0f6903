/* SPDX-License-Identifier: MIT */
#include "cli/nni_bridge.h"

#include "bridge/bridge.h"
#include "cli/nni_child.h"
#include "cli/nni_start.h"
#include "cli/verb.h"
#include "cli/websocket.h"
#include "core/err.h"
#include "core/wake.h"

#include <sys/socket.h>
#include <unistd.h>

/* Between the two processes is a socket pair for frames, whose end of file
 * tells either side that the other is gone; and something by which the child
 * says that another dispatcher wants its log. */

static int
keep_connection(struct nni_child *c, int frames, struct err *err)
{
    const struct bridge_setup setup = {
        .url = c->start->environment.channel,
        .frames = frames,
        .epitaph = nni_child_await,
        .arg = c,
        .wanted = &c->start->wanted,
        .log = &c->start->log,
    };
    int status = EXIT_DONE;

    if (nni_child_guard(c, frames, err) != 0)
        close(frames);
    else if (websocket_serve(&setup, err) == 0)
        err_clear(err);
    if (err->code != ERR_NONE) {
        journal_say(&c->start->journal, LOG_ERROR, NULL, "%s", err->text);
        status = verb_fail("nni", err);
    }
    nni_child_dismiss(c);
    return nni_child_status(c, status);
}

int
nni_bridge_serve(struct nni_start *n, nni_dispatch *dispatch, struct err *err)
{
    struct nni_child child;
    int pair[2], status;

    if (wake_open(&n->wanted, err) != 0)
        return verb_fail("nni", err);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        err_errno(err, ERR_SYSTEM, "cannot set up descriptors");
        wake_close(&n->wanted);
        return verb_fail("nni", err);
    }
    switch (nni_child_fork(&child, n, err)) {
    case 0:
        close(pair[0]);
        status = dispatch(n, pair[1], pair[1], err);
        nni_child_leave(&child, status, err);
        return status;
    case 1:
        close(pair[1]);
        return keep_connection(&child, pair[0], err);
    }
    close(pair[0]);
    close(pair[1]);
    wake_close(&n->wanted);
    return verb_fail("nni", err);
}
