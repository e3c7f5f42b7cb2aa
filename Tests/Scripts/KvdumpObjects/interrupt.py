"""Control-C at any time of an import: either there is no store and no report, or there are both.

    python3 interrupt.py KVDUMP MODEL DIRECTORY
"""
import json, os, shutil, signal, subprocess, sys, time

STEPS = 16

kvdump, model, directory = sys.argv[1:]
store, given = os.path.join(directory, "interrupted"), os.path.join(directory, "many.jsonl")
with open(given, "w") as file:
    for number in range(3000):
        sailor = {"entity": "Sailor", "attributes": {"name": str(number)}, "relationships": {"ship": "ship"}}
        file.write(json.dumps(sailor) + "\n")
    file.write('{"object":"ship","entity":"Ship","attributes":{"callSign":"S"}}\n')


def start():
    shutil.rmtree(store, ignore_errors=True)
    return subprocess.Popen(
        [kvdump, "import", store, given, "--create", "--model", model], stdout=subprocess.PIPE, text=True,
        # Also where whoever has started this ignores the signal.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


begin = time.monotonic()
assert start().communicate()[0].startswith("imported 3,001 objects: "), "nothing was imported"
whole = time.monotonic() - begin
for step in range(STEPS):
    process = start()
    time.sleep(whole * (step + 1) / STEPS)
    process.send_signal(signal.SIGINT)
    report = process.communicate()[0]
    place = f"after {step + 1}/{STEPS}: "
    assert process.returncode in ([0, -signal.SIGINT] if report else [-signal.SIGINT]), place + str(process.returncode)
    assert os.path.exists(store) == report.startswith("imported 3,001 objects: "), place + repr(report)
