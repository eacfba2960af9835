"""Exact numbers of transactions and statements that a worker needs for a run."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from registry.models import Project
from registry.services.permissions import Actor
from registry.services.workflows import runs
from registry.services.workflows.run_worker import RunWorker
from tests.services.workflows.conftest import finish
from tests.services.workflows.together import Together
from tests.transactions import commits

pytestmark = pytest.mark.django_db(transaction=True)  # so that each commit is real


@pytest.fixture
def statements(project: Project, workflow: Callable[..., str], operator: Actor) -> Callable[..., list[str]]:
    """Return a function that carries a workflow, and returns the statements of the worker."""

    def carry(edges: Mapping[str, Sequence[str]], name: str = "flow") -> list[str]:
        steps = [
            {"id": id_, "uses": "data.echo", "input": {"value": 1}, "config": {"depends_on": list(needed)}}
            for id_, needed in edges.items()
        ]
        workflow(json.dumps({"id": name, "version": "1.0.0", "steps": steps}), name)
        run, worker = runs.start(project, name, by=operator), RunWorker(executor=Together(), monotonic=lambda: 0.0)
        with CaptureQueriesContext(connection) as captured:
            finish(worker)
        run.refresh_from_db()
        assert (run.state, run.steps.count()) == ("completed", len(edges))
        return [query["sql"] for query in captured]

    return carry


def chain(length: int) -> dict[str, list[str]]:
    return {f"s{number}": [f"s{number - 1}"] if number else [] for number in range(length)}


def diamond(width: int) -> dict[str, list[str]]:
    middle = [f"m{number}" for number in range(width)]
    return {"first": [], **{name: ["first"] for name in middle}, "last": middle}


def test_a_chain_commits_two_transactions_more_than_it_has_steps(statements: Any) -> None:
    assert commits(statements(chain(7))) == 7 + 2  # to take the run, and to begin its first step


def test_steps_that_end_together_share_a_transaction(statements: Any) -> None:
    assert commits(statements(diamond(2), "narrow")) == commits(statements(diamond(8), "wide")) == 3 + 2


def test_a_further_step_of_a_chain_costs_one_transaction_of_two_statements(statements: Any) -> None:
    short, long = statements(chain(3), "short"), statements(chain(4), "long")
    assert len(long) - len(short) == 4
    begin = next(at for at, statement in enumerate(long) if "INSERT" in statement) - 2
    update, insert = long[begin + 1 : begin + 3]
    assert [statement.split(maxsplit=1)[0] for statement in (long[begin], long[begin + 3])] == ["BEGIN", "COMMIT"]
    assert update.startswith('UPDATE "registry_run"') and insert.startswith('INSERT INTO "registry_runstep"')


def test_a_further_step_of_a_fan_costs_no_statement(statements: Any) -> None:
    assert len(statements(diamond(2), "narrow")) == len(statements(diamond(8), "wide"))
