from stand_in.toolbox import DEFINITIONS, definition


def get_tool_definitions(enabled_toolsets=None, disabled_toolsets=None, quiet_mode=False):
    return [*DEFINITIONS, *(definition(f"{name}_call") for name in enabled_toolsets or [] if name.startswith("mcp-"))]
