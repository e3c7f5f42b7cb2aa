"""Adds what is known of a remote service to the store that `storewriter` writes: reads a dump of it as JSON lines, and
prints that of a store over a service. Written from section 10 of STORE-FORMAT.md."""

import hashlib
import json
import os
import struct
import sys

ANIMAL, PERSON, SAMPLE, CAT, DOG = 1, 7, 14, 30, 32
NAME_OF_ANIMAL, OWNER, EMAIL, NAME, PETS = 3, 4, 9, 12, 13
NIL, STRING, OBJECT = 0, 6, 12
INSERT, UPDATE, DELETE = range(3)
WAITING, SENT, REFUSED, UNKNOWN = range(4)
AT_NOON = 700_056_000.0


def varint(number):
  content = b""
  while number > 0x7F:
    content, number = content + bytes([number & 0x7F | 0x80]), number >> 7
  return content + bytes([number])


def counted(content):
  return varint(len(content)) + content


def text(content):
  return counted(content.encode())


def optional(content):
  return b"\0" if content is None else b"\1" + text(content)


def time(seconds):
  return struct.pack("<d", seconds)


def reference(number):
  digits = number.to_bytes((number.bit_length() + 7) // 8, "big")
  return bytes([0x20 + len(digits)]) + digits


def object_(entity, number):
  return varint(entity) + reference(number)


def ascending(*numbers):
  return varint(len(numbers)) + b"".join(varint(each - last) for last, each in zip((0, *numbers), numbers))


def several(objects):
  return varint(len(objects)) + b"".join(object_(*each) for each in objects)


def row(*fields):
  content, last = b"\1", 0
  for number, kind, value in fields:
    content, last = content + varint((number - last) * 16 + kind) + value, number
  return content


def origin(entity, identifier, tag=None, read=0.0, pinned=0, sets=(), changes=()):
  return (b"\1" + varint(entity) + optional(identifier) + optional(tag) + time(read) + bytes([pinned]) + ascending(*sets)
          + ascending(*changes))


def change(of, kind, state, attempts=0, earliest=0.0, before=row(), after=row(), members=(), refusal=""):
  return (b"\1" + object_(*of) + bytes([kind, state]) + bytes(range(16)) + varint(attempts) + time(earliest)
          + counted(before) + counted(after) + varint(len(members))
          + b"".join(varint(each) + several(added) + several(removed) for each, added, removed in members)
          + text(refusal))


def lists(key, entity, pages, former=(), generation=1, complete=1, begun=0.0, read=0.0, tag=None, cursor=None,
          fresh=None):
  name = hashlib.sha256(key.encode()).hexdigest()[:32]
  found = {name: (b"\1" if fresh is None else b"\2") + text(key) + varint(entity) + varint(generation)
           + varint(len(pages)) + varint(len(former)) + bytes([complete]) + time(begun) + time(read) + optional(tag)
           + optional(cursor) + (b"" if fresh is None else time(fresh))}
  for number, stored in ((generation - 1, former), (generation, pages)):
    for page, objects in enumerate(stored):
      found[f"{name}/{number}/{page:08}"] = b"\1" + several(objects)
  return found


TABLES = {
    "table 4294967294": {
        1: origin(PERSON, "a1", "w/1", AT_NOON, sets=[PETS], changes=[2]),
        2: origin(PERSON, "a2", "w/2", AT_NOON + 0.5, pinned=1),
        4: origin(PERSON, "a4", "w/4", changes=[3]),
        5: origin(DOG, None, changes=[1]),
        6: origin(CAT, "tom\n6", read=AT_NOON),
        7: origin(ANIMAL, "fox", "3", AT_NOON, changes=[5]),
        9: origin(SAMPLE, "s9"),
        99: origin(DOG, None, changes=[6, 7]),
    },
    "table 4294967293": {
        **lists("Animal all", ANIMAL, [[(ANIMAL, 7), (CAT, 6)], [(CAT, 98)]], [[(ANIMAL, 7)]], 3, 0, AT_NOON + 60, AT_NOON, "l",
                "next"),
        **lists("Person people", PERSON, [[(PERSON, 1), (PERSON, 2)]], begun=AT_NOON, read=AT_NOON, fresh=90.0),
    },
    "table 4294967292": {
        1: change((DOG, 5), INSERT, WAITING, after=row(
            (NAME_OF_ANIMAL, STRING, text("Rex")), (OWNER, OBJECT, counted(object_(PERSON, 1))))),
        2: change((PERSON, 1), UPDATE, SENT, 1, before=row((EMAIL, NIL, b"")), after=row(
            (EMAIL, STRING, text("a@example.org"))), members=[(PETS, [(DOG, 5)], [])]),
        3: change((PERSON, 4), DELETE, UNKNOWN, 2, before=row((NAME, STRING, text("Old")))),
        5: change((ANIMAL, 7), UPDATE, REFUSED, 1, before=row((NAME_OF_ANIMAL, STRING, text("Foxy"))), after=row(
            (NAME_OF_ANIMAL, STRING, text("Fox"))), refusal="The name is taken."),
        6: change((DOG, 99), INSERT, SENT, 12, AT_NOON + 60),
        7: change((DOG, 99), DELETE, WAITING),
    },
}
HEAD = b"\1" + text("ann@example.org") + varint(8) + optional("42")
IDENTIFIERS = sorted(b"\0" + varint(entity) + text(identifier) + reference(number) for identifier, entity, number in [
    ("a1", PERSON, 1), ("a2", PERSON, 2), ("a4", PERSON, 4), ("tom\n6", CAT, 6), ("fox", ANIMAL, 7), ("s9", SAMPLE, 9)])


def packed(entries):
  content, last = b"", b""
  for entry in entries:
    shared = len(os.path.commonprefix([last, entry]))
    content, last = content + varint(shared) + counted(entry[shared:]), entry
  return content


def changed(keyspace, key, value):
  """A row that is another in a store over a service."""
  if keyspace == f"table {SAMPLE}" and key == {"integer": 9}:
    return b"\2"
  if keyspace == f"table {CAT}" and key == {"integer": 6}:
    assert value.endswith(b"\x12")
    # Without the lives, whose field has three bytes.
    return b"\2" + value[1:-3]
  if keyspace == "entries" and key == {"hex": ""}:
    # The count is one byte, and what was the first entry shares nothing with the one before it.
    return bytes([1, value[1] + len(IDENTIFIERS)]) + packed(IDENTIFIERS) + value[2:]
  return value


def main():
  keyspaces, last = {}, 0
  for line in sys.stdin:
    item = json.loads(line)
    if "schema" in item:
      last = item["lastSequence"]
    elif "keyspace" in item:
      keyspaces[item["keyspace"]] = item["name"]
    elif "in" in item:
      value = item["value"]
      before = bytes.fromhex(value["hex"]) if "hex" in value else value["text"].encode()
      item["value"] = {"hex": changed(keyspaces[item["in"]], item["key"], before).hex()}
    else:
      number = next(number for number, name in keyspaces.items() if name == "table 0")
      added = {number: {5: HEAD}}
      for name, rows in TABLES.items():
        number = max(keyspaces) + 1
        keyspaces[number] = name
        added[number] = rows
        print(json.dumps({"keyspace": number, "name": name, "order": "ordered", "retention": 1, "definedAt": last}))
      for number, rows in added.items():
        for key, content in rows.items():
          key = {"integer": key} if isinstance(key, int) else {"text": key}
          print(json.dumps(
              {"in": number, "key": key, "value": {"hex": content.hex()}, "version": 1, "sequence": last}))
          item["rows"], item["versions"] = item["rows"] + 1, item["versions"] + 1
    print(json.dumps(item))


main()
