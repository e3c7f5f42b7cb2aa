public import Foundation
import Synchronization

/// The answers of a service, in the order in which they came: from a real service into a test that needs none.
///
///     let recorder = RecordingService(BugService())       // once, against the real service
///     try recorder.recording.data().write(to: file)
///     let service = ReplayingService(BugService(), try RemoteRecording(data))   // in tests
///
/// Failures are recorded, too. A recording has everything that the service has answered, and nothing that it was told
/// beside: it has no credentials unless they are in the service's answers.
public struct RemoteRecording: Sendable {
  struct Entry: Codable, Sendable {
    /// What was asked.
    let request: String
    let answer: Answer
  }

  enum Answer: Codable, Sendable {
    case page(RemotePage)
    case records(RemoteRecords)
    case outcomes([RemoteOutcome])
    case changes(RemoteChanges)
    case record(RemoteRecord?)
    case failure(RemoteFailure)
  }

  var entries: [Entry] = []

  init() {}

  /// A recording as ``data()`` has written it.
  ///
  /// - Throws: an error of `JSONDecoder` if the data are no recording.
  public init(_ data: Data) throws { entries = try JSONDecoder().decode([Entry].self, from: data) }

  /// The recording as JSON.
  public func data() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return try encoder.encode(entries)
  }
}

/// Passes everything on to a service, and records its answers.
public final class RecordingService: RemoteService {
  private let service: any RemoteService
  private let entries = Mutex(RemoteRecording())

  /// - Parameter service: The service to record.
  public init(_ service: any RemoteService) { self.service = service }

  /// The answers so far.
  public var recording: RemoteRecording { entries.withLock { $0 } }

  private func record<Value: Sendable>(
    _ request: String, _ answer: (Value) -> RemoteRecording.Answer, _ body: () async throws -> Value
  ) async throws -> Value {
    do {
      let value = try await body()
      entries.withLock { $0.entries.append(.init(request: request, answer: answer(value))) }
      return value
    } catch {
      let failure = service.failure(error)
      entries.withLock { $0.entries.append(.init(request: request, answer: .failure(failure))) }
      throw failure
    }
  }

  /// The list of the service.
  public func query(for fetch: RemoteFetch) -> RemoteQuery? { service.query(for: fetch) }

  /// The page of the service, recorded.
  public func page(of query: RemoteQuery, after cursor: String?, ifNot tag: String?) async throws -> RemotePage {
    try await record(ReplayingService.page(query, cursor), { .page($0) }) {
      try await service.page(of: query, after: cursor, ifNot: tag)
    }
  }

  /// The objects of the service, recorded.
  public func records(_ wanted: [RemoteReference]) async throws -> RemoteRecords {
    try await record(ReplayingService.records(wanted), { .records($0) }) { try await service.records(wanted) }
  }

  /// The members of the service, recorded.
  public func members(
    of relationship: String, of owner: RemoteIdentifier, after cursor: String?
  ) async throws -> RemotePage {
    try await record(ReplayingService.members(relationship, owner, cursor), { .page($0) }) {
      try await service.members(of: relationship, of: owner, after: cursor)
    }
  }

  /// The outcomes of the service, recorded.
  public func send(_ changes: [RemoteChange]) async throws -> [RemoteOutcome] {
    try await record(ReplayingService.send, { .outcomes($0) }) { try await service.send(changes) }
  }

  /// The changes of the service, recorded.
  public func changes(since cursor: String?) async throws -> RemoteChanges {
    try await record(ReplayingService.changes(cursor), { .changes($0) }) { try await service.changes(since: cursor) }
  }

  /// The object of the service, recorded.
  public func record(madeBy change: RemoteChange) async throws -> RemoteRecord? {
    try await record(ReplayingService.made, { .record($0) }) { try await service.record(madeBy: change) }
  }

  /// As the service chooses it.
  public func identifier(forNew entityName: String, values: [String: RemoteValue]) -> String? {
    service.identifier(forNew: entityName, values: values)
  }

  /// What the service offers.
  public var repeating: RemoteRepeating { service.repeating }

  /// As the service has it.
  public var changesPerRequest: Int { service.changesPerRequest }

  /// As the service has it.
  public func freshness(of entityName: String) -> RemoteFreshness? { service.freshness(of: entityName) }

