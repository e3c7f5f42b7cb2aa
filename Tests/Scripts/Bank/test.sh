#!/usr/bin/env bash
# The example Bank: its service answers as its README says and ends when it is told to; under load no read is torn and
# no transfer is lost; and none is lost when the service is killed.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../../Tools/setup"
[[ $(uname) != Darwin ]] || { echo "the store is not built on Apple's platforms"; exit 0; }
sources="$root/Examples/Bank/Sources/Bank"
work=$(mktemp -d)
service=
trap '[[ -z $service ]] || kill -9 "$service" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work"

fail() {
  echo "Bank: $*" >&2
  exit 1
}

need_products modelgen
"$products/modelgen" "$sources/Bank.xcdatamodeld" --output Model --access internal >modelgen.out
diff -r Model "$sources/Model" || fail "modelgen writes other classes"
build_consumer "$root/Examples/Bank"
bank="$root/.build-consumer/debug/Bank"

start() {
  : >listening
  "$bank" serve bank.cairn --port 0 --accounts 5 >listening 2>errors &
  service=$!
  until grep -q . listening; do
    kill -0 "$service" 2>/dev/null || fail "the service does not start: $(cat errors)"
  done
  port=$(sed 's/.*://' listening)
}

# stop SIGNAL: the service ends by itself, without an error.
stop() {
  kill "-$1" "$service"
  wait "$service" || fail "status $? after SIG$1"
  service=
  [[ ! -s errors ]] || fail "complains after SIG$1: $(cat errors)"
}

# answers STATUS BODY METHOD PATH [DATA]: that is what the service answers; the body is a pattern.
answers() {
  local answer
  answer=$(python3 "$here/request.py" "$port" "${@:3}")
  [[ ${answer##* } = "$1" && ${answer% *} =~ ^$2$ ]] || fail "$3 $4 ${5-}: answers $answer"
}

start
answers 200 '.*"balance":10000.*' GET /accounts/0
answers 201 '.*"id":"p[0-9]+".*' POST /transfers '{"source": 0, "destination": 1, "amount": 30}'
answers 200 '.*"balance":9970.*' GET /accounts/0
answers 200 '.*"balance":10030.*' GET /accounts/1
answers 422 '.*too low.*' POST /transfers '{"source": 0, "destination": 1, "amount": 9971}'
answers 422 '.*"error".*' POST /transfers '{"source": 0, "destination": 0, "amount": 1}'
answers 422 '.*"error".*' POST /transfers '{"source": 0, "destination": 1, "amount": -1}'
answers 404 '.*"error".*' POST /transfers '{"source": 0, "destination": 5, "amount": 1}'
answers 400 '.*"error".*' POST /transfers 'oops'
answers 404 '.*"error".*' GET /accounts/5
answers 404 '.*"error".*' GET /transfers/p999999
answers 404 '.*"error".*' GET /transfers/%20
answers 404 '.*"error".*' GET /nothing
answers 405 '.*"error".*' DELETE /accounts/1
answers 413 '.*' POST /transfers "$(head -c 5000 /dev/zero | tr '\0' ' ')"
stop TERM

start
answers 200 '.*"balance":9970.*' GET /accounts/0
stop INT
rm -r bank.cairn

start
"$bank" load --port "$port" --seconds 5 >report || { cat report >&2; fail "the load finds something wrong"; }
grep -qx '0 torn reads' report || fail "no word of torn reads"
grep -q '^[1-9][0-9]* transfers saved, [1-9][0-9]* conflicts' report || fail "no conflict in: $(cat report)"
stop TERM

"$bank" crash bank.cairn --kills 3 --transfers 100 >report || { cat report >&2; fail "something is lost"; }
tail -n 1 report
