/* SPDX-License-Identifier: MIT */
#include "nni/base64.h"

#include "core/buf.h"
#include "core/err.h"
#include "quote.h"

#include <stdint.h>

/* The value of a character; -1: it is not in the alphabet. */
static int
value_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static int
refuse(const char *text, size_t i, const char *expected, struct err *err)
{
    char byte[QUOTE_MAX];

    return err_set(err, ERR_INPUT, "base64, character %zu: expected %s, not %s",
                   i, expected, quote_bytes(byte, text + i, 1));
}

int
base64_decode(const char *text, size_t len, struct buf *out, struct err *err)
{
    uint32_t bits = 0;
    size_t n = len;

    while (n > 0 && len - n < 2 && text[n - 1] == '=')
        n--;
    for (size_t i = 0; i < n; i++) {
        int value = value_of(text[i]);

        if (value < 0)
            return refuse(text, i,
                          text[i] == '=' ? "'=' only as the last one or two"
                                         : "A-Z, a-z, 0-9, '+' or '/'",
                          err);
        bits = bits << 6 | (uint32_t)value;
        if (i % 4 > 0)
            buf_add_char(out, (char)(bits >> (6 - 2 * (i % 4))));
    }
    if (len % 4 != 0)
        return err_set(err, ERR_INPUT,
                       "base64: %zu characters, expected a multiple of four "
                       "(is its end cut off?)",
                       len);
    return buf_check(out, "base64", err);
}

void
base64_encode(const char *data, size_t len, struct buf *out)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < len; i += 3) {
        uint32_t bits = 0;

        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (i + k < len ? (unsigned char)data[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            buf_add_char(out, i + k > len ? '='
                                          : letters[bits >> (18 - 6 * k) & 63]);
    }
}
