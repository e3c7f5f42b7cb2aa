#!/usr/bin/env python3
"""Reads a Cairn store. Written from Documentation/FORMAT.md alone; shares no code with the engine.

  cairn_reader.py STORE             prints the names of the keyspaces, one a line, as JSON
  cairn_reader.py STORE KEYSPACE    prints the rows, one a line, as `kvdump scan --format jsonl` does, in the order of keys
  cairn_reader.py STORE KEYSPACE history
                                    prints every version that is kept, newest first, in the order of keys; null for a deletion
"""

import os
import struct
import sys
import uuid

import lz4.block


class Refusal(Exception):
  """The store is not as the format says; the text tells what and where."""


def demand(condition, words):
  if not condition:
    raise Refusal(words)


# Checksums ------------------------------------------------------------------------------------------------------------


def make_table():
  table = []
  for value in range(256):
    for _ in range(8):
      value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    table.append(value)
  return table


CRC_TABLE = make_table()


def crc_register(register, data):
  for byte in data:
    register = CRC_TABLE[(register ^ byte) & 0xFF] ^ register >> 8
  return register


def crc32c(data):
  return crc_register(0xFFFFFFFF, data) ^ 0xFFFFFFFF


# Section 2: the manifest ----------------------------------------------------------------------------------------------


def padded(length):
  return (length + 7) // 8 * 8


RETENTION = 1 << 1
TIMELINES = 1 << 2
CHANGE_READERS = 1 << 3


def check_versions(major, incompatible, what):
  demand(major == 1 and incompatible & ~(RETENTION | TIMELINES | CHANGE_READERS) == 0, f"{what}: newer format")


class Manifest:
  FIXED = struct.Struct("<8sHHIQQ16sQQQIIIIIIQQQQ")

  def __init__(self, data):
    demand(len(data) >= 136, "MANIFEST: too short")
    fields = self.FIXED.unpack_from(data)
    (magic, major, _, length, incompatible, _, self.store, self.generation, self.seed, self.segment_size, self.epoch,
     self.next_segment, self.next_keyspace, segments, keyspaces, checkpoints, self.timeline,
     self.highest_sequence, self.sealed_sequence, reserved) = fields
    demand(magic == b"CAIRNMAN", "MANIFEST: not a manifest")
    check_versions(major, incompatible, "MANIFEST")
    demand(length == len(data), "MANIFEST: wrong length")
    checksum, end = struct.unpack("<II", data[-8:])
    demand(checksum == crc32c(data[:-8]) and end == 0, "MANIFEST: wrong checksum")
    demand(reserved == 0, "MANIFEST: reserved bytes are set")
    demand(self.timeline == 0 or incompatible & TIMELINES, "MANIFEST: a timeline without the feature")

    self.segments = []
    position = 128
    for _ in range(segments):
      self.segments.append(SegmentEntry(*struct.unpack_from("<IIQQQ", data, position)))
      position += 32
    self.keyspaces = {}
    for _ in range(keyspaces):
      number, order, state, name_length, _, retained, reserved = struct.unpack_from("<IBBHQII", data, position)
      demand(order <= 1 and state == 1 and reserved == 0, "MANIFEST: invalid keyspace entry")
      demand(retained == 0 or incompatible & RETENTION, "MANIFEST: old versions without the feature")
      position += 24
      name = data[position:position + padded(name_length)]
      demand(not any(name[name_length:]), "MANIFEST: padding is not zero")
      self.keyspaces[number] = name[:name_length].decode()
      position += len(name)
    for _ in range(checkpoints):
      # They only make opening fast.
      _, reserved, *_ = struct.unpack_from("<IIQQQ", data, position)
      demand(reserved == 0, "MANIFEST: invalid checkpoint entry")
      position += 32
    if incompatible & CHANGE_READERS:
      _, readers, reserved = struct.unpack_from("<QII", data, position)
      demand(reserved == 0, "MANIFEST: invalid change readers")
      position += 16
      for _ in range(readers):
        *_, name_length, state, reserved = struct.unpack_from("<QQQQHB5s", data, position)
        demand(state <= 1 and not any(reserved), "MANIFEST: invalid change reader")
        position += 40
        name = data[position:position + padded(name_length)]
        demand(not any(name[name_length:]), "MANIFEST: padding is not zero")
        name[:name_length].decode()
        position += len(name)
    demand(position == len(data) - 8, "MANIFEST: bytes are left over")


