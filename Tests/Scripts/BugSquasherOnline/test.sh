#!/usr/bin/env bash
# The example BugSquasherOnline over real sockets: two users read and change the bugs of a server, which is there or not.
# Clients and the server are killed in the middle of changes. No acknowledged change is lost, none is made twice, and in the
# end both users have what the server has.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../../Tools/setup"
[[ $(uname) != Darwin ]] || { echo "the remote store does not exist on Apple's platforms"; exit 0; }
example="$root/Examples/BugSquasherOnline"
work=$(mktemp -d)
server= client=
trap 'for process in $server $client; do kill -9 "$process" 2>/dev/null || true; done; rm -rf "$work"' EXIT

need_products modelgen
"$products/modelgen" "$example/Sources/bugs/Bugs.xcdatamodeld" --output "$work/Model" --access internal >"$work/modelgen"
diff -r "$work/Model" "$example/Sources/bugs/Model" >&2 || fail "modelgen writes other classes"
build_with_traits "$example"
built="$root/.build-traits/debug"
cd "$work"

# start ARGUMENT…: starts the server, at $url.
start() {
  : >listening
  "$built/bug-server" server.cairn --port 0 "$@" >listening 2>server-errors &
  server=$!
  until grep -q . listening; do
    kill -0 "$server" 2>/dev/null || fail "the server does not start: $(cat server-errors)"
  done
  url=$(sed 's/listening on //' listening)
}

# stop SIGNAL: ends the server.
stop() {
  kill "-$1" "$server"
  wait "$server" 2>/dev/null || [[ $1 = KILL ]] || fail "the server ends with status $? after SIG$1"
  server=
  [[ ! -s server-errors ]] || fail "the server complains: $(cat server-errors)"
}

asks() { python3 "$here/server.py" "$url" "$@"; }

# is EXPECTED ARGUMENT…: that is what the server says.
is() {
  local said
  said=$(asks "${@:2}")
  [[ $said = "$1" ]] || fail "the server says of ${*:2}: $said, and not $1"
}

# user NAME STATUS ARGUMENT…: a command of a user, with what it prints in the files output and errors.
user() {
  local status=0
  timeout 120 "$built/bugs" --store "$1.cairn" --server "$url" "${@:3}" >output 2>errors || status=$?
  [[ $status = "$2" ]] || fail "$1: bugs ${*:3}: status $status and not $2: $(cat output errors)"
}

# prints PATTERN: a line of the last command's output is of this form. says PATTERN: a line of its errors is.
prints() { grep -qE -- "$1" output || fail "no '$1' in: $(cat output errors)"; }
says() { grep -qE -- "$1" errors || fail "no '$1' in: $(cat errors)"; }
is_silent() { [[ ! -s errors ]] || fail "complains: $(cat errors)"; }

# is_shown: the example's README has every line of the last command's output.
is_shown() {
  local line
  while IFS= read -r line; do
    grep -qxF -- "$line" "$example/README.md" || fail "the README does not show: $line"
  done <output
}

# comes EXPECTED ARGUMENT…: waits until the server says that, while $client runs.
comes() {
  until [[ $(asks "${@:2}") = "$1" ]]; do
    kill -0 "$client" 2>/dev/null || fail "the command ends before the server says of ${*:2}: $1"
  done
}

# The server: pages in the order and with the filters that are asked for, and what it answers to versions.
start
is 25000 total state=closed
is 8334 total 'assignee=ada&state=open&order=-title'
is 200 status GET /bugs/17
is 304 status GET /bugs/17 If-None-Match '"0"'
is 412 status DELETE /bugs/17 If-Match '"7"'
is 404 status GET /bugs/100001
is 400 status GET '/bugs?order=color'

# What the README shows.
user ann 0 list --state open --limit 2
is_shown
user ann 0 edit 99999 --title "The printer shows no number" --offline
is_shown
user ann 0 sync
is_shown

# Two users read. Of 100,000 bugs only the pages that are needed come.
user ann 0 list --state open --limit 250
is_silent
[[ $(wc -l <output) = 251 ]] || fail "prints $(wc -l <output) lines for 250 bugs"
prints '^99999 +open +[a-z-]+ +The [a-z]+ [a-z]+'
user ann 0 list --state open --limit 50
cp output fifty
user bob 0 list --state open --limit 50
diff output fifty >&2 || fail "two users read different lists"
user bob 0 list --assignee grace --order title --limit 3
[[ $(grep -c ' grace ' output) = 3 ]] || fail "the filter finds: $(cat output)"
user ann 0 show 17
prints '^TITLE +The export forgets its settings$'
user ann 1 show 100001
says 'There is no bug 100001'
echo oops >file.cairn
user file 1 list
says '^Error: The store at .*file.cairn.* is not a directory$'
user ann 64 list --state broken
user ann 64 edit 17

