"""A tuner as a program: random search, and the best so far among its messages.
tuner: {name: exec, classArgs: {command: [python3, tuner.py]}}"""
import tunepipe_tuner

class RandomSearch(tunepipe_tuner.Tuner):
    best = None
    def ask(self):
        return self.space.sample(self.random)

    def tell(self, trial, value):
        if self.best is None or self.is_better(value, self.best):
            self.best = value
            print("best so far:", value, "from", trial.parameters)

tunepipe_tuner.run(RandomSearch)
