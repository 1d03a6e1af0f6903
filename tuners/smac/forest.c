/* SPDX-License-Identifier: MIT */
/* DESIGN.  The rows are sorted once a fit, by each column.  A tree takes those
 * that it drew in that order, and a split parts them where they stand, the
 * order within both halves being kept: so no node sorts anything but its
 * categories. */
#include "smac/forest.h"

#include "grow.h"

#include <stdlib.h>
#include <string.h>

#define LEAF (~(uint32_t)0)

struct forest_node {
    double cut;        /* numbers up to it go left */
    uint64_t left_set; /* categories that go left */
    double mean, variance;
    uint32_t column; /* or LEAF */
    uint32_t left;   /* the right one follows it */
};

struct forest_key {
    double value;
    uint32_t row;
};

/* Sums of a set of samples. */
struct sums {
    double weight, y;
};

struct split {
    double gain; /* larger is better; negative: there is none */
    double cut;
    uint64_t left_set;
    size_t column;
};

int
forest_init(struct forest *f, const struct forest_options *options,
            const bool *is_category, size_t n_columns)
{
    *f = (struct forest){.options = *options, .n_columns = n_columns};
    f->is_category = calloc(n_columns + 1, sizeof *f->is_category);
    f->columns = calloc(n_columns + 1, sizeof *f->columns);
    f->roots = calloc(options->trees, sizeof *f->roots);
    if (f->is_category == NULL || f->columns == NULL || f->roots == NULL)
        return -1;
    memcpy(f->is_category, is_category, n_columns * sizeof *is_category);
    return 0;
}

void
forest_fini(struct forest *f)
{
    free(f->is_category);
    free(f->nodes);
    free(f->roots);
    free(f->keys);
    free(f->sorted);
    free(f->order);
    free(f->spare);
    free(f->columns);
    free(f->weight);
    free(f->is_left);
    *f = (struct forest){.nodes = NULL};
}

static int
make_room(struct forest *f, size_t n)
{
    size_t cells = f->n_columns * sizeof *f->sorted;

    if (n <= f->rows_room)
        return 0;
    if (grow_to(&f->keys, n, sizeof *f->keys) != 0 ||
        grow_to(&f->sorted, n, cells) != 0 ||
        grow_to(&f->order, n, cells) != 0 ||
        grow_to(&f->spare, n, sizeof *f->spare) != 0 ||
        grow_to(&f->weight, n, sizeof *f->weight) != 0 ||
        grow_to(&f->is_left, n, sizeof *f->is_left) != 0)
        return -1;
    f->rows_room = n;
    return 0;
}

