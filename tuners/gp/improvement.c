/* SPDX-License-Identifier: MIT */
#include "gp/improvement.h"

#include "elementary.h"
#include "normal.h"

#define LOG_SQRT_2PI 0.9189385332046727

double
log_improvement(double z, double *slope)
{
    double log_density = -0.5 * z * z - LOG_SQRT_2PI, h, mills;

    if (z > -1) {
        double cdf = num_normal_cdf(z);

        h = num_exp(log_density) + z * cdf;
        *slope = cdf / h;
        return num_log(h);
    }
    if (z < -1000) {
        *slope = -z - 2 / z;
        return log_density - 2 * num_log(-z);
    }
    mills = num_exp(num_log_normal_cdf(z) - log_density);
    h = 1 + z * mills;
    *slope = mills / h;
    return log_density + num_log(h);
}
