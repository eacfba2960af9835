"""Access levels: the outcome of a request for each identity."""

from registry.core import roles

# Pages ignore tokens, and the API and the protocols ignore sessions. One of each kind shows that.
PEOPLE = ("stranger", "outsider", "staff", roles.VIEWER, roles.AUTHOR, roles.REVIEWER, roles.OWNER, "manager")
# `outsider` owns another project, and `foreign` is a token of that project.
PROGRAMS = ("stranger", roles.OWNER, "limited", "reader", "writer", "manager", "foreign", "revoked")

# One character for each identity, as `outcomes.py` defines them: + passed, > sent to the sign-in page, 0 not found,
# - forbidden, ? not authenticated.
FOR_PEOPLE = {
    "everybody": "++++++++",
    "person": ">++++++>",
    "viewer": ">00++++>",
    "author": ">00-+++>",
    "reviewer": ">00--++>",
    "owner": ">00---+>",
    "themselves": ">00000+>",  # it belongs to the owner, and nobody else sees it
    "themselves-or-owner": ">00+--+>",  # it concerns the viewer
    "proposer": ">00+0-->",  # the viewer made the proposal
    "proposer-or-reviewer": ">00+0++>",
    "staff": "00+00000",
    "leave": ">>>>>>>>",
    "nothing": ">000000>",  # there is nothing at this address
    "author-nothing": ">00-000>",
}
FOR_PROGRAMS = {
    "everybody": "++++++++",
    "read": "??++++0?",
    "change": "??+-++0?",  # needs the scope propose, write or run
    "change-seen": "??0-++0?",  # the limited agent does not see what others import
    "person-only": "??---+0?",  # needs a scope that agents never have
    "proposer": "??0-0-0?",  # none of these made the proposal
    "proposer-or-reviewer": "??0-0+0?",
    "nobody": "??----0?",  # the project does not ask agents for advice
    "change-nothing": "??0-000?",
    "instructions": "??0+++0?",  # of the agent of `reader` and `writer`
    "own-run": "??0+++0?",  # the agent of `reader` and `writer` started the run
    "change-own-run": "??0-++0?",
    "agent": "??+++00?",
    "any-token": "??+++++?",  # the token decides which project
    "read-only": "??-+---?",  # in a URL, only a token that can do nothing else
}
