"""Imports of LanceDB without what a command never uses, which takes half of their time."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

UNFOUND = frozenset({"pandas"})
"""Optional libraries that others import if installed: pyarrow, for conversions that are not used here (.5 s)."""
BARE = frozenset({"lance_namespace_urllib3_client"})
"""Packages of which only submodules are needed. This one creates 130 checked functions of a REST interface (.8 s)."""
LATER = frozenset({"lance_namespace_urllib3_client.models"})
"""Packages of a class in each submodule, of which few are ever used: 140 checked messages of that interface (.35 s), which
LanceDB imports for its annotations."""

OVERRIDES = "overrides"
"""The library by which LanceDB checks, on Python 3.11 alone, from its own byte code that its methods override others
(.1 s)."""


class _LaterClass:
    """Stands for a class whose module is imported when the class is used."""

    def __init__(self, package: str, name: str) -> None:
        self._place = package, name

    def _load(self) -> Any:
        package, name = self._place
        module = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        return getattr(importlib.import_module(f"{package}.{module}"), name)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self._load()(*arguments, **options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what annotations look for
            raise AttributeError(name)
        return getattr(self._load(), name)


class _LaterLoader(Loader):
    def exec_module(self, module: ModuleType) -> None:
        def later(name: str) -> _LaterClass:
            if name.startswith("__"):
                raise AttributeError(name)
            return _LaterClass(module.__name__, name)

        module.__getattr__ = later  # type: ignore[method-assign]


class _OverridesLoader(Loader):
    def exec_module(self, module: ModuleType) -> None:
        names: dict[str, Any] = {"override": lambda method: method, "EnforceOverrides": object}
        vars(module).update(names)


class _Lean(MetaPathFinder):
    # None in sys.modules would be shorter, but compiled modules (pyarrow's) take it for the library.

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname in UNFOUND:
            raise ModuleNotFoundError(f"{fullname} is left out of this start", name=fullname)
        if fullname == OVERRIDES:
            return ModuleSpec(fullname, _OverridesLoader())
        whole = PathFinder.find_spec(fullname, path, target) if fullname in BARE | LATER else None
        if whole is None:
            return None
        lean = ModuleSpec(fullname, _LaterLoader() if fullname in LATER else None, is_package=True)
        lean.submodule_search_locations = whole.submodule_search_locations
        return lean


@contextmanager
def lean_imports() -> Iterator[None]:
    """Within the block, imports do not find ``UNFOUND``, ``BARE`` packages are imported without their own imports,
    classes of ``LATER`` when they are used, and ``OVERRIDES`` checks nothing."""
    finder = _Lean()
    is_imported = OVERRIDES in sys.modules
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        if not is_imported:
            sys.modules.pop(OVERRIDES, None)  # others get the library itself
