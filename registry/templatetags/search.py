"""Template filters for the results of a search."""

from django import template

from registry.web.render import search_hits

register = template.Library()
register.filter("marked", search_hits.marked)
register.filter("from_hit", search_hits.from_hit)
