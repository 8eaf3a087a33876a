"""Tools of MCP servers; the only importer of the `mcp` SDK, which is loaded when there are servers.

What is not promised: that a server's tool does what its description says. A server is trusted by
whoever names it in the file; what its tools do is asked about, unless the file says otherwise.
"""

from bot.mcp.patience import Patience
from bot.mcp.server import Server
from bot.mcp.servers import Servers, open_servers

__all__ = ["Patience", "Server", "Servers", "open_servers"]
