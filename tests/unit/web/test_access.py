"""Tokens and what their bearers may read."""

import hashlib
from pathlib import Path

import pytest

from ccrag.errors import ConfigError
from ccrag.web.access import LOCAL, Access, read_access
from ccrag.web.serve import check_host, is_loopback

TOKEN = "0123456789abcdef-clinic"
FILE = f"""
[tokens.clinic]
token = "{TOKEN}"
indexes = ["guidelines", "notes"]
[tokens.clinic.documents]
guidelines = ["g1", "g7", "g1"]

[tokens.admin]
sha256 = "{hashlib.sha256(b"the admin's own token").hexdigest()}"
indexes = ["*"]
"""


@pytest.fixture
def access(tmp_path: Path) -> Access:
    path = tmp_path / "tokens.toml"
    path.write_text(FILE)
    return read_access(path)


def test_without_a_file_everybody_is_local() -> None:
    access = read_access(None)
    assert not access.needs_token
    assert access.caller(None) is access.caller("whatever") is LOCAL
    assert LOCAL.unrestricted


def test_a_token_says_who_asks(access: Access) -> None:
    assert access.needs_token
    clinic, admin = access.caller(TOKEN), access.caller("the admin's own token")
    assert clinic is not None
    assert admin is not None
    assert (clinic.name, admin.name) == ("clinic", "admin")
    assert [access.caller(token) for token in (None, "", TOKEN + "x")] == [None, None, None]


def test_what_a_bearer_may_read(access: Access) -> None:
    clinic, admin = access.caller(TOKEN), access.caller("the admin's own token")
    assert clinic is not None
    assert admin is not None
    assert clinic.allowed("guidelines") == ("g1", "g7")
    assert clinic.allowed("notes") is None
    assert clinic.may_read("guidelines", "g7")
    assert clinic.may_read("notes", "any")
    assert not clinic.may_read("guidelines", "g2")
    assert not clinic.may_read("secrets", "g1")
    assert not clinic.may_open("secrets")
    assert admin.may_read("secrets", "any")
    assert admin.unrestricted
    assert not clinic.unrestricted


def test_a_restriction_of_documents_alone_is_one(tmp_path: Path) -> None:
    path = tmp_path / "tokens.toml"
    path.write_text(
        f'[tokens.a]\ntoken = "{TOKEN}"\nindexes = ["*"]\n[tokens.a.documents]\nnotes = []\n'
    )
    caller = read_access(path).caller(TOKEN)
    assert caller is not None
    assert not caller.unrestricted
    assert not caller.may_read("notes", "n1")
    assert caller.may_read("other", "o1")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "tokens: Field required"),
        ("[tokens]\n", "tokens: Dictionary should have at least 1 item"),
        ('[tokens.a]\nindexes = ["*"]\n', "give one of token and sha256"),
        (f'[tokens.a]\ntoken = "{TOKEN}"\n', "tokens.a.indexes: Field required"),
        ('[tokens.a]\ntoken = "short"\nindexes = ["*"]\n', "at least 16 characters"),
        (
            '[tokens.a]\nsha256 = "xy"\nindexes = ["*"]\n',
            "tokens.a.sha256: String should match",
        ),
        (
            f'[tokens.a]\ntoken = "{TOKEN}"\nindexes = ["n"]\ndocuments = {{ g = ["1"] }}\n',
            "documents of 'g', which is not among indexes",
        ),
        (
            f'[tokens.a]\ntoken = "{TOKEN}"\nindexes = ["n"]\ncolour = "red"\n',
            "tokens.a.colour: Extra inputs",
        ),
        (
            f'[tokens.a]\ntoken = "{TOKEN}"\nindexes = ["n"]\n'
            f'[tokens.b]\ntoken = "{TOKEN}"\nindexes = ["*"]\n',
            "two callers have the same token",
        ),
        ("[tokens.a\n", "not valid TOML"),
    ],
)
def test_a_bad_file_is_refused_without_showing_a_token(
    tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "tokens.toml"
    path.write_text(content)
    with pytest.raises(ConfigError, match=message) as refused:
        read_access(path)
    assert TOKEN not in str(refused.value)
    assert "tokens.toml" in str(refused.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere.toml: cannot be read: No such file"):
        read_access(tmp_path / "nowhere.toml")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "localhost", "::1"])
def test_loopback_needs_no_token(host: str) -> None:
    assert is_loopback(host)
    check_host(host, Access({}))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.5", "example.org"])
def test_other_addresses_do(host: str, access: Access) -> None:
    assert not is_loopback(host)
    with pytest.raises(ConfigError, match="can be reached by others: give serve.tokens"):
        check_host(host, Access({}))
    check_host(host, access)
