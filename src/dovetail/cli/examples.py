"""An example for each command whose help has none in its own words."""

from __future__ import annotations

EXAMPLES = {
    "evaluate": "dovetail evaluate --model names.dovetail test.conll --html errors.html",
    "pipeline": "dovetail pipeline stages.toml --output pipe.dovetail --samples 20",
    "pool": "dovetail pool first.dovetail second.dovetail --output both.dovetail",
    "explain": 'dovetail explain "Ada Lovelace was born in London." --token London',
    "info": "dovetail info names.dovetail",
    "models": "dovetail models english-names",
    "demo": "dovetail demo",
    "embed": "dovetail embed raw.txt --dimensions 100 --output words.vec",
    "align": "dovetail align --source en.txt --target de.txt --output en-de.links",
    "align-sentences": "dovetail align-sentences --source en.txt --target de.txt --output pairs.tmx --languages en,de",
    "draw-links": "dovetail draw-links --source en.txt --target de.txt --links en-de.links --line 3 -o third.svg",
    "train tagger": "dovetail train tagger --train train.conll --dev dev.conll --output names.dovetail",
    "train segmenter": "dovetail train segmenter --train train.txt --dev dev.txt --output words.dovetail",
    "train nested": "dovetail train nested --train train.jsonl --dev dev.jsonl --output nested.dovetail",
    "train dependency": "dovetail train dependency --train train.conllu --predict-tags --output parser.dovetail",
    "train parser": "dovetail train parser --train train.mrg --dev dev.mrg --output parser.dovetail",
    "train joint": "dovetail train joint --train train.jsonl --dev dev.jsonl --output joint.dovetail",
    "train roles": "dovetail train roles --train train.jsonl --dev dev.jsonl --output roles.dovetail",
    "train entailment": "dovetail train entailment --train pairs.jsonl --output judge.dovetail",
    "tune tagger": "dovetail tune tagger --train train.conll --output best.toml",
    "tune segmenter": "dovetail tune segmenter --train train.txt --output best.toml",
    "tune nested": "dovetail tune nested --train train.jsonl --output best.toml",
    "tune dependency": "dovetail tune dependency --train train.conllu --output best.toml",
    "tune parser": "dovetail tune parser --train train.mrg --output best.toml",
    "tune joint": "dovetail tune joint --train train.jsonl --output best.toml",
    "tune roles": "dovetail tune roles --train train.jsonl --output best.toml",
    "tune entailment": "dovetail tune entailment --train pairs.jsonl --output best.toml",
    "cluster brown": "dovetail cluster brown news.txt --classes 500 --output news.paths",
    "cluster exchange": "dovetail cluster exchange news.txt --classes 200 --output news.paths",
    "cluster assign": "dovetail cluster assign news.paths more.txt --output all.paths",
    "cluster tree": "dovetail cluster tree news.paths --output tree.svg",
}
"""By the name of the command."""
