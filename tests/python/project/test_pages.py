"""The pages of the README and the site: their links, paths, commands, figures and pictures hold."""

import importlib
import json
import re

import draw_board
import draw_look
import numpy as np
import pytest
import update_baselines
import update_bots
import update_conventions
import update_search
from paths import ROOT

import starmine
from starmine._util.imports import look_up

SITE = sorted(page for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts)
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *SITE]
INCLUDE = re.compile(r"^```\{include\} (\S+)", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
MEASURED = ROOT / "benchmarks" / "results" / "amd-avx2" / "compare.md"


def read(page):
    return page.read_text(encoding="utf-8")


def name_of(page):
    return str(page.relative_to(ROOT))


def content(page):
    """A page's text with the files that it includes, each with the folder that its links are relative to."""
    text = read(page)
    yield page.parent, text
    for included in INCLUDE.findall(text):
        path = (page.parent / included).resolve()
        yield path.parent, read(path)


def without_code(text):
    """A text without its code blocks and code spans."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))


def anchors(text):
    """The targets that the headings of a page are."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def broken_links(folder, text):
    """The relative links of a text that lead nowhere."""
    for target in LINK.findall(without_code(text)):
        path, _, anchor = target.partition("#")
        if "://" in target:
            continue
        file = (folder / path).resolve() if path else None
        if file and not file.exists():
            yield target
        elif anchor:
            found = "".join(part for _, part in content(file)) if file else text
            if anchor not in anchors(found):
                yield target


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_relative_links_lead_to_files_and_headings(page):
    for folder, text in content(page):
        assert not list(broken_links(folder, text))


# --- Paths and commands --------------------------------------------------------------------------------------

PATH = re.compile(r"`((?:src|tests|docs|examples|benchmarks|python|results|benches|tools)/[\w./-]*\w/?)`")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_paths_that_a_page_names_exist(page):
    named = [path for path in PATH.findall(read(page)) if not re.search("NAME|MACHINE-CLASS|_build", path)]
    assert [path for path in named if not (ROOT / path).exists()] == []


def shell_commands(text):
    """The commands of a page's shell blocks."""
    for block in re.findall(r"^```(?:sh|bash|console)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            yield from (command.strip() for command in re.split(r"&&|;(?= )", line.partition("  #")[0]))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_targets_and_scripts_that_a_page_calls_exist(page):
    targets = set(re.findall(r"^([a-z-]+):", read(ROOT / "Makefile"), re.MULTILINE))
    for command in shell_commands(read(page)):
        words = re.sub(r"^for .* do ", "", command).split()
        if words[:1] == ["make"]:
            assert words[1] in targets, command
        elif words[:1] == ["python"]:
            assert (ROOT / words[1]).exists(), command
        elif words[:1] == ["starmine"]:
            assert words[1] in {"eval", "generate", "data", "replay", "play", "examples", "speed"}, command


# --- Figures -------------------------------------------------------------------------------------------------


def measured_multiples():
    """Multiples of HLE's C++ by what was measured and the players."""
    found = {}
    for line in read(MEASURED).splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 6 and cells[5].endswith(" x"):
            what = cells[1].removeprefix("starmine ").removesuffix(", obs and action_mask")
            found[what, int(cells[0])] = float(cells[5].removesuffix(" x"))
    return found


def rows(text, heading):
    """The cells of the table after a heading."""
    table = text.split(heading, 1)[1].split("\n|---", 1)[1].split("\n\n", 1)[0]
    return [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in table.splitlines()[1:]]


def test_the_speed_that_the_readme_quotes_was_measured():
    known = measured_multiples()
    for cells in rows(read(ROOT / "README.md"), "## Speed"):
        assert [float(cells[2]), float(cells[4])] == [known[cells[0].replace("`", ""), players] for players in (2, 5)]


@pytest.mark.parametrize("page", update_baselines.PAGES, ids=name_of)
def test_the_tables_of_baselines_are_up_to_date(page):
    assert update_baselines.with_tables(page) == read(page), "run tools/update_baselines.py"


def test_the_table_of_searches_is_up_to_date():
    assert update_search.with_table(update_search.PAGE) == read(update_search.PAGE), "run tools/update_search.py"


def test_the_table_of_conventions_is_up_to_date():
    assert update_conventions.with_table() == read(update_conventions.PAGE), "run tools/update_conventions.py"


def test_questions_about_conventions_fit_the_last_move():
    at = update_conventions.positions(("ippo-3p", "ippo-3p-seed-2"), "ippo-3p", games=2)
    for row, (game, turn) in enumerate(zip(at.game, at.turn, strict=True)):
        state = at.games.state(int(game), turn=int(turn))
        last = state.history[-1] if state.history else None
        me, kind = state.current_player, last and last.kind
        hints = {"color_hint": "a colour hint", "rank_hint": "a rank hint"}
        expected = {"a discard"} if kind == "discard" else set()
        if kind in hints:
            to_me = last.target == me
            expected.add(f"{hints[kind]} to {'me' if to_me else 'the next seat'}")
            if to_me and len(last.touched) == 2:
                expected.add(f"{hints[kind]} to two cards of mine")
        assert {question for question, asked in at.asked.items() if asked[row]} == expected


def test_the_table_of_bots_is_up_to_date():
    assert update_bots.with_table(update_bots.PAGE) == read(update_bots.PAGE), "run tools/update_bots.py"


def test_the_picture_of_a_game_is_up_to_date():
    assert draw_board.picture() == read(draw_board.PICTURE), "run tools/draw_board.py"
    assert draw_board.moving_picture() == read(draw_board.MOVING), "run tools/draw_board.py"


def test_a_renderer_without_animation_shows_the_first_turn_of_the_moving_picture():
    pytest.importorskip("resvg_py")
    moving = read(draw_board.MOVING)
    first = re.search(r"^<g [^>]*>(<svg.*</svg>)</g>$", moving, re.MULTILINE)[1]
    shown, alone = (look_up("rgb_of_svg")(text) for text in (moving, first))
    assert len(np.unique(alone)) > 10
    assert np.array_equal(shown[: len(alone)], alone)


def test_the_screenshots_show_what_is_drawn_now():
    assert draw_look.inputs() == json.loads(read(draw_look.INPUTS)), "run tools/draw_look.py, and look at its pictures"


# --- The site ------------------------------------------------------------------------------------------------


REFERENCE = "".join(read(page) for page in (ROOT / "docs" / "api").glob("*.md"))
DIRECTIVE = re.compile(r"^\.\. auto(\w+):: (\S+)\n((?:   :.*\n)*)", re.MULTILINE)
ROOMS = (
    "data",
    "envs",
    "evaluation",
    "games",
    "hle",
    "look",
    "policies",
    "policies.foreign",
    "text",
    "torch",
    "training",
)


def documented():
    """The names that the reference has, without those of their modules."""
    for kind, name, options in DIRECTIVE.findall(REFERENCE):
        yield name.rpartition(".")[2]
        if kind == "module" and ":no-members:" not in options:
            yield from vars(importlib.import_module(name)).get("__all__", ())


@pytest.mark.parametrize("name", starmine.__all__)
def test_a_public_name_is_on_a_page_of_the_reference(name):
    assert len(re.findall(rf"^\.\. auto\w+:: {name}$", REFERENCE, re.MULTILINE)) == 1


@pytest.mark.parametrize("room", ROOMS)
def test_the_names_of_a_room_are_on_a_page_of_the_reference(room):
    names = importlib.import_module(f"starmine.{room}").__all__
    assert set(names) <= set(documented())


def test_every_page_is_reached_from_the_index():
    reached, pending = set(), [ROOT / "docs" / "index.md"]
    while pending:
        page = pending.pop()
        reached.add(page)
        for tree in re.findall(r"^```\{toctree\}\n(.*?)^```", read(page), re.MULTILINE | re.DOTALL):
            names = [re.sub(r".*<(.*)>", r"\1", line) for line in tree.splitlines() if line and line[0] != ":"]
            pending += [page.parent / f"{name}.md" for name in names]
    assert reached == set(SITE)
