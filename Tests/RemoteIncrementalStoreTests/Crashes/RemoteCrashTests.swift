import CoreData
import RemoteIncrementalStore
import Testing

/// The machine loses power, or the process ends, at every call to the disk.
@Suite("Crashes of a store over a service")
struct RemoteCrashTests {
  @Test(
    "A list that was being read when the machine crashed is read on, and has everything in the end.",
    arguments: ServiceOptions.Listed.allCases)
  func refresh(_ listed: ServiceOptions.Listed) async throws {
    var scenario = CrashScenario([{ try await $0.refresh() }])
    scenario.options.listed = listed
    scenario.before = { store in
      try await store.refresh()
      store.service.edit { state in
        let bugs = state.identifiers(of: "Bug")
        state.delete(bugs[3])
        state.update(bugs[5], ["title": .string("changed")])
        for token in ["new 1", "new 2"] {
          state.insert("Bug", ["title": .string(token), "token": .string(token)], tags: state.identifiers(of: "Tag"))
        }
      }
    }
    let ends = try await scenario.run()
    #expect(ends.count == 2)
    #expect(
      ends.allSatisfy {
        $0.values("title") == ["bug 0", "bug 1", "bug 2", "bug 4", "bug 6", "bug 7", "changed", "new 1", "new 2"]
      })
  }

  @Test("A first refresh that a crash interrupts goes on.")
  func firstRefresh() async throws {
    var scenario = CrashScenario([{ try await $0.refresh() }])
    scenario.before = { _ in }
    let ends = try await scenario.run()
    #expect(ends.map { $0.count } == [12, 12])
  }

  @Test(
    "A save that returned before a crash reaches the service, once; one that did not is whole or absent.",
    arguments: [RemoteRepeating.keys, .clientIdentifiers, .finding])
  func saving(_ repeating: RemoteRepeating) async throws {
    var scenario = CrashScenario([
      { store in
        try await store.change { context, objects in
          let bug = NSEntityDescription.insertNewObject(forEntityName: "Bug", into: context)
          bug.setValue("new", forKey: "token")
          bug.setValue("new", forKey: "title")
          let user = NSEntityDescription.insertNewObject(forEntityName: "User", into: context)
          user.setValue("new user", forKey: "token")
          bug.setValue(user, forKey: "assignee")
          bug.setValue(Set([objects["t0"], objects["t1"]].compactMap { $0 }), forKey: "tags")
          objects["b1"]?.setValue("changed", forKey: "title")
          objects["b2"]?.setValue(user, forKey: "assignee")
          objects["b3"]?.setValue(Set<NSManagedObject>(), forKey: "tags")
          objects["b4"].map(context.delete)
        }
      },
      { store in
        try await store.change { _, objects in
          objects["new"]?.setValue("newer", forKey: "title")
          objects["b1"]?.setValue("changed again", forKey: "title")
        }
      },
      { store in await store.send() },
      { store in try await store.change { context, objects in objects["new"].map(context.delete) } },
      { store in await store.send() },
    ])
    scenario.options.repeating = repeating
    scenario.options.changesPerRequest = 2
    scenario.options.answers = ServiceOptions.Answer.allCases
    let ends = try await scenario.run()
    #expect(ends.map { $0["new"]?["title"] } == [nil, "new", "newer", "newer", nil, nil])
    #expect(
      ends.map { $0["b1"]?["title"] }
        == ["bug 1", "changed", "changed again", "changed again", "changed again", "changed again"])
    #expect(ends.map { $0["b3"]?["tags"] } == ["t1", "", "", "", "", ""])
    #expect(ends.map { $0["b4"] == nil } == [false, true, true, true, true, true])
    #expect(ends[1]["new user"]?["assigned"] == "b2, new")
  }

  enum Policy: CaseIterable {
    case serviceWins, applicationWins, byProperty
  }

  @Test("A conflict that a crash interrupts is resolved as the policy says.", arguments: Policy.allCases)
  func conflict(_ policy: Policy) async throws {
    var scenario = CrashScenario([
      { store in
        try await store.change { context, objects in
          objects["b1"]?.setValue("ours", forKey: "title")
          objects["b1"]?.setValue("closed", forKey: "state")
          objects["b2"].map(context.delete)
          objects["b3"]?.setValue("closed", forKey: "state")
        }
      }, { store in await store.send() }, { store in try await store.refresh() },
    ])
    scenario.before = { store in
      try await store.refresh()
      store.service.edit { state in
        for token in ["b1", "b2"] {
          for bug in state.identifiers(withToken: token) { state.update(bug, ["title": .string("theirs")]) }
        }
        for bug in state.identifiers(withToken: "b3") { state.delete(bug) }
      }
    }
    scenario.policy =
      switch policy {
      case .serviceWins: .serviceWins
      case .applicationWins: .applicationWins
      case .byProperty: .byProperty
      }
    let ends = try await scenario.run()
    let end = try #require(ends.last)
    #expect(end["b1"]?["title"] == (policy == .applicationWins ? "ours" : "theirs"))
    #expect(end["b1"]?["state"] == (policy == .serviceWins ? "open" : "closed"))
    #expect(end["b2"]?["title"] == (policy == .serviceWins ? "theirs" : nil))
    #expect(end["b3"] == nil)
  }

  @Test("Changes that were discarded before a crash are not sent, and evicted objects are loaded again.")
  func discardingAndEvicting() async throws {
    var scenario = CrashScenario([
      { store in await store.send() },
      { store in
        for change in try store.store.unsentChanges.reversed() { try store.store.discard(change) }
        await store.store.waitUntilQuiet()
      },
      { store in _ = try store.store.evict(await store.identifiers()) },
      { store in try await store.store.load(await store.identifiers()) },
    ])
    scenario.options.refusesLooseEnds = true
    scenario.before = { store in
      try await store.refresh()
      try await store.change { context, objects in
        let bug = NSEntityDescription.insertNewObject(forEntityName: "Bug", into: context)
        bug.setValue("new", forKey: "token")
        bug.setValue("forbidden", forKey: "title")
        objects["b1"]?.setValue("forbidden", forKey: "title")
        objects["b2"]?.setValue("changed", forKey: "title")
        objects["t0"]?.setValue("changed", forKey: "name")
      }
    }
    let ends = try await scenario.run()
    #expect(ends.count == 5)
    for end in ends {
      #expect(end["new"] == nil)
      #expect(end["b1"]?["title"] == "bug 1")
      #expect(end["b2"]?["title"] == "changed")
      #expect(end["t0"]?["name"] == "changed")
    }
  }

  @Test("A change that waits and was discarded before a crash is never sent.")
  func discardingWaiting() async throws {
    func discard(_ kind: RemoteChange.Kind) -> CrashScenario.Step {
      { store in
        for change in try store.store.unsentChanges where change.kind == kind { try store.store.discard(change) }
        await store.store.waitUntilQuiet()
      }
    }
    var scenario = CrashScenario([discard(.update), discard(.delete)])
    scenario.before = { store in
      try await store.refresh()
      try await store.change { context, objects in
        objects["b1"]?.setValue("changed", forKey: "title")
        objects["b2"].map(context.delete)
      }
    }
    let ends = try await scenario.run()
    #expect(ends.map { $0["b1"]?["title"] } == ["changed", "bug 1", "bug 1"])
    #expect(ends.map { $0["b2"]?["title"] } == [nil, nil, "bug 2"])
  }
}
