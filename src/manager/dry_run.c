/* SPDX-License-Identifier: MIT */
#include "manager/dry_run.h"

#include "command.h"
#include "config/experiment.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "json.h"
#include "manager/custom.h"
#include "manager/environment.h"
#include "manager/exchange.h"
#include "manager/imports.h"
#include "manager/launch.h"
#include "manager/parameters.h"
#include "manager/tail.h"
#include "manager/trial.h"
#include "supervisor/supervisor.h"
#include "runner/runner.h"
#include "trial/files.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ASK_MAX 65536 /* a dispatcher refuses more */
#define WORD_MAX 65536
#define TEXT_MAX ((size_t)128 << 20)
#define WORDS_AT_ONCE ((size_t)1 << 20)
#define END_MS 10000 /* to end by itself */
#define EXIT_OF_CONFIG 3
#define PLAN_MAX 65536

struct state {
    struct dry_run *r;
    const struct dry_run_listener *to;
    struct launch launch;
    struct exchange exchange;
    struct tail words;
    struct supervised dispatcher;
    uint64_t asked, came;
    char *folder;     /* where the experiment's folder would be */
    bool initialized; /* it took the search space */
    bool over;        /* nothing more is wanted */
    int rc;
    struct err *err;
};

static void
ask(struct state *s, uint64_t n)
{
    char text[24];

    snprintf(text, sizeof text, "%llu", (unsigned long long)n);
    exchange_send(&s->exchange, command_info(CMD_REQUEST_TRIALS)->code, text,
                  strlen(text));
    s->asked += n;
}

static bool
is_shown(const struct environment *e, const char *var)
{
    static const char *const folders[] = {TRIAL_ENV_DIR "=",
                                          TRIAL_ENV_EXPERIMENT_DIR "="};

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (strncmp(var, folders[i], strlen(folders[i])) == 0)
            return false;
    return strncmp(var, "TUNEPIPE_", 9) == 0 &&
           map_get(&e->names, var, strcspn(var, "=")) != NULL;
}

/* Shows the trial with the variables of ours that it would have. */
static int
show_vars(struct state *s, const struct environment *e,
          struct dry_run_trial *shown)
{
    const char **vars = calloc(e->n + 1, sizeof *vars);
    size_t n = 0;
    int rc;

    if (vars == NULL)
        return err_set(s->err, ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < e->n; i++)
        if (is_shown(e, e->vars[i]))
            vars[n++] = e->vars[i];
    shown->vars = vars;
    rc = s->to->take(s->to->ctx, shown, s->err);
    free(vars);
    return rc;
}

/* Fills what the trial is given: its parameters and its commands. */
static int
fill(struct state *s, struct jval parameters, struct buf *text,
     struct buf *prepare, struct buf *command)
{
    const struct launch *l = &s->launch;

    jval_write(parameters, text);
    if (buf_check(text, "the parameters", s->err) != 0)
        return -1;
    if (l->prepare_command != NULL &&
        launch_command(l, l->prepare_command, parameters, prepare, s->err) != 0)
        return -1;
    return launch_command(l, l->command, parameters, command, s->err);
}

static int
show_trial(struct state *s, struct trial *t)
{
    const struct experiment *x = s->r->x;
    const struct environment_of of = {
        .program_folder = s->launch.program_folder,
        .python_folder = s->launch.python_folder,
        .experiment_folder = s->folder,
        .code_folder = x->trial_folder,
        .seed = s->r->seed,
        .minimize = x->minimize,
        .lockstep = x->deterministic,
        .objectives = x->objectives,
    };
    struct dry_run_trial shown = {.id = t->id, .parameter_id = t->parameter_id};
    struct environment env = {0};
    struct buf text, prepare, command;
    struct json *doc = launch_parameters(&s->launch, t, s->err);
    int rc = doc == NULL ? -1 : trial_place(t, s->folder, s->err);

    buf_init(&text, TEXT_MAX);
    buf_init(&prepare, TEXT_MAX);
    buf_init(&command, TEXT_MAX);
    if (rc == 0)
        rc = environment_make(&env, &of, t, json_root(doc), s->err);
    if (rc == 0)
        rc = fill(s, json_root(doc), &text, &prepare, &command);
    if (rc == 0) {
        shown.parameters = buf_text(&text);
        shown.prepare =
            x->prepare_command.text != NULL ? buf_text(&prepare) : NULL;
        shown.command = buf_text(&command);
        rc = show_vars(s, &env, &shown);
    }
    buf_fini(&text);
    buf_fini(&prepare);
    buf_fini(&command);
    environment_fini(&env);
    json_free(doc);
    return rc;
}

static void
finish(struct state *s, int rc)
{
    s->over = true;
    s->rc = rc;
    exchange_send(&s->exchange, command_info(CMD_TERMINATE)->code, "", 0);
}

/* Shows the trial, and goes on to the next. */
static int
take(struct state *s, struct trial *t)
{
    int rc = t != NULL ? show_trial(s, t)
                       : err_set(s->err, ERR_MEMORY, "out of memory");

    s->came++;
    trial_free(t);
    if (rc != 0 || s->came == s->r->wanted)
        finish(s, rc);
    return rc;
}

