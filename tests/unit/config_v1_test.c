/* SPDX-License-Identifier: MIT */
#include "unit/config_help.h"

NOT_UNDER_TSAN;

static const char v1_text[] = "authorName: a\n"
                              "experimentName: b\n"
                              "trialConcurrency: 2\n"
                              "maxExecDuration: 1h\n"
                              "maxTrialNum: 7\n"
                              "trainingServicePlatform: local\n"
                              "searchSpacePath: s.json\n"
                              "useAnnotation: false\n"
                              "logDir: logs\n"
                              "multiPhase: false\n"
                              "tuner:\n"
                              "  codeDir: .\n"
                              "  classFileName: mine.py\n"
                              "  className: Mine\n"
                              "  classArgs: {optimize_mode: minimize}\n"
                              "  includeIntermediateResults: true\n"
                              "assessor:\n"
                              "  builtinAssessorName: Medianstop\n"
                              "trial:\n"
                              "  command: python3 t.py\n"
                              "  codeDir: .\n";

TEST(config_converts_v1_and_says_so)
{
    struct experiment *x;

    CHECK_EQ(file_write("s.json", "{}", 2, NULL), 0);
    x = read_text(v1_text, EXPERIMENT_RUN);
    CHECK_STR(buf_text(&problems.lines), "");
    CHECK(x != NULL);
    CHECK_EQ(x->max_experiment_ms, 3600000);
    CHECK_EQ(x->max_trials, 7);
    CHECK_STR(x->search_space, "{}");
    CHECK_HAS(x->working_folder, "/logs");
    CHECK_STR(x->tuner.class_name, "mine.Mine");
    CHECK_STR(x->tuner.code_folder, x->folder);
    CHECK(x->minimize);
    CHECK_STR(x->assessor.name, "Medianstop");
    CHECK_STR(x->trial_command.text, "python3 t.py");
    CHECK_STR(x->trial_folder, x->folder);
    CHECK_EQ(x->early_stopped, STOPPED_LATEST);
    CHECK_EQ(notes.count, 13);
    CHECK_HAS(buf_text(&notes.lines), "e.yml:1: authorName: left out (NNI v1");
    CHECK_HAS(buf_text(&notes.lines),
              "e.yml:5: maxTrialNum: read as maxTrialNumber (NNI v1)\n");
    CHECK_HAS(buf_text(&notes.lines),
              "e.yml:20: trial.command: read as trialCommand (NNI v1)\n");
    CHECK_HAS(buf_text(&notes.lines), "e.yml:13: tuner.classFileName: read as "
                                      "tuner.className (NNI v1)\n");
    done(x);
}

TEST(config_says_what_is_wrong_with_a_class_of_v1)
{
    done(read_text("tuner: {classFileName: a.txt, className: B}\n",
                   EXPERIMENT_DISPATCH));
    CHECK_HAS(err.text, "e.yml:1: tuner.classFileName: expected a file "
                        "FILE.py, got 'a.txt'");
    done(read_text("tuner: {classFileName: a.py, codeDir: .}\n",
                   EXPERIMENT_DISPATCH));
    CHECK_HAS(err.text, "e.yml:1: tuner.classFileName: needs a text className "
                        "beside it");
}

TEST(config_reads_an_advisor_as_the_tuner)
{
    struct experiment *x =
        read_text("advisor: {builtinAdvisorName: BOHB}\n", EXPERIMENT_DISPATCH);

    CHECK_STR(err.text, "");
    CHECK_STR(x->tuner.name, "BOHB");
    CHECK_HAS(buf_text(&notes.lines),
              "e.yml:1: advisor: read as tuner (deprecated in NNI)\n");
    done(x);
}
