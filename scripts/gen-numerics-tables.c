/* SPDX-License-Identifier: MIT */

/* gen-numerics-tables - write the constant tables of src/numerics.
 *
 *     cc -O2 -o gen scripts/gen-numerics-tables.c
 *     for t in exp log erfcx tail; do ./gen $t >src/numerics/${t}_table.h; done
 *
 * DESIGN: everything is computed in __float128 (113 bits) from + - * / alone,
 * so the tables do not depend on any mathematical library, and is rounded
 * once at the end: a value becomes hi + lo, each the nearest double.
 *
 * exp and ln are the Taylor series and Newton's method on it.  The scaled
 * complementary error function erfcx(y) = exp(y^2) erfc(y) is expanded about
 * each centre c: its Taylor coefficients obey
 *     (n + 1) a[n+1] = 2 c a[n] + 2 a[n-1],   a[-1] = -1/sqrt(pi),
 * of which they are the minimal solution, so the ratios are run downwards
 * (W. Gautschi, "Recursive computation of the repeated integrals of the
 * error function", Math. Comp. 15, 1961).
 *
 * The tail of the normal distribution, Q(c) = exp(-c^2/2) erfcx(c/sqrt 2)/2,
 * has the coefficients -(-1)^n He_n(c) exp(-c^2/2) / ((n + 1)! sqrt(2 pi)). */

#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef __float128 quad; /* a scalar: the house rule is about structs */

enum {
    EXP_ROWS = 64,
    LOG_ROWS = 128,
    ERFCX_ROWS = 39,
    ERFCX_DEGREE = 15,
    MILLER_START = 200000,
    TAIL_ROWS = 161,
    TAIL_DEGREE = 10
};

static const quad ln2 = 0.693147180559945309417232121458176568075500Q;
static const quad inv_sqrt_pi = 0.564189583547756286948079451560772585844050Q;

static const quad sqrt_half = 0.707106781186547524400844362104849039Q;

static quad
quad_exp(quad x)
{
    quad sum = 1, term = 1;

    for (int n = 1; n < 60; n++) {
        term = term * x / n;
        sum += term;
    }
    return sum;
}

static quad
quad_log(quad x)
{
    quad y = 0;

    for (int i = 0; i < 12; i++)
        y += x * quad_exp(-y) - 1;
    return y;
}

