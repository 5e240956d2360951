"""Draws faults for Scripts/mutate --random: it looks for places in the source itself, so that the faults are not those that an author of
the tests has thought of.

A fault is one line of a list as Fixtures/faults/README.md describes it. Left out are places that cannot change what the product does:
comments, strings, traces, checks of the program against itself (`demand`), descriptions, and the tables of limits.
"""
import pathlib
import random
import re

# What a line of these shows is not what the product does.
SILENT = re.compile(r"//|\"|demand|precondition|assert|fatalError|trace|debug|description|#if|import |@inline|#expect")
# Files with tables of numbers, names and texts, which have tests of their own.
TABLES = re.compile(r"Basics/(Limits|Metrics|Reasons)/|\+(Reference|Names|Docs|Help)\.swift$|/Planted\.swift$")
CONDITION = re.compile(r"(?P<head>guard |(?:\} else )?(?:else )?if |while )(?P<body>.+?)(?P<tail> else(?: \{.*)?| \{.*|,)?$")
COMPARISON = re.compile(r"(?<= )(<=|>=|==|!=|<|>)(?= )")
TURNED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
CALL = re.compile(r"(?:try )?[\w.]+(?:\[[^\[\]]*\])?(?:[.!?]\w+)*\(.*\)$")
ASSIGNMENT = re.compile(r"[\w.]+(?:\[[^\[\]]*\])?(?:\.\w+)* (?:[-+*&|]|&[-+])?= .+$")
WORDS = re.compile(r"(let|var|return|case|if|guard|while|for|switch|else|do|throw|defer|func|init|init\(|self\.init|super\.|static|public|private|default|catch|break|continue|fallthrough|await|unsafe|package|extension|struct|enum)\b")
NUMBER = re.compile(r"(?<![\w.$])(\d[\d_]*)(?![\w.])")
ARGUMENTS = re.compile(r"(?<![\w.])(?!min\(|max\()([\w.]+)\((?:(\w+: ))?([a-z][\w.]*), (?:(\w+: ))?([a-z][\w.]*)\)")


