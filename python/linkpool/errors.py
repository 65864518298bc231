"""What an error means to the command line, which knows no module that may raise one."""


class InputError(Exception):
    """Something is wrong with the input: the message says what, and what would be right."""


class FailedError(Exception):
    """A run failed, though nothing is known to be wrong with the input."""
