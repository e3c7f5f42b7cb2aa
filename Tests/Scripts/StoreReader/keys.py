#!/usr/bin/env python3
"""Lists the keys that objects have for uniqueness constraints: STORE-FORMAT.md, section 6. Each has to be that of its row, and
each row has to have all of its keys.

  keys.py STORE    prints the keys of each object that has any, one object a line, as JSON
"""

import hashlib
import json
import sys
import unicodedata

from reader import DATE, DECIMAL, DOUBLE, FLOAT, NULL, STRING, Objects, demand


def varint(number):
  encoding = bytearray()
  while number >= 0x80:
    encoding.append(number & 0x7F | 0x80)
    number >>= 7
  return bytes(encoding + bytes([number]))


def part(kind, encoding, content):
  """A field of a row as keys have it."""
  if kind == STRING:
    text = unicodedata.normalize("NFC", content).encode()
    encoding = varint(len(text)) + text
  if kind in (DOUBLE, FLOAT, DATE) and not any(encoding[:-1]) and encoding[-1] == 0x80:
    encoding = bytes(len(encoding))
  return bytes([kind]) + encoding


def is_missing(field):
  kind, _, content = field
  number = content["date"] if kind == DATE else content["decimal"] if kind == DECIMAL else content
  return kind == NULL or kind in (DOUBLE, FLOAT, DATE) and number != number or kind == DECIMAL and number == "NaN"


def keys(objects, reference):
  """The keys that a row has to have, by the numbers of their constraints."""
  fields, found = objects.objects[reference]["fields"], {}
  for number, attributes in objects.schema.inherited(objects.schema.constraints, reference[0]).items():
    if not any(is_missing(fields.get(each, (NULL, b"", None))) for each in attributes):
      key = b"".join(part(*fields[each]) for each in attributes)
      found[number] = hashlib.sha256(key).digest() if len(key) > 200 else key
  return found


def main(store):
  objects = Objects(store)
  names = {number: name for declared in objects.schema.declared.values() for number, (name, *_) in declared.items()}
  constraints = {number: what for declared in objects.schema.constraints.values() for number, what in declared.items()}
  for reference in sorted(objects.objects, key=lambda each: (objects.schema.names[each[0]], each[1])):
    expected = keys(objects, reference)
    found = [(number, key) for number, key, holder in objects.keys if holder == reference]
    demand(sorted(expected.items()) == sorted(found), f"{objects.name(reference)} has other keys than its row says")
    if found:
      line = {"+".join(names[each] for each in constraints[number]): key.hex() for number, key in sorted(found)}
      print(json.dumps({"object": objects.name(reference), **line}))
  holders = {holder for _, _, holder in objects.keys}
  demand(holders <= objects.objects.keys(), "a key has a holder that does not exist")


if __name__ == "__main__":
  main(*sys.argv[1:])
