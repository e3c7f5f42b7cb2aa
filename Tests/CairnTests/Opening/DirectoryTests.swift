import CairnInspection
import CairnSimulation
import Synchronization
import Testing

@testable import Cairn

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The directory of a store, and what others do to it and to the files in it while the store is open or closed.
@Suite struct DirectoryTests {
  private static var options: StoreOptions {
    var options = StoreOptions()
    options.segmentSize = 1 << 16
    return options
  }

  private func fill(_ store: Store, _ numbers: Range<Int64>, _ durability: Durability = .durable) throws {
    let rows = try store.keyspace("rows")
    for number in numbers {
      try store.put([UInt8].noise(2000, seed: UInt64(number)), at: .integer(number), in: rows, durability)
    }
  }

  private func count(_ store: Store) throws -> Int { try store.read { try $0.count(in: store.keyspace("rows")) } }

  @Test("D24: A store whose directory is moved while it is open continues there, and does not touch the old path.")
  func moved() throws {
    try withTemporaryDirectory { directory in
      let (path, other) = ("\(directory)/a", "\(directory)/b")
      let store = try Store.open(at: path, options: Self.options)
      try fill(store, 0..<60)
      #expect(unsafe rename(path, other) == 0)
      let second = try Store.open(at: path, options: Self.options)
      #expect(second !== store)
      try fill(second, 1000..<1040)
      try fill(store, 60..<120)
      try store.checkpoint()
      try store.compact(.everything)
      try fill(second, 1040..<1100)
      try second.compact(.everything)
      #expect(try Store.open(at: other, options: Self.options) === store)
      try store.close()
      try second.close()
      for (path, expected) in [(other, 120), (path, 100)] {
        #expect(try Verifier(at: path).run().findings.isEmpty)
        let store = try Store.open(at: path, options: Self.options)
        #expect(try count(store) == expected)
        try store.close()
      }
    }
  }

  @Test("D22: A second writer is refused even after the lock file was removed.") func lockRemoved() throws {
    try withTemporaryDirectory { directory in
      let path = "\(directory)/store"
      let store = try Store.open(at: path)
      let layer = SystemFileLayer()
      try layer.remove("\(path)/LOCK")
      #expect(cause { _ = try layer.lock("\(path)/LOCK", owner: []) } == .locked(owner: []))
      try store.close()
      let lock = try layer.lock("\(path)/LOCK", owner: [])
      lock.release()
    }
  }

  @Test("D25: Durable writes fail once the directory has been removed.") func removed() throws {
    try withTemporaryDirectory { directory in
      let path = "\(directory)/store"
      let store = try Store.open(at: path)
      let rows = try store.keyspace("rows")
      try store.put([1], at: 1, in: rows)
      // Wait for the background work: a manifest written into a removed directory would stop the store before there is
      // anything that closing fails to sync.
      while store.log.manifest.prepared.withLock({ $0 == nil }) { sched_yield() }
      let files = SystemFileLayer()
      // The store may create more files in the background meanwhile.
      repeat {
        for name in try files.list(path) { try? files.remove("\(path)/\(name)") }
      } while (try? files.remove(path)) == nil
      #expect(failure { try store.put([2], at: 2, in: rows) }?.code == .poisoned)
      #expect(try store.get(1, in: rows) == [1])
      #expect(failure { try store.close() }?.code == .poisoned)
      // The path now leads to a new store.
      let second = try Store.open(at: path)
      #expect(second.keyspaces.isEmpty)
      try second.close()
    }
  }

