#!/usr/bin/env bash
# The examples build, their classes are what modelgen writes, and they print what they are meant to: their changes are
# found again by the next process.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../../Tools/setup"
[[ $(uname) != Darwin ]] || { echo "on Apple's platforms the models are compiled by Xcode"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

need_products modelgen

# classes MODEL FOLDER: the folder has the model's classes as modelgen writes them.
classes() {
  "$products/modelgen" "$1" --output "$work/${1##*/}" --access internal >/dev/null
  diff -r "$work/${1##*/}" "$2" || { echo "$1: modelgen writes other classes" >&2; exit 1; }
}

# build EXAMPLE MODEL CLASSES: what it is built to is at $program afterwards.
build() {
  local sources="$root/Examples/$1/Sources/$1"
  classes "$sources/$2" "$sources/$3"
  build_consumer "$root/Examples/$1"
  program="$root/.build-consumer/debug/$1"
}

# prints EXPECTED ARGUMENT...: the program prints that, and nothing on standard error.
prints() {
  local expected=$1
  shift
  "$program" "$@" >output 2>errors || { echo "$program $*: status $?" >&2; cat errors >&2; exit 1; }
  diff output "$expected" && diff errors /dev/null || { echo "$program $*: prints something else" >&2; exit 1; }
}

# shows EXAMPLE EXPECTED...: the example's README has every line of these.
shows() {
  local readme="$root/Examples/$1/README.md" line
  shift
  while IFS= read -r line; do
    grep -qxF -- "$line" "$readme" || { echo "$readme: does not show \"$line\"" >&2; exit 1; }
  done < <(cat "$@")
}

# refuses ARGUMENT...: the program prints how it is to be used and ends with status 64.
refuses() {
  local status=0
  "$program" "$@" >output 2>errors || status=$?
  [[ $status = 64 && ! -s output ]] && grep -q "^usage: " errors \
    || { echo "$program $*: status $status and not 64 with a text" >&2; exit 1; }
}

# fails ARGUMENT...: the program prints a line about what is wrong and ends with status 1.
fails() {
  local status=0
  "$program" "$@" >output 2>errors || status=$?
  [[ $status = 1 && $(wc -l <errors) = 1 ]] \
    || { echo "$program $*: status $status and not 1 with a line" >&2; exit 1; }
}

build BugSquasher BugSquasher.xcdatamodeld Model
prints "$here/bugs-added.txt" bugs add Ant add Bee add Cockroach
prints "$here/bugs-changed.txt" bugs list edit Bee Wasp squash Ant
prints "$here/bugs-left.txt" bugs list
shows BugSquasher "$here"/bugs-*.txt
# An empty file is a store that is still to be made, and one that is none is an error.
mkdir new broken
touch new/bugs.txt
echo oops >broken/bugs.txt
"$program" new add Fly >output
fails broken list
[[ $(cat broken/bugs.txt) = oops ]] || { echo "BugSquasher: changes what is no store" >&2; exit 1; }
refuses
refuses bugs
refuses bugs list everything
refuses bugs edit Ant

# The same with its bugs in Cairn: one line of the program says so, beside the import. The folder's name is the
# package's identity, which must differ from that of Cairn's clone.
cp -R "$root/Examples/BugSquasher" squasher
sed -i "s|\"../..\"|\"$root\"|; s|product(name: \"CoreData\", package: \"Cairn\")|&, .product(name: \"CairnIncrementalStore\", package: \"Cairn\")|" \
  squasher/Package.swift
sed -i 's|= \[bugSquasherStoreDescription\]|= [.cairn(at: directory.appending(path: "bugs.txt"))]|; 1i import CairnIncrementalStore' \
  squasher/Sources/BugSquasher/PersistentContainer.swift
shows BugSquasher <(grep -o 'container.persistentStoreDescriptions = \[.cairn.*' squasher/Sources/BugSquasher/PersistentContainer.swift)
build_consumer squasher
program="$root/.build-consumer/debug/BugSquasher"
mkdir bugs-in-cairn
touch bugs-in-cairn/bugs.txt
prints "$here/bugs-added.txt" bugs-in-cairn add Ant add Bee add Cockroach
prints "$here/bugs-changed.txt" bugs-in-cairn list edit Bee Wasp squash Ant
prints "$here/bugs-left.txt" bugs-in-cairn list
[[ -d bugs-in-cairn/bugs.txt ]] || { echo "BugSquasher: Cairn keeps no directory" >&2; exit 1; }

build NSHipster Articles.xcdatamodeld Model
prints "$here/articles-written.txt" articles write
prints "$here/articles-read.txt" articles read
prints "$here/article-moved.txt" articles move
prints "$here/articles-read-again.txt" articles read
shows NSHipster "$here/articles-written.txt" "$here/articles-read.txt"
refuses
refuses articles
refuses articles burn

build Notes Notes.xcdatamodeld Model
cp "$here/notes.txt" .
prints "$here/notes-imported.txt" notes import notes.txt list
prints "$here/notes-edited.txt" notes add Work Call rename Call "Call Ann" consider "Call Ann" "Call Bob"
prints "$here/notes-undone.txt" notes move "Fix bike" Work undo redo delete "Buy milk" undo list
shows Notes "$here"/notes-imported.txt "$here"/notes-edited.txt "$here"/notes-undone.txt
refuses
refuses notes
refuses notes add Home
echo "no folder" >notes.txt
fails notes import notes.txt

build FeedReader FeedReader.xcdatamodeld Model
prints "$here/feeds-read.txt" feeds subscribe 4 20000 read "Pond 5000: bittern at dawn" \
  star "Pond 1: kestrel with chicks" list Pond
prints "$here/feeds-updated.txt" feeds update list Pond unread search aland
prints <(echo "0 new articles") feeds subscribe 4 400
prints "$here/feeds-forgotten.txt" feeds forget-old 30 feeds starred
shows FeedReader "$here"/feeds-*.txt
refuses
refuses feeds
refuses feeds subscribe 0 100
refuses feeds forget-old soon
fails feeds list Pool
fails notes.txt feeds

build FieldLog FieldLog.xcdatamodeld Model
prints "$here/entry-measured.txt" log site Pond note Pond Heron 2 measure wing 455 measure bill 118 undo redo \
  first bill show save list
prints "$here/entry-corrected.txt" log edit Heron count 0 measure wing -3 save count 3 save undo list redo list
prints "$here/entry-discarded.txt" log edit Heron count 9 measure tail 170 undo show redo discard list \
  delete Heron undo list
shows FieldLog "$here"/entry-*.txt
refuses
refuses log
refuses log note Pond Heron two
fails log undo
fails log save
fails log site Pond
fails log edit Heron edit Heron
fails log edit Bittern

build_consumer "$root/Examples/Jobs"
program="$root/.build-consumer/debug/Jobs"
prints "$here/jobs-added.txt" jobs add mail welcome add mail "bad address" add mail receipt work mail list
prints "$here/jobs-retried.txt" jobs at 9 work mail at 10 work mail at 40 work mail at 99 work mail forget list
prints "$here/jobs-backed-up.txt" jobs backup copies list
prints "$here/jobs-restored.txt" restored restore copies list
prints "$here/jobs-beside.txt" jobs backup copies add mail reminder add mail newsletter work mail
shows Jobs "$here"/jobs-*.txt
fails copies list
refuses
refuses jobs
refuses jobs at noon
refuses jobs list restore copies
fails notes.txt list

classes "$root/Tools/catalogue/Objects/Catalogue.xcdatamodeld" "$root/Tools/catalogue/Objects/Model"
echo "the examples build, and find again what they have saved"
