"""How long a step of training takes after each change since 2017.

    python -m benchmarks.since [--rounds N]

The bundled models of the lesson "Inside the transformer", each on the batch of its recipe and on
one thread, in turns; the shortest step of each counts, in processor time. Prints a line for each
change: the model with it against the one without, as a ratio within this run. The page shows the
same, measured where it runs.
"""

import argparse

from llmviz.course.lessons.transformer.since.model import CHANGES, FAMILY, checkpoint
from llmviz.evaluation.step_times import step_times


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    *_, found = step_times([checkpoint(name) for name in FAMILY], rounds)
    times = {name: found.milliseconds[checkpoint(name)] for name in FAMILY}
    for change, (before, *after) in CHANGES.items():
        for name in after:
            ratio = times[name] / times[before]
            print(f"{change:10} {name:13} {ratio:5.2f} of {before} ({times[name]:.1f} ms)")


if __name__ == "__main__":
    main()
