"""From the text of a file to algorithms that the simulator can call."""

import linecache
import sys
import threading
import traceback
from types import ModuleType

from linkpool import _core
from linkpool.control.declare import ControlError, Declaration, declaration_of

_LOCK = threading.RLock()
_KNOWN: dict[str, list[int]] = {}
"""The places of the definitions of each text, in `linkpool._core`."""


def definitions(file: str, source: str) -> list[int]:
    """Return the places of the definitions of a text; `file` is its name in messages.

    The same text is compiled once in a process.

    Raises:
        ControlError: it defines no algorithm that can be compiled.

    """
    with _LOCK:
        if source not in _KNOWN:
            declared = declarations(file, source)
            try:
                from linkpool.control import native
            except ImportError as error:
                if error.name != "numba":
                    raise
                raise ControlError(
                    f"{file}: algorithms in Python need numba: pip install 'linkpool[numba]'"
                ) from None
            _KNOWN[source] = [_core.define_control(native.describe(file, one)) for one in declared]
        return _KNOWN[source]


def declarations(file: str, source: str) -> list[Declaration]:
    """Run the text of a file, and return the algorithms that it declares.

    Raises:
        ControlError: the text cannot be run, or declares none; the message has the line.

    """
    module = ModuleType(f"linkpool_control_{abs(hash(source)):x}")
    module.__file__ = file
    # For the lines in messages; a file beside the working directory may have this name.
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    sys.modules[module.__name__] = module
    try:
        exec(compile(source, file, "exec"), vars(module))
    except SyntaxError as error:
        raise ControlError(f"{file}:{error.lineno}: {error.msg}") from None
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == file]
        what = str(error) if isinstance(error, ControlError) else f"{type(error).__name__}: {error}"
        raise ControlError(f"{file}:{lines[-1] if lines else 1}: {what}") from None
    found = [
        declared
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__
        if (declared := declaration_of(value)) is not None
    ]
    if not found:
        raise ControlError(f"{file}: defines no algorithm; write @control(NAME) above a class")
    return found
