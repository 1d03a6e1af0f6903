/* SPDX-License-Identifier: MIT */
#include "cli/moment.h"

#include "core/err.h"
#include "core/number.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads ".25": *us becomes 250000; returns the end. */
static const char *
read_fraction(const char *p, int64_t *us)
{
    *us = 0;
    if (*p != '.' || !is_digit(p[1]))
        return p;
    p++;
    for (int64_t unit = 100000; is_digit(*p); p++, unit /= 10)
        *us += unit * (*p - '0');
    return p;
}

/* Reads "Z", "+02:00", "-0530": *seconds is how far the zone is ahead of UTC;
 * NULL: it is no zone. */
static const char *
read_zone(const char *p, int *seconds)
{
    int sign = *p == '-' ? -1 : 1, digits[4], n = 0;

    *seconds = 0;
    if (*p == 'Z')
        return p + 1;
    if (*p != '+' && *p != '-')
        return NULL;
    for (p++; n < 4 && (is_digit(*p) || (*p == ':' && n == 2)); p++)
        if (*p != ':')
            digits[n++] = *p - '0';
    if (n != 4 || digits[2] > 5)
        return NULL;
    *seconds = sign * ((digits[0] * 10 + digits[1]) * 3600 +
                       (digits[2] * 10 + digits[3]) * 60);
    return p;
}

/* Reads the part up to the seconds; returns its end; NULL: it is no date. */
static const char *
read_date(const char *text, struct tm *tm)
{
    static const char *const forms[] = {
        "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M",
        "%Y-%m-%d %H:%M",    "%Y-%m-%d",
    };

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const char *end;

        memset(tm, 0, sizeof *tm);
        end = strptime(text, forms[i], tm);
        if (end != NULL)
            return end;
    }
    return NULL;
}

static bool
read_iso(const char *text, int64_t *out)
{
    struct tm tm;
    const char *p = read_date(text, &tm), *zone;
    int64_t us;
    int ahead, day = tm.tm_mday;
    time_t seconds;

    if (p == NULL)
        return false;
    p = read_fraction(p, &us);
    zone = *p == '\0' ? NULL : read_zone(p, &ahead);
    if (*p != '\0' && (zone == NULL || *zone != '\0'))
        return false;
    tm.tm_isdst = -1;
    seconds = zone == NULL ? mktime(&tm) : timegm(&tm) - ahead;
    *out = (int64_t)seconds * 1000000 + us;
    return tm.tm_mday == day; /* false for a 31st of February */
}

int
moment_parse(const char *text, int64_t now_us, int64_t *out, struct err *err)
{
    int64_t ms;

    if (number_parse_duration_ms(text, &ms)) {
        *out = now_us - ms * 1000;
        return 0;
    }
    if (read_iso(text, out))
        return 0;
    return err_set(err, ERR_USAGE,
                   "expected a time such as 2026-11-21T19:30:00 or how long "
                   "ago, such as 10m, not '%.60s'",
                   text);
}
