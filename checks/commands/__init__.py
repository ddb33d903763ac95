"""The commands of `limes`, one in each module, named as it is typed; `checks/cli.py` puts them together.

A command imports what it works with when it runs, so that `limes --help` and mistakes cost no import of SymPy.
"""
