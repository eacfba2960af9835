"""The routing chain as each question runs through it: all links, a shortlist of the skills, and one ranking."""

from registry.core.routing import chain, fusion, shortlist
from registry.core.routing.chain import Chained
from registry.core.routing.link import Rows
from registry.core.routing.question import Question
from registry.lib.steps import StepRunner


def run(
    question: Question,
    rows: Rows,
    *,
    most: int,
    runner: StepRunner,
    seconds: float = chain.LINK_SECONDS,
    alone: bool = True,
) -> Chained:
    """Ask all links about a question. The ranking has the best `most` of `rows`; see `chain.run` for the others."""
    return chain.run(
        chain.LINKS,
        question,
        rows,
        fuse=lambda matches: fusion.fuse(question, matches, most),
        runner=runner,
        shorten=lambda given: shortlist.of(question, given, most),
        seconds=seconds,
        alone=alone,
    )
