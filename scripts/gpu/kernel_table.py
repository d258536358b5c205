"""Prints a table of compiled kernels: kernel_table.py PTXAS_LOG FATBIN (needs cuobjdump and nvdisasm in PATH).

Columns: registers, stack, spilled bytes and, for kernels that sum pairs, machine instructions per pair. Ends with 1 if a pair
loop touches local memory, that is, spills: ptxas says how many bytes a kernel spills but not where, and the stack that holds the
nodes of the canonical tree belongs there, outside the pair loops. Ends with 1, too, if loads of 16 bytes are divided, which
ptxas does where not all bits are used: those of sources in a pair loop, and those of words that thread blocks exchange in
kernels of block steps.
"""

import os
import re
import subprocess
import sys
import tempfile

ENTRY = re.compile(
    r"Compiling entry function '(\w+)' for '(\w+)'.*?(\d+) bytes stack frame, (\d+) bytes spill stores, "
    r"(\d+) bytes spill loads.*?Used (\d+) registers",
    re.S,
)
# Least number of pair loops of a kernel, by the beginning of its name. Ours: one for bags that hold a target of the warp, one
# for all the others; of a few bodies one for ordinary distances, one for any.
PAIR_LOOPS = {
    **dict.fromkeys(["force_", "accelerate_", "steps_", "any_steps_", "shared_steps_", "any_shared_steps_", "watched_steps_",
                     "any_watched_steps_", "systems_", "few_bodies_"], 2),
    **dict.fromkeys(["paper_simple", "paper_tiles", "paper_grid"], 1),
}
# Kernels whose pair loops read sources in units of 16 bytes, the last of which may be read in part.
READ_UNITS = ("force_", "accelerate_", "steps_", "any_steps_", "shared_steps_", "any_shared_steps_", "watched_steps_",
              "any_watched_steps_", "systems_")
INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;")


def machine_code(fatbin):
    """{(kernel, architecture): [(address, instruction)]}, with the addresses that labels stand for"""
    kernels = {}
    with tempfile.TemporaryDirectory() as folder:
        command = ["cuobjdump", "-xelf", "all", os.path.abspath(fatbin)]
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)
        for cubin in os.listdir(folder):
            arch = re.search(r"sm_\w+", cubin)[0]
            command = ["nvdisasm", "-c", os.path.join(folder, cubin)]
            text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
            for section in text.split("//--------------------- .text.")[1:]:
                kernels[section.split(maxsplit=1)[0], arch] = instructions(section)
    return kernels


def instructions(section):
    """[(address, instruction)] of a kernel"""
    code, labels, waiting = [], {}, []
    for line in section.splitlines():
        if match := re.match(r"([\w.$]+):", line):
            waiting.append(match[1])
        elif match := INSTRUCTION.match(line):
            labels.update((label, f"0x{match[1]}") for label in waiting)
            waiting = []
            code.append((int(match[1], 16), match[2]))
    placed = lambda match: labels.get(match[1], match[0])
    # A jump's target stands as `(LABEL), those of a jump by a table as names alone.
    return [(address, re.sub(r"(\.L_x_\w+)", placed, re.sub(r"`\(([\w.$]+)\)", placed, text))) for address, text in code]