static double
from_bits(uint64_t bits)
{
    double x;

    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* Nearest multiple of 2^-42: sums of these with e * ln2_hi stay exact. */
static double
head_of_log(quad x)
{
    double scaled = (double)(x * 4398046511104.0);
    int64_t n = (int64_t)(scaled + (scaled < 0 ? -0.5 : 0.5));

    return (double)n / 4398046511104.0;
}

static void
print_exp(void)
{
    printf("/* {hi, lo} of 2^(j/64). */\n"
           "static const struct exp_row exp_table[%d] = {\n",
           EXP_ROWS);
    for (int j = 0; j < EXP_ROWS; j++) {
        quad v = quad_exp(ln2 * j / EXP_ROWS);
        double hi = (double)v;

        printf("    {%a, %a},\n", hi, (double)(v - hi));
    }
    printf("};\n");
}

static void
print_log(void)
{
    const uint64_t origin = 0x3fe6000000000000u;

    printf(
        "/* {c, hi, lo}: c has nine fraction bits and is near 1/z in the\n"
        " * middle of interval i; hi + lo = -ln(c), hi a multiple of 2^-42.\n"
        " */\n"
        "static const struct log_row log_table[%d] = {\n",
        LOG_ROWS);
    for (uint64_t i = 0; i < LOG_ROWS; i++) {
        double low = from_bits(origin + (i << 45));
        double high = from_bits(origin + ((i + 1) << 45));
        double c = (double)(int)(1024 / (low + high) + 0.5) / 512;
        quad v;
        double hi;

        if (low == 1 || high == 1)
            c = 1; /* log is then as exact as r itself near 1 */
        v = -quad_log(c);
        hi = head_of_log(v);
        printf("    {%a, %a, %a},\n", c, hi, (double)(v - hi));
    }
    printf("};\n");
}

static void
taylor_of_erfcx(quad c, quad a[ERFCX_DEGREE + 1])
{
    quad ratio = 0; /* -a[n] / a[n-1] */
    quad ratios[ERFCX_DEGREE + 1];
    quad value = inv_sqrt_pi;

    for (int n = MILLER_START; n >= 0; n--) {
        ratio = 2 / (2 * c + (n + 1) * ratio);
        if (n <= ERFCX_DEGREE)
            ratios[n] = ratio;
    }
    for (int n = 0; n <= ERFCX_DEGREE; n++) {
        value *= n == 0 ? ratios[n] : -ratios[n];
        a[n] = value;
    }
}

static void
print_erfcx(void)
{
    printf("/* Row i covers 1 + y in [2^(i/8) (1 + i%%8/8), one eighth more);\n"
           " * its members are the centre, the first two Taylor coefficients\n"
           " * as hi and lo, and the next %d. */\n"
           "static const struct erfcx_row erfcx_table[%d] = {\n",
           ERFCX_DEGREE - 1, ERFCX_ROWS);
    for (int i = 0; i < ERFCX_ROWS; i++) {
        double centre = (1 << i / 8) * (1 + (i % 8 + 0.5) / 8) - 1;
        quad a[ERFCX_DEGREE + 1];

        taylor_of_erfcx(centre, a);
        printf("    {%a,\n", centre);
        for (int n = 0; n < 2; n++)
            printf("     %a, %a,\n", (double)a[n],
                   (double)(a[n] - (double)a[n]));
        printf("     {");
        for (int n = 2; n <= ERFCX_DEGREE; n++)
            printf("%a%s", (double)a[n],
                   n == ERFCX_DEGREE ? "}},\n"
                   : n % 3 == 1      ? ",\n      "
                                     : ", ");
    }
    printf("};\n");
}

/* Q(c + h) in powers of h. */
static void
taylor_of_tail(double c, quad a[TAIL_DEGREE + 1])
{
    quad part = quad_exp(-(quad)c * c / 2 / 64), density = 1;
    quad scaled[ERFCX_DEGREE + 1] = {1};
    quad last = 0, here = 1, factorial = 1;

    for (int i = 0; i < 64; i++)
        density *= part;
    if (c > 0)
        taylor_of_erfcx(c * sqrt_half, scaled);
    a[0] = density * scaled[0] / 2;
    for (int n = 0; n < TAIL_DEGREE; n++) {
        quad next = c * here - n * last;

        factorial *= n + 1;
        a[n + 1] = (n % 2 == 0 ? -1 : 1) * density * inv_sqrt_pi * sqrt_half *
                   here / factorial;
        last = here;
        here = next;
    }
}

static void
print_tail(void)
{
    printf("/* Row i: the Taylor series of Phi(-x) about x = i/16. */\n"
           "static const struct tail_row tail_table[%d] = {\n",
           TAIL_ROWS);
    for (int i = 0; i < TAIL_ROWS; i++) {
        quad a[TAIL_DEGREE + 1];

        taylor_of_tail(i / 16.0, a);
        printf("    {{");
        for (int n = 0; n <= TAIL_DEGREE; n++)
            printf("%a%s", (double)a[n],
                   n == TAIL_DEGREE ? "}},\n"
                   : n % 3 == 2     ? ",\n      "
                                    : ", ");
    }
    printf("};\n");
}

static const struct table {
    const char *name;
    const char *guard;
    const char *row;
    void (*print)(void);
} tables[] = {
    {"exp", "NUMERICS_EXP_TABLE_H", "double hi, lo;", print_exp},
    {"log", "NUMERICS_LOG_TABLE_H", "double c, hi, lo;", print_log},
    {"erfcx", "NUMERICS_ERFCX_TABLE_H",
     "double centre, a0, a0_lo, a1, a1_lo, a[14];", print_erfcx},
    {"tail", "NUMERICS_TAIL_TABLE_H", "double a[11];", print_tail},
};

int
main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof(tables) / sizeof(*tables); i++) {
        const struct table *t = &tables[i];

        if (strcmp(argv[1], t->name) != 0)
            continue;
        printf("/* SPDX-License-Identifier: MIT */\n\n"
               "/* Written by scripts/gen-numerics-tables.c %s; do not edit."
               " */\n/* clang-format off */\n"
               "#ifndef %s\n#define %s\n\nstruct %s_row {\n    %s\n};\n\n",
               t->name, t->guard, t->guard, t->name, t->row);
        t->print();
        printf("\n#endif\n");
        return 0;
    }
    fprintf(stderr, "usage: gen-numerics-tables exp|log|erfcx|tail\n");
    return 2;
}
