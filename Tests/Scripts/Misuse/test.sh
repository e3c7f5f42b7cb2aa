#!/usr/bin/env bash
# A program that uses Core Data wrongly ends with a message that says what was wrong, in a release build, too, and
# whatever the name of its file.
set -euo pipefail

source "$(dirname "${BASH_SOURCE[0]}")/../../../Tools/setup"
[[ $(uname) != Darwin ]] || { echo "Apple's platforms have a Core Data of their own"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The demonstration needs most of what this compiles, too.
swift build --package-path "$root" --configuration release --product Misuse --quiet >&2
misuse="$work/renamed program"
cp "$root/.build/release/Misuse" "$misuse"

# ends KIND TEXT…: the program ends by a signal when it is used wrongly in this way, and stderr has each text.
ends() {
  local kind=$1 status=0 text
  shift
  # The message of the shell about the signal is not shown.
  { "$misuse" "$kind" >"$work/output" 2>"$work/errors"; } 2>/dev/null || status=$?
  ((status > 128)) || fail "$kind: status $status, and not that of a signal; stderr: $(<"$work/errors")"
  for text in "$@"; do
    grep -qF -- "$text" "$work/errors" || fail "$kind: stderr does not say \"$text\": $(<"$work/errors")"
  done
  echo "$kind" >>"$work/tried"
}

export SWIFT_BACKTRACE=enable=no
ends key 'The entity Person has no property "nam".'
ends type 'Person.name: desired type = NSString; given type = Int'
ends related 'Pet.owner: desired entity = Person; given entity = Pet'
ends queue 'The context "cellar" of a private queue was used on another queue'
ends result 'A request for Pet found Person'
ends entity 'knows no entity named "Persn"'
ends abstract 'Being is abstract'
ends class 'The model has no entity, or several, of the class Stranger'
ends model 'Nowhere'
ends unknownClass 'Nobody of the entity Somebody, in the module Misuse' 'NSStringFromClass'
ends place 'There is no place 1 in guests, which has 0.'
ends frozen 'The model is in use and cannot be changed'
ends contexts 'Person.pets between objects in different contexts'
ends gone 'Person.name of' 'cannot be changed: the context of the object is gone'
grep -qx 'nothing is left to read' "$work/output" || fail "gone: a value was read, or nothing"
ends ungrouped 'An action was registered without a group'
ends unbegun 'endUndoGrouping() was called without beginUndoGrouping()'
ends unended 'undo() was called with 2 open groups'
ends undoing 'redo() was called by an action of an undo or redo'
ends storeClass 'NSObject cannot be a store class'
ends abstractStore 'GivingStore does not override execute'
ends predicate 'name =='
ends damaged 'The context "cellar"' 'The row is damaged at byte 17.'
ends storedType 'GivingStore at file://' 'the attribute Person.number' 'of the type String' 'of the type NSNumber'

status=0
"$misuse" >"$work/kinds" || status=$?
diff "$work/kinds" <(sort "$work/tried")
echo "each of $(wc -l <"$work/tried") kinds of misuse ends a release program with its reason"
