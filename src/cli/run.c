/* SPDX-License-Identifier: MIT */
#include "cli/batch.h"
#include "cli/checked.h"
#include "cli/conduct.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "config/configuration.h"
#include "config/experiment.h"
#include "config/overrides.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/problems.h"
#include "core/visible.h"
#include "json.h"
#include "manager/manager.h"
#include "manager/command_template.h"
#include "manager/dry_run.h"
#include "manager/resources.h"
#include "manager/table.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define SETS 5
#define OUT_MAX ((size_t)1 << 30)
#define WORD_SHOWN 2000

struct page {
    const struct experiment *x;
    struct buf out;
    bool json;
    struct json_writer list; /* of `out`, an array with json */
    uint64_t shown;
    struct buf batch; /* with --batch: its script */
};

static void
add_command(struct buf *out, const struct experiment *x,
            const char *const *vars, const char *command)
{
    buf_add_text(out, "cd ");
    shell_quote(out, x->trial_folder, strlen(x->trial_folder));
    buf_add_text(out, " &&");
    for (; *vars != NULL; vars++) {
        size_t name = strcspn(*vars, "=") + 1;

        buf_add_char(out, ' ');
        buf_add(out, *vars, name);
        shell_quote(out, *vars + name, strlen(*vars + name));
    }
    buf_add_text(out, " /bin/sh -c ");
    shell_quote(out, command, strlen(command));
}

static void
add_json_vars(struct json_writer *w, const char *const *vars)
{
    json_open_object(w, "environment");
    for (; *vars != NULL; vars++) {
        size_t len = strcspn(*vars, "=");
        char *name = strndup(*vars, len);

        if (name == NULL)
            w->out->failed = true;
        else
            json_add_text(w, name, *vars + len + 1);
        free(name);
    }
    json_close(w);
}

static void
add_json_command(struct page *page, const struct dry_run_trial *t,
                 const char *key, const char *command)
{
    struct buf line;

    buf_init(&line, OUT_MAX);
    if (command != NULL)
        add_command(&line, page->x, t->vars, command);
    json_add_text(&page->list, key, command != NULL ? buf_text(&line) : NULL);
    buf_fini(&line);
}

static void
take_json(struct page *page, const struct dry_run_trial *t)
{
    struct json_writer *w = &page->list;

    json_open_object(w, NULL);
    json_add_text(w, "trial", t->id);
    json_add_raw(w, "parameter_id", t->parameter_id);
    json_add_raw(w, "parameters", t->parameters);
    add_json_vars(w, t->vars);
    add_json_command(page, t, "prepare", t->prepare);
    add_json_command(page, t, "command", t->command);
    json_close(w);
}

static void
add_text_command(struct page *page, const struct dry_run_trial *t,
                 const char *command)
{
    struct buf line;

    buf_init(&line, OUT_MAX);
    add_command(&line, page->x, t->vars, command);
    buf_add_text(&page->out, "  ");
    visible_text(&page->out, buf_text(&line), line.len, OUT_MAX);
    buf_add_char(&page->out, '\n');
    buf_fini(&line);
}

/* Takes the texts of the tuner and of the configuration. */
static void
take_text(struct page *page, const struct dry_run_trial *t)
{
    buf_printf(&page->out, "\ntrial %s: ", t->id);
    visible_text(&page->out, t->parameters, strlen(t->parameters), OUT_MAX);
    buf_add_char(&page->out, '\n');
    if (t->prepare != NULL)
        add_text_command(page, t, t->prepare);
    add_text_command(page, t, t->command);
}

static int
take(void *ctx, const struct dry_run_trial *t, struct err *err)
{
    struct page *page = ctx;

    if (page->json)
        take_json(page, t);
    else
        take_text(page, t);
    page->shown++;
    return buf_check(&page->out, "what would run", err);
}