def clauses(text):
    """Splits a condition at commas outside of brackets."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return found


def is_balanced(text):
    """Whether brackets are balanced, so that a line is a whole statement."""
    return all(text.count(left) == text.count(right) for left, right in ("()", "[]", "{}"))


def is_condition(clause):
    """Whether a clause is an expression, not a pattern."""
    return re.match(r"\s*(let|var|case|#|unsafe)\b", clause) is None


def of_condition(line):
    """Yields what can be done to a condition: (operator, text, replacement)."""
    match = CONDITION.match(line)
    if not match or not is_balanced(match["body"]):
        return
    head, body = match["head"].removeprefix("} "), match["body"]
    # What follows a condition on its line is not part of the fault.
    tail = re.match(r"( else| \{|,)?", match["tail"] or "")[0]
    text = head + body + tail
    parts = clauses(body)
    for at, part in enumerate(parts):
        if not is_condition(part):
            bound = re.match(r"\s*(let (\w+) = (.+))$", part)
            if bound:
                yield "nil", bound[1], f"let {bound[2]} = nil"
            continue
        values = ["false"] if head == "while " else ["true", "false"]
        for value in values:
            changed = parts[:at] + [(" " if at else "") + value] + parts[at + 1:]
            yield "forced", text, head + ",".join(changed) + tail
        for sign in COMPARISON.finditer(part):
            changed = part[: sign.start()] + TURNED[sign[1]] + part[sign.end():]
            yield "comparison", text, head + ",".join(parts[:at] + [changed] + parts[at + 1:]) + tail


def of_statement(line):
    """Yields what can be done to a statement that is one line."""
    if not is_balanced(line) or WORDS.match(line) or not (CALL.match(line) or ASSIGNMENT.match(line)):
        return
    yield "dropped", f"do {line}", ""
    yield "return", f"do {line}", "return"
    if line.startswith("try "):
        yield "swallowed", f"do {line}", f"_ = try? {line[4:]}"


def of_value(line):
    """Yields what can be done to a value that is returned or assigned."""
    match = re.match(r"(return |(?:let|var) \w+ = |[\w.]+ (?:[-+*]|&[-+])?= )(.+)$", line)
    if not match or not is_balanced(match[2]) or match[2].endswith(("{", ",", "(")):
        return
    head, value = match[1], match[2]
    for sign in COMPARISON.finditer(value):
        yield "comparison", line, head + value[: sign.start()] + TURNED[sign[1]] + value[sign.end():]
    for number in NUMBER.finditer(value):
        yield "constant", line, head + value[: number.start()] + str(int(number[1].replace("_", "")) + 1) + value[number.end():]
    for call in ARGUMENTS.finditer(value):
        name, first, one, second, other = call.groups()
        swapped = f"{name}({first or ''}{other}, {second or ''}{one})"
        yield "swapped", line, head + value[: call.start()] + swapped + value[call.end():]
    if value in ("true", "false"):
        yield "forced", line, head + ("false" if value == "true" else "true")


# The same of the console's scripts.
SCRIPT_SILENT = re.compile(r"//|\*|import |export (\{|const)")
SCRIPT_CONDITION = re.compile(r"(?:\} else )?(?P<text>(?P<head>if|while) \((?P<body>.+?)\))(?= \w| \{)")
SCRIPT_COMPARISON = re.compile(r"(?<= )(<=|>=|===|!==|<|>)(?= )")
SCRIPT_TURNED = TURNED | {"===": "!==", "!==": "==="}
SCRIPT_STATEMENT = re.compile(r"(?:await )?\w[\w.?]*(?:\[[^\[\]]*\])?(?:\(.*\)| (?:[-+*]|\?\?)?= .+);$")
SCRIPT_VALUE = re.compile(r"(?P<head>return |(?:let|const) \w+ = |\w[\w.]* [-+*]?= )(?P<value>[^`']+);$")
SCRIPT_WORDS = re.compile(r"(let|const|return|if|for|while|throw|function|export|default|case|break|continue|super)\b")


def of_script(line):
    """Yields what can be done to a line of a script."""
    condition = SCRIPT_CONDITION.match(line)
    if condition and is_balanced(condition["body"]):
        head, body = condition["head"], condition["body"]
        for value in ["false"] if head == "while" else ["true", "false"]:
            yield "forced", condition["text"], f"{head} ({value})"
        for sign in SCRIPT_COMPARISON.finditer(body):
            yield "comparison", condition["text"], f"{head} ({body[: sign.start()]}{SCRIPT_TURNED[sign[1]]}{body[sign.end():]})"
    if not is_balanced(line) or SCRIPT_WORDS.match(line) and not SCRIPT_VALUE.match(line):
        return
    if SCRIPT_STATEMENT.match(line) and not SCRIPT_WORDS.match(line):
        yield "dropped", f"do {line}", ""
        yield "return", f"do {line}", "return;"
    value = SCRIPT_VALUE.match(line)
    if value and "=>" not in value["value"]:
        head, text = value["head"], value["value"]
        for sign in SCRIPT_COMPARISON.finditer(text):
            yield "comparison", line, f"{head}{text[: sign.start()]}{SCRIPT_TURNED[sign[1]]}{text[sign.end():]};"
        for number in NUMBER.finditer(text):
            yield "constant", line, f"{head}{text[: number.start()]}{int(number[1]) + 1}{text[number.end():]};"
        if text in ("true", "false"):
            yield "forced", line, f"{head}{'false' if text == 'true' else 'true'};"


def script_places(folder):
    """Returns all faults that can be planted in the scripts of a folder."""
    found = []
    for path in sorted(folder.rglob("*.js")):
        source = path.read_text()
        flat, depth = re.sub(r"\s+", " ", source), 0
        for line in source.splitlines():
            outer, depth = depth, depth + line.count("{") - line.count("}")
            line = line.strip()
            # What is outside of functions runs when the page is loaded, before there is a fault to choose.
            if outer == 0 or not line or SCRIPT_SILENT.search(line):
                continue
            for operator, text, replacement in of_script(line):
                words = text.removeprefix("do ")
                if "==>" not in words and words != replacement and flat.count(words) == 1:
                    found.append((operator, str(path.relative_to(folder)), text, replacement))
    return found


def places(root, module):
    """Returns all faults that can be planted in a module, as (operator, file, text, replacement)."""
    folder = next(root.glob(f"Sources/*/{module}"))
    found = script_places(folder)
    for path in sorted(folder.rglob("*.swift")):
        if TABLES.search(str(path)):
            continue
        source = path.read_text()
        is_text = False
        flat = re.sub(r"\s+", " ", source)
        for line in source.splitlines():
            if line.count('"""') % 2:
                is_text = not is_text
            line = line.strip()
            if is_text or not line or SILENT.search(line):
                continue
            for operator, text, replacement in [*of_condition(line), *of_statement(line), *of_value(line)]:
                words = text.removeprefix("do ")
                if "==>" not in words and words != replacement and flat.count(words) == 1:
                    found.append((operator, str(path.relative_to(folder)), text, replacement))
    return found


def draw(root, modules, count, seed):
    """Returns the drawn faults as the texts of lists by module. Modules get shares by their places, operators equal ones."""
    dice = random.Random(seed)
    known = {module: places(root, module) for module in modules}
    total = sum(map(len, known.values()))
    lists = {}
    for module, found in known.items():
        share = min(len(found), max(1, round(count * len(found) / total)))
        by_operator = {}
        for place in found:
            by_operator.setdefault(place[0], []).append(place)
        chosen, taken = [], set()
        while len(chosen) < share and by_operator:
            operator = dice.choice(sorted(by_operator))
            place = by_operator[operator].pop(dice.randrange(len(by_operator[operator])))
            if not by_operator[operator]:
                del by_operator[operator]
            # One fault for a line: two switches would be one inside of the other.
            if (place[1], place[2].removeprefix("do ")) not in taken:
                taken.add((place[1], place[2].removeprefix("do ")))
                chosen.append(place)
        lines, file = [], ""
        for _, name, text, replacement in sorted(chosen, key=lambda place: place[1]):
            if name != file:
                file = name
                lines.append(f"== {file}")
            lines.append(f"{text} ==> {replacement}".rstrip())
        lists[module] = "\n".join(lines) + "\n"
    return lists


if __name__ == "__main__":
    import sys
    for name, text in draw(pathlib.Path(__file__).resolve().parent.parent, sys.argv[3:], int(sys.argv[1]), int(sys.argv[2])).items():
        print(f"# {name}\n{text}")
