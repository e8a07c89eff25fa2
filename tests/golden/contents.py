"""What lies below a directory."""

from pathlib import Path


def contents(root: Path) -> dict[str, str]:
    """Texts and link targets by path."""
    return {
        str(path.relative_to(root)): f"-> {path.readlink()}" if path.is_symlink() else path.read_text()
        for path in root.rglob("*")
        if path.is_symlink() or path.is_file()
    }


def directories(root: Path) -> set[str]:
    return {str(p.relative_to(root)) for p in root.rglob("*") if p.is_dir() and not p.is_symlink()}


def dangling(root: Path) -> list[str]:
    return [str(p) for p in root.rglob("*") if p.is_symlink() and not p.exists()]
