/* SPDX-License-Identifier: MIT */
/* play [--six] RECORDING: plays a recorded session of NNI's manager against
 * `tunepipe -m nni` and compares the answers.  The dispatcher is started as the
 * manager does it: by a shell that stays its parent, sockets at descriptors 3
 * and 4, with the recorded argument and environment; its log is in
 * ./checkpoint. Writes ./command, which starts such a dispatcher alone.  With
 * --six frames are those of NNI 1.0 to 1.5. RECORDING.jsonl holds the frames,
 * RECORDING.meta.json how it was started.
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
 * search space.  Texts beside the search space's parameters: the folders of
 * PBTTuner, below the experiment's.
 *
 * NNI's Curvefitting needs a second for a judgement and is many values behind
 * when a session ends: the trials it killed have to be the first that are
 * killed, in the same order; others may follow.
 *
 * A recording without TE is one in which NNI's dispatcher died:
 * what it had answered has to be answered, and then the session goes on: the
 * trials asked for are there, end, and are followed by others. */
#include "tools/compare.h"
#include "tools/player.h"

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

    p.digits = FRAME_DIGITS;
    if (argc == 3 && strcmp(argv[1], "--six") == 0) {
        p.digits = FRAME_DIGITS_OLD;
        argv++;
        argc--;
    }
    if (argc != 2 || getenv("TP_BUILD") == NULL) {
        fprintf(stderr, "usage: TP_BUILD=... play [--six] RECORDING\n");
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
    printf("ok recording %s%s: %zu trials, %zu killed, %s\n", p.name,
           p.digits == FRAME_DIGITS ? "" : ", with six digits", trials,
           count(&p.got, p.got.n, "KI"),
           died    ? "goes on where NNI died"
           : exact ? "the same bytes"
                   : "the same ids, keys and types");
    return 0;
}
