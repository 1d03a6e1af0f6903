/* SPDX-License-Identifier: MIT */
#include "problem.h"

#include "bbob.h"
#include "core/buf.h"
#include "core/err.h"
#include "dims.h"
#include "synth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One of the two. */
struct problem {
    struct bbob *bbob;
    struct dim dims[BBOB_DIMS_MAX + 1];
    char names[BBOB_DIMS_MAX][16];
    struct synth *synth;
};

static const int bbob_dims[] = {2, 5, 10};

#define N_BBOB_DIMS (sizeof bbob_dims / sizeof bbob_dims[0])
#define N_BBOB 12 /* for each: the odd numbers from 1 to 23 */

int
problem_list(size_t index, char name[PROBLEM_NAME_MAX],
             char family[PROBLEM_NAME_MAX])
{
    if (index < N_BBOB * N_BBOB_DIMS) {
        int d = bbob_dims[index / N_BBOB];

        snprintf(name, PROBLEM_NAME_MAX, "bbob_f%d_d%d",
                 (int)(index % N_BBOB) * 2 + 1, d);
        snprintf(family, PROBLEM_NAME_MAX, "bbob_d%d", d);
        return 0;
    }
    index -= N_BBOB * N_BBOB_DIMS;
    if (synth_name(index) == NULL)
        return -1;
    snprintf(name, PROBLEM_NAME_MAX, "%s", synth_name(index));
    snprintf(family, PROBLEM_NAME_MAX, "%s", synth_family(index));
    return 0;
}

static void
make_bbob(struct problem *p, const char *name, uint64_t seed)
{
    int number, d, end = 0;

    if (sscanf(name, "bbob_f%d_d%d%n", &number, &d, &end) != 2 ||
        name[end] != '\0' || d < 2 || d > BBOB_DIMS_MAX)
        return;
    p->bbob = bbob_new(number, (size_t)d, seed + 1);
    for (int i = 0; i < d; i++) {
        snprintf(p->names[i], sizeof p->names[i], "x%d", i);
        p->dims[i] = (struct dim){.name = p->names[i], .low = -5, .high = 5};
    }
}

struct problem *
problem_new(const char *name, uint64_t seed, struct err *err)
{
    struct problem *p = calloc(1, sizeof *p);

    if (p == NULL) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    make_bbob(p, name, seed);
    if (p->bbob == NULL)
        p->synth = synth_new(name, seed);
    if (p->bbob == NULL && p->synth == NULL) {
        err_set(err, ERR_INPUT, "'%s' is no problem", name);
        problem_free(p);
        return NULL;
    }
    return p;
}

void
problem_free(struct problem *p)
{
    if (p == NULL)
        return;
    bbob_free(p->bbob);
    synth_free(p->synth);
    free(p);
}

void
problem_write_space(const struct problem *p, struct buf *out)
{
    if (p->synth != NULL)
        synth_write_space(p->synth, out);
    else
        dims_write_space(p->dims, out);
}

int
problem_value(const struct problem *p, struct jval parameters, double *out,
              struct err *err)
{
    struct point at;

    if (p->synth != NULL)
        return synth_value(p->synth, parameters, out, err);
    if (dims_read(p->dims, parameters, &at, err) != 0)
        return -1;
    *out = bbob_value(p->bbob, at.value);
    return 0;
}

double
problem_optimum(const struct problem *p)
{
    return p->synth != NULL ? 0 : bbob_optimum(p->bbob);
}
