/* SPDX-License-Identifier: MIT */
/* player.h - starts `tunepipe -m nni` as a recording tells, and sends and
 * receives in a manager's place; what fails ends the program.  For play.c and
 * restart.c. */
#ifndef TESTS_TOOLS_PLAYER_H
#define TESTS_TOOLS_PLAYER_H

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

static inline void
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
static inline void
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
static inline char *
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
static inline void
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
static inline void
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
    frame_decoder_init(&p->decoder, p->digits, FRAME_PAYLOAD_MAX_DEFAULT);
}

/* A manager up to 2.7 dies of any other. */
static inline void
check_known(const struct play *p, const char *code)
{
    for (size_t k = 0; k < N_ANSWERS; k++)
        if (strcmp(answers[k], code) == 0)
            return;
    die(p, "%s was sent, of which the manager dies", code);
}

/* False at the end of the dispatcher's output. */
static inline bool
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
    while ((status = frame_next(&p->decoder, &f, &err)) == FRAME_READY) {
        check_known(p, f.code);
        add(&p->got, false, f.code, f.payload, f.len);
    }
    if (status == FRAME_BROKEN)
        die(p, "a broken frame: %s", err.text);
    return true;
}

static inline void
wait_for(struct play *p, const char *code, size_t n)
{
    char what[64];

    snprintf(what, sizeof what, "%zu %s", n, code);
    while (count(&p->got, p->got.n, code) < n)
        if (!receive(p, what))
            die(p, "the dispatcher ended, expected %s", what);
}

static inline void
send_frame(struct play *p, const char *code, const char *text)
{
    struct buf out;

    buf_init(&out, (size_t)1 << 24);
    frame_encode(&out, p->digits, code, text, strlen(text));
    if (write(p->to, out.data, out.len) != (ssize_t)out.len)
        die(p, "cannot send %s: %m", code);
    buf_fini(&out);
}

/* ---- playing ---- */

/* The TR received for the id that the record has. */
static inline const char *
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

static inline void
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

static inline void
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

static inline void
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

#endif
