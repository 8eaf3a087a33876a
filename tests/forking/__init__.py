"""Starting the bot as a process without importing everything again each time.

A new Python takes seconds to import the bot and its libraries, more while coverage is measured, and
hundreds of tests start one. So one Python imports all of it, once for each worker of the tests,
and forks for each start: a process of its own, with its own number, pipes, folder, environment and
end, which can be killed like any other. What starts programs itself, as the bot starts the servers
of its tools, starts a small process that stands in for a fork.

What it does not show: that a new Python finds and imports what it needs; nor what differs between
two Pythons, such as the order of sets: forks hash texts with the same seed. `fresh=True` in
`tests.commands` starts one as people do, and the tests of the command line, the demo and the
Docker image do that.
"""