  @Test("G20: A store works on after the process has changed its working directory.") func relativePath() async {
    await #expect(processExitsWith: .success) {
      try withTemporaryDirectory { directory in
        demand(unsafe chdir(directory) == 0, "1")
        let store = try Store.open(at: "store", options: DirectoryTests.options)
        let rows = try store.keyspace("rows")
        for number in 0..<100 as Range<Int64> {
          if number == 20 { demand(unsafe chdir("/") == 0) }
          try store.put([UInt8].noise(2000), at: .integer(number), in: rows)
        }
        try store.checkpoint()
        try store.compact(.everything)
        try store.close()
        let again = try Store.open(at: "\(directory)/store", options: DirectoryTests.options)
        demand(try again.read { try $0.count(in: again.keyspace("rows")) } == 100, "2")
        demand(try !SystemFileLayer().list("/").contains("store"), "3")
      }
    }
  }

  // MARK: Files

  @Test("G20: A store follows no symbolic links, and leaves their targets unchanged.") func links() throws {
    try withTemporaryDirectory { directory in
      let layer = SystemFileLayer()
      let victim = "\(directory)/victim"
      try layer.open(victim, .create).writeAll(Array("precious".utf8), at: 0)
      for name in ["LOCK", "MANIFEST", "0000000001.segment", "WATERMARK"] {
        let path = "\(directory)/\(name)-store"
        var store = try Store.open(at: path, options: Self.options)
        try fill(store, 0..<3)
        try store.close()
        try? layer.remove("\(path)/\(name)")
        #expect(unsafe symlink(victim, "\(path)/\(name)") == 0)
        #expect(failure { _ = try Store.open(at: path, options: Self.options) }?.code == .damaged, "\(name)")
        #expect(try layer.open(victim, .read).readAll(atMost: 100) == Array("precious".utf8))
        if name == "LOCK" {
          try layer.remove("\(path)/LOCK")
          store = try Store.open(at: path, options: Self.options)
          #expect(try count(store) == 3)
          try store.close()
        }
      }
    }
  }

  @Test("G20: A pipe or device in place of a file is refused without waiting for it.") func pipesAndDevices() throws {
    try withTemporaryDirectory { directory in
      for name in ["LOCK", "MANIFEST", "0000000001.segment", "WATERMARK", "RESERVE"] {
        for makesPipe in [true, false] {
          let path = "\(directory)/\(name)-\(makesPipe)"
          let store = try Store.open(at: path, options: Self.options)
          try fill(store, 0..<3)
          try store.close()
          try? SystemFileLayer().remove("\(path)/\(name)")
          if makesPipe {
            #expect(unsafe mkfifo("\(path)/\(name)", 0o600) == 0)
          } else {
            try SystemFileLayer().createDirectory("\(path)/\(name)")
          }
          let error = failure {
            let store = try Store.open(at: path, options: Self.options)
            // Write, because the reserve is not used by reading alone.
            try fill(store, 3..<4)
            try store.close()
          }
          #expect(
            error?.code == .damaged || name == "RESERVE" && error == nil, "\(name): \(error.map { "\($0)" } ?? "")")
        }
      }
    }
  }

  @Test("G20: An overlong segment is read only up to its possible length, and an overlong manifest is refused.")
  func longFiles() throws {
    try withTemporaryDirectory { directory in
      let path = "\(directory)/store"
      var store = try Store.open(at: path, options: Self.options)
      try fill(store, 0..<5)
      try store.close()
      let layer = SystemFileLayer()
      try layer.open("\(path)/0000000001.segment", .readWrite).truncate(1 << 40)
      var readOnly = Self.options
      readOnly.access = .readOnly
      for options in [readOnly, Self.options] {
        store = try Store.open(at: path, options: options)
        #expect(try count(store) == 5)
        try store.close()
      }
      #expect(try Verifier(at: path).run().damage.isEmpty)
      let manifest = try layer.open("\(path)/MANIFEST", .readWrite)
      try manifest.truncate(1 << 40)
      #expect(failure { _ = try Store.open(at: path, options: Self.options) }?.code == .damaged)
      #expect(failure { _ = try Verifier(at: path).run() }?.code == .damaged)
    }
  }

  // MARK: Permissions

  private func permissions(_ path: String) -> mode_t {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
  }

  @Test(
    "G20: The files of a new store are private to their owner unless the options say otherwise.",
    arguments: [nil, 0o640, 0o666, 0o600] as [UInt16?])
  func arePrivate(_ wanted: UInt16?) throws {
    try withTemporaryDirectory { directory in
      let path = "\(directory)/store"
      var options = Self.options
      if let wanted { options.filePermissions = wanted }
      let expected = mode_t(wanted ?? 0o600)
      var store = try Store.open(at: path, options: options)
      try fill(store, 0..<80)
      try store.checkpoint()
      try store.compact(.everything)
      try fill(store, 80..<81)
      try store.close()
      #expect(permissions(path) == expected | (expected & 0o444) >> 2 | 0o100)
      for name in try SystemFileLayer().list(path) { #expect(permissions("\(path)/\(name)") == expected, "\(name)") }

      // Permissions that somebody has changed stay as they are.
      for name in try SystemFileLayer().list(path) { #expect(unsafe chmod("\(path)/\(name)", 0o644) == 0) }
      store = try Store.open(at: path, options: Self.options)
      try fill(store, 0..<160)
      try store.checkpoint()
      try store.compact(.everything)
      try store.close()
      for name in try SystemFileLayer().list(path) { #expect(permissions("\(path)/\(name)") == 0o644, "\(name)") }
    }
  }

  // MARK: Descriptors

  #if os(Linux)
    @Test("D26: A store needs only a few descriptors, however many segments it has.") func fewDescriptors() async {
      await #expect(processExitsWith: .success) {
        try withTemporaryDirectory { directory in
          let path = "\(directory)/store"
          var options = DirectoryTests.options
          options.compacts = false
          options.writesCheckpoints = false
          var store = try Store.open(at: path, options: options)
          let rows = try store.keyspace("rows")
          for number in 0..<4000 as Range<Int64> {
            try store.put([UInt8].noise(2000, seed: UInt64(number)), at: .integer(number % 40), in: rows, .buffered)
          }
          demand(store.statistics.segments > 100, "4")
          try store.close()
          demand(openDescriptors(in: directory) == 0, "descriptors")
          limitDescriptors(to: highestDescriptor() + 24)
          for access in [StoreOptions.Access.readOnly, .readWrite] {
            options.access = access
            store = try Store.open(at: path, options: options)
            demand(store.statistics.segments > 100, "6")
            demand(try store.read { try $0.count(in: store.keyspace("rows")) } == 40, "7")
            try store.close()
            demand(openDescriptors(in: directory) == 0, "\(access): \(openDescriptors(in: directory))")
          }
          store = try Store.open(at: path, options: DirectoryTests.options)
          try store.put([1], at: 1, in: store.keyspace("rows"))
          try store.compact()
          demand(store.statistics.segments < 10, "8")
          demand(openDescriptors(in: directory) < 10, "compacted: \(openDescriptors(in: directory))")
          try store.close()
          demand(try Verifier(at: path).run().damage.isEmpty, "9")
        }
      }
    }

  #endif

  @Test("D26: A store that is closed is opened with few descriptors, however late its segments were sealed.")
  func sealedLate() throws {
    let machine = Machine()
    var store = try machine.open()
    try fill(store, 0..<1000, .buffered)
    #expect(store.log.manifest.openSegments.count > 20)
    try store.close()
    store = try machine.open()
    #expect(try count(store) == 1000)
    // The last one, and one that was prepared for the next commits.
    #expect(store.log.manifest.openSegments.count <= 2)
  }

  @Test("D13: A failed sync while a store is being closed leaves its manifest as it was.")
  func closingAfterAFailedSync() throws {
    let machine = Machine()
    var store = try machine.open()
    try fill(store, 0..<1000, .buffered)
    // As after a reader of changes has acknowledged something.
    store.log.manifest.hasUnwritten.store(true, ordering: .relaxed)
    machine.files.failNext(.sync, with: .system(5))
    let writes = machine.files.count(of: .write)
    #expect(failure { try store.close() }?.code == .poisoned)
    #expect(machine.files.count(of: .write) == writes)
    store = try machine.open()
    #expect(try count(store) == 1000)
  }

  /// Each operation of closing fails once; then the machine loses power.
  @Test(arguments: MemoryFileLayer.Operation.allCases) func closingFails(_ operation: MemoryFileLayer.Operation) throws
  {
    for skipped in 0..<8 {
      let machine = Machine()
      let store = try machine.open()
      try fill(store, 0..<200)
      #expect(store.log.manifest.openSegments.count > 4)
      machine.files.failNext(operation, after: skipped, with: .system(5))
      if let failed = failure({ try store.close() }) { #expect([.poisoned, .inputOutput].contains(failed.code)) }
      #expect(try count(machine.crash().open()) == 200, "\(operation) after \(skipped)")
    }
  }

  @Test("D26: A call without a free descriptor throws `noDescriptors`, and succeeds once there is one.")
  func noDescriptors()
    async
  {
    await #expect(processExitsWith: .success) {
      try withTemporaryDirectory { directory in
        let path = "\(directory)/store"
        let store = try Store.open(at: path, options: DirectoryTests.options)
        let rows = try store.keyspace("rows")
        for number in 0..<5 as Range<Int64> { try store.put([UInt8].noise(2000), at: .integer(number), in: rows) }
        // After this, no background work is due.
        while store.log.manifest.prepared.withLock({ $0 == nil }) { sched_yield() }
        let second = "\(directory)/second"
        try Store.open(at: second).close()
        let allowed = limitDescriptors(to: 60)
        let attempts: [(String, () throws -> Void)] = [
          ("open", { _ = try Store.open(at: second) }), ("create", { _ = try Store.open(at: "\(directory)/third") }),
          ("checkpoint", { try store.checkpoint() }), ("verify", { _ = try Verifier(at: path).run() }),
          ("info", { _ = try StoreInfo(at: path) }),
          (
            "put",
            {
              for number in 0..<4000 as Range<Int64> {
                try store.put([UInt8].noise(2000), at: .integer(number), in: rows)
              }
            }
          ),
          ("compact", { try store.compact(.everything) }),
        ]
        var taken: [Int32] = []
        for (name, attempt) in attempts {
          // This also takes descriptors that background work has closed.
          while case let descriptor = dup(0), descriptor >= 0 { taken.append(descriptor) }
          let error = failure(attempt)
          demand(error?.code == .noDescriptors, "\(name): \(error.map { "\($0)" } ?? "no error")")
          demand(error!.message.contains("too many open files"), "10")
        }
        limitDescriptors(to: allowed)
        for descriptor in taken { _ = close(descriptor) }
        try store.put([1], at: 1, in: rows)
        try store.checkpoint()
        try store.compact(.everything)
        try store.close()
        demand(try Verifier(at: path).run().damage.isEmpty, "11")
        let again = try Store.open(at: path, options: DirectoryTests.options)
        demand(again.recovery.checkpoint != nil && again.recovery.ignoredCheckpoints.isEmpty, "12")
      }
    }
  }

  @Test("D26: Opening throws `noDescriptors` rather than ignore a checkpoint for lack of a descriptor.")
  func noDescriptorsForACheckpoint() throws {
    let machine = Machine()
    let store = try machine.open()
    try store.put([1], at: 1, in: store.keyspace("rows"))
    try store.checkpoint()
    try store.close()
    for name in ["openDirectory", "list", "lock", "open", "map"] {
      let operation = try #require(MemoryFileLayer.Operation(rawValue: name))
      for skipped in 0..<6 {
        machine.files.failNext(operation, after: skipped, with: .noDescriptors)
        // The highest values of `skipped` do not fail the first opening but a later one.
        for _ in 0..<6 {
          let error = failure {
            let again = try machine.open()
            #expect(again.recovery.ignoredCheckpoints.isEmpty)
            try again.close()
          }
          #expect(error == nil || error?.code == .noDescriptors)
        }
      }
    }
  }
}

/// The highest number of an open descriptor; 0 if there is none.
private func highestDescriptor() -> Int { (0..<1000).last { fcntl(Int32($0), F_GETFD) >= 0 } ?? 0 }

/// The number of descriptors that are open on paths beginning with `directory`.
private func openDescriptors(in directory: String) -> Int {
  (0..<1000).count { number in
    var text = [CChar](repeating: 0, count: 1024)
    let length = unsafe readlink("/proc/self/fd/\(number)", &text, text.count)
    let target = String(decoding: text.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return target.hasPrefix(directory)
  }
}

/// Returns the previous limit.
@discardableResult private func limitDescriptors(to count: Int) -> Int {
  var limit = rlimit()
  #if canImport(Glibc)
    let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  #else
    let kind = RLIMIT_NOFILE
  #endif
  unsafe getrlimit(kind, &limit)
  let allowed = Int(limit.rlim_cur)
  limit.rlim_cur = rlim_t(count)
  demand(unsafe setrlimit(kind, &limit) == 0, "13")
  return allowed
}
