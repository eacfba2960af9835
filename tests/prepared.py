"""Services that prepare a project for a test, remembered from test to test.

A test of such a service calls the service itself.
"""

from registry.core import roles
from registry.models import Project
from registry.services import permissions
from registry.services.agents import agents
from registry.services.permissions import Actor
from registry.services.proposals import proposals
from registry.services.skills import bundles, customisation, skills, versions
from tests.remembered import remembered

create_skill = remembered(skills.create)
save_skill = remembered(skills.save)
disable_skill = remembered(skills.disable)
delete_skill = remembered(skills.delete)
yank_version = remembered(versions.yank)
customise_skill = remembered(customisation.customise)
import_bundle = remembered(bundles.import_bundle)
ensure_agent = remembered(agents.ensure)
propose = remembered(proposals.propose)


def proposing_agent(project: Project, name: str, by: Actor) -> Actor:
    """Return an agent with the scopes of a new token. It is created if it does not exist."""
    return permissions.agent(ensure_agent(project, name, by=by), frozenset(roles.DEFAULT_AGENT_SCOPES))
