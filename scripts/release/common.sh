# What the scripts of a release share. Source it in the top folder of the checkout.
# shellcheck shell=bash
# shellcheck source=scripts/build/common.sh
. scripts/build/common.sh
# The oldest C library on which a release runs: the oldest with which Rust's standard library works.
glibc=2.17
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
host=$(rustc -vV | sed -n 's/^host: //p')
crates=${CARGO_HOME:-$HOME/.cargo}/registry/src
checkout=$PWD
build=$checkout/target/release-build
tools=$checkout/.tools/release
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

# committed [--allow-dirty]: fails if the sources differ from the last commit.
committed() {
    if [ "${1:-}" != --allow-dirty ] && [ -n "$(git status --porcelain)" ]; then
        say "the sources differ from the last commit: commit them, or give --allow-dirty"
        return 1
    fi
}

# release_tools: installs what compiles and links a release, from PyPI. zig has the C libraries of all versions to link against.
release_tools() {
    local wanted='cargo-zigbuild==0.24.1 maturin==1.16.0 ziglang==0.17.1'
    [ "$(cat "$tools/wanted" 2>/dev/null)" != "$wanted" ] || return 0
    say "installing cargo-zigbuild, maturin and zig from PyPI into $tools"
    rm -rf "$tools"
    make_venv "$tools"
    # shellcheck disable=SC2086 # several words on purpose
    "$tools/bin/pip" install --quiet --disable-pip-version-check $wanted
    echo "$wanted" >"$tools/wanted"
}

# release_build COMMAND [ARGUMENT ...]: runs cargo or maturin so that no path of this machine gets into what they make.
# Messages of panics and of HDF5 name source files, of crates and of this checkout: their folders are mapped to fixed names. Where
# two mappings fit, the later one counts.
release_build() {
    local rust="--remap-path-prefix=$checkout=tisane" c="-ffile-prefix-map=$build=build" index zig
    for index in "$crates"/*/; do
        rust="$rust --remap-path-prefix=${index%/}=crates"
        c="$c -ffile-prefix-map=${index%/}=crates"
    done
    # zig's tools start zig from the PATH.
    zig=$(echo "$tools"/lib/python3*/site-packages/ziglang)
    PATH=$checkout/scripts/release:$tools/bin:$zig:$PATH TISANE_GLIBC=$glibc CMAKE=$checkout/scripts/release/cmake \
        CFLAGS="${CFLAGS:-} $c" RUSTFLAGS="${RUSTFLAGS:-} $rust" "$@"
}

# bill BILL LICENCES CRATE ...: makes the bill of materials of crates, and the licences of what is compiled into them.
bill() {
    local cyclonedx=.tools/cyclonedx/bin/cargo-cyclonedx name
    name=$(basename "$1" .cdx.json)
    if [ ! -x "$cyclonedx" ]; then
        say "compiling cargo-cyclonedx into .tools/cyclonedx, which takes minutes"
        cargo install --quiet --locked --root .tools/cyclonedx --version 0.5.9 cargo-cyclonedx
    fi
    # It writes one file for each crate of the workspace.
    "$cyclonedx" cyclonedx --format json --spec-version 1.5 --target "$host" --no-build-deps --override-filename "$name.cdx"
    scripts/release/bill.py "$1" "$2" "$host" "${@:3}"
    rm -f "$name.cdx.json" {crates/*,fuzz}/"$name.cdx.json"
}

# no_paths FILE ...: fails if a file, or one in a folder, names a path of this machine.
no_paths() {
    local place found
    for place in "$checkout" "$crates" "$HOME/"; do
        if found=$(grep -rlaF -- "$place" "$@"); then
            say "a path of this machine, $place, is in:"$'\n'"$found"
            return 1
        fi
    done
}

# runs_on_old FILE ...: fails if a program or a shared library needs a later C library than $glibc, or any other library.
runs_on_old() {
    local file asked versions others
    for file in "$@"; do
        asked=$(objdump -p "$file")
        versions=$(sed -n 's/.* GLIBC_//p' <<<"$asked" | sort -Vu)
        others=$(awk '$1 == "NEEDED" && $2 !~ /^(lib(c|dl|m|pthread|rt)|ld-linux.*)\.so\./ { print $2 }' <<<"$asked")
        if [ "$(printf '%s\n' "$versions" "$glibc" | sort -V | tail -n 1)" != "$glibc" ] || [ -z "$versions" ] || [ -n "$others" ]; then
            say "$file needs glibc $(tail -n 1 <<<"$versions"), and at most $glibc is allowed${others:+; and $others}"
            return 1
        fi
        say "$(basename "$file") needs glibc $(tail -n 1 <<<"$versions") or later, and no other library"
    done
}

# says_version PROGRAM: fails if the program is of another version.
says_version() {
    case $(env -i "$1" --version) in
        "tisane $version ("*) ;;
        *) say "--version says another version than $version"; return 1 ;;
    esac
}