/* A total order, so that every qsort() gives the same. */
static int
compare_keys(const void *va, const void *vb)
{
    const struct forest_key *a = va, *b = vb;

    if (a->value < b->value || a->value > b->value)
        return a->value < b->value ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static void
sort_rows(struct forest *f, const struct forest_data *d)
{
    for (size_t c = 0; c < f->n_columns; c++) {
        for (size_t i = 0; i < d->n_rows; i++)
            f->keys[i] =
                (struct forest_key){d->x[c * d->n_rows + i], (uint32_t)i};
        qsort(f->keys, d->n_rows, sizeof *f->keys, compare_keys);
        for (size_t i = 0; i < d->n_rows; i++)
            f->sorted[c * d->n_rows + i] = f->keys[i].row;
    }
}

/* Rows of a bootstrap sample, as the first of each column's order; how many. */
static size_t
draw_rows(struct forest *f, const struct forest_data *d, struct dice *dice)
{
    size_t n = 0;

    memset(f->weight, 0, d->n_rows * sizeof *f->weight);
    for (size_t i = 0; i < d->n_rows; i++)
        f->weight[dice_below(dice, d->n_rows)] += 1;
    for (size_t c = 0; c < f->n_columns; c++) {
        const uint32_t *from = f->sorted + c * d->n_rows;
        uint32_t *to = f->order + c * d->n_rows;

        n = 0;
        for (size_t i = 0; i < d->n_rows; i++)
            if (f->weight[from[i]] > 0)
                to[n++] = from[i];
    }
    return n;
}

/* By how much the squares' sum falls, but for what all splits have in common.
 */
static double
gain_of(struct sums left, struct sums all)
{
    double y = all.y - left.y;

    return left.y * left.y / left.weight + y * y / (all.weight - left.weight);
}

static void
try_number(const struct forest *f, const struct forest_data *d, size_t column,
           const uint32_t *rows, size_t n, struct sums all, struct split *best,
           struct dice *dice)
{
    const double *x = d->x + column * d->n_rows;
    struct sums left = {0, 0};
    double low = 0, high = 0;

    for (size_t i = 0; i + 1 < n; i++) {
        double w = f->weight[rows[i]], gain;

        left.weight += w;
        left.y += w * d->y[rows[i]];
        if (!(x[rows[i]] < x[rows[i + 1]]))
            continue;
        gain = gain_of(left, all);
        if (!(gain > best->gain))
            continue;
        best->gain = gain;
        best->column = column;
        low = x[rows[i]];
        high = x[rows[i + 1]];
    }
    if (low < high) {
        best->cut = low + dice_uniform(dice) * (high - low);
        if (!(best->cut < high))
            best->cut = low;
    }
}

/* Whether all of a come before b. */
static bool
is_lower(struct sums a, struct sums b)
{
    return a.y * b.weight < b.y * a.weight;
}

static void
try_category(const struct forest *f, const struct forest_data *d, size_t column,
             const uint32_t *rows, size_t n, struct sums all,
             struct split *best, struct dice *dice)
{
    const double *x = d->x + column * d->n_rows;
    struct sums sums[FOREST_CODES] = {{0, 0}}, left = {0, 0};
    unsigned char
        codes[FOREST_CODES]; /* those that are there, by their means */
    uint64_t there = 0, set = 0;
    size_t n_codes = 0;

    for (size_t i = 0; i < n; i++) {
        size_t code = (size_t)x[rows[i]];
        double w = f->weight[rows[i]];

        if ((there >> code & 1) == 0)
            codes[n_codes++] = (unsigned char)code;
        there |= (uint64_t)1 << code;
        sums[code].weight += w;
        sums[code].y += w * d->y[rows[i]];
    }
    for (size_t i = 1; i < n_codes; i++) {
        unsigned char code = codes[i];
        size_t k = i;

        for (; k > 0 && is_lower(sums[code], sums[codes[k - 1]]); k--)
            codes[k] = codes[k - 1];
        codes[k] = code;
    }
    for (size_t i = 0; i + 1 < n_codes; i++) {
        double gain;

        set |= (uint64_t)1 << codes[i];
        left.weight += sums[codes[i]].weight;
        left.y += sums[codes[i]].y;
        gain = gain_of(left, all);
        if (!(gain > best->gain))
            continue;
        best->gain = gain;
        best->column = column;
        best->left_set = set;
    }
    if (best->column == column)
        best->left_set |= dice_bits(dice) & ~there;
}

/* The best of some columns that are not the same in all rows; of the others
 * where those have none. */
static struct split
find_split(struct forest *f, const struct forest_data *d, size_t from, size_t n,
           struct sums all, struct dice *dice)
{
    struct split best = {.gain = -1, .column = f->n_columns};
    size_t wanted = (size_t)(f->options.columns * (double)f->n_columns + 0.999);

    for (size_t i = 0; i < f->n_columns; i++) {
        size_t k = i + dice_below(dice, f->n_columns - i);
        uint32_t column = f->columns[k];
        const uint32_t *rows = f->order + column * d->n_rows + from;
        const double *x = d->x + column * d->n_rows;

        f->columns[k] = f->columns[i];
        f->columns[i] = column;
        if (!(x[rows[0]] < x[rows[n - 1]]))
            continue;
        (f->is_category[column] ? try_category : try_number)(
            f, d, column, rows, n, all, &best, dice);
        if (wanted <= 1)
            break;
        wanted--;
    }
    return best;
}

/* Parts the node's rows in each column's order; how many went left. */
static size_t
part(struct forest *f, const struct forest_data *d, size_t from, size_t n,
     const struct split *s)
{
    const double *x = d->x + s->column * d->n_rows;
    const uint32_t *rows = f->order + s->column * d->n_rows + from;
    size_t n_left = 0;

    for (size_t i = 0; i < n; i++) {
        double v = x[rows[i]];

        f->is_left[rows[i]] = f->is_category[s->column]
                                  ? s->left_set >> (unsigned)v & 1
                                  : v <= s->cut;
        n_left += f->is_left[rows[i]];
    }
    for (size_t c = 0; c < f->n_columns; c++) {
        uint32_t *at = f->order + c * d->n_rows + from;
        size_t left = 0, right = 0;

        for (size_t i = 0; i < n; i++) {
            uint32_t row = at[i];

            if (f->is_left[row])
                at[left++] = row;
            else
                f->spare[right++] = row;
        }
        memcpy(at + left, f->spare, right * sizeof *at);
    }
    return n_left;
}

static int
add_nodes(struct forest *f, size_t n)
{
    while (f->n_nodes + n > f->nodes_room)
        if (grow_next(&f->nodes, &f->nodes_room, sizeof *f->nodes) != 0)
            return -1;
    f->n_nodes += n;
    return 0;
}

/* What is known of the node's samples; true: it is a leaf. */
static bool
describe(const struct forest *f, const struct forest_data *d, size_t from,
         size_t n, struct forest_node *node, struct sums *all)
{
    const uint32_t *rows = f->order + from;
    double squares = 0;

    *all = (struct sums){0, 0};
    for (size_t i = 0; i < n; i++) {
        all->weight += f->weight[rows[i]];
        all->y += f->weight[rows[i]] * d->y[rows[i]];
    }
    *node = (struct forest_node){.mean = all->y / all->weight, .column = LEAF};
    for (size_t i = 0; i < n; i++) {
        double off = d->y[rows[i]] - node->mean;

        squares += f->weight[rows[i]] * off * off;
    }
    node->variance = squares / all->weight;
    return n < 2 || all->weight < (double)f->options.min_split ||
           !(squares > 0);
}

/* Depth first; the deepest of the halves' recursion is the smaller one's. */
static int
grow_node(struct forest *f, const struct forest_data *d, size_t at, size_t from,
          size_t n, struct dice *dice)
{
    for (;;) {
        struct sums all;
        struct split s;
        size_t left, n_left;

        if (describe(f, d, from, n, &f->nodes[at], &all))
            return 0;
        s = find_split(f, d, from, n, all, dice);
        if (s.column == f->n_columns)
            return 0;
        left = f->n_nodes;
        if (add_nodes(f, 2) != 0)
            return -1;
        f->nodes[at].column = (uint32_t)s.column;
        f->nodes[at].cut = s.cut;
        f->nodes[at].left_set = s.left_set;
        f->nodes[at].left = (uint32_t)left;
        n_left = part(f, d, from, n, &s);
        if (n_left <= n - n_left) {
            if (grow_node(f, d, left, from, n_left, dice) != 0)
                return -1;
            at = left + 1;
            from += n_left;
            n -= n_left;
        } else {
            if (grow_node(f, d, left + 1, from + n_left, n - n_left, dice) != 0)
                return -1;
            at = left;
            n = n_left;
        }
    }
}

int
forest_fit(struct forest *f, const struct forest_data *data, struct dice *dice)
{
    f->n_nodes = 0;
    if (make_room(f, data->n_rows) != 0)
        return -1;
    sort_rows(f, data);
    for (size_t c = 0; c < f->n_columns; c++)
        f->columns[c] = (uint32_t)c;
    for (size_t t = 0; t < f->options.trees; t++) {
        size_t n = draw_rows(f, data, dice);

        f->roots[t] = (uint32_t)f->n_nodes;
        if (add_nodes(f, 1) != 0 ||
            grow_node(f, data, f->roots[t], 0, n, dice) != 0)
            return -1;
    }
    return 0;
}

void
forest_predict(const struct forest *f, const double *row, double *mean,
               double *variance)
{
    double sum = 0, squares = 0, within = 0;
    double n = (double)f->options.trees, first = 0;

    for (size_t t = 0; t < f->options.trees; t++) {
        const struct forest_node *node = &f->nodes[f->roots[t]];
        double off;

        while (node->column != LEAF) {
            double v = row[node->column];
            bool left = f->is_category[node->column]
                            ? node->left_set >> (unsigned)v & 1
                            : v <= node->cut;

            node = &f->nodes[node->left + !left];
        }
        if (t == 0)
            first = node->mean;
        off = node->mean - first; /* so that equal ones have no variance */
        sum += off;
        squares += off * off;
        within += node->variance;
    }
    *mean = first + sum / n;
    *variance = within / n + (squares - sum * sum / n) / n;
    if (*variance < 0)
        *variance = 0;
}
