/* SPDX-License-Identifier: MIT */
#include "core/number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* snprintf and strtod obey the locale's decimal point.  tunepipe never calls
 * setlocale(), but a plugin might: both directions mend the point. */

/* Of a value above 0: 15 digits hold whatever fewer would, but for subnormals.
 */
static size_t
print_digits(double value, char digits[20], int *exponent)
{
    char text[NUMBER_TEXT_MAX];
    size_t n = 0;
    const char *p;

    for (int precision = value < 0x1p-1022 ? 0 : 14; precision <= 16;
         precision++) {
        snprintf(text, sizeof text, "%.*e", precision, value);
        if (strtod(text, NULL) == value)
            break;
    }
    for (p = text; *p != 'e' && n < 18; p++)
        if (isdigit((unsigned char)*p))
            digits[n++] = *p;
    p = strchr(text, 'e');
    *exponent = p == NULL ? 0 : atoi(p + 1) + 1;
    return n;
}

#ifdef __SIZEOF_INT128__
/* What print_digits() gives, in whole numbers, which takes a tenth of the time;
 * 0: out of range.  The value is m * 2^-e, and with k digits behind the point
 * m * 5^k units of 2^(e - k): below 2^105.  The next double is 5^k units
 * further. */
static size_t
count_digits(double value, char digits[20], int *exponent)
{
    static const uint64_t ends[] = {1000000000000000, 10000000000000000,
                                    100000000000000000};
    unsigned __int128 exact, unit, near, off;
    uint64_t m, five, number;
    int e, at, least, shift, n = 15;

    if (value < 1e-5 || value >= 1e14)
        return 0;
    m = (uint64_t)(frexp(value, &e) * 0x1p53);
    least = at = (int)floor((e - 1) * 0.30103) + 1; /* or it is one more */
    e = 53 - e;
    for (;;) {
        five = 1;
        for (int k = n - at; k > 0; k--)
            five *= 5;
        exact = (unsigned __int128)m * five;
        shift = e - (n - at);
        unit = (unsigned __int128)1 << shift;
        number = (uint64_t)((exact + unit / 2) >> shift);
        near = (unsigned __int128)number << shift;
        off = near > exact ? near - exact : exact - near;
        if (off == unit / 2 && number % 2 == 1) /* half way: to the even one */
            number--, near -= unit;
        if (number >= ends[n - 15])
            at++;
        else if (n == 17 ||
                 off * (m == 1ull << 52 && near < exact ? 4 : 2) < five)
            break; /* no other double is as near */
        else
            n++, at = least;
    }
    *exponent = at;
    return (size_t)(number_write_u64(digits, number) - digits);
}
#else
static size_t
count_digits(double value, char digits[20], int *exponent)
{
    (void)value, (void)digits, (void)exponent;
    return 0;
}
#endif

/* Shortest digits of the value, which is above 0, and its decimal exponent, so
 * that it is 0.DIGITS * 10^*exponent. */
static size_t
shortest_digits(double value, char digits[20], int *exponent)
{
    size_t n = count_digits(value, digits, exponent);

    if (n == 0)
        n = print_digits(value, digits, exponent);
    while (n > 1 && digits[n - 1] == '0')
        n--;
    digits[n] = '\0';
    return n;
}

static size_t
put_scientific(char *out, const char *digits, size_t n, int exponent)
{
    int e = exponent - 1;

    return (size_t)snprintf(out, NUMBER_TEXT_MAX - 1, "%c%s%se%c%02d",
                            digits[0], n > 1 ? "." : "", digits + 1,
                            e < 0 ? '-' : '+', abs(e));
}

static size_t
put_plain(char *out, const char *digits, size_t n, int exponent)
{
    char *p = out;

    if (exponent <= 0)
        *p++ = '0';
    for (int i = 0; i < exponent; i++)
        *p++ = (size_t)i < n ? digits[i] : '0';
    *p++ = '.';
    for (int i = exponent; i < 0; i++)
        *p++ = '0';
    if (exponent >= (int)n)
        *p++ = '0';
    for (size_t i = exponent > 0 ? (size_t)exponent : 0; i < n; i++)
        *p++ = digits[i];
    *p = '\0';
    return (size_t)(p - out);
}

size_t
number_format(double value, char out[NUMBER_TEXT_MAX])
{
    char digits[20];
    size_t n, sign = 0;
    int exponent;

    if (isnan(value))
        return (size_t)snprintf(out, NUMBER_TEXT_MAX, "NaN");
    if (signbit(value))
        out[sign++] = '-';
    if (isinf(value))
        return sign +
               (size_t)snprintf(out + sign, NUMBER_TEXT_MAX - sign, "Infinity");
    if (value == 0)
        return sign +
               (size_t)snprintf(out + sign, NUMBER_TEXT_MAX - sign, "0.0");
    n = shortest_digits(fabs(value), digits, &exponent);
    if (exponent - 1 < -4 || exponent - 1 >= 16)
        return sign + put_scientific(out + sign, digits, n, exponent);
    return sign + put_plain(out + sign, digits, n, exponent);
}

