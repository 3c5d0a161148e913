"""Models of dovetail in pipelines of spaCy: ``nlp.add_pipe("dovetail", config={"model": "my.dovetail"})``.

Where dovetail and spaCy are installed, spaCy finds the component and the tokenizer by itself.
"""

from dovetail.extras import extra

extra("spacy", "dovetail.spacy")  # or one line that says what to install

from dovetail.spacy.component import Dovetail, make_component  # noqa: E402
from dovetail.spacy.tokenizer import SegmenterTokenizer, make_tokenizer  # noqa: E402

__all__ = ["Dovetail", "SegmenterTokenizer", "make_component", "make_tokenizer"]
