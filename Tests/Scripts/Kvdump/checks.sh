# For scripts that run $kvdump and have a directory $temporary.
checks=0

fail() {
  echo "$*" >&2
  exit 1
}

# expect STATUS ARGUMENT…: leaves what was printed in $temporary/out and $temporary/err.
expect() {
  local expected=$1 status=0
  shift
  "$kvdump" "$@" >"$temporary/out" 2>"$temporary/err" || status=$?
  [[ $status == "$expected" ]] || fail "kvdump $*: exit status $status instead of $expected: $(cat "$temporary/err")"
  checks=$((checks + 1))
}

prints() {
  [[ $(cat "$temporary/out") == "$1" ]] || fail "printed $(cat "$temporary/out") instead of $1"
  checks=$((checks + 1))
}

says() {
  grep -qF -- "$1" "$temporary/err" || fail "did not say \"$1\" but: $(cat "$temporary/err")"
  checks=$((checks + 1))
}

silent() {
  [[ ! -s $temporary/err ]] || fail "said: $(cat "$temporary/err")"
}
