/* SPDX-License-Identifier: MIT */
/* play RECORDING: plays a recorded session of NNI's manager against `tunepipe
 * -m nni` and compares the answers.  The dispatcher is started as the manager
 * does it: by a shell that stays its parent, sockets at descriptors 3 and 4,
 * with the recorded argument and environment; its log is in ./checkpoint.
 * Writes ./command, which starts such a dispatcher alone.
 * RECORDING.jsonl holds the frames, RECORDING.meta.json how it was started.
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
#include "tools/nnistart.h"
#include "tools/recording.h"

#include <poll.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 30000

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

/* Environment as recorded, with EXPDIR for the current folder, where the two
 * folders are that the manager makes. */
static void
set_environment(const struct play *p)
{
    struct jval_iter it = jval_iter(meta_part(p, "env", NULL));
    char here[4096], value[8192];

    if (getcwd(here, sizeof here) == NULL)
        die(p, "%m");
    while (jval_next(&it)) {
        const char *text = "";

        (void)jval_string(it.value, &text, NULL);
        if (strcmp(it.key, "PWD") == 0)
            continue;
        if (strncmp(text, "EXPDIR", 6) == 0) {
            snprintf(value, sizeof value, "%s%s", here, text + 6);
            mkdir(value, 0700);
            text = value;
        }
        setenv(it.key, text, 1);
    }
}

/* What NNI's manager has its shell run; to be freed. */
static char *
command_line(const struct play *p)
{
    struct jval params = meta_part(p, "exp_params", NULL);
    struct buf text;
    char *encoded, *line;

    buf_init(&text, 1 << 20);
    jval_write(params, &text);
    encoded = nni_base64(buf_text(&text));
    if (asprintf(&line, "'%s/tunepipe' -m nni --exp_params %s",
                 getenv("TP_BUILD"), encoded) < 0)
        die(p, "out of memory");
    free(encoded);
    buf_fini(&text);
    return line;
}

/* The same dispatcher, without a log, for `tunepipe replay --pipe 'sh
 * ./command'`.  Nothing in a recording has a single quote. */
static void
write_command(const struct play *p, const char *line)
{
    FILE *f = fopen("command", "w");

    if (f == NULL)
        die(p, "command: %m");
    fprintf(f,
            "unset NNI_CHECKPOINT_DIRECTORY\n"
            "export NNI_INCLUDE_INTERMEDIATE_RESULTS=%s\n"
            "exec %s 3<&0 4>&1\n",
            getenv("NNI_INCLUDE_INTERMEDIATE_RESULTS"), line);
    if (fclose(f) != 0)
        die(p, "command: %m");
}

/* The shell stays, and keeps its own 3 and 4. */
static void
start(struct play *p)
{
    int in[2], out[2];
    char *line, *with_shell;

    set_environment(p);
    line = command_line(p);
    write_command(p, line);
    if (asprintf(&with_shell, "%s; exit $?", line) < 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, in) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, out) != 0)
        die(p, "%m");
    p->child = fork();
    if (p->child == 0) {
        close(in[1]);
        close(out[0]);
        exec_child((const char *[]){"/bin/sh", "-c", with_shell, NULL}, in[0],
                   out[1]);
    }
    free(with_shell);
    free(line);
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

    if (argc != 2 || getenv("TP_BUILD") == NULL) {
        fprintf(stderr, "usage: TP_BUILD=... play RECORDING\n");
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
    start(&p);
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
