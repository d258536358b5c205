#!/usr/bin/env python3
"""Makes the bill of materials of crates of a release and collects licences: bill.py BILL.cdx.json LICENCES TARGET CRATE [CRATE ...]

cargo-cyclonedx has listed what Cargo knows, in files named as BILL in the folder of each crate. This takes those of the crates given,
the first of which is the subject of the bill; keeps what is in them and drops what was only needed to compile it; adds what
Cargo does not know, the C libraries, embedded files of others, Rust's own library and what zig links; removes paths of this machine;
and writes the texts of all licences into one file. Fails if a component, a licence or a reference is missing.
"""

import json
import pathlib
import re
import subprocess
import sys

LICENCE_FILES = re.compile(r"(licen[cs]e|copying|notice|unlicense|copyright)", re.IGNORECASE)
TEXT_ENDINGS = {"", ".md", ".txt", ".mit", ".apache", ".bsd"}
# Crates that carry a library in C: its name, the header that says its version and how, its folder, its licence (SPDX).
C_LIBRARIES = {
    "hdf5-metno-src": (
        "hdf5",
        "ext/hdf5/src/H5public.h",
        [rf"#define H5_VERS_{part} +(\d+)" for part in ["MAJOR", "MINOR", "RELEASE"]],
        "ext/hdf5",
        "HDF5",
    ),
    "libz-sys": ("zlib", "src/zlib/zlib.h", [r'#define ZLIB_VERSION "([\d.]+)"'], "src/zlib", "Zlib"),
}
# Crates that embed a file of others: its name, the file that says its version and how, its licence (SPDX), the text of that, its
# package URL, what it is.
EMBEDDED = {
    "tisane-view": (
        "uplot",
        "src/page/vendor/uPlot.iife.min.js",
        r"uPlot \(v([\d.]+)\)",
        "MIT",
        "LICENSE-UPLOT",
        "pkg:npm/uplot",
        "The plots of the live view, embedded as published",
    ),
    "dejavu": (
        "dejavu-fonts",
        "src/lib.rs",
        r"dejavu-fonts-ttf-([\d.]+)/",
        "Bitstream-Vera AND LicenseRef-Arev",
        "LICENSE-DEJAVU",
        "pkg:generic/dejavu-fonts",
        "The font of all figures, DejaVu Sans, embedded by dejavu",
    ),
}
# What zig links into programs and libraries: its name, its licence (SPDX), the text of that in zig's folder, what it is.
LINKED = [
    ("zig-compiler-rt", "MIT", "LICENSE", "Operations that the processor lacks, from the sources in zig"),
    ("llvm-libunwind", "Apache-2.0 WITH LLVM-exception", "lib/libunwind/LICENSE.TXT", "Unwinds panics, from the sources in zig"),
]
TOP = pathlib.Path(__file__).resolve().parents[2]
# The crate says none in its manifest; its file is that of HDF5.
UNSAID = {"hdf5-metno-src": "HDF5"}


