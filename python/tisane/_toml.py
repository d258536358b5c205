"""The reader of TOML: that of Python, or before 3.11 the package that became it."""

try:
    from tomllib import loads
except ModuleNotFoundError:  # Python 3.10
    from tomli import loads

__all__ = ["loads"]
