"""Hooks of mkdocs for Scripts/site: adds the pages of the repository's root, and resolves links as in the repository."""
import html
import logging
import pathlib
import posixpath
import re

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Pages outside of docs, by their name in the site.
PAGES = {"index.md": "README.md", "changelog.md": "CHANGELOG.md", "contributing.md": "CONTRIBUTING.md", "reporting.md": "SECURITY.md"}
CODE = re.compile(r"`([^`]*\\\|[^`]*)`")
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")
# Warnings of this logger fail a strict build.
log = logging.getLogger("mkdocs.plugins.site")

CSS = """/* Tables of references are wide: they scroll within the page, and codes are not cut in the middle. */
.md-typeset table:not([class]) { font-size: .68rem; }
.md-typeset table:not([class]) th { min-width: 3rem; }
.md-typeset table:not([class]) code { word-break: normal; overflow-wrap: normal; }
.md-grid { max-width: 72rem; }
.md-typeset pre > code { font-size: .66rem; }
"""


def on_files(files, config):
    for name, source in PAGES.items():
        files.append(File.generated(config, name, content=(ROOT / source).read_text(encoding="utf-8")))
    files.append(File.generated(config, "site.css", content=CSS))
    return files


def with_bars(match):
    """A bar in code in a table: GitHub removes the backslash before it, Python-Markdown does not."""
    return f"<code>{html.escape(match.group(1)).replace(chr(92) + '|', '&#124;')}</code>"


def on_page_markdown(markdown, page, config, files):
    """Turns links that are relative to the file in the repository into links of the site."""
    name = page.file.src_uri
    folder = posixpath.dirname(PAGES.get(name, f"docs/{name}"))
    names = {f"docs/{file.src_uri}": file.src_uri for file in files} | {source: name for name, source in PAGES.items()}

    def resolved(match):
        text, target = match.groups()
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            return match.group(0)
        path, _, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(folder, path))
        if path in names:
            own = posixpath.relpath(names[path], posixpath.dirname(name) or ".")
            return f"[{text}]({own}{'#' + anchor if anchor else ''})"
        if not (ROOT / path).exists():
            log.warning("%s: %s does not exist", name, target)
        # Sources are not part of the site.
        return text if "`" in text or path in text else f"{text} (`{path}`)"

    lines, is_code = [], False
    for line in markdown.split("\n"):
        if line.startswith("```"):
            is_code = not is_code
        if not is_code:
            line = LINK.sub(resolved, line)
            line = CODE.sub(with_bars, line) if line.startswith("|") else line
        lines.append(line)
    return "\n".join(lines)
