"""
The page: what the API answers, for eyes. Rendered here, a little script on top, no foreign asset.

    views       what a template shows, from results and records; pure
    way         the picture of a query's way; pure
    render      templates, everything escaped
    routes_*    the addresses
"""
