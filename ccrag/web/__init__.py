"""
HTTP API, page and MCP server over indexes; all three ask the same `service`.

    access        tokens, and what their bearers may read
    problems      every error as the same typed answer
    engine_link   the engine's client, and its way back after a failure
    shelf         pipelines over indexes, opened once
    gate          how many work at once, for how long, and that nobody works for nobody
    desk          a question from a caller to a result
    app, serve    put together, and run
"""
