"""Test what a built wheel carries, and that the installed package finds it."""

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

from ccrag.engine.templates import FOLDER, KINDS, read_template, templates_folder

ROOT = Path(__file__).parents[2]
READ_ALL = """
import sys
sys.path.insert(0, sys.argv[1])
from ccrag.engine.templates import KINDS, read_template, templates_folder, vector_template
print(templates_folder())
assert all(map(read_template, KINDS)) and all(vector_template("hnsw", dimension=4))
"""


def test_a_checkout_reads_the_templates_at_its_top() -> None:
    assert templates_folder() == ROOT / FOLDER
    assert all(read_template(kind) for kind in KINDS)


def test_a_wheel_reads_the_templates_that_it_carries(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    installed = tmp_path / "installed"
    with ZipFile(wheel) as archive:
        archive.extractall(installed)
    asked = [sys.executable, "-c", READ_ALL, str(installed)]
    told = subprocess.run(asked, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert told.stdout.strip() == str(installed / "ccrag" / FOLDER)
    carried = {path.name: path.read_bytes() for path in (installed / "ccrag" / FOLDER).iterdir()}
    assert carried == {path.name: path.read_bytes() for path in (ROOT / FOLDER).iterdir()}
