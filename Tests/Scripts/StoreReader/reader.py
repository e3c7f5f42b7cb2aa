#!/usr/bin/env python3
"""Lists the objects of a Core Data store that Cairn keeps, with their relationships. Written from STORE-FORMAT.md alone, on
the reader of FORMAT.md; shares no code with either module.

  reader.py STORE              prints the objects, one a line, as JSON, by entity and reference
  reader.py STORE --history    prints the transactions of the history, one a line, as JSON, without times and processes
"""

import json
import os
import struct
import sys
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "FormatReader"))
from cairn_reader import Refusal, Store, crc32c, decode_reference, demand

NULL, FALSE, TRUE, INTEGER, DOUBLE, FLOAT, STRING, DATA, DATE, UUID, DECIMAL, URI, OBJECT, TRANSFORMED, COMPOSITE, \
    IDENTIFIER = range(16)


class Input:
  """Bytes being read."""

  def __init__(self, data):
    self.data, self.position = bytes(data), 0

  @property
  def is_at_end(self):
    return self.position == len(self.data)

  def take(self, count):
    demand(self.position + count <= len(self.data), "bytes end too early")
    self.position += count
    return self.data[self.position - count:self.position]

  def byte(self):
    return self.take(1)[0]

  def varint(self):
    value = 0
    for place in range(10):
      byte = self.byte()
      value |= (byte & 0x7F) << 7 * place
      if byte < 0x80:
        demand(value < 1 << 64, "a varint is too long")
        return value
    raise Refusal("a varint is too long")

  def counted(self):
    return self.take(self.varint())

  def text(self):
    return self.counted().decode()

  def end(self):
    demand(self.is_at_end, "bytes are left over")


# Section 2: references ------------------------------------------------------------------------------------------------


def reference(data):
  kind = data.byte()
  if 0x20 <= kind <= 0x28:
    return int.from_bytes(data.take(kind - 0x20), "big")
  if 0x18 <= kind < 0x20:
    return -1 - int.from_bytes(bytes(255 - byte for byte in data.take(0x20 - kind)), "big")
  if kind == 0x40:
    return str(uuid.UUID(bytes=data.take(16))).upper()
  demand(kind == 0x30, f"a reference begins with {kind:#x}")
  content = bytearray()
  while True:
    byte = data.byte()
    if byte == 0:
      following = data.byte()
      if following == 0:
        return content.decode()
      demand(following == 0xFF, "a zero is not escaped")
    content.append(byte)


def object_reference(data):
  return data.varint(), reference(data)


# Section 5: the schema ------------------------------------------------------------------------------------------------


class Schema:
  def __init__(self, row):
    data = Input(row)
    demand(data.byte() == 2, "the schema has another format")
    self.next = data.varint()
    self.names, self.parents, self.abstract = {}, {}, set()
    self.declared, self.constraints = {}, {}
    for _ in range(data.varint()):
      number = data.varint()
      self.names[number], self.parents[number] = data.text(), data.varint()
      if data.byte():
        self.abstract.add(number)
      data.text()
      for _ in range(data.varint()):
        data.text()
      self.declared[number] = dict(self.property(data) for _ in range(data.varint()))
      self.constraints[number] = {
          data.varint(): [data.varint() for _ in range(data.varint())] for _ in range(data.varint())}
    self.indexes = {}
    for _ in range(data.varint()):
      number, entity = data.varint(), data.varint()
      properties = [data.varint() for _ in range(data.varint())]
      conditions = [(data.varint(), data.byte(), data.counted()) for _ in range(data.varint())]
      self.indexes[number] = entity, properties, conditions
      demand(data.byte() == 0, f"the index {number} is not ready")
    data.varint()
    demand(data.varint() == 0, "a migration has left something to be removed")
    data.end()

  @staticmethod
  def property(data):
    number, name, kind = data.varint(), data.text(), data.byte()
    what = data.varint() if kind == 0 else (data.varint(), data.varint(), data.byte())[:2]
    data.text()
    demand(data.byte() < 2, f"rows without {name} have a value for it")
    return number, (name, kind, what)

  def inherited(self, declared, entity):
    """What an entity declares or inherits, by number."""
    found = {}
    while entity:
      found |= declared[entity]
      entity = self.parents[entity]
    return found


# Section 4: rows ------------------------------------------------------------------------------------------------------