class Flow:
    """The flow graph of a kernel, instruction by instruction."""

    def __init__(self, code):
        self.text = [text for _, text in code]
        place = {address: k for k, (address, _) in enumerate(code)}
        self.next, self.calls = [], {}
        for k, text in enumerate(self.text):
            then = [k + 1] if k + 1 < len(code) else []
            bare = re.sub(r"^@!?U?P\w+ ", "", text)
            target = re.search(r"0x[0-9a-f]+$", bare.rstrip(") "))
            target = place.get(int(target[0], 16)) if target else None
            if "BRANCH_TARGETS" in bare:
                then = [place[int(to, 16)] for to in re.findall(r"0x[0-9a-f]+", bare.split("BRANCH_TARGETS")[1])]
            elif re.match(r"U?BRA|JMP|WARPSYNC\.COLLECTIVE", bare):
                if target is None:
                    sys.exit(f"kernel_table: no target in {text!r}")
                then = [target] if re.fullmatch(r"BRA 0x[0-9a-f]+", text) else [*then, target]
            elif bare.startswith("CALL") and bare != text:
                then.append(target)  # a far jump: it does not return
            elif bare.startswith("CALL"):
                self.calls[k] = target
            elif re.match(r"BRX|JMX|U?BRXU?", bare):
                sys.exit(f"kernel_table: cannot follow {text!r}")
            if re.match(r"EXIT|RET", text):
                then = []
            self.next.append(then)

    def reach(self, start):
        """Everything from `start` on, up to the ends and returns."""
        seen, todo = {start}, [start]
        while todo:
            for k in self.next[todo.pop()]:
                if k not in seen:
                    seen.add(k)
                    todo.append(k)
        return seen

    def loops(self):
        """The innermost loops: natural loops, of jumps back to where all ways to them lead through."""
        before = [[] for _ in self.next]
        for k in self.reach(0):
            for then in self.next[k]:
                before[then].append(k)
        loops = {}
        for end, head in ((k, then) for k in range(len(self.next)) for then in self.next[k] if then <= k and before[then]):
            body, todo = {head, end}, [end]
            while todo:
                k = todo.pop()
                if k == head:
                    continue
                for k in before[k]:
                    if k not in body:
                        body.add(k)
                        todo.append(k)
            # The kernel's beginning in the body: there is a way to `end` that leaves out `head`.
            if 0 not in body or head == 0:
                loops.setdefault(head, set()).update(body)
        return [body for head, body in loops.items() if not any(head != inner and inner in body for inner in loops)]


def pair_loops(flow):
    """Innermost loops with a 1/sqrt: their instructions, those of what they call, and how many 1/sqrt, or pairs, they hold.
    Those that store in shared memory are not of pairs: they correct particles, and take the roots of their criterion."""
    for body in flow.loops():
        if any(re.search(r"\bSTS\b", flow.text[k]) for k in body):
            continue
        called = set().union(*(flow.reach(flow.calls[k]) for k in body if k in flow.calls))
        if pairs := sum("MUFU.RSQ" in flow.text[k] for k in body):
            yield body, called, pairs


def main(log, fatbin):
    rows, bad = {}, []
    for name, arch, stack, stores, loads, registers in ENTRY.findall(open(log).read()):
        rows.setdefault(name, {})[arch] = f"{registers}/{stack}/{int(stores) + int(loads)}"
    code = machine_code(fatbin)
    for name, row in rows.items():
        for arch in row if name.startswith(("steps_", "shared_steps_", "watched_steps_")) else ():
            words = [text for _, text in code[name, arch] if re.search(r"\bLDG?\.E\b.*\.STRONG", text)]
            # Of other devices (SYS) come numbers of 64 bits, and words whose halves are whole by themselves.
            divided = [text for text in words if ".128." not in text and ".64.STRONG.SYS" not in text]
            if divided or not words:
                bad.append(f"{name} {arch}: {len(divided)} of {len(words)} loads of words are not whole, {divided[:1]}")
        needed = next((count for kind, count in PAIR_LOOPS.items() if name.startswith(kind)), 0)
        for arch in row if needed else ():
            flow = Flow(code[name, arch])
            loops = list(pair_loops(flow))
            if len(loops) < needed:
                bad.append(f"{name} {arch}: {len(loops)} pair loops found, which must be at least {needed}")
                continue
            row[arch] += f"{min(len(body) / pairs for body, _, pairs in loops):6.1f}"
            for body, called, _ in loops:
                loads = [flow.text[k] for k in sorted(body) if re.search(r"\bLDS\b", flow.text[k])]
                divided = [text for text in loads if ".128" not in text]
                if name.startswith(READ_UNITS) and 2 * len(divided) > len(loads) - len(divided):
                    bad.append(f"{name} {arch}: {len(divided)} of {len(loads)} loads of sources are not whole, {divided[:1]}")
                spilled = [flow.text[k] for k in sorted(body | called) if re.search(r"\b(LDL|STL)\b", flow.text[k])]
                if spilled:
                    bad.append(f"{name} {arch}: a pair loop of {len(body)} instructions spills: {len(spilled)}, {spilled[0]} first")
    archs = sorted({arch for row in rows.values() for arch in row}, key=lambda arch: int(arch[3:]))
    print("registers/stack/spilled bytes, instructions per pair in the best pair loop")
    print(" " * 33, *(f"{arch:20}" for arch in archs))
    for name, row in sorted(rows.items()):
        print(f"{name:33}", *(f"{row.get(arch, '-'):20}" for arch in archs))
    print(*bad, sep="\n", end="\n" if bad else "")
    sys.exit(1 if bad or not rows else 0)


main(*sys.argv[1:])
