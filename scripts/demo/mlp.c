/* SPDX-License-Identifier: MIT */
/* mlp-digits [--restartable | --sized] DIGITS.CSV - a trial: trains a neural
 * network with one hidden layer to read handwritten digits and reports, after
 * each epoch, how many percent of the validation set it reads right.  Its
 * result is the last epoch's value.  The accuracy on a test set that nothing
 * was chosen by is printed at the end, for people.
 *
 * With --restartable it waits for what is said of it after each epoch, and
 * saves itself, so that another attempt goes on where this one was lost, and
 * another trial where this one was paused.
 *
 * With --sized it reports two values, how well it reads and how many weights it
 * has, for an experiment with objectives.
 *
 * All there is to learn about being a trial is in main(), number() and
 * read_params(): include the header, ask for parameters, report. */
#include <tunepipe/checkpoint.h>
#include <tunepipe/trial.h>

#include <math.h>
#include <stdbool.h>

#define PIXELS 64
#define CLASSES 10
#define ROWS_MAX 4096
#define UNITS_MAX 512
#define EPOCHS 30
#define EPOCHS_SAVED 5 /* with --restartable, after so many */
#define BATCH 8

enum activation { RELU, LEAKY_RELU, TANH, SIGMOID };

struct params {
    double learning_rate, momentum, weight_decay;
    double shape; /* LEAKY_RELU: slope, SIGMOID: gain */
    enum activation activation;
    int units;
};

struct row {
    double pixels[PIXELS]; /* 0 to 1 */
    int digit;
};

struct rows {
    struct row row[ROWS_MAX];
    int n;
};

/* The same layout for weights, their gradients and their velocities. */
struct layers {
    double hidden[UNITS_MAX][PIXELS], hidden_bias[UNITS_MAX];
    double out[CLASSES][UNITS_MAX], out_bias[CLASSES];
};

struct net {
    struct params params;
    struct layers weights, gradients, velocities;
    double hidden[UNITS_MAX], slope[UNITS_MAX]; /* values, derivatives */
    double out[CLASSES];                        /* probabilities */
    uint64_t random;
};

static bool
complain(const char *name, const char *wanted, const char *got)
{
    fprintf(stderr, "mlp-digits: %s: expected %s %s\n", name, wanted, got);
    return false;
}

/* The parameter, which must be from low to high; what is no number at all the
 * header has complained about. */
static bool
number(const char *name, double fallback, double low, double high, double *out)
{
    char text[64];

    *out = tp_param_double(name, NAN);
    if (isnan(*out) && tp_param_string(name, text, sizeof(text)) == 0)
        return false;
    if (isnan(*out))
        *out = fallback;
    if (*out >= low && *out <= high)
        return true;
    snprintf(text, sizeof(text), "%g to %g, not %g", low, high, *out);
    return complain(name, "a number from", text);
}

static bool
read_activation(struct params *p)
{
    char name[32] = "relu";

    tp_param_string("activation/_name", name, sizeof(name));
    p->shape = 0;
    if (strcmp(name, "relu") == 0)
        p->activation = RELU;
    else if (strcmp(name, "leaky_relu") == 0)
        p->activation = LEAKY_RELU;
    else if (strcmp(name, "tanh") == 0)
        p->activation = TANH;
    else if (strcmp(name, "sigmoid") == 0)
        p->activation = SIGMOID;
    else
        return complain("activation/_name",
                        "relu, leaky_relu, tanh or sigmoid, not", name);
    if (p->activation == LEAKY_RELU)
        return number("activation/slope", 0.1, 0, 1, &p->shape);
    if (p->activation == SIGMOID)
        return number("activation/gain", 1, 0.01, 100, &p->shape);
    return true;
}

static bool
read_params(struct params *p)
{
    double units;

    if (!number("learning_rate", 0.01, 0, 100, &p->learning_rate) ||
        !number("hidden_units", 64, 1, UNITS_MAX, &units) ||
        !number("momentum", 0.9, 0, 0.9999, &p->momentum) ||
        !number("weight_decay", 1e-5, 0, 1, &p->weight_decay))
        return false;
    p->units = (int)units;
    return read_activation(p);
}

/* "0,0,5,...,0,7": 64 pixels from 0 to 16, then the digit. */
static bool
parse_row(const char *text, struct row *row)
{
    for (int i = 0; i <= PIXELS; i++) {
        char *end;
        long value = strtol(text, &end, 10);

        if (end == text || value < 0 || value > (i < PIXELS ? 16 : 9) ||
            *end != (i < PIXELS ? ',' : '\n'))
            return false;
        if (i < PIXELS)
            row->pixels[i] = (double)value / 16;
        else
            row->digit = (int)value;
        text = end + 1;
    }
    return true;
}

/* Every sixth row validates, every sixth is for the test, the rest trains. */
static bool
read_rows(const char *path, struct rows *train, struct rows *valid,
          struct rows *test)
{
    FILE *file = fopen(path, "r");
    char line[512];
    int n = 0;

