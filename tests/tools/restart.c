/* SPDX-License-Identifier: MIT */
/* restart FIRST SECOND [kill]: plays the first half of a recorded experiment of
 * NNI, of whichever generation, against `tunepipe -m nni` over pipes, to its
 * end or (kill) up to a SIGKILL in its place, and then the second half against
 * one that finds the log of the first, in ./checkpoint.  What the second one
 * says goes to ./said.
 *
 * What FD and AD say of trials of the first half are the parameters received
 * there, spelt as JavaScript does.
 *
 * NNI's dispatcher began to number anew, so in the second half the k-th TR
 * received stands for the k-th TR recorded; the trials of AD keep their ids.
 * NNI's also proposed points again that it had been told of; what followed from
 * those is left out.
 *
 * Has to be so: one ID; as many TR as were recorded, but for such points; a NO
 * for each GE that gets less than it asks for; ids behind all of the first
 * half, each once; no point of FD again where there are few (GridSearch); a KI
 * only for a trial that reported, and once. */
#include "tools/player.h"

#include <math.h>

#define JOBS_MAX 1000

/* ---- the dispatcher ---- */

/* As start(), but over pipes of its own and to be killed: no shell stays. */
static void
start_half(struct play *p, bool again)
{
    char *line, *with_shell;
    int in[2], out[2];

    set_environment(p);
    unsetenv("NNI_TUNER_COMMAND_CHANNEL"); /* the bridge has its own tests */
    line = command_line(p);
    if (asprintf(&with_shell, "exec %s", line) < 0 || pipe(in) != 0 ||
        pipe(out) != 0)
        die(p, "%m");
    p->child = fork();
    if (p->child == 0) {
        if (freopen("said", again ? "w" : "a", stderr) == NULL)
            _exit(127);
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

static void
end_half(struct play *p, bool killed)
{
    int status;

    if (killed)
        kill(p->child, SIGKILL);
    close(p->to);
    while (receive(p, "the end"))
        continue;
    waitpid(p->child, &status, 0);
    p->child = 0;
    close(p->from);
    if (!killed && (!WIFEXITED(status) || WEXITSTATUS(status) != 0))
        die(p, "the dispatcher ended with status 0x%x, expected 0", status);
}

/* ---- which trial is which ---- */

struct half {
    struct play play;
    bool again; /* it is the second one */
    struct {
        char *name;
        long recorded; /* its parameter_id; -1: null */
    } jobs[JOBS_MAX];  /* by their metrics */
    size_t n_jobs;
};

static long
number_of(const struct play *p, const char *record)
{
    char *text = id_of(p, record);
    long id = strcmp(text, "null") == 0 ? -1 : atol(text);

    free(text);
    return id;
}

/* The TR received for what was recorded as `id`; NULL: the id is not of a TR
 * of this half; *left_out: there was none. */
static const char *
stand_in(const struct play *p, long id, bool *left_out)
{
    const char *tr;

    *left_out = false;
    for (size_t k = 0; (tr = answer(&p->recorded, "TR", k)) != NULL; k++)
        if (number_of(p, tr) == id) {
            tr = answer(&p->got, "TR", k);
            *left_out = tr == NULL;
            return tr;
        }
    return NULL;
}

static long
id_of_job(const struct half *h, const char *job, long otherwise)
{
    for (size_t i = 0; i < h->n_jobs; i++)
        if (strcmp(h->jobs[i].name, job) == 0)
            return h->jobs[i].recorded;
    return otherwise;
}

static void
send_metric(struct half *h, const char *text)
{
    static const char head[] = "{\"parameter_id\": ";
    struct play *p = &h->play;
    struct json *doc = parse(p, text, "ME");
    const char *job = text_of(json_root(doc), "trial_job_id"), *tr;
    long id = number_of(p, text);
    struct buf out;
    bool left_out;

    if (id_of_job(h, job, -2) == -2 && h->n_jobs < JOBS_MAX) {
        h->jobs[h->n_jobs].name = strdup(job);
        h->jobs[h->n_jobs++].recorded = id;
    }
    tr = stand_in(p, id, &left_out);
    buf_init(&out, 65536);
    if (tr == NULL || strncmp(text, head, strlen(head)) != 0)
        buf_add_text(&out, text);
    else
        buf_printf(&out, "%s%ld%s", head, number_of(p, tr), strchr(text, ','));
    if (!left_out)
        send_frame(p, "ME", buf_text(&out));
    buf_fini(&out);
    json_free(doc);
}

static void
end_trial(struct half *h, const char *text)
{
    struct play *p = &h->play;
    struct json *doc = parse(p, text, "EN");
    const char *job = text_of(json_root(doc), "trial_job_id"), *tr;
    const char *hyper = text_of(json_root(doc), "hyper_params");
    long hint = number_of(p, hyper);
    bool left_out, ignored;
    struct buf out;

    stand_in(p, id_of_job(h, job, hint), &left_out);
    tr = stand_in(p, hint, &ignored);
    buf_init(&out, 65536);
    buf_printf(&out,
               "{\"trial_job_id\":\"%s\",\"event\":\"%s\",\"hyper_params\":",
               job, text_of(json_root(doc), "event"));
    if (tr != NULL)
        hyper = tr;
    json_write_string(&out, hyper, strlen(hyper));
    buf_add_char(&out, '}');
    if (!left_out)
        send_frame(p, "EN", buf_text(&out));
    buf_fini(&out);
    json_free(doc);
}

/* ---- what the second manager says of the first half ---- */

static void
write_number(double v, struct buf *out)
{
    char text[64];
    int digits = 0;

    if (v == floor(v) && fabs(v) < 1e15) {
        buf_printf(out, "%.0f", v == 0 ? 0 : v);
    } else if (fabs(v) < 1e-6 || fabs(v) >= 1e-4) {
        json_write_double(out, v);
    } else {
        do
            snprintf(text, sizeof text, "%.*f", digits++, v);
        while (strtod(text, NULL) != v && digits < 40);
        buf_add_text(out, text);
    }
}

/* As JSON.stringify() does. */
static void
write_javascript(struct jval v, struct buf *out)
{
    struct jval_iter it = jval_iter(v);
    const char *between = "";
    double number;

    if (jval_number(v, &number)) {
        write_number(number, out);
    } else if (jval_type(v) != JSON_OBJECT) {
        jval_write(v, out);
    } else {
        buf_add_char(out, '{');
        for (; jval_next(&it); between = ",") {
            buf_printf(out, "%s\"%s\":", between, it.key);
            write_javascript(it.value, out);
        }
        buf_add_char(out, '}');
    }
}

/* What was received as the parameters of that id in the first half; false: it
 * was not. */
static bool
write_received(const struct play *first, long id, struct buf *out)
{
    const char *tr;

    for (size_t k = 0; (tr = answer(&first->got, "TR", k)) != NULL; k++)
        if (number_of(first, tr) == id) {
            struct json *doc = parse(first, tr, "TR");
            struct jval parameters;

            if (!jval_get(json_root(doc), "parameters", &parameters))
                die(first, "no parameters in %s", tr);
            write_javascript(parameters, out);
            json_free(doc);
            return true;
        }
    return false;
}

/* The id that the manager thinks a job of the first half had, by its end, or
 * by its metrics; -1: none. */
static long
launched_as(const struct half *first, const char *job)
{
    const struct play *p = &first->play;
    long id = -2;

    for (size_t i = 0; i < p->recorded.n && id == -2; i++) {
        struct json *doc;

        if (strcmp(p->recorded.at[i].code, "EN") != 0)
            continue;
        doc = parse(p, p->recorded.at[i].text, "EN");
        if (strcmp(text_of(json_root(doc), "trial_job_id"), job) == 0)
            id = number_of(p, text_of(json_root(doc), "hyper_params"));
        json_free(doc);
    }
    return id == -2 ? id_of_job(first, job, -1) : id;
}

/* FD or AD, with the parameters that were received. */
static void
send_past(struct half *h, const struct half *first, const char *code,
          const char *text)
{
    const char *key = strcmp(code, "FD") == 0 ? "parameter" : "parameters";
    struct json *doc = parse(&h->play, text, code);
    struct buf out;

    buf_init(&out, (size_t)1 << 24);
    for (size_t i = 0; i < jval_count(json_root(doc)); i++) {
        struct jval entry = jval_at(json_root(doc), i), number;
        struct jval_iter it = jval_iter(entry);
        uint64_t id = UINT64_MAX;
        const char *between = "{";

        if (jval_get(entry, "parameter_id", &number))
            jval_uint(number, &id);
        else
            id = (uint64_t)launched_as(first, text_of(entry, "trialJobId"));
        buf_add_char(&out, i == 0 ? '[' : ',');
        for (; jval_next(&it); between = ",") {
            buf_printf(&out, "%s\"%s\":", between, it.key);
            if (strcmp(it.key, key) != 0 || id > INT32_MAX ||
                !write_received(&first->play, (long)id, &out))
                write_javascript(it.value, &out);
        }
        buf_add_char(&out, '}');
    }
    buf_add_text(&out, out.len == 0 ? "[]" : "]");
    send_frame(&h->play, code, buf_text(&out));
    buf_fini(&out);
    json_free(doc);
}

/* Until it is answered in full, or by a NO. */
static void
send_request(struct play *p, const char *text)
{
    size_t trials = count(&p->got, p->got.n, "TR") + (size_t)atol(text);
    size_t refused = count(&p->got, p->got.n, "NO");

    send_frame(p, "GE", text);
    while (count(&p->got, p->got.n, "TR") < trials &&
           count(&p->got, p->got.n, "NO") == refused)
        if (!receive(p, "what was asked for"))
            die(p, "the dispatcher ended behind GE");
}

static void
play_half(struct half *h, const struct half *first, bool killed)
{
    struct play *p = &h->play;

    for (size_t i = 0; i < p->recorded.n; i++) {
        const char *code = p->recorded.at[i].code,
                   *text = p->recorded.at[i].text;

        if (!p->recorded.at[i].in)
            continue;
        if (strcmp(code, "ME") == 0)
            send_metric(h, text);
        else if (strcmp(code, "EN") == 0)
            end_trial(h, text);
        else if (strcmp(code, "GE") == 0)
            send_request(p, text);
        else if (strcmp(code, "FD") == 0 || strcmp(code, "AD") == 0)
            send_past(h, first, code, text);
        else if (strcmp(code, "TE") != 0 || !killed)
            send_frame(p, code, text);
        if (strcmp(code, "IN") == 0 && !receive(p, "ID"))
            die(p, "the dispatcher ended behind IN");
    }
}

/* ---- checks ---- */

/* Whether FD has the parameters of that TR. */
static bool
is_finished(const struct play *p, const char *record)
{
    struct json *tr = parse(p, record, "TR");
    struct jval mine, theirs;
    bool found = false;

    jval_get(json_root(tr), "parameters", &mine);
    for (size_t i = 0; i < p->recorded.n; i++) {
        struct json *fd;

        if (strcmp(p->recorded.at[i].code, "FD") != 0)
            continue;
        fd = parse(p, p->recorded.at[i].text, "FD");
        for (size_t k = 0; k < jval_count(json_root(fd)); k++)
            found = found || (jval_get(jval_at(json_root(fd), k), "parameter",
                                       &theirs) &&
                              jval_equal(mine, theirs));
        json_free(fd);
    }
    json_free(tr);
    return found;
}

static long
highest_id(const struct play *p)
{
    long highest = -1;
    const char *tr;

    for (size_t k = 0; (tr = answer(&p->got, "TR", k)) != NULL; k++)
        if (number_of(p, tr) > highest)
            highest = number_of(p, tr);
    return highest;
}

static void
check_trials(const struct play *p, long before, bool few)
{
    size_t want = 0, got = count(&p->got, p->got.n, "TR"), refused;
    const char *tr;

    for (size_t k = 0; (tr = answer(&p->recorded, "TR", k)) != NULL; k++)
        want += !few || !is_finished(p, tr);
    if (got != want)
        die(p, "%zu TR, expected %zu", got, want);
    refused = count(&p->recorded, p->recorded.n, "NO");
    if (want == count(&p->recorded, p->recorded.n, "TR") &&
        count(&p->got, p->got.n, "NO") != refused)
        die(p, "%zu NO, expected %zu", count(&p->got, p->got.n, "NO"), refused);
    for (size_t k = 0; (tr = answer(&p->got, "TR", k)) != NULL; k++) {
        if (number_of(p, tr) <= before)
            die(p, "an id from before, expected more than %ld: %s", before, tr);
        before = number_of(p, tr);
        if (few && is_finished(p, tr))
            die(p, "a point that is in FD: %s", tr);
    }
}

static void
check_kills(const struct half *h)
{
    const struct play *p = &h->play;
    size_t n = 0;
    char job[64];

    for (size_t i = 0; i < p->got.n; i++) {
        if (strcmp(p->got.at[i].code, "KI") != 0)
            continue;
        n++;
        snprintf(job, sizeof job, "%.*s",
                 (int)strcspn(p->got.at[i].text + 1, "\""),
                 p->got.at[i].text + 1);
        if (id_of_job(h, job, -2) < 0)
            die(p, "a kill of trial %s, which never reported", job);
    }
    if (n != count(&p->got, p->got.n, "KI"))
        die(p, "a trial was killed twice");
}

/* ---- both ---- */

static void
begin(struct half *h, const char *path)
{
    h->play.name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    h->play.digits = FRAME_DIGITS;
    read_frames(&h->play, path);
    read_meta(&h->play, path);
}

int
main(int argc, char **argv)
{
    static struct half halves[2];
    struct play *second = &halves[1].play;
    bool killed = argc == 4 && strcmp(argv[3], "kill") == 0;
    bool few;

    if (argc < 3 || getenv("TP_BUILD") == NULL) {
        fprintf(stderr, "usage: TP_BUILD=... restart FIRST SECOND [kill]\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < 2; i++) {
        halves[i].again = i == 1;
        begin(&halves[i], argv[1 + i]);
        start_half(&halves[i].play, i == 1);
        play_half(&halves[i], &halves[0], killed && i == 0);
        end_half(&halves[i].play, killed && i == 0);
    }
    few = strcmp(text_of(meta_part(second, "exp_params", "tuner"), "name"),
                 "GridSearch") == 0;
    if (count(&second->got, second->got.n, "ID") != 1)
        die(second, "expected one ID");
    check_trials(second, highest_id(&halves[0].play), few);
    check_kills(&halves[1]);
    printf("ok recording %s%s: %zu trials, %zu recorded, ids from %ld\n",
           second->name, killed ? " behind a kill" : "",
           count(&second->got, second->got.n, "TR"),
           count(&second->recorded, second->recorded.n, "TR"),
           highest_id(&halves[0].play) + 1);
    return 0;
}
