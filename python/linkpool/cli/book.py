"""`linkpool book`: put reproductions into the book of results, and write its pages."""

from pathlib import Path
from typing import Annotated

import typer

from linkpool.book import FOLDER, entry, menu
from linkpool.book.condense import TooMuchDataError
from linkpool.book.entry import BookError
from linkpool.cli.console import fail, say, stderr
from linkpool.experiments import published

SITE = "mkdocs.yml"
"""The site's configuration, in the folder above that of the documentation."""


def book(
    results: Annotated[
        Path, typer.Option("--from", metavar="DIR", help="Directory of the reproductions.")
    ] = Path("results"),
    folder: Annotated[
        Path, typer.Option("--to", metavar="DIR", help="Folder of the book.")
    ] = FOLDER,
) -> None:
    """Write the book of results from the reproductions in a directory.

    A reproduction takes the place of what the book has of its experiment, unless it was shortened
    and the book has a full one. All pages are written anew from the data in the book.
    """
    # Here, as the pages read the descriptions of all experiments, which no other command needs.
    from linkpool.book import pages

    known = published()
    put = []
    try:
        for name in known:
            place = results / name
            if not (place / "record.json").exists():
                continue
            try:
                is_put = entry.put(known.load(name), place, folder)
            except TooMuchDataError as error:
                fail(f"{name}: {error}")
            if is_put:
                put.append(name)
            else:
                stderr().print(f"{name}: the book has more of it than {place}")
        if not folder.is_dir():
            fail(f"{results} has no reproduction; make one: linkpool reproduce ID")
        written = pages.write(known, folder, put)
        site = folder.resolve().parents[1] / SITE
        if site.exists():
            menu.update(site, written)
    except BookError as error:
        fail(str(error))
    say(f"{len(put)} experiments put in, {len(written)} in all: {folder / pages.INDEX}")
