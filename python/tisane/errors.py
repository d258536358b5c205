"""The exceptions of tisane. Their text has the problem, the place, and advice where there is some."""


class Error(Exception):
    """Base of the exceptions of the engine."""


class ConfigError(Error, ValueError):
    """A mistake in a configuration or setting, with line and key."""


class InputError(Error, ValueError):
    """Particles, a file or an argument that cannot be used."""


class IntegrationError(Error, RuntimeError):
    """An integration that cannot continue: a step below the floor, a number that is not finite, a failed device."""


class StorageError(Error, OSError):
    """A file that could not be written. Finished files and the last checkpoint are whole."""
