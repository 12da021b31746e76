#!/usr/bin/env python3
"""Holds every cell of a report against the framework's own plain output.

    agreement.py REPOSITORY REPORT.json FRAMEWORK [--command "WORDS"] [--before "COMMAND"] [--in-place]

REPOSITORY is a clone that has the report's commits; REPORT.json is what
`touchstone check --output json=REPORT.json` wrote. The three states are laid out
beside the clone, the framework is run in its plainest way on the test files that
changed or play a part, and each row's outcome (passed, failed, skipped) is
compared. FRAMEWORK is jest, vitest, mocha, node, ava, cargo, pytest, gotest,
rspec, minitest, maven, gradle, phpunit, ctest, unittest or django; the framework's command is
--command, and --before runs in each state first (a build).

With --in-place each state is checked out in REPOSITORY itself, for set-ups that
are tied to the path; whatever is not committed there is lost. Else node_modules of
REPOSITORY is linked into each state.
"""
import argparse, collections, glob, json, os, re, shlex, shutil, subprocess, sys, tempfile
import xml.etree.ElementTree as ET


def run(argv, cwd, **more):
    more.setdefault("env", {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1", "CI": "true"})
    return subprocess.run(argv, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **more).stdout


def squeeze(text):
    return re.sub(r"[\s>]+", "", text)


def jest(tree, files, words):
    yield from suites(tree, [*(words or ["npx", "jest"]), "--ci", "--coverage=false", "--json", "--outputFile=plain.json", "--runTestsByPath", *files])


def vitest(tree, files, words):
    yield from suites(tree, [*(words or ["npx", "vitest", "run"]), "--reporter=json", "--outputFile=plain.json", *files])


def suites(tree, argv):
    """What jest and vitest write alike. jest leaves out the common root of its projects' names."""
    out = os.path.join(tree, "plain.json")
    said = run(argv, tree)
    if not os.path.exists(out):
        sys.exit("no report was written:\n" + said[-3000:])
    for suite in json.load(open(out))["testResults"]:
        file = os.path.relpath(os.path.realpath(suite["name"]), os.path.realpath(tree))
        for case in suite["assertionResults"]:
            yield squeeze(file + "".join([*case["ancestorTitles"], case["title"]])), case["status"] if case["status"] in ("passed", "failed") else "skipped"


def mocha(tree, files, words):
    for file in files:
        text = run([*(words or ["npx", "mocha"]), "--reporter", "json", file], tree)
        found = re.search(r'^\{\n  "stats".*?^\}', text, re.S | re.M)
        report = json.loads(found[0]) if found else {}
        for list, outcome in (("passes", "passed"), ("failures", "failed"), ("pending", "skipped")):
            for case in report.get(list, []):
                yield squeeze(file + case["fullTitle"]), outcome


def node(tree, files, words):
    for file in files:
        above = []
        for line in run([*(words or ["node"]), "--test", "--test-reporter=tap", file], tree).splitlines():
            indent = (len(line) - len(line.lstrip(" "))) // 4
            if m := re.match(r" *# Subtest: (.*)", line):
                above[indent:] = [m[1]]
            elif m := re.match(r" *(not ok|ok) \d+ - .*?( # (?:SKIP|TODO)\b.*)?$", line):
                name = "".join(above[: indent + 1]).replace("\\#", "#").replace("\\\\", "\\")
                yield squeeze(file + name), "skipped" if m[2] else "passed" if m[1] == "ok" else "failed"


def ava(tree, files, words):
    for file in files:
        for line in run([*(words or ["npx", "ava"]), "--tap", file], tree).splitlines():
            if m := re.match(r"(not ok|ok) \d+ - (.*?)( # (?:SKIP|TODO)\b.*)?$", line):
                yield squeeze(file + m[2]), "skipped" if m[3] else "passed" if m[1] == "ok" else "failed"


def cargo(tree, files, words):
    """Each package of the files by itself: the target's name is where the id has it."""
    homes = set()
    for file in files:
        home = os.path.dirname(file)
        while home and not os.path.exists(os.path.join(tree, home, "Cargo.toml")):
            home = os.path.dirname(home)
        homes.add(home)
    for home in sorted(homes):
        at = os.path.join(tree, home)
        name = re.search(r'^\[package\][^\[]*?^name *= *"([^"]+)"', open(os.path.join(at, "Cargo.toml")).read(), re.S | re.M)[1]
        prefix = ""
        for line in run([*(words or ["cargo", "test", "--offline"]), "--no-fail-fast"], at).splitlines():
            if m := re.match(r" +Running (?:unittests )?(\S+) \(.*?([^/]+)-[0-9a-f]{16}\)", line):
                prefix = m[2].replace("-", "_") + "::" if m[1].endswith("lib.rs") else f"{name}/{m[2]}::"
            elif m := re.match(r" +Doc-tests (\S+)", line):
                prefix = m[1].replace("-", "_") + "/doc::"
            elif m := re.match(r"test (.*?)(?: \(line (\d+)\))?(?: - compile(?: fail)?| - should panic)* \.\.\. (?:.*?)(ok|FAILED|ignored)\b", line):
                yield squeeze(prefix + m[1]), {"ok": "passed", "FAILED": "failed"}.get(m[3], "skipped")


def pytest(tree, files, words):
    words = words or ["python3", "-m", "pytest"]
    listed = set(run([*words, "--collect-only", "-q", *files], tree).splitlines())
    said = {"PASSED": "passed", "SKIPPED": "skipped", "XFAIL": "skipped"}
    for line in run([*words, "-v", "-p", "no:cacheprovider", *files], tree).splitlines():
        for m in re.finditer(r" (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b", line):
            if line[: m.start()] in listed:
                yield squeeze(line[: m.start()]), said.get(m[1], "failed")
                break


def gotest(tree, files, words):
    for dir in sorted({os.path.dirname(f) for f in files}):
        for line in run([*(words or ["go", "test"]), "-json", "."], os.path.join(tree, dir)).splitlines():
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if event.get("Test") and event.get("Action") in ("pass", "fail", "skip"):
                yield squeeze(event["Package"] + "." + event["Test"]), {"pass": "passed", "fail": "failed", "skip": "skipped"}[event["Action"]]


def rspec(tree, files, words):
    out = os.path.join(tree, "plain.json")
    run([*(words or ["rspec"]), "--format", "json", "--out", out, *files], tree)
    said = {"passed": "passed", "failed": "failed", "pending": "skipped"}
    for e in json.load(open(out))["examples"]:
        yield squeeze(e["full_description"]), said[e["status"]]


def minitest(tree, files, words):
    for file in files:
        for line in run([*(words or ["ruby", "-Ilib", "-Itest"]), file, "-v"], tree).splitlines():
            m = re.match(r"^(.+)#test_(?:\d{4}_)?(.+) = [\d.]+ s = ([.FES])$", line)
            if m:
                name = m[2] if re.search(r"#test_\d{4}_", line) else "test_" + m[2]
                yield squeeze(m[1] + name), {".": "passed", "F": "failed", "E": "failed", "S": "skipped"}[m[3]]


def junit(paths):
    for path in paths:
        for case in ET.parse(path).getroot().iter("testcase"):
            tags = {child.tag for child in case}
            outcome = "failed" if tags & {"failure", "error"} else "skipped" if "skipped" in tags else "passed"
            yield case.get("classname"), case.get("name"), outcome


def maven(tree, files, words):
    names = ",".join(os.path.splitext(os.path.basename(f))[0] for f in files)
    modules = ",".join(sorted({f.split("/src/")[0] for f in files if "/src/" in f}))
    run([*(words or ["mvn"]), "-o", "-B", "-q", *(["-pl", modules, "-am"] if modules else []), "test", "-Dtest=" + names, "-DfailIfNoTests=false", "-Dsurefire.failIfNoSpecifiedTests=false", "-Dmaven.test.failure.ignore=true"], tree)
    for cls, name, outcome in junit(glob.glob(tree + "/**/target/surefire-reports/TEST-*.xml", recursive=True)):
        yield squeeze(f"{cls}#{name}"), outcome


def gradle(tree, files, words):
    modules = sorted({f.split("/src/")[0] for f in files if "/src/" in f})
    modules = [m for m in modules if glob.glob(os.path.join(tree, m, "*.gradle*"))]  # else sources that the root's project names
    names = [word for f in files for word in ("--tests", "*." + os.path.splitext(os.path.basename(f))[0])]
    for module in modules or [""]:
        task = ":" + module.replace("/", ":") + ":test" if module else ":test"
        run([*(words or ["gradle"]), "--offline", "--no-daemon", "--continue", task, *names], tree)
    for cls, name, outcome in junit(glob.glob(tree + "/**/build/test-results/test/TEST-*.xml", recursive=True)):
        yield squeeze(f"{cls}#{name}"), outcome


def phpunit(tree, files, words):
    for file in files:
        put(os.path.join(tree, "plain.xml"), None)
        run([*(words or ["phpunit"]), "--log-junit", "plain.xml", file], tree)
        if not os.path.exists(os.path.join(tree, "plain.xml")):  # an abstract class: those that inherit its tests
            run([*(words or ["phpunit"]), "--log-junit", "plain.xml", os.path.dirname(file)], tree)
        for cls, name, outcome in junit([os.path.join(tree, "plain.xml")]):
            yield squeeze(cls.replace(".", "\\") + "::" + name), outcome


def ctest(tree, files, words):
    run(["cmake", "-B", "plain-build", "-S", ".", "-DBUILD_TESTING=ON", *words], tree)
    run(["cmake", "--build", "plain-build", "--parallel", "2"], tree)
    for line in run(["ctest", "--test-dir", "plain-build"], tree).splitlines():
        m = re.match(r"^ *\d+/\d+ Test +#\d+: (.*?) \.*\s*(Passed|\*\*\*(?:Skipped|Not Run|\S+))", line)
        if m:
            yield squeeze(m[1]), "passed" if m[2] == "Passed" else "skipped" if "Skipped" in m[2] else "failed"


def unittest(tree, files, words):
    for file in files:
        top = os.path.dirname(file)
        while top and os.path.exists(os.path.join(tree, top, "__init__.py")):
            top = os.path.dirname(top)
        module = os.path.relpath(file, top or ".")[: -len(".py")].replace("/", ".")
        yield from verbose(run([*(words or ["python3", "-m", "unittest"]), "-v", module], os.path.join(tree, top)), file, module)


def verbose(text, file, module):
    for m in re.finditer(r"^(\w+) \(([\w.<>]+)\)(?:\n.*)? \.\.\. (?:.*\n)??(ok|FAIL|ERROR|skipped|expected failure|unexpected success)", text, re.M):
        if m[2].startswith(module + "."):
            cls = m[2].removesuffix("." + m[1]).removeprefix(module + ".")
            said = {"ok": "passed", "skipped": "skipped", "expected failure": "skipped"}
            yield squeeze(f"{file}::{cls.replace('.', '::')}::{m[1]}"), said.get(m[3], "failed")


def django(tree, files, words):
    for file in files:
        top = os.path.dirname(file)
        while top and not os.path.exists(os.path.join(tree, top, "manage.py")):
            top = os.path.dirname(top)
        module = os.path.relpath(file, top or ".")[: -len(".py")].replace("/", ".")
        text = run([*(words or ["python3", "manage.py", "test"]), "--noinput", "-v", "2", module], os.path.join(tree, top), env={**os.environ, "PYTHONPATH": tree})
        yield from verbose(text, file, module)


def lay(repository, report, where):
    """Lays the states out, one after the other; returns their names and trees."""
    base, head = report["change"]["base"], report["change"]["head"]
    for name, commit in (("base", base), ("base+tests", base), ("head", head)):
        tree = where and os.path.join(where, name) or repository
        if where:
            run(["git", "worktree", "add", "--detach", "-f", tree, commit], repository, check=True)
            for modules in glob.glob(repository + "/node_modules"):
                os.symlink(modules, os.path.join(tree, "node_modules"))
        else:
            run(["git", "checkout", "-q", "-f", "--detach", commit], repository, check=True)
            run(["git", "clean", "-f", "-d", "-q"], repository, check=True)
        for part in report["split"] if name == "base+tests" else []:
            if part["part"] in ("test", "mixed"):
                text = blob(repository, head, part["path"])
                put(os.path.join(tree, part["path"]), text if part["part"] == "test" else mixed(repository, base, head, part))
        yield name, tree


def blob(repository, commit, path):
    shown = subprocess.run(["git", "show", commit + ":" + path], cwd=repository, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return shown.stdout if shown.returncode == 0 else None


def put(to, text):
    os.makedirs(os.path.dirname(to), exist_ok=True)
    if text is not None:
        open(to, "wb").write(text)
    elif os.path.exists(to):
        os.remove(to)


def mixed(repository, base, head, part):
    """Base's text with the hunks that the report calls tests."""
    old = (blob(repository, base, part.get("old_path") or part["path"]) or b"").splitlines(True)
    new = blob(repository, head, part["path"]).splitlines(True)
    diff = run(["git", "diff", "--no-ext-diff", "-U0", base, head, "--", *{part.get("old_path") or part["path"], part["path"]}], repository)
    for m in reversed([*re.finditer(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", diff, re.M)]):
        at, gone, start, came = int(m[1]), int(m[2] or 1), int(m[3]), int(m[4] or 1)
        if any(h["part"] == "test" and h["new_start"] <= start <= h["new_start"] + h["new_lines"] for h in part["hunks"]):
            at = at if gone == 0 else at - 1
            old[at : at + gone] = new[start - 1 : start - 1 + came] if came else []
    return b"".join(old)


WHOLE = ("maven", "gradle", "phpunit", "ctest", "unittest", "django", "jest", "vitest", "mocha", "node", "ava", "cargo", "pytest", "gotest")


def arguments():
    a = argparse.ArgumentParser()
    a.add_argument("repository", type=os.path.abspath)
    a.add_argument("report")
    a.add_argument("framework", choices=sorted({*WHOLE, "rspec", "minitest"}))
    a.add_argument("--command", type=shlex.split, default=[])
    a.add_argument("--before", default="")
    a.add_argument("--in-place", action="store_true")
    return a.parse_args()


def main():
    o = arguments()
    report = json.load(open(o.report))
    changed = {p["path"] for p in report["split"] if p["part"] in ("test", "mixed")}
    files = sorted({c["file"] for c in report["checks"] if c["file"] in changed or c.get("role")})
    where = None if o.in_place else tempfile.mkdtemp()
    agree = wrong = silent = 0
    try:
        for state, tree in lay(o.repository, report, where):
            plain = collections.defaultdict(list)
            here = [f for f in files if os.path.exists(os.path.join(tree, f))]
            if o.before:
                run(["sh", "-c", o.before], tree)
            for key, outcome in globals()[o.framework](tree, here, o.command):
                plain[key].append(outcome)
            for check in report["checks"]:
                cell = check["cells"].get(state) or []
                if check["file"] not in files or not cell or o.framework in ("unittest", "django") and check["id"].split("::")[0] not in files:
                    continue  # an inherited test runs in another file too
                id = check["id"] if o.framework in WHOLE else check["id"].split(" > ", 1)[-1]
                ours = {"passed": "passed", "skipped": "skipped"}.get(cell[-1]["outcome"], "failed")
                theirs = plain.get(squeeze(id)) or plain.get(squeeze(re.sub(r"#\d+$", "", id)))
                if not theirs:  # a method of which the run makes several
                    parts = [o for key, all in plain.items() for o in all if re.match(re.escape(squeeze(id)) + r"[\[({]|" + re.escape(squeeze(id)) + "withdataset", key)]
                    theirs = parts and ["failed" if "failed" in parts else "passed" if "passed" in parts else "skipped"]
                if not theirs:
                    silent += 1
                    print(f"{state}: {check['id']}: {cell[-1]['outcome']} {cell[-1]['reason']}, and the plain run says nothing")
                elif ours in theirs:
                    agree += 1
                else:
                    wrong += 1
                    print(f"{state}: {check['id']}: {ours}, and the plain run says {theirs}")
    finally:
        shutil.rmtree(where or os.path.join(o.repository, "plain.json"), ignore_errors=True)
        run(["git", "worktree", "prune"], o.repository)
    print(f"{agree} cells agree, {wrong} do not, of {silent} the plain run says nothing")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
