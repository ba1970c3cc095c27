"""Self-critical inference inside other people's evaluation tools: one thin file a tool.

`lmms_eval` and `vlmevalkit` each import the tool they are named after, and nothing else of this
library imports them.
"""
