/* SPDX-License-Identifier: MIT */
#include "space/dims.h"
#include "space/space.h"

#define LOG TP_DIM_LOG
#define Q TP_DIM_Q
#define NORMAL TP_DIM_NORMAL

const struct kind space_kinds[N_KINDS] = {
    {"choice", TP_CHOICE, TP_DIM_INDEX, 0, "[value, value, ...]"},
    {"randint", TP_RANDINT, TP_DIM_INDEX, 2, "[low, high]"},
    {"uniform", TP_UNIFORM, 0, 2, "[low, high]"},
    {"quniform", TP_QUNIFORM, Q, 3, "[low, high, q]"},
    {"loguniform", TP_LOGUNIFORM, LOG, 2, "[low, high]"},
    {"qloguniform", TP_QLOGUNIFORM, LOG | Q, 3, "[low, high, q]"},
    {"normal", TP_NORMAL, NORMAL, 2, "[mu, sigma]"},
    {"qnormal", TP_QNORMAL, NORMAL | Q, 3, "[mu, sigma, q]"},
    {"lognormal", TP_LOGNORMAL, NORMAL | LOG, 2, "[mu, sigma]"},
    {"qlognormal", TP_QLOGNORMAL, NORMAL | LOG | Q, 3, "[mu, sigma, q]"},
};
