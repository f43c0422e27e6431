"""The report as HTML: the page through its template, everything escaped."""

from jinja2 import Environment, PackageLoader, StrictUndefined

from ccrag.experiment.page import ReportPage


def render(page: ReportPage) -> str:
    """Return one self-contained file: no script, no network, nothing shown that is not escaped."""
    environment = Environment(
        loader=PackageLoader("ccrag.experiment"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.jinja").render(page=page)
