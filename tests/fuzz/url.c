/* SPDX-License-Identifier: MIT */
/* The address of a manager: what is accepted fits its parts, and can stand in
 * the head of a request; of what is refused one line tells. */
#include "fuzz.h"

#include "bridge/address.h"
#include "core/err.h"

#include <stdlib.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *url = malloc(size + 1);
    struct err err = {0};
    struct address a;

    memcpy(url, data, size);
    url[size] = '\0';
    if (address_parse(&a, url, &err) != 0) {
        MUST(err.code == ERR_CONFIG && err.text[0] != '\0');
    } else {
        int port = atoi(a.port);

        MUST(a.host[0] != '\0' && strlen(a.host) < sizeof a.host);
        MUST(port >= 1 && port <= 65535 && a.path[0] == '/');
        MUST(strpbrk(a.path, "\r\n #") == NULL);
        MUST(strpbrk(a.name, "\r\n /?#") == NULL);
        MUST(strstr(url, a.host) != NULL);
    }
    free(url);
    return 0;
}
