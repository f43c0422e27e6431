"""
HTTP API, page and MCP server over indexes; all three ask the same `service`.

    access        tokens, and what their bearers may read
    problems      every error as the same typed answer
    connection    the client of the engine, and its return after a failure
    registry      pipelines over indexes, opened once
    worker_pool   the bound on requests at once and on their time
    service       from a caller's question to a result
    app, serve    put together, and run
"""
