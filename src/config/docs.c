/* SPDX-License-Identifier: MIT */
#include "config/docs.h"

#include <string.h>

#define BOOL "\"$ref\": \"#/$defs/bool\""
#define NUMBER "\"type\": [\"number\", \"null\"]"
#define COUNT "\"$ref\": \"#/$defs/count\""
#define MEMORY "\"type\": [\"string\", \"integer\", \"null\"]"
#define GPU_LIST                                      \
    "\"type\": [\"integer\", \"string\", \"array\", " \
    "\"null\"], \"items\": {\"type\": \"integer\", \"minimum\": 0}"
#define LABELS                                                  \
    "\"type\": [\"string\", \"number\", \"array\", \"null\"], " \
    "\"items\": {\"type\": [\"string\", \"number\"]}"

const struct key_doc key_docs[] = {
    {"experimentName", "A name for people; default: the file's.", NULL},
    {"experimentType", "The only one there is.", NULL},
    {"searchSpace", "What to search: a distribution for each parameter.",
     "\"$ref\": \"#/$defs/space\""},
    {"searchSpaceFile", "The same from a file of JSON or YAML.",
     "\"$ref\": \"#/$defs/text\""},
    {"*.trialCommand",
     "Runs a trial, by /bin/sh -c; {x} is the value of parameter x.", NULL},
    {"*.trialCodeDirectory", "Where a trial runs; default: this file's folder.",
     NULL},
    {"trialConcurrency", "So many trials run at a time; default: 1.", NULL},
    {"maxTrialNumber", "So many trials in all; default: no limit.", NULL},
    {"maxExperimentDuration", "Then no trial is started any more.", NULL},
    {"maxTrialDuration", "Then a trial is stopped.", NULL},
    {"experimentWorkingDirectory", "Where the experiment's folder is made.",
     NULL},
    {"tuner", "What suggests parameters; default: auto.", NULL},
    {"assessor", "What stops bad trials early; default: none.", NULL},
    {"trainingService",
     "Where trials run: on this machine, or as jobs of a cluster.", NULL},
    {"*.debug", "More lines on standard error.", NULL},
    {"logLevel", "debug and trace are as debug: true.", NULL},
    {"useAnnotation", "Not supported: write searchSpace.",
     "\"enum\": [false, \"no\", \"off\", null]"},
    {"*.trialGpuNumber", "GPUs that a trial needs.",
     "\"type\": [\"integer\", \"null\"], \"minimum\": 0"},
    {"*.nniManagerIp", "NNI's; there is no network here.", NULL},
    {"tunerGpuIndices", "GPUs of the tuner.", GPU_LIST},
    {"sharedStorage", "", NULL},
    {"direction", "Which results are better: the smaller or the larger ones.",
     NULL},
    {"objectives", "What results are judged by: named values.",
     DOC_LIST_OF_MAPS},
    {"objectives.name", "Of the value, as trials report it.", NULL},
    {"objectives.direction", "Which ones are better.", NULL},
    {"objectives.reference",
     "The worst value that still counts for the hypervolume.", NUMBER},
    {"objectives.goal",
     "A trial that reaches that of each objective that has one ends the "
     "experiment.",
     NUMBER},
    {"resultConstraints",
     "Limits on values of results, such as 'latency_ms <= 20'.",
     "\"type\": [\"array\", \"null\"], \"maxItems\": 16, \"items\": "
     "{\"type\": \"string\", \"minLength\": 1}"},
    {"scalarize",
     "How objectives become one value for a tuner that takes no more: "
     "chebyshev, weights or lexicographic, or a map of method and weights.",
     "\"type\": [\"string\", \"object\", \"null\"]"},
    {"assessor.objective",
     "The objective by which trials are judged, or rank: what share of the "
     "reports of that step is better; default: what scalarize makes of all.",
     NULL},
    {"filters", "Around the tuner, the outermost first.", DOC_LIST_OF_KEYS},
    {"filters.args", "Its arguments.", NULL},
    {"constraints", "Hold of every trial's parameters, such as 'x < y'.",
     "\"type\": [\"array\", \"null\"], \"items\": {\"type\": \"string\", "
     "\"minLength\": 1}"},
    {"seed", "The same seed and order of results: the same parameters.",
     "\"type\": [\"integer\", \"null\"], \"minimum\": 0, "
     "\"maximum\": 9223372036854775807"},
    {"earlyStopped", "What the tuner learns of a trial stopped early.", NULL},
    {"sync", "When the log goes to stable storage: none, interval:MS, always.",
     "\"type\": [\"string\", \"null\"], "
     "\"pattern\": \"^(none|always|interval(:[0-9]+)?)$\""},
    {"segmentSize", "From which on the log goes on in another file.",
     "\"$ref\": \"#/$defs/size\""},
    {"oldSegments", "What becomes of the log's old files.",
     "\"enum\": [\"keep\", \"compress\", \"drop\", null]"},
    {"commandLogDirectory",
     "Where the log lies, such as on a disk of the machine; default: in the "
     "experiment's folder.",
     NULL},
    {"metrics", "Results from what a program prints.", NULL},
    {"metrics.pattern",
     "A POSIX extended regular expression for each line of "
     "standard output; its first group is the number; or one for each name of "
     "a value.",
     "\"type\": [\"string\", \"object\", \"null\"], \"minLength\": 1, "
     "\"additionalProperties\": {\"type\": \"string\", \"minLength\": 1}"},
    {"metrics.final", "Whether the last value is the final result.", NULL},
    {"grace", "Between SIGTERM and SIGKILL for a trial; default: 5s.", NULL},
    {"deterministic",
     "Trials go in lock step: the same seed gives the same "
     "table.",
     NULL},
    {"index",
     "Whether a database of the results is kept up to date; see tunepipe "
     "index.",
     NULL},
    {"*.name",
     "One that comes with tunepipe or lies in a folder of plugins; "
     "see tunepipe tuners.",
     NULL},
    {"*.plugin", "A file, instead of a name.", NULL},
    {"*.className", "A Python class written for NNI, MODULE.CLASS.",
     "\"type\": [\"string\", \"null\"], \"minLength\": 1"},
    {"*.codeDirectory", "Where the module of className lies.", NULL},
    {"*.classArgs", "Its arguments.", NULL},
    {"trainingService.platform",
     "local: trials are programs here; client: other programs ask for them; "
     "slurm: jobs of Slurm.",
     "\"enum\": [\"local\", \"client\", \"slurm\"]"},
    {"trainingService.mode",
     "slurm: jobs: one for each trial; pilots: jobs that have one trial after "
     "the other; default: jobs.",
     "\"enum\": [\"jobs\", \"pilots\", null]"},
    {"trainingService.pilots",
     "slurm: at most so many pilots; default: as many as trials need.", COUNT},
    {"trainingService.trialsPerPilot",
     "slurm: so many trials at a time on each pilot, for which its job is "
     "asked; default: 1, or as many as it has room for.",
     COUNT},
    {"trainingService.agentTimeout",
     "slurm: so long a pilot's trials go on without a manager; default: "
     "10m.",
     NULL},
    {"trainingService.sharedFolder",
     "slurm: whether nodes see the folders of the experiment and of the code; "
     "false: what they need is copied there, and back; default: true.",
     "\"type\": [\"boolean\", \"null\"]"},
    {"trainingService.partition", "slurm: of the jobs; so are the next ones.",
     NULL},
    {"trainingService.account", "slurm: who pays.", NULL},
    {"trainingService.qos", "slurm: a quality of service.", NULL},
    {"trainingService.constraint", "slurm: features that a node has to have.",
     NULL},
    {"trainingService.nodes", "slurm: how many nodes a job has.", NULL},
    {"trainingService.cpusPerTask", "slurm: CPUs of each job.", COUNT},
    {"trainingService.time",
     "slurm: a time limit; default: what follows from maxTrialDuration.", NULL},
    {"trainingService.memory", "slurm: in place of trialMemory.", NULL},
    {"trainingService.gres", "slurm: in place of trialGpuNumber.", NULL},
    {"trainingService.extra", "slurm: further options of sbatch.",
     "\"type\": [\"array\", \"null\"], \"maxItems\": 64, \"items\": "
     "{\"type\": \"string\", \"pattern\": \"^-\"}"},
    {"trainingService.script",
     "slurm: a batch script with a line {command}, where the trial begins.",
     NULL},
    {"trainingService.pollInterval",
     "slurm: squeue is not called more often; default: 5s.", NULL},
    {"trainingService.reportInterval",
     "slurm: how often trials' files are looked at; default: 1s.", NULL},
    {"trainingService.saveTime",
     "slurm: how long before its time limit a trial has word of it; default: "
     "60s.",
     NULL},
    {"trainingService.interruptionRetry",
     "slurm: so often a trial whose job was cut off begins again; default: 10.",
     "\"type\": [\"integer\", \"null\"], \"minimum\": 0, \"maximum\": "
     "1000"},
    {"*.useActiveGpu", "Take GPUs on which others compute, too.", BOOL},
    {"*.maxTrialNumberPerGpu", "Trials that share a GPU; default: 1.", COUNT},
    {"*.gpuIndices", "The GPUs that may be taken; default: all.", GPU_LIST},
    {"trainingService.reuseMode", "NNI's; a trial has a process of its own.",
     BOOL},
    {"trainingService.machineList", "", NULL},
    {"placeTimeout", "How long a trial may wait for its place.", NULL},
    {"stopValue", "A result as good as this ends the experiment.",
     "\"type\": [\"number\", \"null\"]"},
    {"maxTrialsWithoutImprovement",
     "So many trials behind the best one end "
     "the experiment.",
     NULL},
    {"maxTrialHours",
     "So many hours of all trials together end the experiment.",
     "\"type\": [\"number\", \"null\"], \"exclusiveMinimum\": 0"},
    {"trialMemory", "Memory that a trial is given: 4GB, 512MiB; auto: learnt.",
     MEMORY},
    {"trialGpuMemory", "The same of a GPU's memory.", MEMORY},
    {"trialLabels",
     "Globs: a trial runs where each matches a label, of the GPU or of the "
     "machine.",
     LABELS},
    {"*.machineLabels", "Labels of this machine, and so of all its GPUs.",
     LABELS},
    {"*.deviceLabels", "Labels of GPUs, by their numbers.",
     "\"type\": [\"object\", \"null\"], \"additionalProperties\": {" LABELS
     "}"},
    {"memoryHeadroom", "The part of each memory that stays free; default: 20%.",
     "\"type\": [\"string\", \"number\", \"null\"]"},
    {"memoryFloor", "The amount that stays free; default: 512MiB.", MEMORY},
    {"memoryLimit", "How a trial is kept to its trialMemory.", NULL},
    {"outOfMemoryRetry", "How often a trial is tried again with more memory.",
     "\"type\": [\"integer\", \"null\"], \"minimum\": 0, "
     "\"maximum\": 1000"},
    {"outOfMemoryPatterns",
     "Regular expressions: what a trial that was short "
     "of memory says.",
     "\"type\": [\"array\", \"null\"], \"maxItems\": 16, \"items\": "
     "{\"type\": \"string\", \"minLength\": 1}"},
    {"trialIdleTimeout", "Then a trial that has reported nothing is stopped.",
     NULL},
    {"onFailure", "What becomes of a trial that failed.", NULL},
    {"onFailure.retry", "How often it is tried again; default: 0.",
     "\"type\": [\"integer\", \"null\"], \"minimum\": 0"},
    {"onFailure.backoff", "The pause before that, doubled with each failure.",
     NULL},
    {"onFailure.then",
     "What the tuner hears at last: that it failed, or value.", NULL},
    {"onFailure.value", "Told to the tuner with then: report.",
     "\"type\": [\"number\", \"null\"]"},
    {"onRepeatedFailure",
     "What becomes of the experiment when three trials in a "
     "row fail in the same way; default: pause on a terminal, else end.",
     NULL},
    {"on", "Commands that are run when something happens, by event.",
     "\"type\": [\"object\", \"null\"]"},
    {"hookConcurrency", "So many of them run at a time; default: 4.",
     "\"type\": [\"integer\", \"null\"], \"minimum\": 1, "
     "\"maximum\": 64"},
    {"hookTimeout", "Then one of them is killed; default: 60s.", NULL},
    {"prepareConcurrency",
     "How many trials are prepared ahead; default: trialConcurrency.", NULL},
    {"checkpoints", "What is kept of what trials save to go on from.", NULL},
    {"checkpoints.keep", "Which ones; default: last.", NULL},
    {"checkpoints.max", "So many of each trial.", NULL},
    {"checkpoints.quota", "Bytes on the disk of all together, such as 20G.",
     "\"$ref\": \"#/$defs/size\""},
    {"keepTrialFiles",
     "What is kept of the files of trials that have ended, and how; default: "
     "all, and packed from 1000 trials on.",
     NULL},
    {"trialOutput",
     "What becomes of what their programs wrote beside them; default: keep.",
     "\"type\": [\"string\", \"null\"], \"pattern\": "
     "\"^(keep|pack|drop|drop after [0-9]*[.]?[0-9]+([eE][-+]?[0-9]+)? *"
     "[smhd]? *)$\""},
    {"prepareCommand", "Runs before a trial has its devices.", NULL},
    {"maxTrialOutput",
     "Bytes of each trial's stdout, and of its stderr, on the disk, such as "
     "100M.",
     "\"$ref\": \"#/$defs/size\""},
    {"maxPrepareDuration", "How long prepareCommand may take.", NULL},
    {"enqueue",
     "Sets of parameters that are tried first; what one lacks is drawn.",
     "\"type\": [\"array\", \"null\"], \"items\": {\"type\": \"object\"}"},
    {"import", "Finished trials from elsewhere, as tunepipe import wrote them.",
     NULL},
    {NULL, NULL, NULL}};

static const struct key_doc *
find(const char *path)
{
    for (const struct key_doc *d = key_docs; d->path != NULL; d++)
        if (strcmp(d->path, path) == 0)
            return d;
    return NULL;
}

const struct key_doc *
key_doc_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    const char *name = dot != NULL ? dot + 1 : path;
    const struct key_doc *doc = find(path);

    for (const struct key_doc *d = key_docs; doc == NULL && d->path != NULL;
         d++)
        if (strncmp(d->path, "*.", 2) == 0 && strcmp(d->path + 2, name) == 0)
            doc = d;
    return doc;
}