static void
take_trial(struct state *s, const struct frame *frame)
{
    struct suggestion record;

    if (suggestion_read(frame->payload, frame->len, &record, s->err) != 0) {
        err_place(s->err, "a TR that is none");
        finish(s, -1);
        return;
    }
    take(s, trial_new(s->came, frame->payload, frame->len, record.id,
                      record.parameters));
    suggestion_fini(&record);
    if (!s->over && s->came == s->asked)
        ask(s, 1);
}

/* Takes the sets that are tried first, as custom_begin_rest() does. */
static void
enqueue(struct state *s)
{
    const struct experiment *x = s->r->x;
    struct buf told, set, record;
    char id[24];
    int rc = 0;

    buf_init(&told, TEXT_MAX);
    buf_init(&set, TEXT_MAX);
    buf_init(&record, TEXT_MAX);
    for (size_t i = 0; i < x->n_enqueued && !s->over; i++) {
        buf_clear(&set);
        buf_clear(&record);
        snprintf(id, sizeof id, "%zu", i);
        rc = custom_write_enqueued(x, s->launch.space, s->r->seed, i, &set,
                                   s->err);
        if (rc != 0)
            break;
        custom_write_record(&record, id, SOURCE_CUSTOM, buf_text(&set));
        buf_add_text(&told, i == 0 ? "[" : ", ");
        buf_add(&told, record.data, record.len);
        take(s,
             trial_new(s->came, record.data, record.len, id, buf_text(&set)));
    }
    buf_add_char(&told, ']');
    if (rc == 0 && !s->over)
        rc = buf_check(&told, "enqueue", s->err);
    if (rc != 0)
        finish(s, rc);
    else if (!s->over)
        exchange_send(&s->exchange, command_info(CMD_ADD_CUSTOM)->code,
                      told.data, told.len);
    buf_fini(&told);
    buf_fini(&set);
    buf_fini(&record);
}

/* Asks as a run does, for as many trials as may run at a time. */
static void
take_initialized(struct state *s, const struct frame *frame)
{
    const struct experiment *x = s->r->x;
    uint64_t most = x->concurrency;
    uint64_t n;

    (void)frame;
    s->initialized = true;
    if (x->max_trials > 0 && s->r->wanted > x->max_trials)
        s->r->wanted = x->max_trials;
    if (x->max_trials > 0 && most > x->max_trials)
        most = x->max_trials;
    n = most > x->n_enqueued ? most - x->n_enqueued : 0;
    if (n > ASK_MAX)
        n = ASK_MAX;
    s->r->sure =
        x->n_enqueued + n < s->r->wanted ? x->n_enqueued + n : s->r->wanted;
    s->asked = x->n_enqueued;
    if (x->n_enqueued > 0)
        enqueue(s);
    exchange_plan(&s->exchange, x->max_trials);
    if (!s->over)
        ask(s, n > 0 ? n : 1);
}

static void
take_no_more(struct state *s, const struct frame *frame)
{
    static const char *const reasons[][2] = {
        {"exhausted", "there is nothing more to try"},
        {"later", "the tuner gives no more before it has results"},
    };
    struct json *doc =
        json_parse(frame->payload, frame->len, JSON_STRICT, NULL);
    const char *reason = reasons[0][0];
    struct jval v;

    if (!s->initialized) {
        finish(s, err_set(s->err, ERR_CONFIG,
                          "the dispatcher refused the search space"));
        json_free(doc);
        return;
    }
    if (doc != NULL && jval_get(json_root(doc), "reason", &v))
        jval_string(v, &reason, NULL);
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strcmp(reason, reasons[i][0]) == 0)
            s->r->ended = reasons[i][1];
    finish(s, s->r->ended != NULL
                  ? 0
                  : err_set(s->err, ERR_PLUGIN,
                            "the tuner failed to give parameters"));
    json_free(doc);
}

static void
take_frame(void *ctx, const struct frame *frame)
{
    static const struct {
        enum command_code code;
        void (*take)(struct state *s, const struct frame *frame);
    } takers[] = {{CMD_INITIALIZED, take_initialized},
                  {CMD_NEW_TRIAL, take_trial},
                  {CMD_NO_MORE, take_no_more}};
    struct state *s = ctx;

    for (size_t i = 0; !s->over && i < sizeof takers / sizeof *takers; i++)
        if (strcmp(command_info(takers[i].code)->code, frame->code) == 0)
            takers[i].take(s, frame);
}

static void
take_stderr_line(void *ctx, const char *line, size_t len, bool too_long)
{
    struct state *s = ctx;

    (void)too_long;
    s->to->word(s->to->ctx, line, len);
}