/* Takes a line of the dispatcher's, shown as a run shows it. */
static void
take_word(void *ctx, const char *line, size_t len)
{
    struct buf shown;

    (void)ctx;
    if (strstr(line, "error: ") == NULL && strstr(line, "warning: ") == NULL)
        return;
    buf_init(&shown, 4 * WORD_SHOWN);
    visible_text(&shown, line, len, WORD_SHOWN);
    fprintf(stderr, "%s\n", buf_text(&shown));
    buf_fini(&shown);
}

static int
print_json(struct page *page, const struct dry_run *r, struct err *err)
{
    struct verb_json line;
    struct json_writer *w = verb_json_begin(&line);

    json_close(&page->list);
    json_add_unsigned(w, "seed", r->seed);
    json_add_unsigned(w, "sure", r->sure);
    json_add_text(w, "ended", r->ended);
    json_add_text(w, "direction", experiment_direction(page->x));
    json_add_raw(w, "overrides",
                 page->x->overrides != NULL ? page->x->overrides : "{}");
    if (r->plan != NULL)
        json_add_text(w, "submission", r->plan);
    if (page->batch.len > 0)
        json_add_text(w, "batch", buf_text(&page->batch));
    json_add_raw(w, "trials", buf_text(&page->out));
    return verb_json_print(&line, stdout, err);
}

static void
print_overrides(const struct experiment *x)
{
    struct buf text;

    buf_init(&text, OUT_MAX);
    overrides_show(x->overrides, &text);
    visible_printf(stdout, "in place of the configuration's: %s\n",
                   buf_text(&text));
    buf_fini(&text);
}

/* What is removed of trials for good. */
static void
print_removed(const struct files_policy *p)
{
    if (p->files == FILES_FAILED || p->files == FILES_NONE)
        printf("keepTrialFiles: what is ours in the folder of a trial is "
               "removed when it has ended%s\n",
               p->files == FILES_FAILED ? " well" : "");
    if (p->output == OUTPUT_DROPPED)
        printf("trialOutput: what a trial wrote into its folder is removed "
               "%safter its end, but that of the best one\n",
               p->drop_ms > 0 ? "a time " : "");
}

static void
print_text(struct page *page, const struct dry_run *r)
{
    const struct experiment *x = page->x;

    printf("seed %" PRIu64 "%s; %" PRIu64 " at a time; ", r->seed,
           x->has_seed ? "" : ", drawn now", x->concurrency);
    if (x->objectives != NULL)
        table_print_objectives(stdout, x->objectives);
    else
        printf("%s, as %s says", experiment_direction(x), x->mode_from);
    puts("; nothing is started, nothing is written");
    if (x->overrides != NULL)
        print_overrides(x);
    if (x->log_folder != NULL)
        visible_printf(stdout, "the log would lie in %s\n", x->log_folder);
    print_removed(&x->files);
    if (r->plan != NULL)
        visible_printf(stdout, "each by %s\n", r->plan);
    if (page->batch.len > 0)
        visible_printf(stdout, "in a batch job, by this script:\n%s",
                       buf_text(&page->batch));
    fputs(buf_text(&page->out), stdout);
    if (r->ended != NULL)
        printf("\nthen no more: %s\n", r->ended);
    else if (r->sure < page->shown)
        printf("\ntrials from %05" PRIu64 " on: a run asks for them when it "
               "has results, and may get others\n",
               r->sure);
}

/* Warns that the experiment may run on another machine than this one. */
static void
warn_of_machine(const struct experiment *x)
{
    struct resources have = RESOURCES_CLOSED;
    struct err err = {0};

    if (resources_open(&have, &x->wishes, &err) != 0)
        fprintf(stderr,
                "tunepipe run: warning: on this machine it would not start: "
                "%s\n",
                err.text);
    resources_close(&have);
}

/* The script that --batch would submit. */
static int
plan_batch(const struct experiment *x, const struct batch_words *w,
           struct buf *out, struct err *err)
{
    char *folder = file_join(x->working_folder, "EXPERIMENT");
    int rc = folder == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                            : batch_script(x, folder, w, out, err);

    free(folder);
    return rc;
}

