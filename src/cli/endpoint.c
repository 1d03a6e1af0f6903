/* SPDX-License-Identifier: MIT */
#include "cli/endpoint.h"

#include "core/err.h"
#include "core/stop_signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SCHEME "unix:"

static int
read_address(const char *word, struct sockaddr_un *out, struct err *err)
{
    const char *path = word + strlen(SCHEME);

    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strncmp(word, SCHEME, strlen(SCHEME)) != 0 || path[0] == '\0')
        return err_set(err, ERR_USAGE, "expected unix:PATH, got '%.100s'",
                       word);
    if (strlen(path) >= sizeof out->sun_path)
        return err_set(err, ERR_USAGE,
                       "%.200s: a socket's path has at most %zu bytes", path,
                       sizeof out->sun_path - 1);
    memcpy(out->sun_path, path, strlen(path));
    return 0;
}

static int
open_socket(struct err *err)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    return fd < 0 ? err_errno(err, ERR_SYSTEM, "socket") : fd;
}

static int
connect_to(int fd, const struct sockaddr_un *to)
{
    int rc;

    do {
        rc = connect(fd, (const struct sockaddr *)to, sizeof *to);
    } while (rc != 0 && errno == EINTR);
    return rc;
}

int
endpoint_connect(const char *word, struct err *err)
{
    struct sockaddr_un to;
    int fd;

    if (read_address(word, &to, err) != 0 || (fd = open_socket(err)) < 0)
        return err_place(err, "--connect");
    if (connect_to(fd, &to) == 0)
        return fd;
    err_errno(err, ERR_SYSTEM, "--connect: %s: cannot connect", to.sun_path);
    close(fd);
    return -1;
}

/* Others could put a socket of theirs in its place. */
static int
check_folder(const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/');
    char folder[sizeof((struct sockaddr_un *)0)->sun_path + 1] = ".";
    struct stat st;

    if (slash != NULL)
        snprintf(folder, sizeof folder, "%.*s",
                 slash == path ? 1 : (int)(slash - path), path);
    if (stat(folder, &st) != 0)
        return err_errno(err, ERR_SYSTEM, "%s", folder);
    if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return err_set(err, ERR_SYSTEM,
                       "%s: others may write to it, expected a folder that "
                       "only you can write to",
                       folder);
    return 0;
}

/* A socket that nobody listens on any more is left from before. */
static int
remove_left(const struct sockaddr_un *at, struct err *err)
{
    struct stat st;
    int fd, rc;

    if (lstat(at->sun_path, &st) != 0)
        return errno == ENOENT ? 0
                               : err_errno(err, ERR_SYSTEM, "%s", at->sun_path);
    if (!S_ISSOCK(st.st_mode))
        return err_set(err, ERR_SYSTEM, "%s: is there already, and no socket",
                       at->sun_path);
    fd = open_socket(err);
    if (fd < 0)
        return -1;
    rc = connect_to(fd, at);
    close(fd);
    if (rc == 0)
        return err_set(err, ERR_SYSTEM, "%s: somebody else listens there",
                       at->sun_path);
    return unlink(at->sun_path) == 0
               ? 0
               : err_errno(err, ERR_SYSTEM, "%s", at->sun_path);
}

static int
listen_at(const struct sockaddr_un *at, struct err *err)
{
    int fd = open_socket(err), rc;
    mode_t before;

    if (fd < 0)
        return -1;
    before = umask(0177);
    rc = bind(fd, (const struct sockaddr *)at, sizeof *at);
    umask(before);
    if (rc == 0 && listen(fd, 1) == 0)
        return fd;
    err_errno(err, ERR_SYSTEM, "%s: cannot listen", at->sun_path);
    if (rc == 0)
        unlink(at->sun_path);
    close(fd);
    return -1;
}

/* The first client. */
static int
await(int fd, int signals, int *signal_number, struct err *err)
{
    struct signalfd_siginfo info;
    struct pollfd fds[] = {{.fd = fd, .events = POLLIN},
                           {.fd = signals, .events = POLLIN}};
    int client;

    for (;;) {
        if (poll(fds, 2, -1) < 0)
            continue; /* EINTR */
        if (fds[1].revents != 0 &&
            read(signals, &info, sizeof info) == sizeof info) {
            *signal_number = (int)info.ssi_signo;
            return -1;
        }
        client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
        if (client >= 0)
            return client;
        if (errno != EINTR && errno != ECONNABORTED && errno != EAGAIN)
            return err_errno(err, ERR_SYSTEM, "accept");
    }
}

int
endpoint_listen(const char *word, int *signal_number, struct err *err)
{
    int fd = -1, signals = -1, client = -1;
    struct sockaddr_un at;

    *signal_number = 0;
    if (read_address(word, &at, err) == 0 &&
        check_folder(at.sun_path, err) == 0 && remove_left(&at, err) == 0 &&
        (signals = stop_signals_open(err)) >= 0 &&
        (fd = listen_at(&at, err)) >= 0) {
        client = await(fd, signals, signal_number, err);
        unlink(at.sun_path);
        close(fd);
    }
    if (signals >= 0)
        close(signals);
    return client >= 0 || *signal_number != 0 ? client
                                              : err_place(err, "--listen");
}
