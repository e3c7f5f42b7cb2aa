import RowFormat

/// Checks table 0: STORE-FORMAT.md, sections 3 and 8.
enum StoreHeadCheck {
  /// Checks the metadata and returns the schema; nil if the schema is missing or cannot be read, in which case nothing
  /// else can be checked.
  static func schema<Source: StructureSource>(
    of source: Source, _ report: (StructureFinding) -> Void
  ) throws -> Schema? {
    let metadata = StructureFinding.Place.row(.integer(1), table: 0)
    let place = StructureFinding.Place.row(.integer(2), table: 0)
    func find(_ place: StructureFinding.Place, _ words: String) {
      report(StructureFinding(kind: .head, place: place, words: words))
    }
    if let row = try source.row(.integer(1), in: 0) {
      do {
        try BinaryPropertyList.check(row)
      } catch {
        find(metadata, "the metadata: \(error)")
      }
    } else {
      find(metadata, "there is no metadata")
    }
    guard let row = try source.row(.integer(2), in: 0) else {
      find(place, "there is no schema")
      return nil
    }
    do {
      return try Schema(row)
    } catch {
      find(place, "the schema: \(error)")
      return nil
    }
  }

  /// Checks that the store has given out the numbers that its objects have. Counts are compared in the last range only.
  static func checkNumbers<Source: StructureSource>(
    of source: Source, _ highest: HighestReference, _ report: (StructureFinding) -> Void
  ) throws {
    let place = StructureFinding.Place.row(.integer(3), table: 0)
    func find(_ words: String) { report(StructureFinding(kind: .head, place: place, words: words)) }
    guard let row = try source.row(.integer(3), in: 0) else {
      if highest.hasNumbers { find("objects have numbers, but none are reserved") }
      return
    }
    do {
      let given = try NumbersGivenOut(row)
      if let count = highest.count(inRange: given.range), count >= given.next {
        find(
          "an object has the number \(given.range << 32 | count), but the next number is \(given.range << 32 | given.next)"
        )
      }
    } catch {
      find("the reserved numbers: \(error)")
    }
  }
}

/// The kind of the objects' references, and the highest number of each range.
struct HighestReference {
  /// The highest count in each range.
  private var counts: [UInt64: UInt64] = [:]
  private var first: RowReference?

  var hasNumbers: Bool { !counts.isEmpty }

  func count(inRange range: UInt64) -> UInt64? { counts[range] }

  /// What is wrong with a reference, in words; nil if nothing is.
  mutating func take(_ reference: RowReference) -> String? {
    if first == nil { first = reference }
    switch (first, reference) {
    case (.integer, .integer(let number)):
      let bits = UInt64(bitPattern: number)
      counts[bits >> 32] = max(counts[bits >> 32] ?? 0, bits & 0xFFFF_FFFF)
      return nil
    case (.string, .string), (.uuid, .uuid): return nil
    default: return "the kind of its reference differs from that of other objects"
    }
  }
}
