"""Where modules of earlier versions went, said where an old path is imported; for one version."""

import sys

MOVED = {
    "adapter": "sci_core.families.base",
    "ahead": "sci_core.engine.ahead",
    "batching": "sci_core.engine.batching",
    "cache": "sci_core.families.cache",
    "cli": "sci_book.cli",
    "decoding": "sci_core.engine.decoding",
    "evaluation": "sci_book (its names), or sci_book.data, sci_book.results and sci_book.run",
    "integrations": "sci_book.integrations",
    "models": "sci_core.families.models",
    "plan": "sci_core.engine.plan",
    "pocket": "sci_book.pocket",
    "precision": "sci_core.families.precision",
    "prefix_cache": "sci_core.families.prefix_cache",
    "probes": "sci_book.papers",
    "processors": "sci_core.families.processors",
    "questions": "sci_core.engine.questions",
    "report": "sci_book.papers and sci_book.pipeline",
    "reproduce": "sci_book.pipeline.reproduce",
    "rounds": "sci_core.engine.rounds",
    "settings": "sci_core.families.settings",
}


class Moved:
    """The last finder of modules: it finds none, and says where a moved one is."""

    @staticmethod
    def find_spec(name: str, *_) -> None:
        package, _, module = name.partition(".")
        if package == "sci_core" and module in MOVED:
            raise ModuleNotFoundError(
                f"{name} is now {MOVED[module]}; import it from there.", name=name
            )


sys.meta_path.append(Moved)
