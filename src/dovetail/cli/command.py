"""The class of every command: it guards the files that a command reads, and lays out its help."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand

from dovetail.cli.config import save_config, with_config
from dovetail.cli.examples import EXAMPLES
from dovetail.cli.options import Function, spelled_out
from dovetail.cli.paths import Reads, check_paths, roles
from dovetail.spellings import present

GROUPS = {
    "Data": (
        "read_config source align.target languages labels label.task train dev domain dev_domain expectations links "
        "test gold gold_first predicted compare labelled trees_only entities_only input_format columns encoding "
        "sentence_per_line tokenised tokenise lines target ignore layer least_confidence least_translated max_length "
        "gold_trees find_predicates"
    ),
    "Model": (
        "model source_model target_model annotate-pair.aligner annotate-pair.agreement strength table types how "
        "confusion unlinked nameless pipeline annotate.domain evaluate.domain strategy samples task annotate.seed "
        "evaluate.seed pipeline.seed sigma restrict features order scheme longest normalise_width pos predict_layers "
        "tags predict_tags relations kind coupling vertical horizontal direction head_tags relax unaries threshold "
        "decode names parser reach ranked least folds min_count min_documents entity_min_documents hash_bits bits "
        "observed_only hidden lowercase parts activation hidden_inputs encoder tune_encoder encoder_size dropout"
    ),
    "Choice": "number by discount diversity select.seed",
    "Runs": (
        "candidates sizes config config_file settings start step until draws tune jobs curve.ray simulate.ray "
        "curve.seed simulate.seed"
    ),
    "Resources": "priors unlabelled clusters vectors lexicon hints association save_clusters noise_text",
    "Learning": (
        "prior null fertility agreement jump_classes samplers sweeps loss optimiser l2 l1 decay noise "
        "expectation_loss expectation_weight pool pool_weights weights select_templates selection iterations patience "
        "cross_validate batch gain agree consistency engine coupled_training balance calibrate seed threads ray "
        "scratch init resume"
    ),
    "Page": "annotator label.port no_browser",
    "Output": (
        "output output_target source_output target_output links_output changes_output align-sentences.languages beads "
        "teach save_table save symmetrise align.threshold probabilities output_format annotate.threshold documents "
        "k_best marginals reliability html conlleval as_json half compact quiet annotate.threads evaluate.threads "
        "select.threads annotate.ray save_config help"
    ),
}
"""The options under each heading of a long help page; ``COMMAND.NAME`` where one means something else there."""

SHORT = 12
"""So many options need no headings."""

_GROUP = {name: title for title, names in GROUPS.items() for name in names.split()}
_PLACES = {name: place for place, name in enumerate(_GROUP)}


def place_of(name: str) -> int:
    """Where a parameter stands among those of all headings."""
    return _PLACES.get(name, len(_PLACES))


class Command(TyperCommand):
    """A command whose outputs cannot be its inputs, with help under headings."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Data that is given twice is refused, unless it may be repeated: what came first would be lost."""
        assert self.callback is not None
        split = [arg.partition("=") for arg in args[: args.index("--") if "--" in args else None]]
        place = ctx.command_path.removeprefix("dovetail ")
        now = [f"{present('option', name, place, warn=1)}{equals}{value}" for name, equals, value in split]
        args = with_config(self, ctx, now + args[len(now) :], roles(inspect.unwrap(self.callback)))
        for option in self._repeated(ctx, list(args)):
            raise typer.BadParameter("given more than once, and only one can be used", ctx, option)
        return super().parse_args(ctx, args)

    def _repeated(self, ctx: Any, args: list[str]) -> list[Any]:
        """The options for files to read that are given twice; of settings, the last one counts."""
        try:
            _, _, given = self.make_parser(ctx).parse_args(args=args)
        except Exception:  # what is wrong is reported when they are parsed for good
            return []
        assert self.callback is not None
        found = roles(inspect.unwrap(self.callback))
        files: list[Any] = [p for p in given if isinstance(found.get(p.name or ""), Reads) and p.name != "features"]
        return [p for p in files if p.nargs == 1 and not getattr(p, "multiple", False) and files.count(p) > 1]

    def invoke(self, ctx: Any) -> Any:
        """Run it, unless it would overwrite what it reads."""
        assert self.callback is not None
        function = inspect.unwrap(self.callback)
        check_paths(function, ctx.params, {p.name: _label(p) for p in self.params})
        save_config(ctx, roles(function))
        return super().invoke(ctx)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """``[OPTIONS] CLUSTERS TEXT...``."""
        pieces = [self.options_metavar or ""]
        for argument in self.params:
            if argument.param_type_name == "argument":
                name = _argument(argument) + ("..." if argument.nargs == -1 else "")
                pieces.append(name if argument.required else f"[{name}]")
        return pieces

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments, then options, under headings where there are many."""
        arguments, options = [], []
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and param.param_type_name == "argument":
                arguments.append((_argument(param), _plain(record[1])))
            elif record is not None:
                names = re.sub(r"<list\[(.*)\]>", r"<\1>", record[0])  # the choices of a list as those of any other
                options.append((self.group_of(param.name or ""), (names, _plain(record[1]))))
        grouped = len(options) > SHORT
        width = min(30, max(len(names) for _, (names, _) in options))
        _section(formatter, "Arguments", arguments, 0)
        for title in dict.fromkeys([*GROUPS, "Other"]) if grouped else ["Options"]:
            rows = [row for group, row in options if not grouped or group == title]
            _section(formatter, title, rows, width)

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """What it does, with an example where the text has none."""
        super().format_help_text(ctx, formatter)
        example = EXAMPLES.get(ctx.command_path.removeprefix("dovetail "))
        if example is not None:
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(f"Example:\n\n{example}")

    def group_of(self, name: str) -> str:
        """The heading of a parameter."""
        return _GROUP.get(f"{self.name}.{name}") or _GROUP.get(name) or "Other"


class Commands(typer.Typer):
    """An application all of whose commands are of class ``Command``; with ``help``, a group of them."""

    def __init__(self, help: str | None = None, **settings: Any) -> None:
        group: dict[str, Any] = {"help": help, "callback": _show_help, "invoke_without_command": True} if help else {}
        # Plain help, not rich's: it answers in half the time.
        super().__init__(rich_markup_mode=None, **group, **settings)

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Function], Function]:
        """Register a function as a command."""
        return lambda function: super(Commands, self).command(name, cls=Command, **settings)(spelled_out(function))


def _show_help(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


def _label(param: Any) -> str:
    """What a user calls a parameter: ``--train``, or the input."""
    if param.param_type_name == "argument":
        return _argument(param)
    return str(next((o for o in param.opts if o.startswith("--")), param.opts[0]))


def _argument(param: Any) -> str:
    return str(param.metavar or param.name.upper())


def _plain(text: str) -> str:
    """The help of an option less what only programmers read.

    >>> _plain("Cores to use.  [default: (all); x>=1]"), _plain("At most.  [x>=1]")
    ('Cores to use.  [default: all]', 'At most.')
    """
    text = re.sub(r"(?:; )?x>=[01](?:\.0)?(?=\])", "", text)
    text = re.sub(r"\[default: \((.*)\)(.*)\]$", r"[default: \1\2]", text)
    return text.replace("0.0<=x<=", "0<=x<=").removesuffix("  []").removesuffix("[]")


def _section(formatter: Any, title: str, rows: list[tuple[str, str]], width: int) -> None:
    if rows:
        with formatter.section(title):
            formatter.write_dl([(names.ljust(width), text) for names, text in rows])
