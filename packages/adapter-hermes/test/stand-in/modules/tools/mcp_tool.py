"""Servers of tools that the client names: each brings one tool, or none of them can be reached."""

_servers: dict = {}


def register_mcp_servers(servers):
    if any("unreachable" in name for name in servers):
        raise ConnectionError("refused")
    _servers.update(servers)
