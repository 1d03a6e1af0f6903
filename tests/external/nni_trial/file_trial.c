/* SPDX-License-Identifier: MIT */
/* The same trial in C, speaking NNI's files by hand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double
member(const char *json, const char *key)
{
    const char *at = strstr(json, key);

    if (at == NULL)
        exit(2);
    return strtod(at + strlen(key), NULL);
}

static void
report(FILE *file, const char *type, int sequence, double value)
{
    char json[256];
    int len = snprintf(json, sizeof json,
                       "{\"parameter_id\": 0, \"trial_job_id\": \"%s\", "
                       "\"type\": \"%s\", \"sequence\": %d, "
                       "\"value\": \"%.17g\"}\n",
                       getenv("NNI_TRIAL_JOB_ID"), type, sequence, value);

    fprintf(file, "ME%06d%s", len, json);
    fflush(file);
}

int
main(void)
{
    const char *folder = getenv("NNI_SYS_DIR");
    char path[4096], text[4096] = "";
    FILE *file;
    double x, value;

    snprintf(path, sizeof path, "%s/parameter.cfg", folder);
    file = fopen(path, "r");
    if (file == NULL || fread(text, 1, sizeof text - 1, file) == 0)
        return 1;
    fclose(file);
    x = member(text, "\"x\": ");
    value = (x - 1) * (x - 1) + member(text, "\"y/z\": ") / 4;
    snprintf(path, sizeof path, "%s/.nni/metrics", folder);
    file = fopen(path, "a");
    if (file == NULL)
        return 1;
    for (int step = 2; step >= 0; step--)
        report(file, "PERIODICAL", 2 - step, value + step);
    report(file, "FINAL", 0, value);
    return fclose(file) != 0;
}
