import Synchronization

extension SegmentID: DistinctNumber {}
extension KeyspaceID: DistinctNumber {}

/// The number of a dictionary. It is never used twice; 0 stands for no dictionary.
@frozen package struct DictionaryID: DistinctNumber, AtomicRepresentable {
  package let rawValue: UInt32

  @inline(__always)
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  @inline(__always)
  package init(integerLiteral number: UInt32) { self.init(rawValue: number) }

  @inline(__always)
  package static func < (left: DictionaryID, right: DictionaryID) -> Bool { left.rawValue < right.rawValue }

  package var description: String { "\(rawValue)" }
}

/// The number of a checkpoint, which is also in the name of its file.
@frozen package struct CheckpointID: DistinctNumber, AtomicRepresentable {
  package let rawValue: UInt32

  @inline(__always)
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  @inline(__always)
  package init(integerLiteral number: UInt32) { self.init(rawValue: number) }

  @inline(__always)
  package static func < (left: CheckpointID, right: CheckpointID) -> Bool { left.rawValue < right.rawValue }

  package var description: String { "\(rawValue)" }
}
