# SPDX-License-Identifier: MIT
"""Optuna's own tests for samplers, of tunepipe's: run by pytest."""

import pytest
from optuna.testing.pytest_samplers import (BasicSamplerTestCase,
                                            RelativeSamplerTestCase,
                                            SingleOnlySamplerTestCase)

import tunepipe.optuna

# Not grid: it ends a study of three points behind the fourth, as Optuna's
# GridSampler does; test_single_parameter_objective wants ten.
TUNERS = ["auto", "tpe", "cmaes", "gp", "random", "anneal", "qmc", "evolution",
          "regularized_evolution", "smac", "nsga2", "parego"]


class _Sampler:
    @pytest.fixture(params=TUNERS)
    def sampler(self, request):
        return lambda: tunepipe.optuna.Sampler(request.param, seed=1)


class TestBasic(_Sampler, BasicSamplerTestCase):
    pass


class TestRelative(_Sampler, RelativeSamplerTestCase):
    pass


class TestSingleOnly(_Sampler, SingleOnlySamplerTestCase):
    pass
