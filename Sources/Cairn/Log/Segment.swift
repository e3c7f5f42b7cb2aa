import Synchronization

/// One file of the log, mapped for reading. Its numbers are written by the committer and read by anyone.
package final class Segment: Sendable {
  let id: UInt32
  let epoch: UInt32
  let path: String
  let file: any File
  let mapping: any Mapping
  let seed: PlaceSeed
  let baseSequence: UInt64
  /// The first of the numbers by which the segment table knows it.
  let slot: Int
  /// Length of the header and all frames.
  let end: Atomic<Int>
  let lastSequence: Atomic<UInt64>
  /// Bytes of records that are the newest of an existing row.
  let liveBytes = Atomic<Int>(0)

  init(
    id: UInt32, epoch: UInt32, path: String, file: any File, mapping: any Mapping, seed: PlaceSeed,
    baseSequence: UInt64, slot: Int, end: Int, lastSequence: UInt64
  ) {
    self.id = id
    self.epoch = epoch
    self.path = path
    self.file = file
    self.mapping = mapping
    self.seed = seed
    self.baseSequence = baseSequence
    self.slot = slot
    self.end = Atomic(end)
    self.lastSequence = Atomic(lastSequence)
  }

  package static func fileName(_ id: UInt32) -> String { "\(Format.fileNumber(id)).segment" }

  static func discardedName(_ id: UInt32, _ offset: Int) -> String { "\(Format.fileNumber(id))-\(offset).discarded" }
}
