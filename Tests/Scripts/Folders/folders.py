"""Checks the tables of folders in ARCHITECTURE.md and OBJECTS.md: a file uses types of its own folder and of folders
below it. Folders in one row of a table may use each other. Uses of types further up have to be in a third column.
The public types of Core Data, whose names begin with NS, refer to each other and may be used everywhere. The files that
the walks of ARCHITECTURE.md name exist."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
# The page, the section with the table, and the folder of the sources.
TABLES = [
    ("ARCHITECTURE.md", "## Layers of the engine", "Sources/Cairn"),
    ("OBJECTS.md", "## Folders", "Sources/OpenCoreData"),
]
TYPE = r"(?:@[\w()]+ )*((?:\w+ )*?)(?:struct|class|enum|protocol|actor|typealias|associatedtype) (\w+)"
problems = []


def table(page, section):
    """The folders of a table, as folder: (row, types that it may use of folders further up)."""
    text = (ROOT / "Documentation" / page).read_text().split(section + "\n")[1].split("\n## ")[0]
    rows = [row.split("|") for row in text.split("\n") if row.startswith("| `")]
    return {
        folder: (position, set(re.findall(r"`(\w+)`", row[3])) if len(row) > 4 else set())
        for position, row in enumerate(rows)
        for folder in re.findall(r"`([\w/.]+)/`", row[1])
    }


def code(path):
    """A file without its comments and texts."""
    text = re.sub(r'"""[\s\S]*?"""', "", path.read_text())
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', re.sub(r"//.*", "", text))


def check(page, section, source):
    folders = table(page, section)
    files = {path: code(path) for path in sorted((ROOT / source).rglob("*.swift"))}
    folder_of = {path: str(path.parent.relative_to(ROOT / source)) for path in files}
    for folder in sorted(set(folder_of.values()) ^ set(folders)):
        problems.append(f"{page}: {folder}/ is only in {'the table' if folder in folders else source}")
    home = {}
    for path, text in files.items():
        for modifiers, name in re.findall("^" + TYPE, text, re.MULTILINE):
            if "private" not in modifiers and not name.startswith("NS"):
                home[name] = folder_of[path]
            is_public = re.search(r"\b(public|open)\b", modifiers) is not None
            if "API" in folders and is_public != (folder_of[path].split("/")[0] == "API"):
                problems.append(f"{path.name}: API/ has all public types and no others, but not {name}")
    unused = {folder: set(exceptions) for folder, (_, exceptions) in folders.items()}
    for path, text in files.items():
        own = {name for _, name in re.findall("^ +" + TYPE, text, re.MULTILINE)}
        for name in sorted(set(re.findall(r"(?<![.\w])[A-Z]\w*", text)) - own):
            user, used = folder_of[path], home.get(name)
            if used is None or user not in folders or used not in folders or folders[used][0] >= folders[user][0]:
                continue
            unused[user].discard(name)
            if name not in folders[user][1]:
                problems.append(f"{user}/{path.name} uses {name} of {used}/, which {page} has further up")
    problems.extend(f"{page}: {folder}/ does not use {name}" for folder in unused for name in unused[folder])
    print(f"{source}: {len(files)} files in {len(folders)} folders, {len(home)} types")


def check_walks(page, section):
    """The files of a walk are named by their paths in the folder of sources that was named last."""
    text = (ROOT / "Documentation" / page).read_text().split(section + "\n")[1].split("\n## ")[0]
    files = 0
    for walk in text.split("\n**")[1:]:
        source = None
        for name in re.findall(r"`([\w/+]+)`", walk):
            if name.startswith("Sources/"):
                source = ROOT / name
                continue
            files += 1
            if not (source / (name + ".swift")).is_file():
                problems.append(f"{page}: there is no file {name}.swift in {source.relative_to(ROOT)}")
    print(f"{page}: {text.count(chr(10) + '**')} walks through {files} files")


for line in TABLES:
    check(*line)
check_walks("ARCHITECTURE.md", "## Walks")
sys.exit("\n".join(problems) if problems else 0)
