import os
from pathlib import Path


def load_hermes_dotenv(*, hermes_home=None, project_env=None):
    file = Path(hermes_home) / ".env"
    if not file.exists():
        return []
    for line in file.read_text(encoding="utf-8").splitlines():
        name, equals, value = line.partition("=")
        if equals and not name.startswith("#"):
            os.environ[name.strip()] = value.strip()
    return [file]
