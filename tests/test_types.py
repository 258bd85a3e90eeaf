"""Types: the package and its tests pass mypy strict, seen through `.links/weft` (tests/harness/typecheck.py)."""

from harness.source import FRONT, PARTS
from harness.typecheck import LINKS, ROOT, parts, relink, run


def test_the_links_hold_every_part_and_nothing_else() -> None:
    stray = LINKS / "left-over"
    relink()
    stray.symlink_to(ROOT)
    relink()
    assert {link.name: link.resolve() for link in LINKS.iterdir()} == parts()
    assert {name for name, target in parts().items() if target.is_dir()} == {*PARTS, *FRONT} - {"weft"}


def test_the_package_and_its_tests_pass_mypy_strict() -> None:
    outcome = run()
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
