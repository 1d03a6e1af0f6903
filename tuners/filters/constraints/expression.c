/* SPDX-License-Identifier: MIT */
#include "expression.h"

#include "elementary.h"
#include "tunepipe/shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
expression_fini(struct expression *e)
{
    free(e->source);
    free(e->ops);
    free(e->dims);
    *e = (struct expression){0};
}

static bool
is_active(const struct tp_space *space, const double *x, size_t i)
{
    const struct tp_dim *d = TP_DIM(space, i);

    while (d->parent != TP_NO_PARENT) {
        if (x[d->parent] != (double)d->parent_choice)
            return false;
        d = TP_DIM(space, d->parent);
    }
    return true;
}

static struct tp_element
value_of(const struct tp_host *host, const struct tp_space *space, size_t i,
         const double *x)
{
    struct tp_element v = {sizeof v, TP_ELEMENT_NUMBER, 0, NULL};

    if (TP_DIM(space, i)->kind == TP_CHOICE)
        tp_element_of(host, i, (uint64_t)x[i], &v);
    else
        v.number = tp_value_of(host, i, x[i]);
    return v;
}

static bool
are_equal(const struct tp_element *a, const struct tp_element *b)
{
    bool texts = a->text != NULL && b->text != NULL;

    if (texts)
        return strcmp(a->text, b->text) == 0;
    return a->kind == b->kind && a->kind != TP_ELEMENT_OTHER &&
           a->text == b->text && a->number == b->number;
}

static double
floor_of(double v)
{
    double whole = num_round_even(v);

    return whole > v ? whole - 1 : whole;
}

static double
remainder_of(double a, double b)
{
    double r = a - b * floor_of(a / b);

    return r == b ? 0 : r;
}

/* The operators of one number, and of two. */
static double
apply_1(enum op_code code, double v)
{
    if (code == OP_NEGATE)
        return -v;
    if (code == OP_NOT)
        return v == 0;
    if (code == OP_ABS)
        return v < 0 ? -v : v;
    if (code == OP_FLOOR)
        return floor_of(v);
    if (code == OP_CEIL)
        return -floor_of(-v);
    if (code == OP_ROUND)
        return num_round_even(v);
    if (code == OP_SQRT)
        return num_sqrt(v);
    return code == OP_EXP ? num_exp(v) : num_log(v);
}

static double
arithmetic(enum op_code code, double a, double b)
{
    if (code == OP_ADD)
        return a + b;
    if (code == OP_SUBTRACT)
        return a - b;
    if (code == OP_MULTIPLY)
        return a * b;
    if (code == OP_DIVIDE)
        return a / b;
    if (code == OP_REMAINDER)
        return remainder_of(a, b);
    if (code == OP_POWER)
        return num_pow(a, b);
    if (code == OP_MIN)
        return b < a ? b : a;
    return b > a ? b : a;
}

static bool
relation(enum op_code code, const struct tp_element *a,
         const struct tp_element *b)
{
    if (code == OP_LESS)
        return a->number < b->number;
    if (code == OP_LESS_EQUAL)
        return a->number <= b->number;
    if (code == OP_GREATER)
        return a->number > b->number;
    if (code == OP_GREATER_EQUAL)
        return a->number >= b->number;
    if (code == OP_AND)
        return a->number != 0 && b->number != 0;
    if (code == OP_OR)
        return a->number != 0 || b->number != 0;
    return are_equal(a, b) == (code == OP_EQUAL);
}

static void
apply_2(enum op_code code, struct tp_element *a, const struct tp_element *b)
{
    bool is_number = code < OP_LESS;

    *a = (struct tp_element){sizeof *a,
                             is_number ? TP_ELEMENT_NUMBER : TP_ELEMENT_TRUTH,
                             is_number ? arithmetic(code, a->number, b->number)
                                       : relation(code, a, b),
                             NULL};
}

/* What the compiler made is never deeper than the stack, and ends with one
 * truth value. */
bool
expression_holds(const struct expression *e, const struct tp_host *host,
                 const struct tp_space *space, const double *x)
{
    struct tp_element stack[EXPRESSION_STACK_MAX];
    size_t n = 0;

    for (size_t i = 0; i < e->n_dims; i++)
        if (!is_active(space, x, e->dims[i]))
            return true;
    for (size_t i = 0; i < e->n_ops; i++) {
        const struct op *op = &e->ops[i];

        if (op->code >= OP_ADD) {
            n--;
            apply_2(op->code, &stack[n - 1], &stack[n]);
        } else if (op->code >= OP_NEGATE) {
            stack[n - 1].number = apply_1(op->code, stack[n - 1].number);
        } else if (op->code == OP_DIM) {
            stack[n++] = value_of(host, space, op->at, x);
        } else {
            stack[n] = (struct tp_element){sizeof *stack, TP_ELEMENT_NUMBER,
                                           op->number, NULL};
            if (op->code == OP_TRUTH)
                stack[n].kind = TP_ELEMENT_TRUTH;
            if (op->code == OP_TEXT) {
                stack[n].kind = TP_ELEMENT_TEXT;
                stack[n].text = e->texts + op->at;
            }
            n++;
        }
    }
    return n == 1 && stack[0].number != 0;
}

static int
describe_value(const struct tp_element *v, char *out, size_t size)
{
    if (v->kind == TP_ELEMENT_NUMBER)
        return snprintf(out, size, "%.6g", v->number);
    if (v->kind == TP_ELEMENT_TRUTH)
        return snprintf(out, size, "%s", v->number != 0 ? "true" : "false");
    return snprintf(out, size, v->text != NULL ? "\"%.60s\"" : "no text",
                    v->text);
}

void
expression_describe(const struct expression *e, const struct tp_host *host,
                    const struct tp_space *space, const double *x, char *out,
                    size_t size)
{
    size_t n = 0;
    struct tp_element v;

    out[0] = '\0';
    for (size_t i = 0; i < e->n_dims && n < size; i++) {
        n += (size_t)snprintf(out + n, size - n,
                              "%s%.100s = ", i > 0 ? ", " : "",
                              TP_DIM(space, e->dims[i])->name);
        if (n >= size)
            return;
        v = value_of(host, space, e->dims[i], x);
        n += (size_t)describe_value(&v, out + n, size - n);
    }
}
