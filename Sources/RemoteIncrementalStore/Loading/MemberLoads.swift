import Foundation
import IncrementalStore
import OpenCoreData
import RowFormat

/// To-many relationships that are being read.
final class MemberLoads: @unchecked Sendable {
  struct Key: Hashable {
    let owner: ObjectReference
    let relationship: UInt32
  }

  private let lock = NSLock()
  private var answers: [Key: Answer] = [:]
  /// Relationships, by entity, that the service cannot read by themselves.
  private var unsupported: Set<UInt32> = []

  func isUnsupported(_ relationship: UInt32) -> Bool { lock.withLock { unsupported.contains(relationship) } }

  func begin(_ key: Key) -> (answer: Answer, isFirst: Bool) {
    lock.withLock {
      if let answer = answers[key] { return (answer, false) }
      let answer = Answer()
      answers[key] = answer
      return (answer, true)
    }
  }

  func end(_ key: Key, _ result: Result<Void, any Error>) {
    let answer = lock.withLock {
      if case .failure(let error) = result, error as? RemoteFailure == .unsupported {
        unsupported.insert(key.relationship)
      }
      return answers.removeValue(forKey: key)
    }
    answer?.give(result)
  }
}

extension RemoteLink {
  /// Has the members of a relationship loaded. Returns the answer to wait for.
  func loadMembers(_ name: String, of owner: ObjectReference, _ relationship: UInt32) -> Answer {
    let key = MemberLoads.Key(owner: owner, relationship: relationship)
    let (answer, isFirst) = memberLoads.begin(key)
    guard isFirst else { return answer }
    begin { link in
      do {
        try await link.readMembers(name, of: owner)
        link.memberLoads.end(key, .success(()))
      } catch {
        link.memberLoads.end(key, .failure(error))
        if error as? RemoteFailure != .unsupported {
          link.events.post(.loadingFailed(link.objectIDs([owner]), error))
        }
      }
    } orElse: {
      memberLoads.end(key, .failure(StoreIsGone()))
    }
    return answer
  }

  /// Reads all pages of a relationship, and writes them as one batch: part of a list would leave out members.
  private func readMembers(_ name: String, of owner: ObjectReference) async throws {
    guard let identifier = try read({ try $0.identifier(of: owner) }) else { return }
    var (pages, cursor): ([RemotePage], String?) = ([], nil)
    let request = order.begin()
    defer { order.end(request) }
    repeat {
      let page = try await ask { try await service.members(of: name, of: identifier, after: cursor) }
      pages.append(page)
      cursor = page.isLast ? nil : page.next
      if !page.isLast, cursor == nil {
        throw RemoteFailure.invalidAnswer("a page that is not the last has no next one")
      }
    } while cursor != nil
    var stale: [RemoteReference] = []
    let contradictions = try edit(answerTo: request) { rows in
      stale = []
      guard let map = rows.access.schema[owner.entity], let set = map.set(named: name),
        let origin = try rows.origin(of: owner), !origin.isWaiting
      else { return }
      var members: [ObjectReference] = []
      for page in pages {
        for record in page.included { try take(record, isWhole: false, &rows) }
        for record in page.records {
          if let member = try take(record, isWhole: false, &rows) { members.append(member) }
        }
      }
      try rows.take(allMembers: members, of: owner, set)
      stale = rows.stale
    }
    await settle(contradictions)
    try await loadListed(stale)
  }
}
