import CairnSimulation
import RemoteIncrementalStore

/// What a store does while its machine may crash at any call.
struct CrashScenario {
  typealias Step = (CrashStore) async throws -> Void

  var options = ServiceOptions()
  var policy = RemoteConflictPolicy.serviceWins
  /// Done before the machine may crash.
  var before: Step = { try await $0.refresh() }
  let steps: [Step]

  init(_ steps: [Step]) { self.steps = steps }

  /// Crashes at every call. Whatever the moment, once the store is opened again and has sent and read everything, it
  /// agrees with the service, and both have what they have if the application ends before the step, or after it.
  ///
  /// - Returns: What store and service have in the end if the application ends after so many steps.
  func run() async throws -> [CrashGraph] {
    let (moments, calls) = try await moments()
    var ends: [Int: CrashGraph] = [:]
    for moment in moments where !moment.isAmid && ends[moment.step] == nil { ends[moment.step] = try await end(moment) }
    var tally = (crashes: 0, again: 0)
    for moment in moments {
      tally.crashes += 1
      // At some of the moments the machine crashes once more, while the store recovers.
      let watches = moment.call.isMultiple(of: 24) && moment.isAmid
      let allowed = [moment.step, moment.isAmid ? moment.step + 1 : moment.step].compactMap { ends[$0] }
      for second in try await check(moment, allowed, watches) {
        tally.again += 1
        do { _ = try await check(second, allowed, false) } catch { throw TestFailure("\(moment.place), then \(error)") }
      }
    }
    print("\(steps.count) steps, \(calls) calls, \(tally.crashes) crashes, \(tally.again) second crashes")
    return (0...steps.count).compactMap { ends[$0] }
  }

  private func moments() async throws -> (moments: [CrashMoment], calls: Int) {
    let service = SimulatedService(options)
    service.edit { state in
      let users = ["u0", "u1"].map { state.insert("User", ["name": .string($0), "token": .string($0)]) }
      let tags = ["t0", "t1"].map { state.insert("Tag", ["name": .string($0), "token": .string($0)]) }
      for number in 0..<8 {
        state.insert(
          "Bug",
          [
            "title": .string("bug \(number)"), "token": .string("b\(number)"), "state": .string("open"),
            "priority": .integer(Int64(number)), "assignee": .object(users[number % 2]),
          ], tags: [tags[number % 2]])
      }
    }
    let subject = try CrashStore(MemoryFileLayer(), service, policy)
    try await before(subject)
    let watch = CrashWatch(subject.machine.files, service)
    defer { watch.end() }
    watch.crash("the beginning")
    for step in steps {
      watch.begin()
      try await step(subject)
      subject.machine.scheduler.drain()
      watch.ended()
    }
    watch.end()
    let (moments, calls) = (watch.takeMoments(), watch.calls)
    try subject.close()
    return (moments, calls)
  }

  /// What store and service have in the end.
  private func end(_ moment: CrashMoment) async throws -> CrashGraph {
    let service = SimulatedService(moment.service)
    let subject = try CrashStore(moment.files.afterKill(), service, policy)
    try await subject.settle(refreshesFirst: false)
    try subject.close()
    return try service.now.graph()
  }

  /// Opens the store again. Returns what a crash during that would leave.
  private func check(
    _ moment: CrashMoment, _ allowed: [CrashGraph], _ watches: Bool
  ) async throws -> [CrashMoment] {
    do {
      let service = SimulatedService(moment.service)
      let watch = watches ? CrashWatch(moment.files, service, oneIn: 17) : nil
      defer { watch?.end() }
      let subject = try CrashStore(moment.files, service, policy)
      try await subject.settle(refreshesFirst: moment.call.isMultiple(of: 2))
      watch?.end()
      try await compare(subject, allowed)
      try subject.close()
      return watch?.takeMoments() ?? []
    } catch {
      throw TestFailure("\(moment.place), after \(moment.step) steps: \(error)")
    }
  }

  private func compare(_ subject: CrashStore, _ allowed: [CrashGraph]) async throws {
    let (ours, theirs) = (try await subject.graph(), try subject.service.now.graph())
    guard ours == theirs else {
      let requests = subject.service.requests.map(\.text).joined(separator: "\n")
      throw TestFailure("the store does not agree with the service: \(ours.difference(from: theirs))\n\(requests)")
    }
    guard allowed.contains(ours) else {
      throw TestFailure("something was lost or made twice: \(ours.difference(from: allowed.last ?? [:]))")
    }
    let state = subject.service.now
    if let violation = state.violations.first { throw TestFailure("the client did wrong: \(violation)") }
    if options.repeating == .keys, let (_, more) = state.applied.first(where: { $1.count > 1 }) {
      throw TestFailure("made \(more.count) times: \(more.change)")
    }
    let sent = subject.service.requests(.send).count
    await subject.send()
    guard subject.service.requests(.send).count == sent else { throw TestFailure("something is sent again") }
  }
}
