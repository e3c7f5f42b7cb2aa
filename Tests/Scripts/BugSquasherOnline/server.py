"""Asks the bug server of the test, without a store between.

server.py URL total PARAMETERS       prints how many bugs a list has, page by page
server.py URL bug ID                 prints "state title", or "gone"
server.py URL count TITLE            prints how many of the newest 500 bugs have a title that begins so
server.py URL titles TITLE           prints these titles in their order
server.py URL rows ID...             prints the bugs as `bugs list` does: ID, state, assignee and title, with a blank between
server.py URL status METHOD PATH [HEADER VALUE]...  prints the status of an answer
"""
import json
import re
import sys
import urllib.error
import urllib.request


def answer(path, method="GET", headers={}):
    request = urllib.request.Request(server + path, method=method, headers=headers)
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, response.headers, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def bugs(path):
    while path:
        status, headers, body = answer(path)
        assert status == 200, body
        yield from json.loads(body)
        link = re.match('<(.*)>; rel="next"', headers.get("Link", ""))
        path = link and link[1]


def row(bug):
    assignee = bug.get("assignee")
    return f'{bug["id"]} {bug["state"]} {assignee["login"] if assignee else "-"} {bug["title"]}'


server, what, *arguments = sys.argv[1:]
if what == "total":
    found = [bug["id"] for bug in bugs("/bugs?per_page=500&" + arguments[0])]
    assert len(found) == len(set(found)), "a bug is on two pages"
    print(len(found))
elif what == "bug":
    status, _, body = answer("/bugs/" + arguments[0])
    bug = json.loads(body)
    print(f'{bug["state"]} {bug["title"]}' if status == 200 else "gone")
elif what in ("count", "titles"):
    _, _, body = answer("/bugs?per_page=500&order=-created_at")
    titles = sorted(bug["title"] for bug in json.loads(body) if bug["title"].startswith(arguments[0]))
    print(len(titles) if what == "count" else "\n".join(titles))
elif what == "rows":
    for start in range(0, len(arguments), 500):
        for bug in bugs("/bugs?ids=" + ",".join(arguments[start:start + 500])):
            print(row(bug))
elif what == "status":
    print(answer(arguments[1], arguments[0], dict(zip(arguments[2::2], arguments[3::2])))[0])
