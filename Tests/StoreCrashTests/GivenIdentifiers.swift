import OpenCoreData

/// All permanent identifiers that a program has been given, whatever became of their objects.
struct GivenIdentifiers: Sendable {
  /// The number at the end of each identifier, and how many identifiers were given before it.
  private var places: [Int64: Int] = [:]
  private var uris: [Int: URL] = [:]
  /// The serial number of the thing to which each number was given.
  private(set) var serials: [Int64: Int] = [:]

  var count: Int { places.count }

  /// - Throws: An error if the number was given already.
  mutating func give(_ reference: Int64) throws {
    try require(places.updateValue(places.count, forKey: reference) == nil, "the number \(reference) is given again")
  }

  mutating func give(_ uri: URL, to serial: Int) throws {
    let reference = try Subject.reference(uri)
    try give(reference)
    uris[serial] = uri
    serials[reference] = serial
  }

  /// Whether the number is among the first `count` that were given.
  func contains(_ reference: Int64, among count: Int) -> Bool { places[reference].map { $0 < count } ?? false }

  func uri(of serial: Int) -> URL? { uris[serial] }

  func reference(of serial: Int) -> Int64? { try? uris[serial].map(Subject.reference) }
}
