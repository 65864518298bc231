"""The option `--set` of commands that read a scenario."""

from linkpool.cli.console import fail


def override(setting: str) -> tuple[str, str]:
    """Read a setting as `--set` takes it."""
    key, equals, value = setting.partition("=")
    if not equals or not key.strip():
        fail(f"--set {setting}: write it as KEY=VALUE, as in --set queue.mark=20")
    return key.strip(), value.strip()