def printed(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def inside(crates: "list[str]", target: str) -> "set[tuple[str, str]]":
    """Names and versions of the crates whose code is in those given, with these."""
    packages = [word for crate in crates for word in ["--package", crate]]
    tree = ["cargo", "tree", "--locked", *packages, "--target", target, "--edges", "normal,no-proc-macro"]
    lines = printed(*tree, "--prefix", "none", "--no-dedupe", "--format", "{p}").splitlines()
    return {(name, version.lstrip("v")) for name, version, *_ in (line.split() for line in lines if line)}


def folders(target: str) -> "dict[tuple[str, str], pathlib.Path]":
    """Where the sources of each crate are."""
    metadata = json.loads(printed("cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target))
    return {(p["name"], p["version"]): pathlib.Path(p["manifest_path"]).parent for p in metadata["packages"]}


def library(name: str, version: str, licence: str, of: str, package: str = "") -> dict:
    purl = f"{package or f'pkg:generic/{name}'}@{version}"
    said = [{"expression": licence}]
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "description": of, "scope": "required",
            "licenses": said, "purl": purl}


def beyond_cargo(crates: "dict[str, pathlib.Path]") -> "list[tuple[str | None, dict, pathlib.Path | None]]":
    """What is in the program that Cargo does not know: the crate that carries it, the component, its licence or the folder of it."""
    found = []
    for crate, (name, header, patterns, folder, licence) in C_LIBRARIES.items():
        text = (crates[crate] / header).read_text(encoding="utf-8", errors="replace")
        numbers = [re.search(pattern, text) for pattern in patterns]
        assert all(numbers), f"{crate}: {header} does not say the version"
        version = ".".join(number.group(1) for number in numbers)
        component = library(name, version, licence, f"The C library, compiled from the sources in {crate}")
        found.append((crate, component, crates[crate] / folder))
    for crate, (name, file, pattern, licence, text, package, of) in EMBEDDED.items():
        said = re.search(pattern, (crates[crate] / file).read_text(encoding="utf-8"))
        assert said, f"{crate}: {file} does not say the version"
        found.append((crate, library(name, said.group(1), licence, of, package), TOP / text))
    zig = next((TOP / ".tools" / "release").glob("lib/python3*/site-packages/ziglang"))
    version = printed(str(zig / "zig"), "version").strip()
    for name, licence, text, of in LINKED:
        found.append((None, library(name, f"zig-{version}", licence, of), zig / text))
    version = printed("rustc", "--version").split()[1]
    found.append((None, library("rust-std", version, "MIT OR Apache-2.0", "Rust's standard library"), None))
    return found


def merged(bills: "list[dict]") -> dict:
    """The first bill, with the subjects, components and dependencies of the others."""
    first, *others = bills
    components = {c["bom-ref"]: c for bill in others for c in [bill["metadata"]["component"], *bill["components"]]}
    components.update({c["bom-ref"]: c for c in first["components"]})
    needs = {d["ref"]: d for bill in bills for d in bill["dependencies"]}
    return {**first, "components": list(components.values()), "dependencies": list(needs.values())}


def complete(bill: dict, wanted: "set[tuple[str, str]]", others: list) -> None:
    """Leaves in the bill what is wanted, adds the others, renames references."""
    top = bill["metadata"]["component"]
    refs = {c["bom-ref"]: c["purl"].split("?")[0] for c in [top, *bill["components"]]}
    kept = [c for c in bill["components"] if (c["name"], c["version"]) in wanted]
    for component in [top, *kept]:
        component.pop("components", None)
        component["bom-ref"] = component["purl"] = refs[component["bom-ref"]]
        if component["name"] in UNSAID:
            component["licenses"] = [{"expression": UNSAID[component["name"]]}]
    known = {component["bom-ref"] for component in [top, *kept]}
    needs = {refs[d["ref"]]: [refs[to] for to in d.get("dependsOn", [])] for d in bill["dependencies"]}
    needs = {ref: [to for to in to_all if to in known] for ref, to_all in needs.items() if ref in known}
    by_name = {component["name"]: component["bom-ref"] for component in kept}
    for crate, component, _ in others:
        needs[by_name[crate] if crate else top["bom-ref"]].append(component["bom-ref"])
        needs[component["bom-ref"]] = []
    bill["components"] = sorted([*kept, *(component for _, component, _ in others)], key=lambda c: c["bom-ref"])
    bill["dependencies"] = [{"ref": ref, "dependsOn": sorted(to)} for ref, to in sorted(needs.items())]


def check(bill: dict, wanted: "set[tuple[str, str]]", others: list) -> None:
    """Fails where the bill is not whole."""
    top, components = bill["metadata"]["component"], bill["components"]
    listed = {(c["name"], c["version"]) for c in [top, *components]}
    expected = wanted | {(c["name"], c["version"]) for _, c, _ in others}
    assert listed == expected, f"missing {sorted(expected - listed)}, in excess {sorted(listed - expected)}"
    refs = [c["bom-ref"] for c in [top, *components]]
    assert len(refs) == len(set(refs)), "a reference occurs twice"
    named = {ref for d in bill["dependencies"] for ref in [d["ref"], *d["dependsOn"]]}
    assert named == set(refs), f"references that lead nowhere, or to which none leads: {sorted(named ^ set(refs))}"
    for component in [top, *components]:
        said = component.get("licenses") or []
        assert said and all("expression" in one for one in said), f"{component['name']}: no licence"
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5"), "another format"
    text = json.dumps(bill)
    assert "file://" not in text and "serialNumber" not in bill, "a path or a random number"


def licences(bill: dict, sources: "dict[tuple[str, str], pathlib.Path]") -> str:
    """The texts of all licences, each once, under the names of what it covers."""
    texts: "dict[str, list[str]]" = {}
    without = []
    for component in bill["components"]:
        folder = sources.get((component["name"], component["version"]))
        named = f"{component['name']} {component['version']} ({component['licenses'][0]['expression']})"
        files = [] if not folder else [folder] if folder.is_file() else sorted(folder.iterdir())
        found = [f for f in files if f.is_file() and LICENCE_FILES.match(f.name) and f.suffix.lower() in TEXT_ENDINGS]
        for file in found:
            texts.setdefault(file.read_text(encoding="utf-8", errors="replace").strip(), []).append(named)
        if not found:
            without.append(named)
    rule = "=" * 100
    parts = ["Besides its own code tisane has that of others. Their licences, each under the names of what it covers."]
    if without:
        parts.append("\n  ".join(["Without a text of their own in their sources:", *without]))
    for text, names in sorted(texts.items(), key=lambda pair: pair[1]):
        parts.append(f"{rule}\n" + "\n".join(names) + f"\n{rule}\n\n{text}")
    return "\n\n".join(parts) + "\n"


def main() -> None:
    path, licence_path, target, crates = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4:]
    wanted, sources = inside(crates, target), folders(target)
    by_name = {name: folder for (name, _), folder in sources.items()}
    bill = merged([json.loads((by_name[crate] / path.name).read_text(encoding="utf-8")) for crate in crates])
    others = beyond_cargo(by_name)
    complete(bill, wanted, others)
    check(bill, wanted, others)
    sources.update({(c["name"], c["version"]): place for _, c, place in others if place})
    path.write_text(json.dumps(bill, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    licence_path.write_text(licences(bill, sources), encoding="utf-8")
    print(f"tisane: {path.name}: {len(bill['components'])} components, of which {len(others)} unknown to Cargo", file=sys.stderr)


if __name__ == "__main__":
    main()
