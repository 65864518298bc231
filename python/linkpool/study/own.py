"""What is wrong with the code of an experiment of a user, in words that name its file."""

from collections.abc import Iterator
from contextlib import contextmanager
from inspect import getfile
from traceback import extract_tb

from polars.exceptions import ColumnNotFoundError

from linkpool.errors import InputError
from linkpool.study.experiment import Experiment, nothing


class OwnCodeError(InputError, ValueError):
    """The code of an experiment that is not linkpool's failed."""


def require_columns(experiment: Experiment) -> None:
    """Raise `OwnCodeError` if claims ask for a column that the data will not have.

    They are judged by no rows. What else fails then is told if it fails with rows, too.
    """
    try:
        experiment.claims(nothing(experiment.columns))
    except ColumnNotFoundError as error:
        raise _said(experiment, "claims", error) from error
    except Exception:
        return  # it may be for want of rows


@contextmanager
def own_code(experiment: Experiment, what: str) -> Iterator[None]:
    """Say where the code of an experiment failed, if it is not linkpool's."""
    try:
        yield
    except (MemoryError, OSError):
        raise  # that is no fault of the code
    except Exception as error:
        if type(experiment).__module__.startswith("linkpool."):
            raise
        raise _said(experiment, what, error) from error


def _said(experiment: Experiment, what: str, error: Exception) -> OwnCodeError:
    file = getfile(type(experiment))
    lines = [at.lineno for at in extract_tb(error.__traceback__) if at.filename == file]
    place = f"{file}:{lines[-1]}" if lines else file
    columns = ", ".join(column.name for column in experiment.columns)
    why = f"{type(error).__name__}: {error}"
    return OwnCodeError(
        f"{place}: the {what} of {experiment.id}: {why}; the columns of its data are {columns}"
    )
