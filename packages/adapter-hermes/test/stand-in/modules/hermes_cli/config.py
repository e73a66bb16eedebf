import json

from stand_in.control import home


def load_config():
    try:
        return json.loads((home() / "config.yaml").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