/* Does --dry-run.  Returns the exit status; what went wrong is told. */
static int
dryrun(const struct experiment *x, const char *dispatcher, bool json,
       const struct batch_words *batch)
{
    struct dry_run r = {
        .x = x, .seed = x->seed, .dispatcher = dispatcher, .wanted = SETS};
    struct page page = {.x = x, .json = json};
    struct err err = {0};
    uint32_t drawn = 0;
    int status = EXIT_DONE;

    if (!x->has_seed && getrandom(&drawn, sizeof drawn, 0) < 0) {
        err_errno(&err, ERR_SYSTEM, "cannot draw a seed");
        return verb_fail("run", &err);
    }
    if (!x->has_seed)
        r.seed = drawn;
    if (x->platform == PLATFORM_local && !batch->batch)
        warn_of_machine(x);
    buf_init(&page.out, OUT_MAX);
    page.list = json_begin(&page.out);
    if (json)
        json_open_array(&page.list, NULL);
    buf_init(&page.batch, OUT_MAX);
    if ((batch->batch && plan_batch(x, batch, &page.batch, &err) != 0) ||
        dry_run(&r, &(struct dry_run_listener){take, take_word, &page}, &err) !=
            0 ||
        (json && print_json(&page, &r, &err) != 0))
        status = verb_fail("run", &err);
    else if (!json)
        print_text(&page, &r);
    buf_fini(&page.out);
    buf_fini(&page.batch);
    free(r.plan);
    return verb_printed("run", status);
}

/* ---- the verb ---- */

