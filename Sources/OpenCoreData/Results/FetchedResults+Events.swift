import Foundation

/// What an event of the context changes.
extension FetchedResults {
  /// Applies an event, or leaves it for later if the delegate is being told of another one.
  func receive(_ event: ResultEvent) {
    guard query?.isTracked == true else { return }
    guard isListening else {
      isStale = true
      return
    }
    waiting.append(event)
    guard !isProcessing else { return }
    isProcessing = true
    defer { isProcessing = false }
    while !waiting.isEmpty { process(waiting.removeFirst()) }
  }

  /// If an object or the store cannot be read, the content stays as it is, and the next event has it fetched.
  private func process(_ event: ResultEvent) {
    guard let query else { return }
    let objects = event.objects
    do {
      if isStale || event.isReset || needsFetch(objects, query) {
        try fetchAgain(query, event)
      } else {
        try apply(objects.filter { query.fetches($0.entity) }, event, query)
      }
    } catch {
      isStale = true
    }
  }

  private func needsFetch(_ objects: Set<NSManagedObject>, _ query: ResultQuery) -> Bool {
    query.needsFetch || objects.contains { query.watches($0.entity) }
  }

  // MARK: By a fetch

  /// Takes the difference of the content and what a fetch finds.
  ///
  /// - Complexity: O(n log n), and the fetch.
  private func fetchAgain(_ query: ResultQuery, _ event: ResultEvent) throws {
    guard let former = list else { return }
    let new = try fetched(query)
    isStale = false
    var changes = changes(from: former, to: new, updated: event.changed)
    changes.areRenamed = event.rechecked.contains { object in
      former.entry(of: object).map { $0.id !== object.objectID } ?? false
    }
    tell(isSilent: changes.isEmpty) {
      show(new)
      return changes
    }
  }

  /// The difference of two lists that were fetched.
  func changes(from former: ResultList, to new: ResultList, updated: Set<NSManagedObject>) -> ResultChanges {
    var places: ResultChanges.Places = [:]
    former.forEachPosition { places[$0] = ($1, nil) }
    new.forEachPosition { places[$0, default: (nil, nil)].new = $1 }
    let kept = updated.filter { places[$0]?.new != nil }
    let former = (sections: former.orderedSections, positions: positions(of: kept, in: former))
    return ResultChanges(places, updated: former.positions, sections: (former.sections, new.orderedSections))
  }

  private func positions(of objects: some Sequence<NSObject>, in list: ResultList) -> [NSObject: ResultPosition] {
    var positions: [NSObject: ResultPosition] = [:]
    for object in objects { positions[object] = list.position(of: object) }
    return positions
  }

  // MARK: By the objects of the event

  /// - Complexity: O(k log n) for k objects.
  private func apply(_ objects: Set<NSManagedObject>, _ event: ResultEvent, _ query: ResultQuery) throws {
    guard let list else { return }
    var leaving: [NSObject] = []
    var entering: [Candidate] = []
    var staying: [NSObject: Candidate] = [:]
    try context.throwingErrorsOfFaults {
      for object in objects {
        let isKnown = list.contains(object)
        if query.matches(object, in: context) {
          let candidate = Candidate(entry: query.entry(of: object), section: query.section(of: object))
          if isKnown { staying[object] = candidate } else { entering.append(candidate) }
        } else if isKnown {
          leaving.append(object)
        }
      }
    }
    let updated = positions(of: event.changed.filter { staying[$0] != nil }, in: list)
    let moving = staying.values.filter { $0.section != list.sectionName(of: $0.object) || !$0.isSame(in: list, query) }
    let isRenamed = moving.contains { $0.entry.id !== list.entry(of: $0.object)?.id }
    if leaving.isEmpty, entering.isEmpty, moving.allSatisfy({ isInPlace($0, staying, list, query) }) {
      guard isRenamed || !updated.isEmpty else { return moving.forEach { list.replace($0.entry) } }
      tell(isSilent: updated.isEmpty) {
        for candidate in moving { list.replace(candidate.entry) }
        var changes = ResultChanges([:], updated: updated, sections: ([], []))
        changes.areRenamed = isRenamed
        return changes
      }
      return
    }
    tell(isSilent: false) {
      let (sections, gone) = (list.orderedSections, leaving + moving.map(\.object))
      var places = positions(of: gone, in: list).mapValues { (old: Optional($0), new: ResultPosition?.none) }
      for object in gone { list.remove(object) }
      for candidate in moving + entering {
        list.insert(candidate.entry, inSection: candidate.section, by: query.precedes)
      }
      for candidate in moving + entering {
        places[candidate.object, default: (nil, nil)].new = list.position(of: candidate.object)
      }
      var changes = ResultChanges(places, updated: updated, sections: (sections, list.orderedSections))
      changes.areRenamed = isRenamed
      return changes
    }
  }

  /// Whether a result is still after the one before it and before the one after it.
  private func isInPlace(
    _ candidate: Candidate, _ staying: [NSObject: Candidate], _ list: ResultList, _ query: ResultQuery
  ) -> Bool {
    guard candidate.section == list.sectionName(of: candidate.object) else { return false }
    let (before, after) = list.neighbours(of: candidate.object)
    func present(_ entry: ResultEntry) -> ResultEntry { staying[entry.object]?.entry ?? entry }
    return before.map { query.precedes(present($0), candidate.entry) } ?? true
      && after.map { query.precedes(candidate.entry, present($0)) } ?? true
  }
}

/// An object that is a result after an event, with its present place.
private struct Candidate {
  let entry: ResultEntry
  let section: String

  var object: NSObject { entry.object }

  func isSame(in list: ResultList, _ query: ResultQuery) -> Bool {
    list.entry(of: object).map { query.areSame($0, entry) } ?? false
  }
}