class SegmentEntry:
  def __init__(self, number, epoch, end, base, last):
    self.number, self.epoch, self.end, self.base, self.last = number, epoch, end, base, last

  @property
  def is_sealed(self):
    return self.end > 0


# Sections 3 to 5: segments, frames, records ---------------------------------------------------------------------------


class Segment:
  is_compacted = False
  HEADER = struct.Struct("<8sHHIQQ16sIIQQQQQQ20sI")

  def __init__(self, data, entry):
    self.data = data
    self.number = entry.number
    self.is_used = any(data[:128])
    if not self.is_used:
      demand(not entry.is_sealed, f"segment {self.number}: there is no header")
      return
    demand(len(data) >= 128, f"segment {self.number}: too short")
    (magic, major, _, kind, incompatible, _, self.store, number, self.epoch, self.base, _, sequence, place, _, compacted,
     reserved, checksum) = self.HEADER.unpack_from(data)
    demand(magic == b"CAIRNSEG" and checksum == crc32c(data[:124]), f"segment {self.number}: invalid header")
    check_versions(major, incompatible, f"segment {self.number}")
    self.is_compacted = kind == 2
    self.compacted_sequence = compacted
    demand(kind == 1 and compacted == 0 or kind == 2 and entry.is_sealed, f"segment {self.number}: invalid header")
    demand(not any(reserved), f"segment {self.number}: invalid header")
    demand(number == entry.number and entry.epoch in (0, self.epoch), f"segment {self.number}: belongs elsewhere")
    self.watermark = (sequence, place)
    self.seed = crc_register(0xFFFFFFFF, self.store + struct.pack("<II", number, self.epoch))

  def checksum(self, offset, data):
    return crc_register(self.seed ^ offset // 8, data)

  def place(self, offset):
    return self.number << 32 | offset // 8

  def frame(self, offset, limit):
    """The frame at an offset; None if anything in it is invalid."""
    if limit - offset < 48:
      return None
    kind, checksum, units, count, sequence, _, durable, place = struct.unpack_from("<IIIIQQQQ", self.data, offset)
    length = 8 * units
    if kind != 0x314D5246 or length < 48 or length > limit - offset:
      return None
    register = self.checksum(offset, self.data[offset + 8:offset + 48])
    records = []
    position = offset + 48
    for _ in range(count):
      try:
        record = Record(self, position, offset + length)
      except Refusal:
        return None
      if record.sequence != sequence and not self.is_compacted:
        return None
      register = crc_register(register, self.data[position:position + 4])
      records.append(record)
      position = record.end
    if position != offset + length or register ^ 0xFFFFFFFF != checksum:
      return None
    return Frame(sequence, length, (durable, place), records)


class Frame:
  def __init__(self, sequence, length, watermark, records):
    self.sequence, self.length, self.watermark, self.records = sequence, length, watermark, records


class Record:
  def __init__(self, segment, start, limit):
    data = segment.data
    demand(limit - start >= 16, "record: cut off")
    checksum, tag = struct.unpack_from("<IB", data, start)
    self.kind = tag & 0x0F
    is_compressed = tag & 0x10 != 0
    has_dictionary = tag & 0x20 != 0
    demand(tag & 0xC0 == 0, "record: unknown flags")
    demand(not has_dictionary or (is_compressed and self.kind == 1), "record: a dictionary that nothing uses")
    position = start + 5

    def varint():
      nonlocal position
      value = 0
      for shift in range(0, 70, 7):
        demand(position < limit, "varint: cut off")
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
          demand((byte > 0 or shift == 0) and value < 1 << 64, "varint: not the shortest form, or too large")
          return value
      raise Refusal("varint: too long")

    self.keyspace = varint()
    key_length = varint()
    stored_length = varint()
    self.raw_length = varint() if is_compressed else None
    self.dictionary = varint() if has_dictionary else None
    demand(self.dictionary is None or 1 <= self.dictionary <= 1 << 31, "record: invalid dictionary")
    self.sequence = segment.base + varint()
    self.version = varint()
    demand(key_length <= 65536 and stored_length <= 1 << 30 and (self.raw_length or 0) <= 1 << 30, "record: too long")
    end = position + key_length + stored_length
    self.end = start + padded(end - start)
    demand(self.end <= limit and not any(data[end:self.end]), "record: padding is not zero")
    demand(segment.checksum(start, data[start + 4:end]) ^ 0xFFFFFFFF == checksum, "record: wrong checksum")
    demand(1 <= self.kind <= 6, "record: unknown kind")
    self.key = data[position:position + key_length]
    self.stored = data[position + key_length:end]

  def value(self, dictionaries):
    if self.raw_length is None:
      return self.stored
    if self.dictionary is None:
      value = lz4.block.decompress(self.stored, uncompressed_size=self.raw_length)
    else:
      demand(self.dictionary in dictionaries, f"dictionary {self.dictionary} is missing")
      value = lz4.block.decompress(
          self.stored, uncompressed_size=self.raw_length, dict=dictionaries[self.dictionary])
    demand(len(value) == self.raw_length, "a value has the wrong length")
    return value


# Section 11: reading a store -------------------------------------------------------------------------------------------


class Store:
  def __init__(self, path):
    with open(os.path.join(path, "MANIFEST"), "rb") as file:
      self.manifest = Manifest(file.read())
    self.keyspaces = dict(self.manifest.keyspaces)
    self.records = {}
    self.retentions = {}
    self.dropped = set()
    self.dictionaries = {}
    self.last = 0
    self.end = 0
    self.watermark = (0, 0)
    self.has_ended = False
    epoch = 0
    for entry in self.manifest.segments:
      with open(os.path.join(path, f"{entry.number:010}.segment"), "rb") as file:
        data = file.read()
      demand(len(data) >= entry.end, f"segment {entry.number}: too short")
      try:
        segment = Segment(data, entry)
      except Refusal:
        # The header of a segment that isn't sealed may be torn.
        if entry.is_sealed or "newer" in str(sys.exc_info()[1]):
          raise
        self.has_ended = True
        self.look_after_header(data, entry)
        continue
      if not segment.is_used:
        self.look_after_header(data, entry)
        continue
      demand(segment.store == self.manifest.store, f"segment {entry.number}: belongs to another store")
      if segment.is_compacted:
        self.note((segment.compacted_sequence, 0))
        self.read_compacted(segment, entry)
        continue
      self.note(segment.watermark)
      if not entry.is_sealed:
        self.last = max(self.last, self.manifest.sealed_sequence)
      follows = segment.base == self.last or (segment.base > self.last and (segment.epoch > epoch or entry.is_sealed))
      if self.has_ended or not follows:
        demand(not entry.is_sealed, f"segment {entry.number}: does not continue the log")
        self.has_ended = True
        self.look_after(segment, 128)
      else:
        epoch = segment.epoch
        self.read(segment, entry)
    is_open = any(not entry.is_sealed and entry.number == self.watermark[1] >> 32 for entry in self.manifest.segments)
    demand(self.end >= self.watermark[1] or not is_open, "the log ends before its watermark")
    demand(max(self.last, self.manifest.sealed_sequence) >= self.watermark[0], "the log ends before its watermark")
    self.keyspaces = {number: name for number, name in self.keyspaces.items() if number not in self.dropped}
    self.rows = {}
    self.histories = {}
    for place, records in self.records.items():
      demand(place[0] in self.keyspaces or place[0] in self.dropped, f"keyspace {place[0]} is not defined")
      if place[0] in self.dropped:
        continue
      versions = [records[sequence] for sequence in sorted(records, reverse=True)]
      if versions[0].kind == 1:
        self.rows[place] = versions[0]
      self.histories[place] = versions[:self.kept(place[0], versions)]

  def kept(self, keyspace, versions):
    """How many of a row's versions are kept, newest first."""
    retentions = [0] + [count for _, count in sorted(self.retentions.get(keyspace, {}).items())]
    ends = sorted(self.retentions.get(keyspace, {})) + [1 << 64]
    count = len(versions)
    for old_versions, end in zip(retentions, ends):
      later = sum(version.sequence >= end for version in versions)
      if later < len(versions):
        is_gone = old_versions == 0 and versions[later].kind == 2
        count = min(count, later + (0 if is_gone else old_versions + 1))
    return 0 if count == 1 and versions[0].kind == 2 else count

  def read_compacted(self, segment, entry):
    offset, number = 128, 0
    while offset < entry.end:
      frame = segment.frame(offset, entry.end)
      demand(frame is not None and frame.sequence == number + 1, f"segment {segment.number}: invalid at {offset}")
      number += 1
      for record in frame.records:
        self.apply(record)
      offset += frame.length
    demand(segment.base == entry.base, f"segment {segment.number}: wrong sequences")

  def note(self, watermark):
    self.watermark = tuple(map(max, self.watermark, watermark))

  def read(self, segment, entry):
    self.last = segment.base
    limit = entry.end if entry.is_sealed else len(segment.data) // 8 * 8
    offset = 128
    while offset < limit:
      frame = segment.frame(offset, limit)
      if frame is None or frame.sequence != self.last + 1:
        break
      self.last = frame.sequence
      self.note(frame.watermark)
      for record in frame.records:
        self.apply(record)
      offset += frame.length
    self.end = segment.place(offset)
    if entry.is_sealed:
      demand(offset == limit, f"segment {segment.number}: invalid at {offset}")
      demand((segment.base, self.last) == (entry.base, entry.last), f"segment {segment.number}: wrong sequences")
    elif any(segment.data[offset:]):
      self.has_ended = True
      self.look_after(segment, offset + 8)

  def look_after_header(self, data, entry):
    """Frames after an invalid header of a segment that isn't sealed, which is of the newest epoch."""
    if len(data) >= 128 + 48:
      segment = Segment.__new__(Segment)
      segment.data, segment.number, segment.base = data, entry.number, struct.unpack_from("<Q", data, 144)[0] - 1
      segment.seed = crc_register(
          0xFFFFFFFF, self.manifest.store + struct.pack("<II", entry.number, self.manifest.epoch))
      self.look_after(segment, 128)

  def look_after(self, segment, offset):
    """What lies after the end of the log still tells how far the log was durable."""
    while offset + 48 <= len(segment.data):
      frame = segment.frame(offset, len(segment.data))
      if frame:
        self.note(frame.watermark)
      offset += frame.length if frame else 8

  def apply(self, record):
    if record.kind == 3:
      demand(record.stored in (b"\0", b"\1"), "a keyspace has no order")
      self.keyspaces[record.keyspace] = record.key.decode()
      return
    if record.kind == 4:
      demand(not record.stored, "the drop of a keyspace has a value")
      record.key.decode()
      self.dropped.add(record.keyspace)
      return
    if record.kind == 5:
      demand(len(record.key) == 4 and record.version == 0, "a dictionary makes no sense")
      number = struct.unpack("<I", record.key)[0]
      content = bytes(record.value({}))
      demand(1 <= number <= 1 << 31 and 1 <= len(content) <= 65536, "a dictionary makes no sense")
      demand(number not in self.dictionaries, "a dictionary's id is used twice")
      self.dictionaries[number] = content
      return
    if record.kind == 6:
      demand(not record.key and len(record.stored) == 4, "a retention makes no sense")
      self.retentions.setdefault(record.keyspace, {})[record.sequence] = int.from_bytes(record.stored, "little")
      return
    demand(record.kind in (1, 2), f"a record of kind {record.kind}: newer format")
    demand(record.kind == 1 or not record.stored, "a tombstone has a value")
    place = (record.keyspace, bytes(record.key))
    self.records.setdefault(place, {})[record.sequence] = record


# Section 6: references ------------------------------------------------------------------------------------------------


def decode_reference(key):
  reference, end = decode_element(key, 0, 0)
  demand(end == len(key), "a key goes on after its end")
  return reference


def decode_element(key, position, depth):
  demand(position < len(key), "a key is cut off")
  kind = key[position]
  position += 1
  if 0x18 <= kind <= 0x28:
    length = abs(kind - 0x20)
    digits = key[position:position + length]
    demand(len(digits) == length, "an integer is cut off")
    if kind < 0x20:
      return ("integer", -int.from_bytes(bytes(255 - digit for digit in digits), "big")), position + length
    return ("integer", int.from_bytes(digits, "big")), position + length
  if kind == 0x2C:
    digits = bytes(key[position:position + 8])
    demand(len(digits) == 8, "a floating-point number is cut off")
    bits = int.from_bytes(digits, "big")
    bits = bits ^ (1 << 63) if bits >> 63 else bits ^ ((1 << 64) - 1)
    return ("double", struct.unpack(">d", bits.to_bytes(8, "big"))[0]), position + 8
  if kind == 0x30:
    content, position = decode_content(key, position, depth)
    return ("text", content.decode()), position
  if kind == 0x40:
    demand(position + 16 <= len(key), "a UUID is cut off")
    return ("uuid", str(uuid.UUID(bytes=bytes(key[position:position + 16])))), position + 16
  if kind == 0x48:
    content, position = decode_content(key, position, depth)
    return ("hex", content.hex()), position
  demand(kind == 0x50, f"a key of unknown type {kind:#x}")
  elements = []
  while position < len(key) and not (depth > 0 and key[position] == 0):
    element, position = decode_element(key, position, depth + 1)
    elements.append(element)
  if depth > 0:
    demand(position < len(key), "a tuple is cut off")
    position += 1
  return ("tuple", elements), position


def decode_content(key, position, depth):
  if depth == 0:
    return bytes(key[position:]), len(key)
  content = bytearray()
  while True:
    demand(position < len(key), "an element of a tuple is cut off")
    byte = key[position]
    position += 1
    if byte == 0:
      if position == len(key) or key[position] != 0xFF:
        return bytes(content), position
      position += 1
    content.append(byte)


# Printing -------------------------------------------------------------------------------------------------------------

ESCAPES = {'"': '\\"', "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
HIDDEN = [
    (0x00, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5),
    (0x180B, 0x180F), (0x200B, 0x200F), (0x2028, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)]


def quoted(text):
  def escaped(character):
    if character in ESCAPES:
      return ESCAPES[character]
    code = ord(character)
    if not any(low <= code <= high for low, high in HIDDEN):
      return character
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[place] << 8 | units[place + 1]:04x}" for place in range(0, len(units), 2))

  return '"' + "".join(map(escaped, text)) + '"'


def json_reference(reference):
  kind, content = reference
  if kind == "tuple":
    body = "[" + ",".join(map(json_reference, content)) + "]"
  else:
    body = str(content) if kind == "integer" else quoted(content)
  return f'{{"{kind}":{body}}}'


def json_value(value):
  try:
    text = value.decode()
    if not any((ord(character) < 0x20 and character not in "\t\n\r") or 0x7F <= ord(character) < 0xA0
               for character in text):
      return f'{{"text":{quoted(text)}}}'
  except UnicodeDecodeError:
    pass
  return f'{{"hex":"{value.hex()}"}}'


def main(arguments):
  if len(arguments) not in (1, 2) and arguments[2:] != ["history"]:
    print(__doc__, file=sys.stderr)
    return 64
  try:
    store = Store(arguments[0])
    lines = []
    if len(arguments) == 1:
      lines = [quoted(name) for _, name in sorted(store.keyspaces.items())]
    else:
      numbers = [number for number, name in store.keyspaces.items() if name == arguments[1]]
      demand(numbers, f"there is no keyspace {arguments[1]}")
      if len(arguments) == 2:
        found = ((place, record) for place, record in store.rows.items())
      else:
        found = ((place, record) for place, records in store.histories.items() for record in records)
      for (number, key), record in sorted(found, key=lambda row: row[0]):
        if number == numbers[0]:
          value = json_value(bytes(record.value(store.dictionaries))) if record.kind == 1 else "null"
          lines.append(
              f'{{"key":{json_reference(decode_reference(key))},"value":{value},'
              f'"version":{record.version},"sequence":{record.sequence}}}')
  except (Refusal, OSError) as problem:
    print(f"cairn_reader: {problem}", file=sys.stderr)
    return 2
  sys.stdout.buffer.write("".join(line + "\n" for line in lines).encode())
  return 0


if __name__ == "__main__":
  sys.exit(main(sys.argv[1:]))
