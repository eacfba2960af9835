"""Plans with all kinds of graphs, for tests of drawings."""

from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

from registry.core.workflows.plan import Plan, Step


def plan_of(edges: Mapping[str, Sequence[str]], **steps: Step) -> Plan:
    """Return a plan: for each step, in an order that can run, what it waits for. `steps` replace plain ones."""
    made = tuple(steps.get(name, Step(name, "data.echo", depends_on=tuple(after))) for name, after in edges.items())
    return Plan("text.example", "1.0.0", {}, {}, made, tuple(edges))


def chain(length: int) -> Plan:
    return plan_of({f"s{each}": [f"s{each - 1}"] if each else [] for each in range(length)})


def fan(width: int) -> Plan:
    middle = [f"m{each}" for each in range(width)]
    return plan_of({"first": [], **{name: ["first"] for name in middle}, "last": middle})


def window(length: int, width: int) -> Plan:
    """Return steps that wait for each of the `width` steps before."""
    return plan_of({f"s{each}": [f"s{one}" for one in range(max(0, each - width), each)] for each in range(length)})


def two_sides(sources: int, targets: int, between: int = 0) -> Plan:
    """Return steps that all wait for all others, the targets also for a chain of `between` steps."""
    left = [f"a{each}" for each in range(sources)]
    middle = {f"c{each}": [f"c{each - 1}"] if each else [] for each in range(between)}
    ends = [*left, *list(middle)[-1:]]
    return plan_of({**{name: [] for name in left}, **middle, **{f"b{each}": ends for each in range(targets)}})


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Return a random plan whose file lists the steps in another order than they run."""
    count = draw(st.integers(1, 24))
    names = [f"s{each}" for each in range(count)]
    edges = {
        name: sorted(draw(st.sets(st.sampled_from(names[:index]), max_size=5))) if index else []
        for index, name in enumerate(names)
    }
    plan = plan_of(edges)
    order = draw(st.permutations(plan.steps))
    return Plan(plan.id, plan.version, {}, {}, tuple(order), plan.order)