def value(data, kind):
  """A value as JSON."""
  return {
      NULL: lambda: None, FALSE: lambda: False, TRUE: lambda: True,
      INTEGER: lambda: (lambda z: z >> 1 ^ -(z & 1))(data.varint()),
      DOUBLE: lambda: struct.unpack("<d", data.take(8))[0], FLOAT: lambda: struct.unpack("<f", data.take(4))[0],
      STRING: data.text, DATA: lambda: {"data": data.counted().hex()},
      DATE: lambda: {"date": struct.unpack("<d", data.take(8))[0]},
      UUID: lambda: {"uuid": str(uuid.UUID(bytes=data.take(16)))}, DECIMAL: lambda: {"decimal": data.text()},
      URI: lambda: {"uri": data.text()}, OBJECT: lambda: object_reference(Input(data.counted())),
      TRANSFORMED: lambda: {"transformed": transformed(data.counted()).hex()},
      COMPOSITE: lambda: composite(Input(data.counted())),
      IDENTIFIER: lambda: {"object": data.text().split("/", 3)[3]},
  }[kind]()


def transformed(content):
  checksum, data = int.from_bytes(content[:4], "little"), content[4:]
  demand(checksum == crc32c(data), "a transformable value has a wrong checksum")
  return data


def composite(data):
  elements = {}
  for _ in range(data.varint()):
    name = data.text()
    elements[name] = value(data, data.byte())
  data.end()
  return elements


def fields(row):
  data = Input(row)
  demand(data.byte() in (1, 2), "a row has another format")
  found, number = {}, 0
  while not data.is_at_end:
    head = data.varint()
    demand(head >> 4, "the numbers of properties do not rise")
    number += head >> 4
    start = data.position
    content = value(data, head & 15)
    found[number] = (head & 15, data.data[start:data.position], content)
  return found


# Section 7: packs -----------------------------------------------------------------------------------------------------


def entries(packs):
  """All entries, from packs with their references in order."""
  found = []
  for bound, row in packs:
    data = Input(row)
    demand(data.byte() == 1, "a pack has another format")
    count, entry, first = data.varint(), b"", len(found)
    demand(count, "a pack is empty")
    for _ in range(count):
      entry = entry[:data.varint()] + data.counted()
      demand(not found or entry > found[-1], "entries do not rise")
      found.append(entry)
    data.end()
    demand(found[first] >= bound and (first == 0 or found[first - 1] < bound), "packs overlap")
  return found


# Section 9: history ---------------------------------------------------------------------------------------------------

HISTORY = "table 4294967295"


# Section 10: the origins, lists and outbox of a remote service are no objects.
ORIGINS = "table 4294967294"
REMOTE = {ORIGINS, "table 4294967293", "table 4294967292"}


def optional_text(data):
  kind = data.byte()
  demand(kind < 2, "a text is neither there nor missing")
  return data.text() if kind else None


def transaction(row):
  data = Input(row)
  demand(data.byte() == 1, "a transaction has another format")
  found = {"mark": data.take(8), "time": struct.unpack("<d", data.take(8))[0], "author": optional_text(data),
           "context": optional_text(data), "program": data.text(), "process": data.text(), "first": data.varint()}
  count, found["changes"] = data.varint(), []
  while not data.is_at_end:
    entity = data.varint()
    for _ in range(data.varint()):
      changed, kind, content = (entity, reference(data)), data.byte(), None
      demand(kind < 3, "a change is of an unknown kind")
      if kind == 1:
        content = []
        for _ in range(data.varint()):
          content.append(data.varint() + (content[-1] if content else 0))
        demand(content == sorted(set(content)) and 0 not in content, "properties do not rise")
      elif kind == 2:
        kept = data.counted()
        content = fields(kept) if kept else {}
      found["changes"].append((kind, changed, content))
  demand(len(found["changes"]) == count, "a transaction has another number of changes")
  return found


# All of it ------------------------------------------------------------------------------------------------------------


