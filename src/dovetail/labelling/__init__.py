"""``dovetail label``: a page on which a text is labelled while a model learns beside it.

The layers, the lowest first: ``tasks`` (what an answer is), ``store`` (answers in a file that outlives ``kill -9``),
``texts`` (the sentences), ``agreement`` and ``forecast`` (figures about answers and scores), ``leases`` (who has which
sentence), ``ranking`` and ``training`` (what the process beside the page does), ``worker`` (that process), ``guesses``
(what a model shows), ``models`` (which of them is asked when), ``session`` (all of it under one lock), ``routes`` (the
same over HTTP; the page is in ``page``).
"""

from dovetail.rooms import open_room

open_room(__name__)
