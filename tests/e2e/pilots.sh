#!/bin/sh
# SPDX-License-Identifier: MIT
# Trials on agents that a real Slurm starts: what slurm.sh does with jobs, and
# what they alone have.
# not under tsan
# takes long
mode=pilots
. "$(dirname "$0")/slurm.sh"
