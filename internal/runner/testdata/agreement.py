#!/usr/bin/env python3
"""Holds every cell of a report against the framework's own plain output.

    agreement.py REPOSITORY REPORT.json FRAMEWORK [--command "WORDS"]

REPOSITORY is a clone that has the report's commits; REPORT.json is what
`touchstone check --output json=REPORT.json` wrote. The three states are laid out
beside the clone, the framework is run on their changed test files in its plainest
way, and each row's outcome (passed, failed, skipped) is compared. FRAMEWORK is
rspec, minitest, maven, gradle, phpunit, ctest, unittest or django.
"""
import collections, glob, json, os, re, shlex, shutil, subprocess, sys, tempfile
import xml.etree.ElementTree as ET


def run(argv, cwd, **more):
    return subprocess.run(argv, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **more).stdout


def squeeze(text):
    return re.sub(r"[\s>]+", "", text)


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
    names = [word for f in files for word in ("--tests", "*." + os.path.splitext(os.path.basename(f))[0])]
    for module in modules or [""]:
        task = ":" + module.replace("/", ":") + ":test" if module else ":test"
        run([*(words or ["gradle"]), "--offline", "--no-daemon", "--continue", task, *names], tree)
    for cls, name, outcome in junit(glob.glob(tree + "/**/build/test-results/test/TEST-*.xml", recursive=True)):
        yield squeeze(f"{cls}#{name}"), outcome


def phpunit(tree, files, words):
    for file in files:
        run([*(words or ["phpunit"]), "--log-junit", "plain.xml", file], tree)
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
    """Lays the states out as trees; returns them by name."""
    base, head = report["change"]["base"], report["change"]["head"]
    trees = {}
    for name, commit in (("base", base), ("base+tests", base), ("head", head)):
        trees[name] = os.path.join(where, name)
        run(["git", "worktree", "add", "--detach", "-f", trees[name], commit], repository, check=True)
    for part in report["split"]:
        if part["part"] == "test":
            to = os.path.join(trees["base+tests"], part["path"])
            text = subprocess.run(["git", "show", head + ":" + part["path"]], cwd=repository, stdout=subprocess.PIPE)
            os.makedirs(os.path.dirname(to), exist_ok=True)
            if text.returncode == 0:
                open(to, "wb").write(text.stdout)
            elif os.path.exists(to):
                os.remove(to)
    return trees


def main():
    repository, path, framework = sys.argv[1:4]
    words = shlex.split(sys.argv[5]) if len(sys.argv) > 5 else []
    report = json.load(open(path))
    files = sorted({c["file"] for c in report["checks"] if any(p["part"] == "test" and p["path"] == c["file"] for p in report["split"])})
    where = tempfile.mkdtemp()
    agree = wrong = silent = 0
    try:
        for state, tree in lay(repository, report, where).items():
            plain = collections.defaultdict(list)
            here = [f for f in files if os.path.exists(os.path.join(tree, f))]
            for key, outcome in globals()[framework](tree, here, words):
                plain[key].append(outcome)
            for check in report["checks"]:
                cell = check["cells"].get(state) or []
                if check["file"] not in files or not cell or framework in ("unittest", "django") and check["id"].split("::")[0] not in files:
                    continue  # an inherited test runs in another file too
                id = check["id"] if framework in ("maven", "gradle", "phpunit", "ctest", "unittest", "django") else check["id"].split(" > ", 1)[-1]
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
        shutil.rmtree(where, ignore_errors=True)
        run(["git", "worktree", "prune"], repository)
    print(f"{agree} cells agree, {wrong} do not, of {silent} the plain run says nothing")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