static const char help[] =
    "usage: tunepipe run CONFIG.yml [--max-trials N] [--concurrency N] [--seed N]\n"
    "                    [--tuner NAME[:JSON]] [--name NAME] [--deterministic]\n"
    "                    [--import FILE] [--dispatcher PROGRAM]\n"
    "                    [--batch [--batch-option OPTION]...]\n"
    "                    [--dry-run [--json]]\n"
    "\n"
    "Runs an experiment: starts a dispatcher, runs trials with the parameters\n"
    "it gives, feeds their results back, prints the best.  CONFIG.yml has\n"
    "NNI's v2 keys; relative paths in it begin at its own folder:\n"
    "\n"
    "  searchSpace: {lr: {_type: loguniform, _value: [1e-4, 1e-1]}}\n"
    "  searchSpaceFile: space.json      (instead: JSON, or YAML)\n"
    "  trialCommand: ./train --lr {lr}  (run by /bin/sh -c; {lr} becomes\n"
    "                                   the value, quoted)\n"
    "  trialCodeDirectory: .            (where; default: CONFIG's folder)\n"
    "  trialConcurrency: 2              (at a time; default: 1)\n"
    "  maxTrialNumber: 40\n"
    "  maxTrialDuration: 10m            (then a trial is stopped)\n"
    "  maxExperimentDuration: 2h        (then none is started any more)\n"
    "  tuner: {name: tpe}\n"
    "  assessor: {name: medianstop}     (optional; see tunepipe tuners; one\n"
    "                                   of yours: {plugin: ./mine.so})\n"
    "  trainingService: {platform: local}\n"
    "  experimentName: digits\n"
    "  experimentWorkingDirectory: tunepipe-experiments   (the default)\n"
    "\n"
    "What _type can be, and its _value:\n"
    "\n"
    "  choice [a, b, ...]    one of the values; nested, where each has a _name:\n"
    "    opt: {_type: choice, _value: [{_name: none},\n"
    "         {_name: sgd, lr: {_type: uniform, _value: [0, 1]}}]}\n"
    "                        ({opt/_name} and {opt/lr} in a command)\n"
    "  randint [low, high]   an integer below high, which [8, 128] does not give;\n"
    "                        lograndint: on a log scale; qrandint [low, high,\n"
    "                        step]: low, low + step and so on, below high\n"
    "  uniform [low, high]   a number; loguniform: on a log scale; quniform and\n"
    "                        qloguniform [low, high, step]: its multiples\n"
    "  normal [mu, sigma]    a number; lognormal: exp of it; qnormal and\n"
    "                        qlognormal [mu, sigma, step]: its multiples\n"
    "\n"
    "A duration is 90s, 10m, 1.5h or 2d; a number alone is in seconds.\n"
    "\n"
    "Keys of our own:\n"
    "\n"
    "  direction: maximize       larger results are better; or: minimize.\n"
    "                            Said here, or by NNI's optimize_mode in the\n"
    "                            classArgs; tuner and assessor are given it\n"
    "  objectives:               results are several values by name, and the\n"
    "                            best ones no single trial but a front\n"
    "  - {name: accuracy, direction: maximize, reference: 0.5}\n"
    "  - {name: latency_ms, direction: minimize, reference: 100}\n"
    "                            reference, of each or none: the worst that\n"
    "                            counts for the hypervolume; goal: an end\n"
    "  resultConstraints: [latency_ms <= 20]      limits on values of results\n"
    "  scalarize: chebyshev      how they become one for a tuner that takes no\n"
    "                            more; weights, lexicographic\n"
    "  seed: 42                  the same seed and the same order of results\n"
    "                            give the same parameters; default: drawn\n"
    "  metrics:                  results from the output of a program that\n"
    "    pattern: 'acc=([0-9.]+)'  does not report: a POSIX extended regular\n"
    "                            expression, matched against each line of\n"
    "                            its stdout; its first group is the number\n"
    "                            (several values: a map, NAME: PATTERN)\n"
    "    final: last             the last value, however reported, is the\n"
    "                            final result of a trial that has none (with\n"
    "                            a pattern the default), or: none\n"
    "  prepareCommand: ./read.sh  run first, without a device, while others\n"
    "                            run; what it leaves in $TUNEPIPE_TRIAL_DIR\n"
    "                            trialCommand finds there\n"
    "  maxPrepareDuration: 5m    default: maxTrialDuration\n"
    "  maxTrialOutput: 100M      bytes of each trial's stdout and stderr on the\n"
    "                            disk: the beginning and the end of more\n"
    "  prepareConcurrency: 2     so many (default: trialConcurrency)\n"
    "  checkpoints:              of what each trial saved to go on from:\n"
    "    keep: last              the newest, the best, all or none of them,\n"
    "    max: 1                    and so many\n"
    "    quota: 10G                bytes of all together\n"
    "  keepTrialFiles: packed    our files of ended trials, a thousand trials\n"
    "                            a file; or: all, failed, none; default: all,\n"
    "                            and packed from 1000 trials on\n"
    "  trialOutput: keep         what trials wrote beside them; or: pack, drop,\n"
    "                            drop after 2h\n"
    "  earlyStopped: latest      what the tuner learns of a stopped trial:\n"
    "                            ignore, latest or best\n"
    "  sync: interval:1000       when the log goes to stable storage: none (at\n"
    "                            the end), interval:MS or always\n"
    "  segmentSize: 8M           from which on the log goes on in another file\n"
    "  oldSegments: keep         or compress\n"
    "  commandLogDirectory: /var/tmp/logs   where the log lies (default: in the\n"
    "                            experiment's folder), such as a local disk\n"
    "                            where that is on a network file system\n"
    "  constraints: [x < y, a + b <= 1]    hold of every trial's parameters\n"
    "  grace: 5s                 between SIGTERM and SIGKILL for a trial\n"
    "  stopValue: 0.95           the first final result as good ends it\n"
    "  maxTrialsWithoutImprovement: 20   as many in a row that were no better\n"
    "  maxTrialHours: 100        so long all trials together, also in parallel\n"
    "                            (at such an end those that run go on to\n"
    "                            theirs, and none is started any more)\n"
    "  placeTimeout: 10m         so long a trial whose start fails, for want\n"
    "                            of processes, memory, files or room on the\n"
    "                            disk, is tried again\n"
    "  deterministic: false      true: as --deterministic\n"
    "  trialMemory: 2GB          reserved for each trial, which is kept to it;\n"
    "                            or: auto, learned from the first ones\n"
    "  trialGpuNumber: 1         GPUs of each trial, 0: none; gpuIndices,\n"
    "                            maxTrialNumberPerGpu and useActiveGpu too\n"
    "  trialGpuMemory: 8GB       reserved on each of them\n"
    "  trialLabels: ['*A100*']   a trial runs where each matches a label: a\n"
    "                            GPU's (deviceLabels, its model) or those of\n"
    "                            the machine (machineLabels, its name)\n"
    "  memoryHeadroom: 20%       stays free; memoryFloor: 512MiB, too\n"
    "  memoryLimit: auto         cgroup, rlimit or none\n"
    "  outOfMemoryRetry: 3       with more memory, or GPUs of its own\n"
    "  outOfMemoryPatterns: [no room]    of its last words, what means that\n"
    "  trialIdleTimeout: 30m     a trial with no result for so long is stopped\n"
    "  onFailure:                a trial that failed is tried again, so often,\n"
    "    retry: 0                at first after this time, each time after\n"
    "    backoff: 1s             twice as long, at most an hour\n"
    "    then: skip              then the tuner hears that it failed; or\n"
    "    value: 100              with then: report, that this was its result\n"
    "  onRepeatedFailure: pause  when three trials in a row fail the same way no\n"
    "                            more are started until `tunepipe continue`; or:\n"
    "                            end, the experiment ends; ignore, it goes on;\n"
    "                            default: pause where stdout or stderr is a\n"
    "                            terminal, else end\n"
    "  enqueue:                  tried first, in this order, within\n"
    "    - {lr: 0.01}            maxTrialNumber; what a set lacks is drawn (see\n"
    "                            also tunepipe trial add)\n"
    "  import: old.jsonl         finished trials from elsewhere, which the tuner\n"
    "                            is told of first; see tunepipe import\n"
    "  on:                       commands to run when something happens; what\n"
    "    best: ./mail-me           stands in $TUNEPIPE_EVENT_JSON and on stdin\n"
    "    'trial.*': cat >> all     (events: see tunepipe-experiment(5))\n"
    "  hookConcurrency: 4        how many of them run at a time\n"
    "  hookTimeout: 60s          how long one may take\n"
    "  index: false              true: a database of the results is kept up to\n"
    "                            date, see tunepipe index\n"
    "\n"
    "A trial finds its parameters in $TUNEPIPE_PARAM_lr (the name as in the\n"
    "search space, '_' for all but letters and digits), in\n"
    "$TUNEPIPE_TRIAL_DIR/parameters.json and .tsv, and reports with\n"
    "`tunepipe trial`, with <tunepipe/trial.h>, with `import tunepipe` or by\n"
    "its output.  A trial written with NNI's trial API (1.x, 2.x) runs as it\n"
    "is: NNI_SYS_DIR has its parameter.cfg and takes its .nni/metrics.  Ctrl-C\n"
    "ends the trials and prints what there is; a second one kills them.\n"
    "\n"
    "In place of what CONFIG.yml says, and kept for tunepipe resume:\n"
    "\n"
    "  --max-trials N         maxTrialNumber\n"
    "  --concurrency N        trialConcurrency\n"
    "  --seed N               seed\n"
    "  --tuner NAME[:JSON]    tuner: a plugin's name or file, and its arguments;\n"
    "                         those in CONFIG.yml count where it names the same\n"
    "  --name NAME            experimentName\n"
    "\n"
    "  --deterministic        in lock step: no report counts before every\n"
    "                         running trial has one; the same seed then gives\n"
    "                         the same table, whatever the timing, for trials\n"
    "                         that are deterministic themselves.  They wait\n"
    "                         for each other: how long is said at the end\n"
    "  --import FILE          the same as the key `import`\n"
    "  --batch                in a batch job of Slurm, which this submits; see\n"
    "                         tunepipe-slurm(7)\n"
    "  --batch-option OPTION  there: an option of sbatch, such as '-t 24:00:00'\n"
    "  --dry-run              checks all, asks the tuner for the first five sets\n"
    "                         of parameters, prints them and the commands that\n"
    "                         would run; nothing is started, nothing is written\n"
    "  --json                 there: as one JSON object\n"
    "  --dispatcher PROGRAM   called as PROGRAM dispatch ... instead of\n"
    "                         tunepipe's own\n"
    "\n"
    "Exit status: 0 done; 1 interrupted, no trial has a result, trials fail\n"
    "again and again or cannot be started, the tuner failed to give\n"
    "parameters, or the dispatcher died; 2 usage; 3 the configuration is\n"
    "wrong.\n"
    "\n"
    "Example: tunepipe run experiment.yml\n";

