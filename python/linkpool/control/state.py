"""The type of `self` in hooks, for numba: the words of a connection, and those of its subflows."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic, lower_setattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr, signature
from numba.extending import intrinsic, models, register_model
from numba.np.arrayobj import make_array, populate_array


class ConnectionType(types.Type):  # type: ignore[misc]
    """A record of the connection, and an array of records of the subflows, if these have state."""

    def __init__(self, record: Any, subflows: Any) -> None:
        self.record, self.subflows = record, subflows
        super().__init__(name=f"Connection({record}, {subflows})")


class ConnectionModel(models.StructModel):  # type: ignore[misc]
    """Pointers to both."""

    def __init__(self, manager: Any, kind: ConnectionType) -> None:
        members = [("record", kind.record)]
        members += [("subflows", kind.subflows)] if kind.subflows is not None else []
        super().__init__(manager, kind, members)


class ConnectionAttributes(AttributeTemplate):  # type: ignore[misc]
    """The types of `self.NAME`."""

    key = ConnectionType

    def generic_resolve(self, kind: ConnectionType, attribute: str) -> Any:
        """Return the type of an attribute; None: there is none."""
        if attribute == "subflows":
            return kind.subflows
        return kind.record.typeof(attribute) if attribute in kind.record.fields else None


def _get(context: Any, builder: Any, kind: ConnectionType, value: Any, attribute: str) -> Any:
    made = cgutils.create_struct_proxy(kind)(context, builder, value=value)
    if attribute == "subflows":
        return impl_ret_borrowed(context, builder, kind.subflows, made.subflows)
    get = context.get_getattr(kind.record, attribute)
    return get(context, builder, kind.record, made.record, attribute)


def _set(context: Any, builder: Any, sig: Any, args: Any, attribute: str) -> Any:
    kind, value_type = sig.args
    made = cgutils.create_struct_proxy(kind)(context, builder, value=args[0])
    inner = signature(types.none, kind.record, value_type)
    return context.get_setattr(attribute, inner)(builder, (made.record, args[1]))


register_model(ConnectionType)(ConnectionModel)
infer_getattr(ConnectionAttributes)
lower_getattr_generic(ConnectionType)(_get)
lower_setattr_generic(ConnectionType)(_set)


def _make(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    kind, (head, own, n) = sig.return_type, args
    made = cgutils.create_struct_proxy(kind)(context, builder)
    made.record = builder.bitcast(head, context.get_value_type(kind.record))
    if kind.subflows is not None:
        array = make_array(kind.subflows)(context, builder)
        size = context.get_constant(types.intp, kind.subflows.dtype.size)
        data = builder.bitcast(own, array.data.type)
        populate_array(array, data, shape=(n,), strides=(size,), itemsize=size, meminfo=None)
        made.subflows = array._getvalue()
    return made._getvalue()


def _with_subflows(_: Any, head: Any, own: Any, n: Any) -> Any:
    kind = ConnectionType(head.dtype, types.Array(own.dtype, 1, "C"))
    return kind(head, own, types.intp), _make


def _alone(_: Any, head: Any, own: Any, n: Any) -> Any:
    return ConnectionType(head.dtype, None)(head, own, types.intp), _make


WITH_SUBFLOWS = intrinsic(_with_subflows)
"""Makes `self` of the pointers to the words of the connection and of its `n` subflows."""
ALONE = intrinsic(_alone)
"""The same where subflows have no state."""
