/* SPDX-License-Identifier: MIT */
#include "cli/verb.h"

#include "bridge/bridge.h"
#include "cli/exitguard.h"
#include "cli/nni_child.h"
#include "cli/nni_start.h"
#include "cli/options.h"
#include "cli/websocket.h"
#include "core/err.h"
#include "core/wake.h"
#include "nni/old_words.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARGUMENT "--exp_params"
#define IN_FD 3 /* as NNI's managers up to 2.7 open them */
#define OUT_FD 4

static const char help[] =
    "usage: tunepipe -m nni --exp_params BASE64\n"
    "       tunepipe nni --exp_params BASE64\n"
    "\n"
    "Serves the experiment manager of NNI, which starts it, in the place of\n"
    "NNI's own dispatcher (python3 -m nni).  The configuration is taken from\n"
    "the argument and from the variables NNI_* of the environment; words that\n"
    "are not known are ignored.  NNI.md has what is as in NNI and what is\n"
    "not; scripts/nni-shim/README.md says how to put it there.\n"
    "\n"
    "  --exp_params BASE64     the experiment's configuration: JSON in base64\n"
    "\n"
    "NNI's first versions have words instead: tuner_class_name NAME, tuner_args\n"
    "JSON, tuner_directory DIR, tuner_class_filename FILE, the same for assessor\n"
    "and advisor, multi_thread; each behind two dashes.\n"
    "\n"
    "Commands come on descriptor 3, answers go to 4 (NNI 1.0 to 2.7), unless\n"
    "NNI_TUNER_COMMAND_CHANNEL has the URL of a WebSocket (NNI 2.8 to 3.0).\n"
    "The command log is kept in NNI_CHECKPOINT_DIRECTORY, dispatcher.log in\n"
    "NNI_LOG_DIRECTORY.\n"
    "\n"
    "Example: tunepipe -m nni --exp_params "
    "eyJ0dW5lciI6eyJuYW1lIjoiVFBFIn19\n"
    "\n"
    "Exit status: 0 end of file or Terminate; 1 failed; 2 usage; 3 tuner,\n"
    "assessor, arguments or search space wrong; 4 the byte stream is broken, or\n"
    "the manager reads no more; 5 the log cannot be written; 6 a plugin was still\n"
    "computing when the grace ended; 143, 130, 129 stopped by SIGTERM, SIGINT,\n"
    "SIGHUP.\n";

/* Unlike other verbs' options: what is not known is passed over. */
static const char *
find_params(int argc, char **argv)
{
    const size_t len = sizeof ARGUMENT - 1;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], ARGUMENT) == 0)
            return i + 1 < argc ? argv[i + 1] : NULL;
        if (strncmp(argv[i], ARGUMENT "=", len + 1) == 0)
            return argv[i] + len + 1;
    }
    return NULL;
}

static int
dispatch_on(struct nni_start *n, int in_fd, int out_fd, struct err *err)
{
    bool *expected = exitguard_set();
    int status = nni_start_run(n, in_fd, out_fd, err);

    exitguard_lift(expected);
    return status;
}

/* ---- NNI 1.0 to 2.7: descriptors ---- */

static int
check_descriptors(struct err *err)
{
    for (int fd = IN_FD; fd <= OUT_FD; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            return err_set(
                err, ERR_USAGE,
                "descriptor %d is not open: NNI's manager opens 3 and 4 for "
                "its dispatcher (from 2.8 on it sets "
                "NNI_TUNER_COMMAND_CHANNEL instead)",
                fd);
    return 0;
}

/* A manager up to 2.7 takes a quiet end of file for nothing at all, and stays
 * RUNNING for ever; what it says ERROR of is a socket that is reset, as one is
 * that is closed with something in it unread.  It writes IN as soon as it has
 * started us, and a ping every five seconds. */
static void
leave_unread(void)
{
    struct pollfd in = {.fd = IN_FD, .events = POLLIN};
    struct stat st;

    if (fstat(IN_FD, &st) == 0 && S_ISSOCK(st.st_mode))
        (void)poll(&in, 1, NNI_GRACE_MS);
}

/* The parent does not keep the answers' descriptor: that the child is gone is
 * to be seen there. */
static int
await(struct nni_child *child, struct err *err)
{
    close(OUT_FD);
    if (nni_child_guard(child, -1, err) != 0) {
        int status = verb_fail("nni", err);

        leave_unread();
        return status;
    }
    if (nni_child_failed(child))
        leave_unread();
    return nni_child_status(child, EXIT_DONE);
}

static int
serve_descriptors(struct nni_start *n, struct err *err)
{
    struct nni_child child;
    int status;

    if (check_descriptors(err) == 0) {
        switch (nni_child_fork(&child, n, err)) {
        case 0:
            status = dispatch_on(n, IN_FD, OUT_FD, err);
            nni_child_leave(&child, status, err);
            return status;
        case 1:
            return await(&child, err);
        }
    }
    journal_say(&n->journal, LOG_ERROR, NULL, "%s", err->text);
    status = verb_fail("nni", err);
    leave_unread();
    return status;
}

/* ---- NNI 2.8 to 3.0: a WebSocket ----
 *
 * The child runs the dispatcher, the parent keeps the connection, whatever
 * becomes of the child, and tells the manager how it ended.  Between them is a
 * socket pair for frames, whose end of file tells either side that the other is
 * gone; and something by which the child says that another dispatcher wants its
 * log. */

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

static int
serve_websocket(struct nni_start *n, struct err *err)
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
        status = dispatch_on(n, pair[1], pair[1], err);
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

static int
serve(struct nni_start *n, struct err *err)
{
    return n->environment.channel != NULL ? serve_websocket(n, err)
                                          : serve_descriptors(n, err);
}

static int
run(int argc, char **argv)
{
    const char *params = find_params(argc, argv);
    char *converted = NULL;
    struct nni_start n;
    struct err err;
    int status;

    err_clear(&err);
    if (params == NULL && old_words_are_there(argc, argv)) {
        params = converted = old_words_convert(argc, argv, &err);
        if (converted == NULL) {
            status = verb_fail("nni", &err);
            leave_unread();
            return status;
        }
    }
    if (params == NULL) {
        err_set(&err, ERR_USAGE,
                ARGUMENT ": missing, expected the configuration as JSON in "
                         "base64");
        return verb_fail("nni", &err);
    }
    nni_start_begin(&n, params);
    status = serve(&n, &err);
    if (n.at_work)
        _exit(status);
    nni_start_end(&n);
    free(converted);
    return status;
}

static const struct option options[] = {
    {"exp_params", OPTION_TEXT, 0, "BASE64"},
};

const struct verb verb_nni = {
    .name = "nni",
    .summary = "serve NNI's experiment manager in its dispatcher's place",
    .help = help,
    .run = run,
    .options = options,
    .n_options = sizeof options / sizeof *options,
};
