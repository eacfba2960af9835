"""The addresses of the doors for existing clients."""

from django.urls import path

from registry.protocols.mcp import endpoint

urlpatterns = [
    path("mcp", endpoint.mcp, name="mcp"),
    path("t/<str:secret>/mcp", endpoint.mcp, name="mcp-by-path"),
]
