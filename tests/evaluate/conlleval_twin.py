"""conlleval as a state machine over lines, as the published script works: no spans are ever built.

It walks gold and guessed tags together, asks between every two tokens whether a chunk ended or started on
either side, and remembers whether the chunk open on both sides has agreed so far. A sentence break is an
outside line.
"""

from __future__ import annotations

from collections import Counter

ENDS = {"BB", "BO", "IB", "IO", "EE", "EI", "EO"}
STARTS = {"BB", "IB", "OB", "OI", "EE", "EI", "OE"}
OUTSIDE = {"O", "."}
ALWAYS_ALONE = {"[", "]"}
BREAK = ("O", "")


def split(tag):
    prefix, hyphen, label = tag.partition("-")
    return (prefix, label) if hyphen else (tag, "")


def end_of_chunk(previous, current):
    (old, old_label), (new, new_label) = previous, current
    return old + new in ENDS or (old not in OUTSIDE and old_label != new_label) or old in ALWAYS_ALONE


def start_of_chunk(previous, current):
    (old, old_label), (new, new_label) = previous, current
    return old + new in STARTS or (new not in OUTSIDE and old_label != new_label) or new in ALWAYS_ALONE


def conlleval(gold, predicted):
    """Counters of gold, guessed and correct chunks by label, tokens, and correct tokens."""
    found_gold, found_guessed, found_correct = Counter(), Counter(), Counter()
    tokens = correct_tokens = 0
    in_correct = False
    last_gold = last_guessed = BREAK
    for gold_sentence, guessed_sentence in zip(gold, predicted, strict=True):
        lines = [(split(g), split(p), True) for g, p in zip(gold_sentence, guessed_sentence, strict=True)]
        for now_gold, now_guessed, is_token in [*lines, (BREAK, BREAK, False)]:
            if in_correct:
                gold_ends = end_of_chunk(last_gold, now_gold)
                guessed_ends = end_of_chunk(last_guessed, now_guessed)
                if gold_ends and guessed_ends and last_gold[1] == last_guessed[1]:
                    in_correct = False
                    found_correct[last_gold[1]] += 1
                elif gold_ends != guessed_ends or now_gold[1] != now_guessed[1]:
                    in_correct = False
            gold_starts = start_of_chunk(last_gold, now_gold)
            guessed_starts = start_of_chunk(last_guessed, now_guessed)
            if gold_starts and guessed_starts and now_gold[1] == now_guessed[1]:
                in_correct = True
            found_gold[now_gold[1]] += gold_starts
            found_guessed[now_guessed[1]] += guessed_starts
            tokens += is_token
            correct_tokens += is_token and now_gold == now_guessed
            last_gold, last_guessed = now_gold, now_guessed
    return +found_gold, +found_guessed, +found_correct, tokens, correct_tokens


def scores(gold, guessed, correct):
    precision = 100 * correct / guessed if guessed > 0 else 0.0
    recall = 100 * correct / gold if gold > 0 else 0.0
    fb1 = 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
    return f"precision: {precision:6.2f}%; recall: {recall:6.2f}%; FB1: {fb1:6.2f}"


def report(gold, predicted):
    """What the script prints."""
    by_gold, by_guessed, by_correct, tokens, correct_tokens = conlleval(gold, predicted)
    totals = sum(by_gold.values()), sum(by_guessed.values()), sum(by_correct.values())
    text = "processed {} tokens with {} phrases; found: {} phrases; correct: {}.\n".format(tokens, *totals)
    if tokens > 0:
        text += f"accuracy: {100 * correct_tokens / tokens:6.2f}%; {scores(*totals)}\n"
    for label in sorted(set(by_gold) | set(by_guessed)):
        line = scores(by_gold[label], by_guessed[label], by_correct[label])
        text += f"{label:>17}: {line}  {by_guessed[label]}\n"
    return text
