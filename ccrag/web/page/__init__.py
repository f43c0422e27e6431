"""
The page: what the API answers, for eyes. Rendered here, a little script on top, no foreign asset.

    views           what a template shows, from results and records; pure
    trace_picture   the picture of a query's rankings; pure
    render          templates, everything escaped
    routes_*        the addresses
"""
