/* SPDX-License-Identifier: MIT */
#include "quote.h"

#define SHOWN_MAX 40

const char *
quote_bytes(char out[QUOTE_MAX], const char *bytes, size_t len)
{
    static const char hex[] = "0123456789abcdef";
    char *p = out;

    *p++ = '\'';
    for (size_t i = 0; i < len && i < SHOWN_MAX; i++) {
        unsigned char c = (unsigned char)bytes[i];

        if (c >= ' ' && c < 127 && c != '\'') {
            *p++ = (char)c;
            continue;
        }
        *p++ = '\\';
        *p++ = 'x';
        *p++ = hex[c >> 4];
        *p++ = hex[c & 15];
    }
    *p++ = '\'';
    for (int i = 0; len > SHOWN_MAX && i < 3; i++)
        *p++ = '.';
    *p = '\0';
    return out;
}
