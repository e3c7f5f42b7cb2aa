import Foundation
import IncrementalStore
import OpenCoreData
import RowFormat

/// Objects that are to be loaded by their identifiers.
final class Loads: @unchecked Sendable {
  /// How many objects one request asks for, at most.
  static let limit = 100
  /// How many groups are kept in mind.
  private static let groups = 32

  private let lock = NSLock()
  private var wanted: [ObjectReference] = []
  private var answers: [ObjectReference: Answer] = [:]
  private var isLoading = false
  /// Whether the service cannot load objects by their identifiers.
  private var isImpossible = false
  /// Objects that were found together, and were not loaded: one fetch, or one relationship. The newest last.
  private var together: [[ObjectReference]] = []

  var isUnsupported: Bool {
    get { lock.withLock { isImpossible } }
    set { lock.withLock { isImpossible = newValue } }
  }

  /// Notes that objects that are not loaded have been found together.
  func note(together objects: [ObjectReference]) {
    guard objects.count > 1 else { return }
    lock.withLock {
      together.append(objects)
      if together.count > Self.groups { together.removeFirst() }
    }
  }

  /// The answers to wait for, and whether the caller has to begin to load.
  func want(_ objects: [ObjectReference]) -> (answers: [Answer], isFirst: Bool) {
    lock.withLock {
      let all = objects.map { object in
        if let answer = answers[object] { return answer }
        let answer = Answer()
        answers[object] = answer
        wanted.append(object)
        return answer
      }
      defer { isLoading = true }
      return (all, !isLoading)
    }
  }

  /// The next objects to load, with others that were found together with them; none ends the loading.
  func take() -> (wanted: [ObjectReference], others: [ObjectReference]) {
    lock.withLock {
      let taken = Array(wanted.prefix(Self.limit))
      wanted.removeFirst(taken.count)
      if taken.isEmpty { isLoading = false }
      var known = Set(taken)
      var others: [ObjectReference] = []
      for object in taken {
        guard let group = together.last(where: { $0.contains(object) }), let place = group.firstIndex(of: object)
        else { continue }
        for other in group[place...] + group[..<place] where taken.count + others.count < Self.limit {
          if known.insert(other).inserted { others.append(other) }
        }
      }
      return (taken, others)
    }
  }

  func end(_ objects: [ObjectReference], _ result: Result<Void, any Error>) {
    let ended = lock.withLock { objects.compactMap { answers.removeValue(forKey: $0) } }
    for answer in ended { answer.give(result) }
  }
}

extension RemoteLink {
  /// Has objects loaded. Returns the answers to wait for.
  func load(_ objects: [ObjectReference]) -> [Answer] {
    let (answers, isFirst) = loads.want(objects)
    if isFirst {
      begin {
        await $0.runLoads()
      } orElse: {
        loads.end(objects, .failure(StoreIsGone()))
      }
    }
    return answers
  }

  private func runLoads() async {
    while true {
      let (wanted, others) = loads.take()
      if wanted.isEmpty { return }
      do {
        let references = try read { rows in
          try (wanted + others).compactMap { object -> RemoteReference? in
            guard let bytes = try rows.bytes(of: object), FieldReader.isPartial(bytes),
              let origin = try rows.origin(of: object), !origin.isWaiting
            else { return nil }
            return try rows.identifier(of: object).map { RemoteReference($0) }
          }
        }
        if !references.isEmpty { try await readRecords(references) }
        loads.end(wanted, .success(()))
      } catch {
        if error as? RemoteFailure == .unsupported { loads.isUnsupported = true }
        loads.end(wanted, .failure(error))
        events.post(.loadingFailed(objectIDs(wanted), error))
      }
    }
  }

  /// Asks for objects by their identifiers, at most 100, and writes what the service answers.
  func readRecords(_ wanted: [RemoteReference]) async throws {
    var taken: [ObjectReference] = []
    let contradictions = try await asking { request in
      let answer = try await ask { try await service.records(wanted) }
      return try edit(answerTo: request) { rows in
        taken = []
        for record in answer.included { try take(record, isWhole: false, &rows) }
        for record in answer.found { if let object = try take(record, isWhole: true, &rows) { taken.append(object) } }
        for identifier in answer.gone { try rows.remove(identifier) }
      }
    }
    if !taken.isEmpty { events.post(.loaded(objectIDs(taken))) }
    await settle(contradictions)
  }

  /// Loads objects of which a list has only the identifiers.
  func loadListed(_ wanted: [RemoteReference]) async throws {
    var rest = wanted[...]
    while !rest.isEmpty {
      do {
        try await readRecords(Array(rest.prefix(Loads.limit)))
      } catch RemoteFailure.unsupported {
        return
      }
      rest = rest.dropFirst(Loads.limit)
    }
  }

  func objectIDs(_ objects: [ObjectReference]) -> [NSManagedObjectID] {
    (try? withStore { store in objects.compactMap { store.access.objectID($0) } }) ?? []
  }
}
