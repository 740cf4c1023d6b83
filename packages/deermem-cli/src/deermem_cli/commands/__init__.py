"""One module for each command, with `run(arguments, terminal) -> exit status`."""
