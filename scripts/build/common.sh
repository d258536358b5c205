# Shell functions that the scripts share. Source this file: it runs nothing by itself.
# shellcheck shell=sh

# say TEXT: prints a message to standard error.
say() { echo "tisane: $*" >&2; }

# as_root COMMAND [ARGUMENT ...]: runs a command as root, directly or through sudo.
as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        say "this needs root, and there is no sudo here: $*"
        return 1
    fi
}

# apt_install PACKAGE ...: installs Debian packages without the ones that they only recommend. One at a time: apt-get does not wait
# for another that fetches the lists.
apt_install() {
    # shellcheck disable=SC2016 # the inner shell expands it
    as_root env DEBIAN_FRONTEND=noninteractive \
        sh -c 'exec 9>/var/lock/tisane-apt && flock 9 &&
            apt-get update -qq && apt-get install -qq -y --no-install-recommends "$@"' apt "$@" </dev/null >/dev/null
}

# make_venv DIR: creates a Python virtual environment; installs python3-venv where this Python has none.
make_venv() {
    mkdir -p "$(dirname "$1")"
    if ! python3 -m venv "$1" >/dev/null 2>&1; then
        say "this Python has no venv: installing python3-venv with apt-get"
        rm -rf "$1"
        apt_install python3-venv && python3 -m venv "$1" >&2
    fi
}
