/* SPDX-License-Identifier: MIT */
#include "core/bytes.h"

#include "core/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define BYTES_LIMIT 0x1p56

static const char units[] = "kmgt";

/* The power of 2 that a unit stands for; -1: it is no unit. */
static int
shift_of(const char *unit)
{
    static const char *const tails[] = {"", "b", "ib"};
    const char *at;

    if (*unit == '\0' || strcasecmp(unit, "b") == 0)
        return 0;
    at = strchr(units, *unit | 0x20);
    for (size_t i = 0; at != NULL && i < sizeof tails / sizeof *tails; i++)
        if (strcasecmp(unit + 1, tails[i]) == 0)
            return 10 * (int)(at - units + 1);
    return -1;
}

bool
bytes_parse(const char *text, uint64_t *out)
{
    size_t len = strspn(text, "0123456789.");
    const char *unit = text + len + strspn(text + len, " ");
    int shift = shift_of(unit);
    double value;

    if (len == 0 || shift < 0 || !number_parse(text, len, &value))
        return false;
    value = ceil(ldexp(value, shift));
    if (!(value < BYTES_LIMIT))
        return false;
    *out = (uint64_t)value;
    return true;
}

const char *
bytes_format(uint64_t bytes, char out[BYTES_TEXT_MAX])
{
    static const char *const names[] = {"KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes / 1024;
    size_t unit = 0;

    if (bytes < 1024) {
        snprintf(out, BYTES_TEXT_MAX, "%u bytes", (unsigned)bytes);
        return out;
    }
    for (; value >= 1024 && unit + 1 < sizeof names / sizeof *names; unit++)
        value /= 1024;
    snprintf(out, BYTES_TEXT_MAX,
             value < 100 && unit > 0 ? "%.1f %s" : "%.0f %s", value,
             names[unit]);
    return out;
}
