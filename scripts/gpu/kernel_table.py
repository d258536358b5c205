"""Prints a table of compiled kernels: kernel_table.py PTXAS_LOG FATBIN (needs cuobjdump and nvdisasm in PATH).

Columns: registers, stack, spilled bytes and, for kernels that sum pairs, machine instructions per pair. Ends with 1 if a pair
loop touches local memory, that is, spills: ptxas says how many bytes a kernel spills but not where, and the stack that holds the
nodes of the canonical tree belongs there, outside the pair loops. Ends with 1, too, if a kernel of block steps reads a word
that another thread block writes by more than one load, which ptxas makes of loads whose bits are not all used.
"""

import re
import subprocess
import sys

ENTRY = re.compile(
    r"Compiling entry function '(\w+)' for '(\w+)'.*?(\d+) bytes stack frame, (\d+) bytes spill stores, "
    r"(\d+) bytes spill loads.*?Used (\d+) registers",
    re.S,
)
# Least number of pair loops of a kernel, by the beginning of its name.
PAIR_LOOPS = {"force_": 2, "accelerate_": 2, "paper_simple": 1, "paper_tiles": 1, "paper_grid": 1}
INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;")


def machine_code(fatbin):
    """{(kernel, architecture): [(address, instruction)]}"""
    text = subprocess.run(["cuobjdump", "-sass", fatbin], check=True, stdout=subprocess.PIPE, text=True).stdout
    kernels, arch, code = {}, None, None
    for line in text.splitlines():
        if match := re.match(r"\s*code for (sm_\w+)", line):
            arch = match[1]
        elif match := re.match(r"\s*Function : (\S+)", line):
            code = kernels[match[1], arch] = []
        elif match := INSTRUCTION.match(line):
            code.append((int(match[1], 16), match[2]))
    return kernels


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
            if re.match(r"U?BRA|JMP|WARPSYNC\.COLLECTIVE", bare):
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
    """Innermost loops with a 1/sqrt: their instructions, those of what they call, and how many 1/sqrt, or pairs, they hold."""
    for body in flow.loops():
        called = set().union(*(flow.reach(flow.calls[k]) for k in body if k in flow.calls))
        if pairs := sum("MUFU.RSQ" in flow.text[k] for k in body):
            yield body, called, pairs


def main(log, fatbin):
    rows, bad = {}, []
    for name, arch, stack, stores, loads, registers in ENTRY.findall(open(log).read()):
        rows.setdefault(name, {})[arch] = f"{registers}/{stack}/{int(stores) + int(loads)}"
    code = machine_code(fatbin)
    for name, row in rows.items():
        for arch in row if name.startswith("steps_") else ():
            words = [text for _, text in code[name, arch] if re.search(r"\bLDG?\.E\b.*\.STRONG", text)]
            divided = [text for text in words if ".128." not in text]
            if divided or not words:
                bad.append(f"{name} {arch}: {len(divided)} of {len(words)} loads of words are not whole, {divided[:1]}")
        # Ours: one for bags that hold a target of the warp, one for all the others.
        needed = next((count for kind, count in PAIR_LOOPS.items() if name.startswith(kind)), 0)
        for arch in row if needed else ():
            flow = Flow(code[name, arch])
            loops = list(pair_loops(flow))
            if len(loops) < needed:
                bad.append(f"{name} {arch}: {len(loops)} pair loops found, which must be at least {needed}")
                continue
            row[arch] += f"{min(len(body) / pairs for body, _, pairs in loops):6.1f}"
            for body, called, _ in loops:
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
