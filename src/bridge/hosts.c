/* SPDX-License-Identifier: MIT */
#include "bridge/hosts.h"

#include "core/err.h"

#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

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
