/* SPDX-License-Identifier: MIT */
/* What the router adds to commands of a manager that is started again. */
#include "command.h"

#include <stdlib.h>
#include <string.h>

int
command_add_run(struct command *cmd, const char *job,
                const struct parameter_id *parameter)
{
    size_t n = cmd->n_runs;
    struct command_run run = {.job = strdup(job)};

    if ((n & (n - 1)) == 0) { /* 0, 1, 2, 4, ...: full */
        size_t cap = n == 0 ? 1 : 2 * n;
        void *grown = realloc(cmd->runs, cap * sizeof *cmd->runs);

        if (grown == NULL)
            goto fail;
        cmd->runs = grown;
    }
    if (run.job == NULL || parameter_copy(&run.parameter, parameter) != 0)
        goto fail;
    cmd->runs[cmd->n_runs++] = run;
    return 0;
fail:
    free(run.job);
    return -1;
}

struct command *
command_new_loss(const struct command *request)
{
    struct command *cmd = calloc(1, sizeof *cmd);

    if (cmd == NULL)
        return NULL;
    cmd->code = CMD_REQUEST_TRIALS;
    cmd->arrival = request->arrival;
    for (size_t i = 0; i < request->n_runs; i++)
        if (command_add_run(cmd, request->runs[i].job,
                            &request->runs[i].parameter) != 0) {
            command_free(cmd);
            return NULL;
        }
    return cmd;
}
