"""Draw the picture of docs/pipelines.md: how the share of an answer changes with the number of samples, as SVG.

python tools/pipeline_picture.py
"""

from __future__ import annotations

import math
from pathlib import Path

from dovetail.pipeline.pipeline import Pipeline
from dovetail.pipeline.stage import Stage
from dovetail.text.sentence import Sentence

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "pipeline-samples.svg"
READINGS = {"car": 0.4, "animal": 0.35, "player": 0.25}
EXACT = 0.6
SAMPLES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)
SEEDS = range(1, 13)
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 300, 60, 20, 130, 50


def reading(sentence: Sentence) -> list[tuple[Sentence, float]]:
    """What a jaguar is: each reading with its probability."""
    return [(sentence.with_layer("reading", (kind,) * len(sentence)), p) for kind, p in READINGS.items()]


def alive(sentence: Sentence) -> Sentence:
    """Whether it lives, given the reading."""
    lives = tuple("no" if kind == "car" else "yes" for kind in sentence.layers["reading"])
    return sentence.with_layer("alive", lives)


def share(samples: int, seed: int) -> float:
    """How probable it is that it lives, by so many samples."""
    stages = [Stage("reading", reading, writes=["reading"]), Stage("alive", alive, ["reading"], ["alive"])]
    found = Pipeline(stages, samples=samples, seed=seed).posterior([["jaguar"]])[0]["alive"]
    return sum(p for value, p in found if value == ("yes",))


def x(samples: int) -> float:
    """Where a number of samples is, on a scale of logarithms."""
    return LEFT + (WIDTH - LEFT - RIGHT) * math.log(samples) / math.log(SAMPLES[-1])


def y(p: float) -> float:
    """Where a probability is."""
    return TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - p)


def text(at: tuple[float, float], what: str, anchor: str = "middle", colour: str = "#333") -> str:
    """Words in the picture."""
    return f'<text x="{at[0]:.1f}" y="{at[1]:.1f}" text-anchor="{anchor}" fill="{colour}">{what}</text>'


def main() -> None:
    """Run the example of the page with more and more samples, draw, write."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        'font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for p in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        lines.append(f'<path d="M{LEFT} {y(p):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        lines.append(text((LEFT - 8, y(p) + 4), f"{p:.1f}", "end"))
    for samples in (1, 10, 100, 1000):
        lines.append(text((x(samples), HEIGHT - BOTTOM + 18), str(samples)))
    lines.append(text((x(30), HEIGHT - 10), "samples"))
    for seed in SEEDS:
        path = "L".join(f"{x(n):.1f} {y(share(n, seed)):.1f}" for n in SAMPLES)
        lines.append(f'<path d="M{path}" fill="none" stroke="#7a9cc6" stroke-width="1.2" opacity="0.7"/>')
    lines.append(f'<path d="M{LEFT} {y(EXACT):.1f}H{WIDTH - RIGHT}" stroke="#b03030" stroke-width="2"/>')
    lines.append(text((WIDTH - RIGHT + 8, y(EXACT) + 4), "exact: 0.6", "start", "#b03030"))
    lines.append(
        f'<path d="M{LEFT} {y(0.0):.1f}H{WIDTH - RIGHT}" stroke="#444" stroke-width="2" stroke-dasharray="5 4"/>'
    )
    lines.append(text((WIDTH - RIGHT + 8, y(0.0) + 4), "greedy: 0", "start"))
    lines.append(text((WIDTH - RIGHT + 8, y(0.8) + 4), f"{len(SEEDS)} seeds", "start", "#4a6c96"))
    lines.append(text((LEFT, TOP - 6), "probability of the answer “yes”", "start"))
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text("\n".join([*lines, "</svg>"]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
