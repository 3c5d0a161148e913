"""``dovetail demo``: a tour in a minute."""

from __future__ import annotations

import sys
import time

from dovetail.cli import options
from dovetail.cli.kinds import load_model
from dovetail.cli.options import argument
from dovetail.cli.progress import reporting

EXAMPLE = (
    "Angela Merkel met Barack Obama in Berlin before flying to Washington. "
    "Microsoft and General Electric opened a research centre in Munich, said Mary Johnson of Reuters."
)
OTHERS = {
    "german-names": "Marie Curie zog im Jahr 1891 nach Paris.",
    "chinese-words": "北京是中国的首都。",
    "english-trees": "She read a book about whales.",
}
"""Models that the demo shows besides, where they are, each with a sentence."""
PAGES = """
In the browser (needs fastapi and uvicorn):
  dovetail serve --open              try the models that come with dovetail
  dovetail label TEXT PER LOC ORG    label a text of yours while a model learns"""


def demo(
    text: str = argument("TEXT", "The text to annotate.", default=EXAMPLE, shown="two sentences"),
    threads: int | None = options.THREADS,
    quiet: bool = options.QUIET,
) -> None:
    """Annotate a text, then train a tagger on a small sample."""
    import dovetail
    from dovetail.cli.display import show
    from dovetail.cli.scores import score
    from dovetail.evaluate import scores_table
    from dovetail.structures import ahead

    ahead.compile_chains()
    english = load_model(None, None)
    sample, held_out = dovetail.embedded("sample-train.conll.gz"), dovetail.embedded("sample-dev.conll.gz")
    print('The English model that comes with dovetail: dovetail annotate "..."\n', flush=True)
    document = dovetail.Document(tuple(english.annotate(dovetail.segment(text))), text)
    show([document], sys.stdout)

    show_others()
    print("\nA tagger of your own: dovetail train tagger --train T --dev D --output M\n", flush=True)
    began = time.perf_counter()
    with reporting(quiet) as reporter:
        reporter.doing("reading the sample")
        train, dev = ([s for d in dovetail.read(path) for s in d] for path in (sample, held_out))
        reporter.doing("extracting features")
        tagger = dovetail.Tagger(threads=threads).fit(train, dev=dev, progress=reporter.trained)
    print(scores_table(score(dev, list(tagger.annotate(dev)), "ner")))
    size = tagger.card_
    print(f"\ntrained on {size['sentences']:,} sentences in {time.perf_counter() - began:.1f} s")
    print('Next: dovetail explain "...", dovetail evaluate --model M DATA, dovetail --help')
    print(PAGES)


def show_others() -> None:
    """A sentence of some of the other models, and how to list all of them."""
    from dovetail.cli.display import show
    from dovetail.cli.kinds import KINDS, name_of
    from dovetail.shipped import find

    for name, text in OTHERS.items():
        if (path := find(name)) is None:
            continue
        print(f'\ndovetail annotate --model {name} "{text}"', flush=True)
        model = load_model(path, None)
        if name_of(model) == "segmenter":
            print(*model.predict([text])[0])
        elif (kind := KINDS.get(name_of(model))) is not None:
            print(*map(kind.show, model(text)), sep="", end="")
        else:
            show([model(text)], sys.stdout)
    print("\nAll of them: dovetail models", flush=True)
