/* SPDX-License-Identifier: MIT */
#include "bridge/owner.h"

#include "core/number.h"
#include "core/process.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ESTABLISHED 1
#define NAME_MAX_LEN 64

/* ---- the socket ---- */

struct ports {
    unsigned here, there;
};

static unsigned
port_of(const struct sockaddr_storage *a)
{
    if (a->ss_family == AF_INET)
        return ntohs(((const struct sockaddr_in *)(const void *)a)->sin_port);
    if (a->ss_family == AF_INET6)
        return ntohs(((const struct sockaddr_in6 *)(const void *)a)->sin6_port);
    return 0;
}

static bool
read_ports(int socket, struct ports *out)
{
    struct sockaddr_storage here = {0}, there = {0};
    socklen_t n = sizeof here, m = sizeof there;

    if (getsockname(socket, (struct sockaddr *)(void *)&here, &n) != 0 ||
        getpeername(socket, (struct sockaddr *)(void *)&there, &m) != 0)
        return false;
    out->here = port_of(&here);
    out->there = port_of(&there);
    return out->here != 0 && out->there != 0;
}

/* The inode of the connection's other end, in /proc/net/tcp or tcp6.  A server
 * that listens on both address families has us there under either, so ports
 * alone are compared; ours is one that nobody else has with that server.  0:
 * there is none. */
static unsigned long
find_inode(const char *table, const struct ports *p)
{
    FILE *file = fopen(table, "re");
    unsigned long inode, found = 0;
    unsigned local, remote, state;
    char line[512];

    if (file == NULL)
        return 0;
    while (found == 0 && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line,
                   " %*d: %*[0-9A-F]:%x %*[0-9A-F]:%x %x %*s %*s %*s %*u %*u "
                   "%lu",
                   &local, &remote, &state, &inode) == 4 &&
            local == p->there && remote == p->here && state == ESTABLISHED)
            found = inode;
    fclose(file);
    return found;
}

/* ---- who has it ---- */

static bool
has(pid_t pid, const char *socket)
{
    char path[64], link[NAME_MAX_LEN];
    struct dirent *entry;
    bool found = false;
    DIR *dir;

    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    dir = opendir(path);
    if (dir == NULL)
        return false;
    while (!found && (entry = readdir(dir)) != NULL) {
        ssize_t n =
            readlinkat(dirfd(dir), entry->d_name, link, sizeof link - 1);

        link[n > 0 ? n : 0] = '\0';
        found = strcmp(link, socket) == 0;
    }
    closedir(dir);
    return found;
}

/* Looks among our ancestors first: mostly the manager has started us, by way of
 * a shell. */
static pid_t
find_ancestor(const char *socket)
{
    pid_t pid = getppid();

    while (pid > 0 && !has(pid, socket))
        pid = process_parent(pid);
    return pid;
}

static pid_t
find_process(const char *socket)
{
    DIR *dir = opendir("/proc");
    struct dirent *entry;
    pid_t found = 0;
    uint64_t pid;

    if (dir == NULL)
        return 0;
    while (found == 0 && (entry = readdir(dir)) != NULL)
        if (number_parse_u64(entry->d_name, strlen(entry->d_name), &pid) &&
            has((pid_t)pid, socket))
            found = (pid_t)pid;
    closedir(dir);
    return found;
}

int
owner_open(int socket)
{
    char name[NAME_MAX_LEN];
    struct ports ports;
    unsigned long inode;
    pid_t pid;
    int fd;

    if (!read_ports(socket, &ports))
        return -1;
    inode = find_inode("/proc/net/tcp", &ports);
    if (inode == 0)
        inode = find_inode("/proc/net/tcp6", &ports);
    if (inode == 0)
        return -1;
    snprintf(name, sizeof name, "socket:[%lu]", inode);
    pid = find_ancestor(name);
    if (pid == 0)
        pid = find_process(name);
    fd = pid > 0 ? process_open(pid, process_start(pid)) : -1;
    if (fd < 0 || has(pid, name))
        return fd;
    close(fd);
    return -1;
}