    if (!file) {
        fprintf(stderr, "mlp-digits: cannot open %s\n", path);
        return false;
    }
    while (n < ROWS_MAX && fgets(line, sizeof(line), file)) {
        struct rows *to = n % 6 == 4 ? valid : n % 6 == 5 ? test : train;

        n++;
        if (!parse_row(line, &to->row[to->n++])) {
            fclose(file);
            fprintf(stderr,
                    "mlp-digits: %s:%d: expected 64 pixels from 0 to 16 and a "
                    "digit, with commas between them\n",
                    path, n);
            return false;
        }
    }
    fclose(file);
    if (test->n == 0)
        fprintf(stderr, "mlp-digits: %s: fewer than 6 rows\n", path);
    return test->n > 0;
}

/* splitmix64 */
static uint64_t
next_random(struct net *net)
{
    uint64_t z = net->random += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static double
spread(struct net *net, double range)
{
    double unit = (double)(next_random(net) >> 11) / 9007199254740992.0;

    return range * (2 * unit - 1);
}

static void
init(struct net *net)
{
    int units = net->params.units;
    double in = sqrt(6.0 / (PIXELS + units));
    double out = sqrt(6.0 / (units + CLASSES));

    for (int u = 0; u < units; u++)
        for (int i = 0; i < PIXELS; i++)
            net->weights.hidden[u][i] = spread(net, in);
    for (int c = 0; c < CLASSES; c++)
        for (int u = 0; u < units; u++)
            net->weights.out[c][u] = spread(net, out);
}

/* The hidden unit's value for the sum z of its inputs, and its derivative. */
static void
activate(struct net *net, int u, double z)
{
    double shape = net->params.shape, a = z, d = 1;

    switch (net->params.activation) {
    case RELU:
    case LEAKY_RELU:
        if (z < 0) {
            a = shape * z;
            d = shape;
        }
        break;
    case TANH:
        a = tanh(z);
        d = 1 - a * a;
        break;
    case SIGMOID:
        a = 1 / (1 + exp(-shape * z));
        d = shape * a * (1 - a);
        break;
    }
    net->hidden[u] = a;
    net->slope[u] = d;
}

static void
forward(struct net *net, const double *pixels)
{
    const struct layers *w = &net->weights;
    double top = -INFINITY, sum = 0;

    for (int u = 0; u < net->params.units; u++) {
        double z = w->hidden_bias[u];

        for (int i = 0; i < PIXELS; i++)
            z += w->hidden[u][i] * pixels[i];
        activate(net, u, z);
    }
    for (int c = 0; c < CLASSES; c++) {
        double z = w->out_bias[c];

        for (int u = 0; u < net->params.units; u++)
            z += w->out[c][u] * net->hidden[u];
        net->out[c] = z;
        top = z > top ? z : top;
    }
    for (int c = 0; c < CLASSES; c++)
        sum += net->out[c] = exp(net->out[c] - top);
    for (int c = 0; c < CLASSES; c++)
        net->out[c] /= sum;
}

/* Adds the gradients of the cross entropy for the row of the last forward. */
static void
backward(struct net *net, const struct row *row)
{
    struct layers *g = &net->gradients;
    double error[CLASSES];

    for (int c = 0; c < CLASSES; c++) {
        error[c] = net->out[c] - (c == row->digit ? 1 : 0);
        g->out_bias[c] += error[c];
        for (int u = 0; u < net->params.units; u++)
            g->out[c][u] += error[c] * net->hidden[u];
    }
    for (int u = 0; u < net->params.units; u++) {
        double back = 0;

        for (int c = 0; c < CLASSES; c++)
            back += error[c] * net->weights.out[c][u];
        back *= net->slope[u];
        g->hidden_bias[u] += back;
        for (int i = 0; i < PIXELS; i++)
            g->hidden[u][i] += back * row->pixels[i];
    }
}

/* One step of gradient descent with momentum; biases do not decay. */
static void
move(const struct params *p, int batch, bool decays, double *weights,
     double *gradients, double *velocities, int n)
{
    double rate = p->learning_rate, momentum = p->momentum;
    double decay = decays ? p->weight_decay : 0;

    for (int i = 0; i < n; i++) {
        double g = gradients[i] / (double)batch + decay * weights[i];

        velocities[i] = momentum * velocities[i] - rate * g;
        weights[i] += velocities[i];
        gradients[i] = 0;
    }
}

static void
step(struct net *net, int batch)
{
    const struct params *p = &net->params;
    struct layers *w = &net->weights, *g = &net->gradients,
                  *v = &net->velocities;

    move(p, batch, true, w->hidden[0], g->hidden[0], v->hidden[0],
         p->units * PIXELS);
    move(p, batch, false, w->hidden_bias, g->hidden_bias, v->hidden_bias,
         p->units);
    for (int c = 0; c < CLASSES; c++)
        move(p, batch, true, w->out[c], g->out[c], v->out[c], p->units);
    move(p, batch, false, w->out_bias, g->out_bias, v->out_bias, CLASSES);
}

static void
train_epoch(struct net *net, const struct rows *rows)
{
    static int order[ROWS_MAX];
    int batch = 0;

    for (int i = 0; i < rows->n; i++) {
        int j = (int)(next_random(net) % (uint64_t)(i + 1));

        order[i] = order[j];
        order[j] = i;
    }
    for (int i = 0; i < rows->n; i++) {
        const struct row *row = &rows->row[order[i]];

        forward(net, row->pixels);
        backward(net, row);
        if (++batch == BATCH || i == rows->n - 1) {
            step(net, batch);
            batch = 0;
        }
    }
}

/* Percent of the rows read right.  A net whose weights became NaN reads
 * everything as 0: a poor value, but a value. */
static double
accuracy(struct net *net, const struct rows *rows)
{
    int right = 0;

    for (int i = 0; i < rows->n; i++) {
        int best = 0;

        forward(net, rows->row[i].pixels);
        for (int c = 1; c < CLASSES; c++)
            if (net->out[c] > net->out[best])
                best = c;
        right += best == rows->row[i].digit;
    }
    return round(1e4 * right / rows->n) / 100;
}

/* ---- going on where another one was lost or paused ---- */

static FILE *
open_state(const char *folder, const char *mode)
{
    char path[8192];

    snprintf(path, sizeof(path), "%s/net", folder);
    return fopen(path, mode);
}

/* The net is all there is to know; what was not saved is computed again.  Only
 * what has been reported is saved: whoever goes on reports what comes next. */
static void
save(const struct net *net, int epoch)
{
    char folder[4096];
    FILE *file;
    bool ok;

    if (tp_checkpoint_begin(folder, sizeof(folder)) != 0)
        return;
    file = open_state(folder, "wb");
    ok = file && fwrite(&epoch, sizeof(epoch), 1, file) == 1 &&
         fwrite(net, sizeof(*net), 1, file) == 1;
    ok = file && fclose(file) == 0 && ok;
    if (!ok || tp_checkpoint_commit(folder) != 0) {
        perror("mlp-digits: cannot save");
        tp_checkpoint_discard(folder);
    }
}

/* The epoch to begin with. */
static int
restore(struct net *net)
{
    const char *folder = tp_restore_dir();
    FILE *file = folder ? open_state(folder, "rb") : NULL;
    int epoch = 0;

    if (file && (fread(&epoch, sizeof(epoch), 1, file) != 1 ||
                 fread(net, sizeof(*net), 1, file) != 1)) {
        fprintf(stderr, "mlp-digits: %s/net: cannot read it\n", folder);
        exit(1);
    }
    if (file)
        fclose(file);
    return epoch;
}

static int
count_weights(const struct net *net)
{
    int units = net->params.units;

    return units * (PIXELS + 1) + CLASSES * (units + 1);
}

/* Reports how well it reads, and how large it is. */
static int
report_sized(const struct net *net, double percent, bool final)
{
    struct tp_named_value values[] = {{"accuracy", percent},
                                      {"weights", count_weights(net)}};

    return final ? tp_final_values(values, 2) : tp_report_values(values, 2);
}

/* The last value; -1: stopped, paused, or it could not be reported. */
static double
train_all(struct net *net, const struct rows *train, const struct rows *valid,
          bool restartable, bool sized)
{
    int epoch = restartable ? restore(net) : 0, answer = TP_GO;
    double percent = epoch > 0 ? accuracy(net, valid) : 0;

    while (epoch < EPOCHS && answer == TP_GO) {
        train_epoch(net, train);
        epoch++;
        percent = accuracy(net, valid);
        answer = restartable ? tp_report_sync(percent)
                 : sized     ? report_sized(net, percent, false)
                             : tp_report(percent);
        if (restartable && (epoch % EPOCHS_SAVED == 0 || answer == TP_PAUSE))
            save(net, epoch);
    }
    return answer == TP_GO || answer == TP_FINISH ? percent : -1;
}

int
main(int argc, char **argv)
{
    static struct rows train, valid, test;
    static struct net net; /* zero: biases, velocities */
    bool restartable = argc == 3 && strcmp(argv[1], "--restartable") == 0;
    bool sized = argc == 3 && strcmp(argv[1], "--sized") == 0;
    double percent;

    if (argc != 2 + restartable + sized) {
        fprintf(stderr,
                "usage: mlp-digits [--restartable | --sized] DIGITS.CSV\n");
        return 1;
    }
    if (!read_params(&net.params) ||
        !read_rows(argv[argc - 1], &train, &valid, &test))
        return 1;
    net.random = tp_seed(1);
    init(&net);
    percent = train_all(&net, &train, &valid, restartable, sized);
    if (percent < 0)
        return 0; /* what was reported is there; a failure has no result */
    if ((sized ? report_sized(&net, percent, true) : tp_final(percent)) != 0) {
        perror("mlp-digits: cannot report");
        return 1;
    }
    printf("test accuracy %.2f %%\n", accuracy(&net, &test));
    return 0;
}
