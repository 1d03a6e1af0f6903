/* SPDX-License-Identifier: MIT */
#include "judge.h"

#include "check/fakehost.h"
#include "core/err.h"
#include "plugin/arguments.h"
#include "plugin/loader.h"

#include <math.h>
#include <stdlib.h>

struct judge {
    const struct plugin *plugin;
    struct fake_host *host;
    struct arguments *args;
    void *self;
};

struct judge *
judge_new(const struct plugin *p, const char *args, struct err *err)
{
    struct judge *j = calloc(1, sizeof *j);

    if (j == NULL) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    j->plugin = p;
    j->host = fake_host_new(1, false);
    j->args = j->host == NULL ? NULL : fake_arguments(p, args, err);
    if (j->args != NULL)
        j->self = p->assessor.create(fake_host_services(j->host));
    if (j->self != NULL &&
        p->assessor.config(j->self, arguments_values(j->args), p->n_args) ==
            TP_OK)
        return j;
    if (j->args != NULL)
        err_set(err, ERR_PLUGIN, "%s: %s", p->name, fake_host_error(j->host));
    judge_free(j);
    return NULL;
}

void
judge_free(struct judge *j)
{
    if (j == NULL)
        return;
    if (j->self != NULL)
        j->plugin->assessor.destroy(j->self);
    arguments_free(j->args);
    fake_host_free(j->host);
    free(j);
}

static struct tp_history
history(uint64_t id, const double *values, size_t n, void **slot)
{
    return (struct tp_history){._struct_size = sizeof(struct tp_history),
                               .trial = id,
                               .values = values,
                               .n = n,
                               .slot = slot};
}

int
judge_assess(struct judge *j, uint64_t id, const double *values, size_t n,
             void **slot, bool *stop, struct err *err)
{
    struct tp_history h = history(id, values, n, slot);
    struct tp_verdict verdict = {
        ._struct_size = sizeof verdict, .value = NAN, .threshold = NAN};

    if (j->plugin->assessor.assess(j->self, &h, &verdict) != TP_OK)
        return err_set(err, ERR_PLUGIN, "%s: %s", j->plugin->name,
                       fake_host_error(j->host));
    *stop = verdict.decision == TP_STOP;
    return 0;
}

void
judge_ended(struct judge *j, uint64_t id, const double *values, size_t n,
            void **slot, int how)
{
    struct tp_history h = history(id, values, n, slot);

    j->plugin->assessor.ended(j->self, &h, how);
}
