/* SPDX-License-Identifier: MIT */
/* play RECORDING [ARG...]: plays a recorded session of NNI's manager against
 * `tunepipe dispatch --in-fd 3 --out-fd 4 ARG...` and compares the answers.
 * Writes ./command, which starts such a dispatcher alone.
 * RECORDING.jsonl holds the frames, RECORDING.meta.json tuner and assessor.
 *
 * Causality: a command is sent once as many answers of each code have arrived
 * as had been recorded before it; an EN carries the text of the TR received
 * for the same parameter id.
 *
 * Has to be the same: the count of each code; parameter ids, keys, their order
 * and, but for choices, JSON types of each TR and NO; the set of trials killed
 * (NNI repeats a KI for each metric that comes after it; one is enough).  Of
 * tuners without random numbers (GridSearch, BatchTuner): every byte.  Values
 * of others differ, because the random numbers do; they have to lie in the
 * search space.
 *
 * NNI's Curvefitting needs a second for a judgement and is many values behind
 * when a session ends: the trials it killed have to be the first that are
 * killed, in the same order; others may follow.
 *
 * A recording without TE is one in which NNI's dispatcher died:
 * what it had answered has to be answered, and then the session goes on: the
 * trials asked for are there, end, and are followed by others. */
#include "tools/compare.h"
#include "tools/recording.h"

#include <poll.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 30000
#define ARGS_MAX 64

/* ---- the dispatcher ---- */

static void
exec_child(const char **argv, int in, int out)
{
    int high_in = dup2(in, 100), high_out = dup2(out, 101);

    dup2(high_in, 3);
    dup2(high_out, 4);
    for (int fd = 5; fd < 110; fd++)
        close(fd);
    execv(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

/* Adds --tuner NAME --tuner-args JSON as the recording's configuration says. */
static int
add_plugin(struct play *p, const char *kind, const char **argv, int n)
{
    struct jval args, plugin = meta_part(p, "exp_params", kind);
    struct buf text;
    bool tuner;

    if (jval_count(plugin) == 0)
        return n;
    tuner = strcmp(kind, "tuner") == 0;
    argv[n++] = tuner ? "--tuner" : "--assessor";
    argv[n++] = text_of(plugin, "name");
    if (!jval_get(plugin, "classArgs", &args))
        return n;
    buf_init(&text, 65536);
    jval_write(args, &text);
    argv[n++] = tuner ? "--tuner-args" : "--assessor-args";
    argv[n++] = p->args[tuner] = buf_take(&text);
    return n;
}

/* The same dispatcher, without ARG..., for `tunepipe replay --pipe 'sh
 * ./command'`.  Nothing in a recording has a single quote. */
static void
write_command(const struct play *p, const char **argv, int n)
{
    FILE *f = fopen("command", "w");

    if (f == NULL)
        die(p, "command: %m");
    fputs("exec", f);
    for (int i = 0; i < n; i++)
        fprintf(f, " '%s'", argv[i]);
    fputs(" 3<&0 4>&1\n", f);
    if (fclose(f) != 0)
        die(p, "command: %m");
}

static void
start(struct play *p, char **more)
{
    bool tell = strcmp(text_of(meta_part(p, "env", NULL),
                               "NNI_INCLUDE_INTERMEDIATE_RESULTS"),
                       "true") == 0;
    const char *argv[ARGS_MAX] = {NULL, "dispatch", "--in-fd",
                                  "3",  "--out-fd", "4"};
    int in[2], out[2], n = 6;

    char program[4096];

    snprintf(program, sizeof program, "%s/tunepipe", getenv("TP_BUILD"));
    argv[0] = program;
    if (pipe(in) != 0 || pipe(out) != 0)
        die(p, "%m");
    argv[n++] = "--early-stopped";
    argv[n++] = tell ? "latest" : "ignore";
    n = add_plugin(p, "tuner", argv, n);
    n = add_plugin(p, "assessor", argv, n);
    write_command(p, argv, n);
    while (*more != NULL && n < ARGS_MAX - 1)
        argv[n++] = *more++;
    p->child = fork();
    if (p->child == 0) {
        close(in[1]);
        close(out[0]);
        exec_child(argv, in[0], out[1]);
    }
    close(in[0]);
    close(out[1]);
    p->to = in[1];
    p->from = out[0];
    frame_decoder_init(&p->decoder, FRAME_DIGITS, FRAME_PAYLOAD_MAX_DEFAULT);
}

/* False at the end of the dispatcher's output. */
static bool
receive(struct play *p, const char *waiting)
{
    struct pollfd fd = {.fd = p->from, .events = POLLIN};
    enum frame_status status;
    struct frame f;
    struct err err;
    size_t room;
    char *to = frame_room(&p->decoder, &room);
    ssize_t n;

    if (poll(&fd, 1, PATIENCE_MS) != 1)
        die(p, "waited in vain for %s", waiting);
    n = read(p->from, to, room);
    if (n <= 0)
        return false;
    frame_filled(&p->decoder, (size_t)n);
    while ((status = frame_next(&p->decoder, &f, &err)) == FRAME_READY)
        add(&p->got, false, f.code, f.payload, f.len);
    if (status == FRAME_BROKEN)
        die(p, "a broken frame: %s", err.text);
    return true;
}

static void
wait_for(struct play *p, const char *code, size_t n)
{
    char what[64];

    snprintf(what, sizeof what, "%zu %s", n, code);
    while (count(&p->got, p->got.n, code) < n)
        if (!receive(p, what))
            die(p, "the dispatcher ended, expected %s", what);
}

static void
send_frame(struct play *p, const char *code, const char *text)
{
    struct buf out;

    buf_init(&out, (size_t)1 << 24);
    frame_encode(&out, FRAME_DIGITS, code, text, strlen(text));
    if (write(p->to, out.data, out.len) != (ssize_t)out.len)
        die(p, "cannot send %s: %m", code);
    buf_fini(&out);
}

/* ---- playing ---- */

/* The TR received for the id that the record has. */
static const char *
received_record(const struct play *p, const char *record)
{
    char *want = id_of(p, record);
    const char *tr = NULL;

    for (size_t k = 0; (tr = answer(&p->got, "TR", k)) != NULL; k++) {
        char *id = id_of(p, tr);
        bool same = strcmp(id, want) == 0;

        free(id);
        if (same)
            break;
    }
    free(want);
    if (tr == NULL)
        die(p, "no TR for the trial of %s", record);
    return tr;
}

static void
send_end(struct play *p, const char *job, const char *event, const char *record)
{
    struct buf text;

    buf_init(&text, (size_t)1 << 20);
    buf_printf(&text,
               "{\"trial_job_id\":\"%s\",\"event\":\"%s\","
               "\"hyper_params\":",
               job, event);
    json_write_string(&text, record, strlen(record));
    buf_add_char(&text, '}');
    send_frame(p, "EN", buf_text(&text));
    buf_fini(&text);
}

static void
play_command(struct play *p, const char *code, const char *text)
{
    struct json *doc;

    if (strcmp(code, "EN") != 0) {
        send_frame(p, code, text);
        return;
    }
    doc = parse(p, text, "EN");
    send_end(p, text_of(json_root(doc), "trial_job_id"),
             text_of(json_root(doc), "event"),
             received_record(p, text_of(json_root(doc), "hyper_params")));
    json_free(doc);
}

/* Returns how many trials were asked for. */
static size_t
play_all(struct play *p)
{
    size_t asked = 0;

    for (size_t i = 0; i < p->recorded.n; i++) {
        const char *code = p->recorded.at[i].code;

        if (!p->recorded.at[i].in)
            continue;
        for (size_t k = 0; k < N_ANSWERS; k++)
            wait_for(p, answers[k], count(&p->recorded, i, answers[k]));
        play_command(p, code, p->recorded.at[i].text);
        if (strcmp(code, "GE") == 0)
            asked += strtoul(p->recorded.at[i].text, NULL, 10);
    }
    return asked;
}

/* Where NNI's dispatcher died: the trials asked for run, end, and as many
 * follow. */
static size_t
go_on(struct play *p, size_t asked)
{
    char text[256];

    wait_for(p, "TR", asked);
    for (size_t k = 0; k < asked; k++) {
        const char *record = answer(&p->got, "TR", k);
        char *id = id_of(p, record), job[32];

        snprintf(job, sizeof job, "job%zu", k);
        snprintf(text, sizeof text,
                 "{\"parameter_id\": %s, \"trial_job_id\": \"%s\", \"type\": "
                 "\"FINAL\", \"sequence\": 0, \"value\": \"0.%zu\"}\n",
                 id, job, k);
        send_frame(p, "ME", text);
        send_end(p, job, "SUCCEEDED", record);
        free(id);
    }
    snprintf(text, sizeof text, "%zu", asked);
    send_frame(p, "GE", text);
    wait_for(p, "TR", 2 * asked);
    send_frame(p, "TE", "");
    return 2 * asked;
}

static void
finish(struct play *p)
{
    int status;

    close(p->to);
    while (receive(p, "the end"))
        continue;
    waitpid(p->child, &status, 0);
    p->child = 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        die(p, "the dispatcher ended with status 0x%x, expected 0", status);
}

static bool
has_command(const struct frames *f, const char *code)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->at[i].in && strcmp(f->at[i].code, code) == 0)
            return true;
    return false;
}

