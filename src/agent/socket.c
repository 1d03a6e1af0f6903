/* SPDX-License-Identifier: MIT */
#include "agent/socket.h"

#include "core/err.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int
address_of(struct sockaddr_un *a, const char *path, struct err *err)
{
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof a->sun_path)
        return err_set(err, ERR_SYSTEM,
                       "%s: longer than the %zu bytes of a socket's path: "
                       "choose a shorter TMPDIR",
                       path, sizeof a->sun_path - 1);
    memcpy(a->sun_path, path, strlen(path));
    return 0;
}

static bool
is_ours(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof peer;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
           peer.uid == geteuid();
}

int
socket_listen(const char *folder, struct err *err)
{
    struct sockaddr_un a;
    char path[sizeof a.sun_path + 1];
    int fd;

    snprintf(path, sizeof path, "%s/" SOCKET_NAME, folder);
    if (address_of(&a, path, err) != 0)
        return -1;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof a) == 0 &&
        chmod(path, 0600) == 0 && listen(fd, 8) == 0)
        return fd;
    err_errno(err, ERR_SYSTEM, "%s: cannot listen", path);
    if (fd >= 0)
        close(fd);
    return -1;
}

int
socket_accept(int fd)
{
    int peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (peer < 0 || is_ours(peer))
        return peer;
    close(peer);
    return -1;
}

int
socket_connect(const char *path, struct err *err)
{
    struct sockaddr_un a;
    int fd;

    if (address_of(&a, path, err) != 0)
        return -1;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) != 0)
        err_errno(err, ERR_SYSTEM, "%s: no agent can be reached there", path);
    else if (!is_ours(fd))
        err_set(err, ERR_SYSTEM, "%s: its agent is another user's", path);
    else
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}
