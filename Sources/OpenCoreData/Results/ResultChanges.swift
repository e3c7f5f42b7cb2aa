import Foundation

/// What an event has changed in the results, as lists on a screen are told of it: what is gone by its place in the
/// former results, and what is new by its place in the new ones.
struct ResultChanges {
  struct Change {
    let object: NSObject
    let type: NSFetchedResultsChangeType
    let old: ResultPosition?
    let new: ResultPosition?

    /// The place by which changes of one type are in order.
    fileprivate var place: ResultPosition { old ?? new ?? ResultPosition(section: 0, row: 0) }
  }

  /// Where results are in the former and in the new list; nil where they are not.
  typealias Places = [NSObject: (old: ResultPosition?, new: ResultPosition?)]

  /// Sections that are gone, and new ones, each with its number.
  private(set) var deletedSections: [(section: ResultSection, number: Int)] = []
  private(set) var insertedSections: [(section: ResultSection, number: Int)] = []
  /// Deletions, insertions, moves, updates.
  private(set) var objects: [Change] = []
  /// Whether results have other identifiers.
  var areRenamed = false

  var isEmpty: Bool { deletedSections.isEmpty && insertedSections.isEmpty && objects.isEmpty }

  /// The changes of two lists. Results that are not named are in both, and in the same order.
  ///
  /// - Parameters:
  ///   - places: The places of results that are only in one list, or that may have changed sides with others.
  ///   - updated: The places in the former results of those that have other values.
  ///   - sections: The former and the new sections.
  /// - Complexity: O(k log k) for k results that are named, and O(number of sections) if there are others than before.
  init(
    _ places: Places, updated: [NSObject: ResultPosition],
    sections: (old: [ResultSection], new: [ResultSection])
  ) {
    let kept = compareSections(sections.old, sections.new)
    let settled = Self.settled(places, kept)
    var changes: [Change] = []
    for (object, place) in places {
      switch place {
      case (let old?, nil): changes.append(Change(object: object, type: .delete, old: old, new: nil))
      case (nil, let new?): changes.append(Change(object: object, type: .insert, old: nil, new: new))
      case (let old?, let new?) where !settled.contains(object):
        changes.append(Change(object: object, type: .move, old: old, new: new))
      default: break
      }
    }
    for (object, old) in updated where places[object] == nil || settled.contains(object) {
      changes.append(Change(object: object, type: .update, old: old, new: nil))
    }
    objects = changes.sorted { left, right in
      left.type == right.type ? left.place < right.place : left.type.rank < right.type.rank
    }
  }

  /// Finds the sections that are gone or new. Returns the new numbers of the others, by their former ones; nil if all
  /// sections are as before.
  private mutating func compareSections(_ old: [ResultSection], _ new: [ResultSection]) -> [Int: Int]? {
    guard !old.elementsEqual(new, by: { $0.name == $1.name }) else { return nil }
    // A section that is still the same one stays. Another one of the same name stays if it has not passed such a one.
    let same = Set(old.map { ObjectIdentifier($0) }).intersection(new.map { ObjectIdentifier($0) })
    func sameBefore(_ sections: [ResultSection]) -> [Int] {
      sections.reduce(into: [0]) { $0.append($0[$0.count - 1] + (same.contains(ObjectIdentifier($1)) ? 1 : 0)) }
    }
    let (before, after) = (sameBefore(old), sameBefore(new))
    let numbers = Dictionary(uniqueKeysWithValues: new.enumerated().map { ($1.name, $0) })
    let common = old.indices.compactMap { number in numbers[old[number].name].map { (old: number, new: $0) } }
      .filter { before[$0.old] == after[$0.new] }
    let kept = longestAscent(common.map(\.new)).map { common[$0] }
    let (keptOld, keptNew) = (Set(kept.map(\.old)), Set(kept.map(\.new)))
    deletedSections = old.indices.filter { !keptOld.contains($0) }.map { (old[$0], $0) }
    insertedSections = new.indices.filter { !keptNew.contains($0) }.map { (new[$0], $0) }
    return Dictionary(uniqueKeysWithValues: kept.map { ($0.old, $0.new) })
  }

  /// The results, of those in both lists, that need not move: as many as can stay in their order, and on their side of
  /// all results that are not named.
  private static func settled(
    _ places: Places, _ keptSections: [Int: Int]?
  ) -> Set<NSObject> {
    let (old, new) = (unnamed(before: places.compactMap(\.value.old)), unnamed(before: places.compactMap(\.value.new)))
    let candidates = places.compactMap {
      object, place -> (object: NSObject, old: ResultPosition, new: ResultPosition)? in
      guard let before = place.old, let after = place.new, old[before] == new[after],
        keptSections.map({ $0[before.section] == after.section }) ?? (before.section == after.section)
      else { return nil }
      return (object, before, after)
    }.sorted { $0.old < $1.old }
    return Set(longestAscent(candidates.map(\.new)).map { candidates[$0].object })
  }

  /// How many results of the same section that are not named come before each of the named ones.
  private static func unnamed(before named: [ResultPosition]) -> [ResultPosition: Int] {
    var counts: [ResultPosition: Int] = [:]
    var (section, before) = (-1, 0)
    for position in named.sorted() {
      if position.section != section { (section, before) = (position.section, 0) }
      counts[position] = position.row - before
      before += 1
    }
    return counts
  }
}

extension NSFetchedResultsChangeType {
  /// The place of such changes among all changes of an event.
  fileprivate var rank: Int {
    switch self {
    case .delete: 0
    case .insert: 1
    case .move: 2
    case .update: 3
    }
  }
}