int
main(int argc, char **argv)
{
    static struct play p;
    const char *tuner;
    bool exact, died, behind;
    size_t trials;

    if (argc < 2 || getenv("TP_BUILD") == NULL) {
        fprintf(stderr, "usage: TP_BUILD=... play RECORDING [ARG...]\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    p.name = strrchr(argv[1], '/') ? strrchr(argv[1], '/') + 1 : argv[1];
    read_frames(&p, argv[1]);
    read_meta(&p, argv[1]);
    tuner = text_of(meta_part(&p, "exp_params", "tuner"), "name");
    exact =
        strcmp(tuner, "GridSearch") == 0 || strcmp(tuner, "BatchTuner") == 0;
    died = !has_command(&p.recorded, "TE");
    behind = strcmp(text_of(meta_part(&p, "exp_params", "assessor"), "name"),
                    "Curvefitting") == 0;
    start(&p, argv + 2);
    trials = play_all(&p);
    trials = died ? go_on(&p, trials) : count(&p.recorded, p.recorded.n, "TR");
    finish(&p);
    for (size_t k = 0; k < N_ANSWERS; k++) {
        size_t got = count(&p.got, p.got.n, answers[k]);
        size_t want = strcmp(answers[k], "TR") == 0
                          ? trials
                          : count(&p.recorded, p.recorded.n, answers[k]);

        if (behind && strcmp(answers[k], "KI") == 0)
            check_kills_begin(&p);
        else if (got != want)
            die(&p, "%zu %s, expected %zu", got, answers[k], want);
    }
    check_records(&p, "TR");
    check_records(&p, "NO");
    check_kills(&p);
    if (exact)
        check_bytes(&p);
    else
        check_space(&p);
    printf("ok recording %s: %zu trials, %zu killed, %s\n", p.name, trials,
           count(&p.got, p.got.n, "KI"),
           died    ? "goes on where NNI died"
           : exact ? "the same bytes"
                   : "the same ids, keys and types");
    return 0;
}
