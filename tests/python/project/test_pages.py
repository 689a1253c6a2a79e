"""The pages of the README and the site: their lengths, links, paths, commands, figures and pictures hold."""

import importlib
import json
import re

import draw_board
import draw_look
import pytest
import update_baselines
import update_bots
import update_search
from paths import ROOT

import starmine
from starmine.evaluation.report import csv_text

SITE = sorted(page for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts)
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *SITE]
INCLUDE = re.compile(r"^```\{include\} (\S+)", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
MEASURED = ROOT / "benchmarks" / "results" / "amd-avx512" / "compare.md"


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


def test_a_broken_link_is_found():
    text = "# One\n[a](README.md) [b](missing.md) [c](#one) [d](#two) [e](docs/bots.md#strength) [f](docs/bots.md#no)"
    assert list(broken_links(ROOT, text)) == ["missing.md", "#two", "docs/bots.md#no"]


@pytest.mark.parametrize(
    ("page", "lines"), [("README.md", 150), ("docs/design.md", 120), ("src/batch/kernel/README.md", 100)]
)
def test_a_page_has_at_most_so_many_lines(page, lines):
    assert len(read(ROOT / page).splitlines()) <= lines


@pytest.mark.parametrize("page", [page for page in SITE if not re.match(r"```\{include\}", read(page))], ids=name_of)
def test_a_page_opens_with_what_it_is_for(page):
    """A title, then a sentence or the code that the page is about, before any table or list."""
    title, blank, opening = read(page).splitlines()[:3]
    assert title.startswith("# ")
    assert not blank
    assert re.match(r"[A-Z`]", opening)


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
            assert words[1] in {"eval", "generate", "data", "replay", "play", "text"}, command


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


def test_the_first_screen_of_the_readme_quotes_its_tables():
    text = " ".join(read(ROOT / "README.md").split())
    first = text.split("## Install")[0]
    speed = rows(read(ROOT / "README.md"), "## Speed")[0]
    assert f"**{speed[1].removesuffix(' M')} million turns a second**" in first
    assert f"{speed[2]} times as many as HLE's C++ library" in first
    score = rows(read(ROOT / "README.md"), "## Scores")[0][2].split(" ± ")[0]
    assert f"**{score} of 25 points** by `ippo-2p`" in first
    best = re.search(r"policies that learned without search are ([\d.]+),", text)[1]
    assert f"The best published policy that learned without search has {best}," in first


def mean_tokens(players, games=20):
    """Tokens of a prompt of "smart", at four characters each."""
    variant = starmine.Variant(players=players)
    rules, tables = len(starmine.text.rules_prompt(variant)), []
    played = starmine.play_games(["smart"] * players, games, seed=0, record=True).trajectories
    for game in range(games):
        state = variant.new_game(seed=0, game=game)
        for action in played[game].actions:
            tables.append(len(starmine.text.table_prompt(state.view(state.current_player))))
            state.apply(int(action))
    return (rules + sum(tables) / len(tables)) / 4


def test_the_tokens_of_prompts_are_those_of_the_page():
    text = " ".join(read(ROOT / "docs" / "language_models.md").split())
    quoted = re.search(r"have about (\d+) to (\d+) tokens", text).groups()
    for players, tokens in zip((2, 5), quoted, strict=True):
        assert mean_tokens(players) == pytest.approx(int(tokens), rel=0.01)


def test_a_table_of_speeds_is_of_one_machine():
    for page in (ROOT / "benchmarks" / "results").rglob("*.md"):
        machines = re.findall(r"machine (?!class )([^,]+),", read(page))
        vendor = {"amd": "AMD", "intel": "Intel"}[page.parent.name.partition("-")[0]]
        assert len(machines) == 1
        assert machines[0].startswith(vendor)


@pytest.mark.parametrize("page", update_baselines.PAGES, ids=name_of)
def test_the_tables_of_baselines_are_up_to_date(page):
    assert update_baselines.with_tables(page) == read(page), "run tools/update_baselines.py"


def test_the_table_of_searches_is_up_to_date():
    assert update_search.with_table(update_search.PAGE) == read(update_search.PAGE), "run tools/update_search.py"


def test_pairs_of_seeds_are_averaged_as_evaluations_average_them(tmp_path, monkeypatch):
    bots = {f"iggi-{seed}": f"noisy: 0.{seed}; iggi" for seed in (1, 2, 3)}
    found = starmine.evaluate(bots, 25, methods=["iggi"], variant="mini")
    (tmp_path / "crossplay").mkdir()
    table = csv_text([pairing.row() for pairing in found.pairings])
    (tmp_path / "crossplay" / "iggi.csv").write_text(table, encoding="utf-8")
    monkeypatch.setattr(update_baselines, "RESULTS", tmp_path)
    (method,) = found.methods
    expected = f"{method.all_pairs:.2f} ({method.lowest:.2f} to {method.highest:.2f})"
    assert update_baselines.together("iggi") == expected


@pytest.mark.parametrize("tool", [update_baselines, update_search])
@pytest.mark.parametrize("text", ["base", "=runs/base", "base="])
def test_runs_are_named(tool, text, monkeypatch):
    monkeypatch.setattr("sys.argv", [tool.__name__, text])
    with pytest.raises(SystemExit, match=re.escape(f"{text!r}: expected NAME=FOLDER")):
        tool.main()


def test_the_table_of_bots_is_up_to_date():
    assert update_bots.with_table(update_bots.PAGE) == read(update_bots.PAGE), "run tools/update_bots.py"


def test_a_run_has_its_command_or_the_program_that_no_command_repeats():
    for name, facts in update_baselines.runs().items():
        assert bool(facts["command"]) != bool(facts["program"]), name


def test_published_baselines_name_their_sources():
    for row in json.loads(read(update_baselines.PUBLISHED)):
        assert row["source"]
        assert row["reference"]
        assert row["link"].startswith("https://")
        assert len(row["scores"]) == 4


def test_the_picture_of_a_game_is_up_to_date():
    assert draw_board.picture() == read(draw_board.PICTURE), "run tools/draw_board.py"
    assert draw_board.moving_picture() == read(draw_board.MOVING), "run tools/draw_board.py"


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


def test_what_an_evaluation_inherits_is_on_its_page():
    options = {name: options for _, name, options in DIRECTIVE.findall(REFERENCE)}["starmine.evaluation.Evaluation"]
    left_out = set(re.search(r":exclude-members: (.*)", options)[1].split(", "))
    assert ":inherited-members:" in options
    assert left_out <= set(dir(starmine.evaluation.Evaluation))
    assert left_out.isdisjoint({"pairing", "pairings", "scores", "difference", "as_player", "as_partner"})


def test_every_page_is_reached_from_the_index():
    reached, pending = set(), [ROOT / "docs" / "index.md"]
    while pending:
        page = pending.pop()
        reached.add(page)
        for tree in re.findall(r"^```\{toctree\}\n(.*?)^```", read(page), re.MULTILINE | re.DOTALL):
            names = [re.sub(r".*<(.*)>", r"\1", line) for line in tree.splitlines() if line and line[0] != ":"]
            pending += [page.parent / f"{name}.md" for name in names]
    assert reached == set(SITE)