struct words {
    const char *dispatcher, *import, *seed, *max_trials, *name, *concurrency,
        *tuner;
    bool deterministic, dry_run, json;
    struct batch_words batch;
};

static const struct option options[] = {
    BATCH_OPTIONS(words),
    {"concurrency", OPTION_TEXT, offsetof(struct words, concurrency), "N"},
    {"deterministic", OPTION_FLAG, offsetof(struct words, deterministic), NULL},
    {"dispatcher", OPTION_TEXT, offsetof(struct words, dispatcher), "FILE"},
    {"dry-run", OPTION_FLAG, offsetof(struct words, dry_run), NULL},
    {"import", OPTION_TEXT, offsetof(struct words, import), "FILE"},
    {"json", OPTION_FLAG, offsetof(struct words, json), NULL},
    {"max-trials", OPTION_TEXT, offsetof(struct words, max_trials), "N"},
    {"name", OPTION_TEXT, offsetof(struct words, name), "NAME"},
    {"seed", OPTION_TEXT, offsetof(struct words, seed), "N"},
    {"tuner", OPTION_TEXT, offsetof(struct words, tuner), "TUNER"},
};
#define N_OPTIONS (sizeof options / sizeof *options)

/* Reads the configuration, with the keys that the options give in its place. */
static struct experiment *
read_with(const char *file, const struct words *w, struct problems *problems,
          struct err *err)
{
    const char *const values[OVERRIDES] = {w->seed, w->max_trials, w->name,
                                           w->concurrency, w->tuner};
    struct experiment *x = NULL;
    char *overrides;

