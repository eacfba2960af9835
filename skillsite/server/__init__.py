"""The web server's side of the site: receives requests, runs Django in threads, and sends the answers.

Granian reads and writes the connections. With its WSGI interface, a thread waits while a client sends a body or reads
an answer, without a time limit, so a few slow clients could hold all threads. Here the event loop waits instead, with
limits, and a thread gets a request only when its body is complete. See docs/decisions/0014-slow-clients.md.
"""
