/* SPDX-License-Identifier: MIT */
#include "bridge/address.h"

#include "core/err.h"
#include "core/number.h"

#include <netdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#define SCHEME "ws://"

/* Where the host ends; *from and *len are it, without brackets. */
static const char *
find_host(const char *text, const char **from, size_t *len)
{
    const char *end;

    if (*text != '[') {
        *from = text;
        *len = strcspn(text, ":/?#");
        return text + *len;
    }
    end = text + 1 + strcspn(text + 1, "]/?#[@");
    if (*end != ']')
        return NULL;
    *from = text + 1;
    *len = (size_t)(end - *from);
    return end + 1;
}

static int
set_port(struct address *a, const char *text, size_t len)
{
    uint64_t port = 80;

    if (len > 0 &&
        (*text != ':' || !number_parse_u64(text + 1, len - 1, &port) ||
         port == 0 || port > 65535))
        return -1;
    snprintf(a->port, sizeof a->port, "%u", (unsigned)port);
    return 0;
}

/* Whether a text can stand in a request's head without ending its line. */
static int
is_plain(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text <= ' ' || *text == 0x7f)
            return 0;
    return 1;
}

int
address_parse(struct address *a, const char *url, struct err *err)
{
    const char *host, *rest, *path;
    size_t len;

    if (strncmp(url, SCHEME, strlen(SCHEME)) != 0)
        return err_set(err, ERR_CONFIG,
                       "'%.200s': expected " SCHEME "HOST:PORT/PATH", url);
    if (!is_plain(url))
        return err_set(err, ERR_CONFIG,
                       "'%.200s': has spaces or control characters", url);
    rest = find_host(url + strlen(SCHEME), &host, &len);
    if (rest == NULL || len == 0 || len >= sizeof a->host)
        return err_set(err, ERR_CONFIG,
                       "'%.200s': expected a host after " SCHEME, url);
    memcpy(a->host, host, len);
    a->host[len] = '\0';
    path = rest + strcspn(rest, "/?#");
    if (set_port(a, rest, (size_t)(path - rest)) != 0)
        return err_set(err, ERR_CONFIG,
                       "'%.200s': expected a port from 1 to 65535 after the "
                       "host",
                       url);
    if (strlen(path) + 2 > sizeof a->path)
        return err_set(err, ERR_CONFIG,
                       "'%.200s...': the path has over %d bytes", url,
                       ADDRESS_PATH_MAX);
    snprintf(a->path, sizeof a->path, "%s%s", *path == '/' ? "" : "/", path);
    a->path[strcspn(a->path, "#")] = '\0';
    snprintf(a->name, sizeof a->name,
             strchr(a->host, ':') == NULL ? "%s:%s" : "[%s]:%s", a->host,
             a->port);
    return 0;
}

/* ---- the numbers that a host's name stands for ---- */

static void
add(struct hosts *h, const char *text)
{
    for (size_t i = 0; i < h->n; i++)
        if (strcmp(h->text[i], text) == 0)
            return;
    if (h->n < HOSTS_MAX)
        snprintf(h->text[h->n++], HOSTS_TEXT_MAX, "%s", text);
}

static int
look_up(struct hosts *h, const char *name, struct err *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    int rc = getaddrinfo(name, NULL, &hints, &found);

    if (rc != 0)
        return err_set(err, ERR_CONFIG, "host '%.200s': %s", name,
                       gai_strerror(rc));
    for (const struct addrinfo *a = found; a != NULL; a = a->ai_next) {
        char text[HOSTS_TEXT_MAX];

        if (getnameinfo(a->ai_addr, a->ai_addrlen, text, sizeof text, NULL, 0,
                        NI_NUMERICHOST) == 0)
            add(h, text);
    }
    freeaddrinfo(found);
    return 0;
}

int
hosts_find(struct hosts *h, const char *name, struct err *err)
{
    *h = (struct hosts){.n = 0};
    if (strcasecmp(name, "localhost") == 0) {
        add(h, "127.0.0.1");
        add(h, "::1");
    } else if (look_up(h, name, err) != 0) {
        return -1;
    }
    if (h->n == 0)
        return err_set(err, ERR_CONFIG, "host '%.200s': has no address", name);
    return 0;
}
