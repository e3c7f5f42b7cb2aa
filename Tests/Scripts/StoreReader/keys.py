#!/usr/bin/env python3
"""Lists the keys that objects have for uniqueness constraints: STORE-FORMAT.md, section 6. Each has to be that of its row, and
each row has to have all of its keys. The entries of declared indexes have to be those of the rows, too.

  keys.py STORE    prints the keys of each object that has any, one object a line, as JSON
"""

import decimal
import hashlib
import json
import struct
import sys
import unicodedata

from reader import DATA, DATE, DECIMAL, DOUBLE, FALSE, FLOAT, INTEGER, NULL, OBJECT, STRING, TRUE, UUID, Objects, demand


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


def encoded_object(entity, number):
  """An object whose reference is a positive number."""
  content = number.to_bytes((number.bit_length() + 7) // 8, "big")
  return varint(entity) + bytes([0x20 + len(content)]) + content


def ordered(tag, number):
  bits = struct.unpack(">Q", struct.pack(">d", number + 0.0))[0]
  return bytes([tag]) + ((~bits if bits >> 63 else bits | 1 << 63) & (1 << 64) - 1).to_bytes(8, "big")


def ordered_decimal(text):
  sign, digits, exponent = decimal.Decimal(text).as_tuple()
  digits, exponent = "".join(map(str, digits)), exponent + len(digits)
  if not digits.strip("0"):
    return b"\x0b\1"
  exponent, digits = exponent - len(digits) + len(digits.lstrip("0")), digits.strip("0")
  pairs = [digits[place:place + 2].ljust(2, "0") for place in range(0, len(digits), 2)]
  content = (exponent + (1 << 15)).to_bytes(2, "big") + bytes(1 + int(pair) for pair in pairs) + b"\0"
  return b"\x0b" + (b"\0" + bytes(0xFF - each for each in content) if sign else b"\2" + content)


def cut(tag, content):
  return bytes([tag]) + content[:40].replace(b"\0", b"\0\xff") + (b"\0\0" if len(content) <= 40 else b"\0\1")


def sorted_key(fields, properties):
  """The key of a row in an index of these properties."""
  key = b""
  for each in properties:
    kind, encoding, content = fields.get(each, (NULL, b"", None))
    seconds = content["date"] if kind == DATE else None
    key += {
        NULL: lambda: b"\1", FALSE: lambda: b"\3\x80" + bytes(7), TRUE: lambda: b"\3\x80" + bytes(6) + b"\1",
        INTEGER: lambda: b"\3" + (content + (1 << 63)).to_bytes(8, "big"),
        DOUBLE: lambda: ordered(4, content) if content == content else b"\2",
        FLOAT: lambda: ordered(4, content) if content == content else b"\2",
        DATE: lambda: ordered(7, seconds) if seconds == seconds else b"\6",
        STRING: lambda: cut(5, unicodedata.normalize("NFC", content).encode()),
        DECIMAL: lambda: b"\2" if content["decimal"] == "NaN" else ordered_decimal(content["decimal"]),
        DATA: lambda: cut(9, bytes.fromhex(content["data"])),
        UUID: lambda: b"\x08" + bytes.fromhex(content["uuid"].replace("-", "")),
        OBJECT: lambda: b"\x0a" + encoded_object(*content),
    }[kind]()
    if key.endswith(b"\0\1") and kind in (STRING, DATA):
      break
  return key


def holds(value, comparison, constant):
  """Whether a condition of a partial index is true for a value."""
  if comparison < 2:
    return (value == constant) == (comparison == 0)
  results = [value < constant, value <= constant, value > constant, value >= constant]
  return value[0] == constant[0] and results[comparison - 2]


def check_indexes(objects):
  expected = set()
  for number, (entity, properties, conditions) in objects.schema.indexes.items():
    for reference, found in objects.objects.items():
      ancestors, each = set(), reference[0]
      while each:
        ancestors.add(each)
        each = objects.schema.parents[each]
      if entity in ancestors and all(
          holds(sorted_key(found["fields"], [each]), *comparison) for each, *comparison in conditions):
        expected.add(varint(number) + sorted_key(found["fields"], properties) + encoded_object(*reference))
  demand(expected and expected == objects.indexed, "the entries of indexes are not those of the rows")


def main(store):
  objects = Objects(store)
  check_indexes(objects)
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
