"""The operator's own tools: functions with `@tool` in a file or a module."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from bot.agent import Tool
from bot.errors import ConfigError


def own_tools(name: str) -> Sequence[Tool]:
    """Return the tools of a file (`my_tools.py`) or a module (`package.module`), in their order.

    Raises:
        ConfigError: if it cannot be imported, or has none.
    """
    try:
        module = _from_file(Path(name)) if name.endswith(".py") else importlib.import_module(name)
    except Exception as exc:
        raise ConfigError(f"TOOLS: {name} cannot be used: {type(exc).__name__}: {exc}") from exc
    tools = [each for each in vars(module).values() if isinstance(each, Tool)]
    if not tools:
        raise ConfigError(f"TOOLS: {name} has no function with @tool.")
    return tools


def _from_file(path: Path) -> ModuleType:
    name = f"tools_of_{path.stem}"  # which hides no other module
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError("it is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # annotations are looked up there
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