class Objects:
  def __init__(self, path):
    store = Store(path)
    tables = {}
    for (keyspace, key), record in sorted(store.rows.items()):
      tables.setdefault(store.keyspaces[keyspace], []).append(
          (decode_reference(key), record.version, bytes(record.value(store.dictionaries))))
    head = {number: row for (_, number), _, row in tables["table 0"]}
    demand(head[1].startswith(b"bplist00"), "the metadata are no property list")
    self.schema = Schema(head[2])
    self.objects, self.keys, self.indexed = {}, [], set()
    for name, rows in tables.items():
      if name.startswith("table ") and name not in {"table 0", HISTORY} | REMOTE:
        entity = int(name[6:])
        for (kind, number), version, row in rows:
          number = number.upper() if kind == "uuid" else number
          self.objects[entity, number] = {"version": version, "fields": fields(row), "members": {}}
    for name, rows in tables.items():
      if name.startswith("touches "):
        self.read_touches(int(name[8:]), rows)
    self.origins = {number for (_, number), _, _ in tables.get(ORIGINS, [])}
    self.read_entries(entries((bytes.fromhex(bound), row) for (_, bound), _, row in tables.get("entries", [])))

    self.transactions = {number: transaction(row) for (_, number), _, row in tables.get(HISTORY, [])}
    if 4 in head:
      self.check_history(Input(head[4]))

  def check_history(self, data):
    demand(data.byte() == 1, "the head of the history has another format")
    last, mark = data.varint(), data.take(8)
    expired, _, changes = data.varint(), data.take(8), data.varint()
    data.end()
    demand(expired <= last, "a position has expired that was never given")
    demand(all(0 < number <= last for number in self.transactions), "a transaction has a number that was never given")
    demand(last not in self.transactions or self.transactions[last]["mark"] == mark, "the last transaction has another mark")
    next_change = 0
    for _, each in sorted(self.transactions.items()):
      demand(each["first"] >= next_change, "two changes have one number")
      next_change = each["first"] + len(each["changes"])
    demand(next_change <= changes, "a change has a number that was never given")

  def described_transaction(self, number):
    found = self.transactions[number]
    properties = {each: what[0] for declared in self.schema.declared.values() for each, what in declared.items()}
    changes = []
    for kind, changed, content in found["changes"]:
      line = {"change": ("insert", "update", "delete")[kind], "object": self.name(changed)}
      if kind == 1:
        line["properties"] = [properties[each] for each in content]
      elif kind == 2:
        line["tombstone"] = {properties[each]: field[2] for each, field in content.items()}
      changes.append(line)
    return json.dumps({"transaction": number, "author": found["author"], "context": found["context"], "changes": changes})

  def read_touches(self, entity, rows):
    for (kind, number), version, row in rows:
      number = number.upper() if kind == "uuid" else number
      demand(not row, "a row that counts touches is not empty")
      demand((entity, number) in self.objects, f"{number} of {entity} was touched and does not exist")
      self.objects[entity, number]["version"] += version

  def read_entries(self, found):
    schema = self.schema
    properties = {number: what for declared in schema.declared.values() for number, what in declared.items()}
    for entry in found:
      data = Input(entry)
      number = data.varint()
      if number in schema.indexes:
        self.indexed.add(entry)
        continue
      if number == 0:
        data.varint(), data.text()
        demand(object_reference(data)[1] in self.origins, "a remote identifier is that of no origin")
        data.end()
        continue
      if number not in properties:
        self.keys.append((number, data.counted(), object_reference(data)))
      else:
        owner = reference(data)
        if properties[number][1] == 3:
          data.take(8)
        member = object_reference(data)
        owners = [each for each in self.objects
                  if each[1] == owner and number in schema.inherited(schema.declared, each[0])]
        demand(len(owners) == 1, f"an entry of {number} has {len(owners)} owners")
        self.objects[owners[0]]["members"].setdefault(number, []).append(member)
      data.end()

  def name(self, reference):
    return f"{self.schema.names[reference[0]]}/p{reference[1]}"

  def described(self, reference):
    schema, found = self.schema, self.objects[reference]
    line = {"object": self.name(reference), "version": found["version"]}
    demand(reference[0] not in schema.abstract, f"{reference} is of an abstract entity")
    for number, (name, kind, _) in sorted(schema.inherited(schema.declared, reference[0]).items(), key=lambda item: item[1]):
      if kind > 1:
        line[name] = [self.name(member) for member in found["members"].get(number, [])]
      elif number in found["fields"]:
        content = found["fields"][number][2]
        line[name] = self.name(content) if kind == 1 and content else content
    return json.dumps(line, ensure_ascii=False)


def main(arguments):
  if len(arguments) not in (1, 2) or arguments[1:] not in ([], ["--history"]):
    print(__doc__, file=sys.stderr)
    return 64
  try:
    objects = Objects(arguments[0])
    names = objects.schema.names
    if arguments[1:]:
      for number in sorted(objects.transactions):
        print(objects.described_transaction(number))
      return 0
    for each in sorted(objects.objects, key=lambda each: (names[each[0]], each[1])):
      print(objects.described(each))
  except (Refusal, OSError) as problem:
    print(f"reader: {problem}", file=sys.stderr)
    return 2
  return 0


if __name__ == "__main__":
  sys.exit(main(sys.argv[1:]))