static int
start(struct state *s)
{
    const struct experiment *x = s->r->x;
    struct supervised_pipes pipes;
    char seed[24];

    snprintf(seed, sizeof seed, "%llu", (unsigned long long)s->r->seed);
    /* in the place of the file's tuner, where the command line names one */
    const char *tuner = x->tuner_overridden ? "--tuner" : NULL;
    const char *const words[] = {"--config",
                                 x->file,
                                 "--seed",
                                 seed,
                                 "--early-stopped",
                                 early_stopped_name(x->early_stopped),
                                 "--extensions",
                                 tuner,
                                 algorithm_plugin(&x->tuner),
                                 "--tuner-args",
                                 x->tuner.args,
                                 NULL};
    if (supervisor_start(&s->dispatcher, s->r->dispatcher,
                         s->launch.program_folder, words, &pipes, s->err) != 0)
        return -1;
    exchange_open(&s->exchange, pipes.to, pipes.from);
    tail_attach(&s->words, pipes.words, WORD_MAX);
    return 0;
}

static void
read_answers(struct state *s)
{
    int rc =
        exchange_read(&s->exchange, take_frame, s, s->over ? NULL : s->err);

    if (rc == 1)
        return;
    close(s->exchange.from);
    s->exchange.from = -1;
    if (!s->over) {
        s->over = true;
        s->rc = rc < 0 ? -1
                       : err_set(s->err, ERR_PLUGIN, "%s",
                                 "the dispatcher ended by itself");
    }
}

/* Waits once and takes what came; false: all is read, or nothing more came in
 * time. */
static bool
wait_once(struct state *s)
{
    struct pollfd fds[] = {
        {s->exchange.from, POLLIN, 0},
        {s->words.ended ? -1 : s->words.fd, POLLIN, 0},
        {exchange_pending(&s->exchange) > 0 ? s->exchange.to : -1, POLLOUT, 0},
    };
    int n;

    if (fds[0].fd < 0 && fds[1].fd < 0)
        return false;
    n = poll(fds, sizeof fds / sizeof *fds, s->over ? END_MS : -1);
    if (n == 0)
        return false;
    if (fds[1].revents != 0 &&
        tail_read(&s->words, WORDS_AT_ONCE, take_stderr_line, s, NULL) < 0)
        s->words.ended = true;
    if (fds[0].revents != 0)
        read_answers(s);
    return true;
}

/* The dispatcher has said all: waits for its end, whose exit status tells
 * whether the configuration is wrong. */
static void
await_end(struct state *s)
{
    struct supervised_end end;

    if (s->dispatcher.pidfd < 0)
        return;
    if (s->exchange.to >= 0)
        exchange_close_to(&s->exchange);
    if (!supervisor_ends_within(&s->dispatcher, END_MS))
        supervisor_signal(&s->dispatcher, SIGKILL);
    tail_rest(&s->words, take_stderr_line, s);
    supervisor_end(&s->dispatcher, &end);
    supervisor_close(&s->dispatcher);
    if (s->rc != 0 && end.status == EXIT_OF_CONFIG && s->came == 0)
        s->rc = err_set(s->err, ERR_CONFIG,
                        "the dispatcher refused the configuration");
}

static void
converse(struct state *s)
{
    const char *space = s->r->x->search_space;
    struct buf lines;

    exchange_base(&s->exchange, 0);
    exchange_send(&s->exchange, command_info(CMD_INITIALIZE)->code, space,
                  strlen(space));
    buf_init(&lines, SIZE_MAX / 2);
    imports_load(s->r->x, &lines, NULL, NULL);
    imports_send(&s->exchange, buf_text(&lines), 0);
    buf_fini(&lines);
    do {
        exchange_flush(&s->exchange, NULL);
        if (s->over && s->exchange.to >= 0 &&
            exchange_pending(&s->exchange) == 0)
            exchange_close_to(&s->exchange);
    } while (wait_once(s));
}

int
dry_run(struct dry_run *r, const struct dry_run_listener *to, struct err *err)
{
    struct state s = {.r = r,
                      .to = to,
                      .dispatcher = SUPERVISED_NONE,
                      .words = {.fd = -1},
                      .err = err};
    struct buf plan;

    signal(SIGPIPE, SIG_IGN);
    exchange_init(&s.exchange);
    r->plan = NULL;
    r->ended = NULL;
    s.folder = file_join(r->x->working_folder, r->x->name);
    if (s.folder == NULL)
        s.rc = err_set(err, ERR_MEMORY, "out of memory");
    else
        s.rc = launch_open(&s.launch, runner_kind(r->x->platform), r->x, err);
    if (s.rc == 0 && s.launch.runner->ops->plan != NULL) {
        buf_init(&plan, PLAN_MAX);
        s.launch.runner->ops->plan(s.launch.runner, &plan);
        r->plan = buf_take(&plan);
        buf_fini(&plan);
    }
    s.launch.command = r->x->trial_command.text;
    s.launch.prepare_command = r->x->prepare_command.text;
    s.launch.space = parameters_space(r->x->search_space);
    if (s.rc == 0)
        s.rc = start(&s);
    if (s.rc == 0)
        converse(&s);
    await_end(&s);
    exchange_close(&s.exchange);
    tail_close(&s.words);
    launch_close(&s.launch);
    free(s.folder);
    return s.rc;
}
