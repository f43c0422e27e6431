"""HTTP API, page and MCP server over collections."""