# Changes arrive at once while the server is there.
user ann 0 add "The door sticks" --assignee alan
user bob 0 list --limit 1
prints '^100001 +open +alan +The door sticks$'
user bob 0 edit 100001 --state closed
is_silent
is "closed The door sticks" bug 100001
user ann 0 show 100001
prints '^STATE +closed'
user ann 1 edit 17 --title "$(printf 'x%.0s' {1..201})"
says 'The server refuses the change: .*A title has 1 to 200 characters'
user ann 0 unsent
prints '^[0-9]+ +edit +17 .*refused: '
user ann 0 unsent --discard "$(awk 'NR == 2 { print $1 }' output)"

# Without the server the users read what they have, and their changes wait.
user ann 0 list --state open --limit 50
cp output fifty
stop TERM
user ann 0 list --state open --limit 50
says 'cannot be reached'
diff output fifty >&2 || fail "the list is another one without the server"
user ann 0 add "The bell is silent"
prints 'this waits'
user ann 0 edit 99999 --title "The list is empty" --offline
is_silent
user ann 0 delete 99998 --offline
user ann 0 list --limit 3 --offline
prints '^p[0-9]+ +open +- +The bell is silent$'
name=$(awk '$1 ~ /^p/ { print $1 }' output)
user ann 0 edit "$name" --title "The bell is mute" --offline
user ann 0 unsent
[[ $(wc -l <output) = 4 ]] || fail "three changes wait, and not: $(cat output)"
user ann 1 sync
says 'cannot be reached'
start
user ann 0 sync
prints '^sent +add +100002 +The bell is mute$'
prints '^3 sent, 0 in conflict, 0 refused, 0 waiting$'
is "open The bell is mute" bug 100002
is "open The list is empty" bug 99999
is gone bug 99998
user ann 0 sync
prints '^0 sent'

# Both change the same bug. The server has the first change, and the second user gets it.
user bob 0 show 99997
user bob 0 edit 99997 --title "Bob's title" --offline
user ann 0 edit 99997 --title "Ann's title"
user bob 1 sync
prints "^conflict +edit +99997 +Bob's title +now open and called 'Ann's title'$"
prints '^0 sent, 1 in conflict'
user bob 0 show 99997 --offline
prints "^TITLE +Ann's title$"
is "open Ann's title" bug 99997

# A client is killed when the server has its change, and has not answered. Another server, which knows the key only from its
# journal, answers the repeated change.
stop TERM
start --delay-answers 600000
"$built/bugs" --store bob.cairn --server "$url" add "The lamp is dark" >killed 2>&1 &
client=$!
comes 1 count "The lamp is dark"
kill -9 "$client"
wait "$client" 2>/dev/null || true
client=
[[ ! -s killed ]] || fail "the killed command says: $(cat killed)"
stop KILL
start
user bob 0 unsent
prints '^[0-9]+ +add +p[0-9]+ +The lamp is dark +sent, not answered$'
user bob 0 sync
prints '^1 sent, '
is 1 count "The lamp is dark"
user bob 0 unsent
[[ ! -s output ]] || fail "something is left: $(cat output)"

# The server is killed while it takes changes. What was acknowledged is there, and what was not is sent again.
stop TERM
for number in {1..24}; do user ann 0 add "Kill $number." --offline; done
for kill in 1 2 3; do
  start --delay-answers 500
  before=$(asks count "Kill ")
  "$built/bugs" --store ann.cairn --server "$url" sync >synced 2>&1 &
  client=$!
  until (($(asks count "Kill ") >= before + 2)); do
    kill -0 "$client" 2>/dev/null || fail "the command ends before the kill: $(cat synced)"
  done
  stop KILL
  status=0
  wait "$client" || status=$?
  client=
  [[ $status = 1 ]] || fail "sync ends with status $status although the server was killed: $(cat synced)"
  start
  acknowledged=$(grep '^sent ' synced | awk '{ print $3 }')
  [[ -n $acknowledged ]] || fail "nothing is acknowledged: $(cat synced)"
  for id in $acknowledged; do [[ $(asks bug "$id") = "open Kill "* ]] || fail "the acknowledged bug $id is lost"; done
  stop TERM
done
start
user ann 0 sync
is "$(printf 'Kill %s.\n' {1..24} | LC_ALL=C sort)" titles "Kill "

# In the end both have what the server has.
for name in ann bob; do
  user "$name" 0 sync
  user "$name" 0 list --limit 0 --offline
  tail -n +2 output | tr -s ' ' | sort >here
  asks rows $(awk '{ print $1 }' here) | tr -s ' ' | sort >there
  (($(wc -l <here) >= 50)) || fail "$name has $(wc -l <here) bugs"
  diff here there >&2 || fail "$name has something else than the server"
  for id in 100001 100002 99997 99999; do grep -q "^$id " here || [[ $name = bob ]] || fail "$name lacks the bug $id"; done
done
stop TERM
echo "two users and a server agree after all kills"
