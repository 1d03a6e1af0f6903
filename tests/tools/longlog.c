/* SPDX-License-Identifier: MIT */
/* longlog N - writes N commands of a long session to its output: trials, one
 * after the other, of a thousand commands each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMANDS 1000 /* of a trial */
#define REPORTS 40

static void
put(const char *code, const char *payload)
{
    printf("%s%014zu%s", code, strlen(payload), payload);
}

static void
report(unsigned long id, const char *type, unsigned long sequence)
{
    char text[200];

    snprintf(text, sizeof text,
             "{\"parameter_id\": %lu, \"trial_job_id\": \"%05lu\", \"type\": "
             "\"%s\", \"sequence\": %lu, \"value\": \"0.%lu\"}",
             id, id, type, sequence, id * 7 % 1000 + sequence);
    put("ME", text);
}

/* The `at`th command of its trial. */
static void
step(unsigned long id, unsigned long at)
{
    char text[100];

    if (at == 0) {
        put("GE", "1");
    } else if (at <= REPORTS) {
        report(id, "PERIODICAL", at - 1);
    } else if (at == COMMANDS - 2) {
        report(id, "FINAL", 0);
    } else if (at == COMMANDS - 1) {
        snprintf(text, sizeof text,
                 "{\"trial_job_id\": \"%05lu\", \"event\": \"SUCCEEDED\"}", id);
        put("EN", text);
    } else {
        put("PI", "");
    }
}

int
main(int argc, char **argv)
{
    unsigned long n = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;

    if (n == 0) {
        fprintf(stderr, "usage: longlog N\n");
        return 2;
    }
    put("IN", "{\"x\": {\"_type\": \"uniform\", \"_value\": [0, 1]}}");
    for (unsigned long i = 0; i + 1 < n; i++)
        step(i / COMMANDS, i % COMMANDS);
    return fflush(stdout) == 0 ? 0 : 1;
}
