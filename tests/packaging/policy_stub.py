"""A policy that holds our modules' rules and nothing else: what they refer to in the base policy is declared, empty. So what a rule
of ours grants, or a neverallow of ours forbids, is seen without the base policy and without a machine that enforces one.

The whole of it, with Debian's policy, is loaded and enforced in the virtual machine (make test-vm).
"""
import pathlib
import re
import subprocess

RULE = re.compile(r"\((?:allow|dontaudit|auditallow|neverallow) \S+ \S+ \((\w+) \(([^()]+)\)\)\)")
PP_TO_CIL = "/usr/libexec/selinux/hll/pp"


def to_cil(pp):
    return subprocess.run([PP_TO_CIL, str(pp)], check=True, stdout=subprocess.PIPE, text=True).stdout


def without_optionals(text):
    """Blocks for other modules (name caches and the like) that may be there or not."""
    out, depth = [], 0
    for line in text.splitlines():
        if depth or line.startswith("(optional "):
            depth += line.count("(") - line.count(")")
            continue
        out.append(line)
    return "\n".join(out)


def stub(texts):
    whole = "\n".join(texts)
    classes = {}
    for name, permissions in RULE.findall(whole):
        classes.setdefault(name, set()).update(p for p in permissions.split() if p != "all")
    declared = set(re.findall(r"\((?:type|typeattribute) (\w+)\)", whole))
    attributes = set(re.findall(r"\(typeattributeset (\w+) ", whole)) - {"cil_gen_require"}
    wanted = set(re.findall(r"\(typeattributeset cil_gen_require (\w+)\)", whole)) - declared
    booleans = set(re.findall(r"\(booleanif \(?(\w+)", whole)) - set(re.findall(r"\(boolean (\w+)", whole))
    lines = ["(handleunknown deny)", "(mls true)", "(sid kernel)", "(sidorder (kernel))", "(sensitivity s0)", "(sensitivityorder (s0))",
             "(category c0)", "(categoryorder (c0))", "(sensitivitycategory s0 (c0))", "(role system_r)", "(role object_r)",
             "(roleattribute cil_gen_require)", "(typeattribute cil_gen_require)", "(user system_u)", "(userrole system_u system_r)",
             "(userrole system_u object_r)", "(userlevel system_u (s0))", "(userrange system_u ((s0) (s0)))",
             "(type stub_t)", "(roletype system_r stub_t)", "(sidcontext kernel (system_u system_r stub_t ((s0) (s0))))"]
    for name in sorted(classes):
        lines.append("(class %s (%s))" % (name, " ".join(sorted(classes[name]) or ["stub"])))
    lines.append("(classorder (%s))" % " ".join(sorted(classes)))
    lines += ["(boolean %s false)" % b for b in sorted(booleans)]
    for name in sorted(wanted):
        lines.append("(%s %s)" % ("typeattribute" if name in attributes else "type", name))
    return "\n".join(lines)


def compile_policy(folder, texts):
    """(exit status, messages, policy file)."""
    folder = pathlib.Path(folder)
    texts = [without_optionals(t) for t in texts]
    names = []
    for number, text in enumerate([stub(texts), *texts]):
        names.append(folder / ("%d.cil" % number))
        names[-1].write_text(text + "\n")
    policy = folder / "policy"
    done = subprocess.run(["secilc", "-M", "1", "-c", "33", "-o", policy, "-f", "/dev/null", *names], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout, policy
