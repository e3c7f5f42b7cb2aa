#if PostgreSQL
  import Foundation
  import IncrementalStore

  /// Gives out references for new objects: numbers in blocks from a sequence of the server, or UUIDs of version 7.
  final class ReferenceSource: @unchecked Sendable {
    /// How many numbers a value of the sequence stands for.
    static let block: Int64 = 4096

    private let kind: RowReferenceKind
    private let lock = NSLock()
    private var rest: Range<Int64> = 0..<0

    init(_ kind: RowReferenceKind) { self.kind = kind }

    /// - Parameter reserve: Returns the next values of the sequence, as many as it is told.
    func take(_ count: Int, _ reserve: (_ blocks: Int) throws -> [Int64]) throws -> [RowReference] {
      guard kind == .integer else { return (0..<count).map { _ in .uuid(Self.uuid()) } }
      var numbers = takeRest(count)
      guard numbers.count < count else { return numbers.map { .integer($0) } }
      let blocks = (count - numbers.count + Int(Self.block) - 1) / Int(Self.block)
      for value in try reserve(blocks) {
        let start = (value - 1) * Self.block + 1
        let taken = start..<start + min(Self.block, Int64(count - numbers.count))
        numbers += taken
        let left = taken.upperBound..<start + Self.block
        if !left.isEmpty { lock.withLock { if rest.count < left.count { rest = left } } }
      }
      return numbers.map { .integer($0) }
    }

    private func takeRest(_ count: Int) -> [Int64] {
      lock.withLock {
        let taken = rest.prefix(count)
        rest = rest.dropFirst(taken.count)
        return Array(taken)
      }
    }

    /// RFC 9562, section 5.7: milliseconds since 1970, then random bits.
    private static func uuid() -> UInt128 {
      let time = UInt128(max(0, Date().timeIntervalSince1970) * 1000) & 0xFFFF_FFFF_FFFF
      let random = UInt128.random(in: .min ... .max)
      let marks: UInt128 = 0x7 << 76 | 0b10 << 62
      let free: UInt128 = 0xFFF << 64 | 0x3FFF_FFFF_FFFF_FFFF
      return time << 80 | marks | random & free
    }
  }
#endif
