/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "bridge/address.h"
#include "core/err.h"

#include <stddef.h>
#include <string.h>

TEST(bridge_address_has_all_parts)
{
    static const struct {
        const char *url, *host, *port, *name, *path;
    } cases[] = {
        {"ws://localhost:8300/tuner", "localhost", "8300", "localhost:8300",
         "/tuner"},
        {"ws://localhost:8300/pre/fix/tuner", "localhost", "8300",
         "localhost:8300", "/pre/fix/tuner"},
        {"ws://[::1]:80/tuner?a=b#c", "::1", "80", "[::1]:80", "/tuner?a=b"},
        {"ws://h", "h", "80", "h:80", "/"},
        {"ws://h:65535?q", "h", "65535", "h:65535", "/?q"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct address a;
        struct err err = {0};

        CHECK(address_parse(&a, cases[i].url, &err) == 0);
        CHECK_STR(a.host, cases[i].host);
        CHECK_STR(a.port, cases[i].port);
        CHECK_STR(a.name, cases[i].name);
        CHECK_STR(a.path, cases[i].path);
    }
}

#define URL "expected ws://HOST:PORT/PATH"
#define HOST "expected a host"
#define PORT "expected a port from 1 to 65535"

TEST(bridge_address_names_what_is_wrong)
{
    static const struct {
        const char *url, *said;
    } cases[] = {
        {"", "'': expected ws://HOST:PORT/PATH"},
        {"http://h/", URL},
        {"wss://h/", URL},
        {"ws://", HOST},
        {"ws://:80/", HOST},
        {"ws:///tuner", HOST},
        {"ws://[::1/tuner", HOST},
        {"ws://[]:1/", HOST},
        {"ws://[a/b]:1/", HOST},
        {"ws://h:0/", PORT},
        {"ws://h:65536/", PORT},
        {"ws://h:/", PORT},
        {"ws://h:8x/", PORT},
        {"ws://[::1]8/", PORT},
        {"ws://h:1/a b", "has spaces"},
        {"ws://h:1/a\r\nHost: x", "has spaces or control"},
    };
    struct address a;
    struct err err;
    char text[4000];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_EQ(address_parse(&a, cases[i].url, &err), -1);
        CHECK_HAS(err.text, cases[i].said);
    }
    memset(text, 'x', sizeof text);
    memcpy(text, "ws://h/", 7);
    text[sizeof text - 1] = '\0';
    CHECK_EQ(address_parse(&a, text, &err), -1);
    CHECK_HAS(err.text, "the path has over 2048 bytes");
    text[6] = 'x';
    CHECK_EQ(address_parse(&a, text, &err), -1);
    CHECK_HAS(err.text, HOST);
}

TEST(bridge_hosts_of_localhost_are_both)
{
    struct hosts h;
    char name[80];
    struct err err = {0};

    CHECK(hosts_find(&h, "localhost", &err) == 0);
    CHECK_EQ(h.n, 2);
    CHECK_STR(h.text[0], "127.0.0.1");
    CHECK_STR(h.text[1], "::1");
    CHECK(hosts_find(&h, "127.0.0.2", &err) == 0);
    CHECK_EQ(h.n, 1);
    CHECK_STR(h.text[0], "127.0.0.2");
    /* Longer than a label may be: nobody is asked. */
    memset(name, 'x', 70);
    memcpy(name + 70, ".invalid", 9);
    CHECK_EQ(hosts_find(&h, name, &err), -1);
    CHECK_HAS(err.text, "host 'xxx");
}