static bool
is_decimal(const char *text, size_t len)
{
    size_t i = 0, digits = 0;

    if (i < len && (text[i] == '-' || text[i] == '+'))
        i++;
    for (; i < len && isdigit((unsigned char)text[i]); i++)
        digits++;
    if (i < len && text[i] == '.')
        for (i++; i < len && isdigit((unsigned char)text[i]); i++)
            digits++;
    if (digits == 0)
        return false;
    if (i < len && (text[i] == 'e' || text[i] == 'E')) {
        i++;
        if (i < len && (text[i] == '-' || text[i] == '+'))
            i++;
        if (i == len)
            return false;
        while (i < len && isdigit((unsigned char)text[i]))
            i++;
    }
    return i == len;
}

/* A whole number below 2^53 and a power of ten up to 22 are exact in a double,
 * so one division is correctly rounded (Clinger 1990). */
static bool
parse_short(const char *text, size_t len, double *out)
{
    static const double powers[] = {
        1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    int64_t mantissa = 0;
    size_t i = 0, digits = 0, decimals = 0;
    bool negative = len > 0 && text[0] == '-', point = false;

    for (i = negative; i < len; i++) {
        if (text[i] == '.' && !point) {
            point = true;
            continue;
        }
        if (!isdigit((unsigned char)text[i]) || decimals == 22 ||
            mantissa >= ((int64_t)1 << 53) / 10)
            return false;
        mantissa = mantissa * 10 + (text[i] - '0');
        decimals += point;
        digits++;
    }
    if (digits == 0)
        return false;
    *out = (double)mantissa / powers[decimals];
    if (negative)
        *out = -*out;
    return true;
}

bool
number_parse(const char *text, size_t len, double *out)
{
    char copy[512];
    char *end, *point;

    if (parse_short(text, len, out))
        return true;
    if (len == 0 || len >= sizeof copy || !is_decimal(text, len))
        return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    *out = strtod(copy, &end);
    point = strchr(copy, '.');
    if (*end != '\0' && point != NULL) { /* the locale's point is a comma */
        *point = ',';
        *out = strtod(copy, &end);
    }
    return *end == '\0' && isfinite(*out);
}

bool
number_parse_u64(const char *text, size_t len, uint64_t *out)
{
    uint64_t v = 0;

    if (len == 0)
        return false;
    for (size_t i = 0; i < len; i++) {
        unsigned digit = (unsigned)(text[i] - '0');

        if (digit > 9 || (i >= 19 && v > (UINT64_MAX - digit) / 10))
            return false;
        v = v * 10 + digit;
    }
    *out = v;
    return true;
}

bool
number_parse_duration_ms(const char *text, int64_t *out_ms)
{
    static const struct {
        char unit;
        double ms;
    } units[] = {{'s', 1e3}, {'m', 6e4}, {'h', 3.6e6}, {'d', 8.64e7}};
    size_t len = strlen(text);
    double value, ms = 1e3;

    while (len > 0 && text[len - 1] == ' ')
        len--;
    for (size_t i = 0; len > 0 && i < sizeof units / sizeof *units; i++)
        if (text[len - 1] == units[i].unit) {
            ms = units[i].ms;
            len--;
            break;
        }
    while (len > 0 && text[len - 1] == ' ')
        len--;
    if (!number_parse(text, len, &value) || value < 0 ||
        value * ms > 8.64e7 * 10000)
        return false;
    *out_ms = (int64_t)ceil(value * ms);
    return true;
}

bool
number_parse_size(const char *text, uint64_t *out)
{
    static const char units[] = "kMG";
    size_t len = strlen(text);
    const char *unit = len > 0 ? strchr(units, text[len - 1]) : NULL;
    unsigned shift = unit == NULL ? 0 : 10 * (unsigned)(unit - units + 1);
    uint64_t value;

    if (!number_parse_u64(text, len - (unit != NULL), &value) ||
        value > (UINT64_MAX >> 8) >> shift)
        return false;
    *out = value << shift;
    return true;
}

/* Two digits a division: every record of a log has three numbers. */
char *
number_write_u64(char *p, uint64_t v)
{
    static const char pairs[] = "00010203040506070809"
                                "10111213141516171819"
                                "20212223242526272829"
                                "30313233343536373839"
                                "40414243444546474849"
                                "50515253545556575859"
                                "60616263646566676869"
                                "70717273747576777879"
                                "80818283848586878889"
                                "90919293949596979899";
    char digits[20];
    char *first = digits + sizeof digits;
    size_t len;

    for (; v >= 100; v /= 100)
        memcpy(first -= 2, pairs + v % 100 * 2, 2);
    if (v >= 10)
        memcpy(first -= 2, pairs + v * 2, 2);
    else
        *--first = (char)('0' + v);
    len = (size_t)(digits + sizeof digits - first);
    memcpy(p, first, len);
    return p + len;
}