    if (overrides_write(values, &overrides, err) == 0)
        x = checked_read(file,
                         &(struct checked){.use = EXPERIMENT_RUN,
                                           .overrides = overrides,
                                           .import = w->import,
                                           .deterministic = w->deterministic},
                         problems, err);
    free(overrides);
    return x;
}

static int
run(int argc, char **argv)
{
    struct words w = {0};
    struct problems problems;
    struct err err = {0};
    struct experiment *x;
    int status;

    if (options_parse(options, N_OPTIONS, &w, &argc, argv, &err) != 0)
        return verb_fail("run", &err);
    if (argc != 2)
        err_set(&err, ERR_USAGE, "expected one configuration; see --help");
    else if (w.json && !w.dry_run)
        err_set(&err, ERR_USAGE, "--json is for --dry-run");
    else if (w.batch.batch && w.dispatcher != NULL)
        err_set(&err, ERR_USAGE, "--dispatcher is not for --batch");
    else
        batch_check(&w.batch, &err);
    if (err.code != ERR_NONE)
        return verb_fail("run", &err);
    problems_init(&problems);
    x = read_with(argv[1], &w, &problems, &err);
    if (x == NULL || problems_check(&problems, &err) != 0)
        status = checked_refuse("run", &err, &problems);
    else if (w.dry_run)
        status = dryrun(x, w.dispatcher, w.json, &w.batch);
    else if (w.batch.batch)
        status = batch_run(x, &w.batch, &err) == 0 ? EXIT_DONE
                                                   : verb_fail("run", &err);
    else
        status = conduct("run", x,
                         &(struct manager_options){.dispatcher = w.dispatcher});
    experiment_free(x);
    problems_fini(&problems);
    return status;
}

const struct verb verb_run = {
    .name = "run",
    .summary = "run an experiment",
    .help = help,
    .run = run,
    .options = options,
    .n_options = N_OPTIONS,
    .operand = "FILE",
};
