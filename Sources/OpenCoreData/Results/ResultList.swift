import Foundation

/// Results in their order, divided into sections. A result is found by its place, and its place by the result, in
/// O(log n).
final class ResultList {
  private struct Place {
    let section: ResultSection
    let node: Int
  }

  private unowned let results: FetchedResults
  private let isSectioned: Bool
  /// The name of a section whose results were not in one piece.
  private(set) var dividedSection: String?
  private var sections = RankedTree<ResultSection>()
  private var named: [String: ResultSection] = [:]
  private var cachedSections: [ResultSection]?
  private var places: [NSObject: Place] = [:]

  /// - Parameters:
  ///   - sorted: The results in their order.
  ///   - sectionOf: The name of a result's section; nil for one section.
  init(_ sorted: [ResultEntry], sectionOf: ((NSObject) -> String)?, of results: FetchedResults) {
    self.results = results
    isSectioned = sectionOf != nil
    var parts: [(name: String, entries: [ResultEntry])] = sectionOf == nil ? [("", sorted)] : []
    if let sectionOf {
      var numbers: [String: Int] = [:]
      for entry in sorted {
        let name = sectionOf(entry.object)
        if let number = numbers[name] {
          if number < parts.count - 1 { dividedSection = dividedSection ?? name }
          parts[number].entries.append(entry)
        } else {
          numbers[name] = parts.count
          parts.append((name, [entry]))
        }
      }
    }
    places.reserveCapacity(sorted.count)
    let made = parts.map { ResultSection($0.name, $0.entries, of: results) }
    for (node, section) in zip(1..., made) {
      section.node = node
      named[section.name] = section
      for (node, entry) in zip(1..., parts[node - 1].entries) {
        places[entry.object] = Place(section: section, node: node)
      }
    }
    sections = RankedTree(made)
  }

  // MARK: Reading

  var count: Int { places.count }

  /// - Complexity: O(n).
  var entries: [ResultEntry] {
    var entries: [ResultEntry] = []
    entries.reserveCapacity(count)
    sections.forEach { $0.entries.forEach { entries.append($0) } }
    return entries
  }

  /// - Complexity: O(n).
  var objects: [NSObject] { entries.map(\.object) }

  /// - Complexity: O(number of sections) for the first call after a section was inserted or removed.
  var orderedSections: [ResultSection] {
    if let cachedSections { return cachedSections }
    var all: [ResultSection] = []
    sections.forEach { all.append($0) }
    cachedSections = all
    return all
  }

  func contains(_ object: NSObject) -> Bool { places[object] != nil }

  func object(at position: ResultPosition) -> NSObject? {
    sections.element(at: position.section)?.entries.element(at: position.row)?.object
  }

  func position(of object: NSObject) -> ResultPosition? {
    places[object].map { place in
      ResultPosition(
        section: sections.rank(of: place.section.node), row: place.section.entries.rank(of: place.node))
    }
  }

  func entry(of object: NSObject) -> ResultEntry? { places[object].flatMap { $0.section.entries[$0.node] } }

  func sectionName(of object: NSObject) -> String? { places[object]?.section.name }

  /// The results before and after one in its section.
  func neighbours(of object: NSObject) -> (before: ResultEntry?, after: ResultEntry?) {
    guard let place = places[object] else { return (nil, nil) }
    let (entries, rank) = (place.section.entries, place.section.entries.rank(of: place.node))
    return (entries.element(at: rank - 1), entries.element(at: rank + 1))
  }

  /// - Complexity: O(n).
  func forEachPosition(_ body: (NSObject, ResultPosition) -> Void) {
    for (number, section) in orderedSections.enumerated() {
      var position = ResultPosition(section: number, row: 0)
      section.entries.forEach { entry in
        body(entry.object, position)
        position.row += 1
      }
    }
  }

  // MARK: Changing

  /// Removes a result, and its section if that becomes empty.
  func remove(_ object: NSObject) {
    guard let place = places.removeValue(forKey: object) else { return }
    let section = place.section
    section.change { $0.remove(place.node) }
    guard section.entries.isEmpty, isSectioned else { return }
    sections.remove(section.node)
    cachedSections = nil
    named[section.name] = nil
  }

  /// Inserts a result into the section of that name.
  ///
  /// - Parameter precedes: The order of the results.
  func insert(
    _ entry: ResultEntry, inSection name: String, by precedes: (ResultEntry, ResultEntry) -> Bool
  ) {
    let section: ResultSection
    if let known = named[name] {
      section = known
    } else {
      section = ResultSection(name, [], of: results)
      section.node = sections.insert(section) { other in
        other.entries.element(at: 0).map { precedes(entry, $0) } ?? false
      }
      named[name] = section
      cachedSections = nil
    }
    let node = section.change { $0.insert(entry) { precedes(entry, $0) } }
    places[entry.object] = Place(section: section, node: node)
  }

  /// Notes the new sort keys of a result whose place stays the same.
  func replace(_ entry: ResultEntry) {
    guard let place = places[entry.object] else { return }
    place.section.change { $0.replace(place.node, by: entry) }
  }
}
