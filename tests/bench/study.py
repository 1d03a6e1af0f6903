# SPDX-License-Identifier: MIT
"""study.c in Python: study.py CYCLES 'N ...' CONFIG FOLDER."""
import json
import sys
import time

import tunepipe


def cycle(study):
    trial = study.ask()
    study.tell(trial, trial["u0"])


def main():
    cycles, numbers, config, folder = sys.argv[1:]
    with open(config) as file:
        keys = json.load(file)
    told = 0
    with tunepipe.Study(keys["searchSpace"], direction=keys["direction"],
                        tuner=keys["tuner"], seed=keys["seed"],
                        folder=folder) as study:
        for n in map(int, numbers.split()):
            for _ in range(told, n):
                cycle(study)
            took = []
            for _ in range(int(cycles)):
                start = time.perf_counter()
                cycle(study)
                took.append((time.perf_counter() - start) * 1e6)
            told = max(told, n) + len(took)
            print("study.python.%d.rate %g" % (n, 1e6 * len(took) / sum(took)))
            took.sort()
            print("study.python.%d.median %g" % (n, took[len(took) // 2]))
            print("study.python.%d.95th %g" % (n, took[len(took) * 95 // 100]))


main()