  /// As the service has it.
  public var needsMainThread: Bool { service.needsMainThread }
}

/// Answers as a recording says, and never asks the service.
///
/// Equal requests get the recorded answers one after the other, and then the last one again. A request that was not
/// recorded is ``RemoteFailure/unreachable(_:)``.
public final class ReplayingService: RemoteService {
  private let service: any RemoteService
  private let answers: Mutex<[String: [RemoteRecording.Answer]]>

  /// - Parameters:
  ///   - service: The service that was recorded, for what it says without being asked: its lists and what it offers.
  ///   - recording: Its answers.
  public init(_ service: any RemoteService, _ recording: RemoteRecording) {
    self.service = service
    var answers: [String: [RemoteRecording.Answer]] = [:]
    for entry in recording.entries { answers[entry.request, default: []].append(entry.answer) }
    self.answers = Mutex(answers)
  }

  private func answer(_ request: String) throws -> RemoteRecording.Answer {
    let answer = answers.withLock { answers -> RemoteRecording.Answer? in
      guard let next = answers[request]?.first else { return nil }
      if answers[request, default: []].count > 1 { answers[request]?.removeFirst() }
      return next
    }
    switch answer {
    case .failure(let failure): throw failure
    case let answer?: return answer
    case nil: throw RemoteFailure.unreachable("there is no recorded answer to \(request)")
    }
  }

  static func page(_ query: RemoteQuery, _ cursor: String?) -> String {
    "page \(query.key(of: "")) after \(cursor ?? "nothing")"
  }
  static func records(_ wanted: [RemoteReference]) -> String {
    "records " + wanted.map(\.identifier.description).sorted().joined(separator: " ")
  }
  static func members(_ relationship: String, _ owner: RemoteIdentifier, _ cursor: String?) -> String {
    "members \(relationship) of \(owner) after \(cursor ?? "nothing")"
  }
  static func changes(_ cursor: String?) -> String { "changes since \(cursor ?? "the beginning")" }
  static let send = "send"
  static let made = "record made by a change"

  /// The list of the service.
  public func query(for fetch: RemoteFetch) -> RemoteQuery? { service.query(for: fetch) }

  /// The recorded page.
  public func page(of query: RemoteQuery, after cursor: String?, ifNot tag: String?) async throws -> RemotePage {
    guard case .page(let page) = try answer(Self.page(query, cursor)) else { throw RemoteFailure.unsupported }
    return page.isUnchanged && tag == nil ? RemotePage() : page
  }

  /// The recorded objects.
  public func records(_ wanted: [RemoteReference]) async throws -> RemoteRecords {
    guard case .records(let records) = try answer(Self.records(wanted)) else { throw RemoteFailure.unsupported }
    return records
  }

  /// The recorded members.
  public func members(
    of relationship: String, of owner: RemoteIdentifier, after cursor: String?
  ) async throws -> RemotePage {
    guard case .page(let page) = try answer(Self.members(relationship, owner, cursor)) else {
      throw RemoteFailure.unsupported
    }
    return page
  }

  /// The recorded outcomes.
  public func send(_ changes: [RemoteChange]) async throws -> [RemoteOutcome] {
    guard case .outcomes(let outcomes) = try answer(Self.send) else { throw RemoteFailure.unsupported }
    return outcomes
  }

  /// The recorded changes.
  public func changes(since cursor: String?) async throws -> RemoteChanges {
    guard case .changes(let changes) = try answer(Self.changes(cursor)) else { throw RemoteFailure.unsupported }
    return changes
  }

  /// The recorded object.
  public func record(madeBy change: RemoteChange) async throws -> RemoteRecord? {
    guard case .record(let record) = try answer(Self.made) else { throw RemoteFailure.unsupported }
    return record
  }

  /// As the service chooses it.
  public func identifier(forNew entityName: String, values: [String: RemoteValue]) -> String? {
    service.identifier(forNew: entityName, values: values)
  }

  /// What the service offers.
  public var repeating: RemoteRepeating { service.repeating }

  /// As the service has it.
  public var changesPerRequest: Int { service.changesPerRequest }

  /// As the service has it.
  public func freshness(of entityName: String) -> RemoteFreshness? { service.freshness(of: entityName) }

  /// As the service has it.
  public var needsMainThread: Bool { service.needsMainThread }
}
