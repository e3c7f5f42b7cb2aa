#if PostgreSQL
  import CoreData
  import Foundation
  import Glibc
  import PostgreSQLIncrementalStore
  import RowStoreConformance
  import Testing

  /// Processes of their own save in one database until they are killed.
  @Suite("Processes that are killed while they save in PostgreSQL", .serialized)
  struct KilledProcessTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let writer = "CAIRN_POSTGRESQL_WRITER"

    @Test("Three processes that are killed leave all acknowledged saves, and each as a whole.")
    func processes() throws {
      let namespace = Namespace()
      defer { namespace.remove() }
      for _ in 0..<3 {
        let writers = try (0..<3).map { _ in try Writer(namespace) }
        for writer in writers { writer.waitForSaves(5) }
        for writer in writers { writer.kill() }
        let rows = try namespace.rowStore()
        try RowStoreConformance.checkAfterKill(
          rows, acknowledged: writers.map(\.lastSave).max() ?? 0, processes: writers.count)
        try rows.close()
      }
    }

    @Test(
      "A server that is killed loses no acknowledged save, and processes go on when it is there again.",
      .enabled(if: environment["CAIRN_POSTGRESQL_CRASH"] != nil))
    func server() throws {
      let namespace = Namespace()
      defer { namespace.remove() }
      let writers = try (0..<2).map { _ in try Writer(namespace) }
      for round in 1...3 {
        for writer in writers { writer.waitForSaves(5 * round) }
        let crash = Process()
        crash.executableURL = URL(filePath: Self.environment["CAIRN_POSTGRESQL_CRASH"] ?? "")
        crash.arguments = [Server.folder]
        try crash.run()
        crash.waitUntilExit()
        #expect(crash.terminationStatus == 0)
      }
      for writer in writers { writer.waitForSaves(20) }
      for writer in writers { writer.kill() }
      let rows = try namespace.rowStore()
      try RowStoreConformance.checkAfterKill(
        rows, acknowledged: writers.map(\.lastSave).max() ?? 0, processes: writers.count)
      try rows.close()
    }

    @Test("This saves until it is killed.", .enabled(if: environment[writer] != nil))
    func save() throws {
      let parts = (Self.environment[Self.writer] ?? "").split(separator: "\n").map(String.init)
      let url = try #require(URL(string: parts[0]))
      let file = unsafe open(parts[1], O_WRONLY | O_APPEND)
      try RowStoreConformance.saveUntilKilled(PostgreSQLIncrementalStore.rowStore(at: url, options: nil)) { number in
        let line = Array("\(number)\n".utf8)
        let written = unsafe line.withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) }
        try #require(written == line.count)
      }
    }

    /// Another process that saves.
    private final class Writer {
      private let process = Process()
      private let file = URL.temporaryDirectory.appending(path: "saves \(UUID().uuidString)")

      init(_ namespace: Namespace) throws {
        try Data().write(to: file)
        process.executableURL = URL(
          filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        process.arguments = ["--testing-library", "swift-testing", "--filter", "KilledProcessTests/save"]
        process.environment = environment.merging(
          [writer: "\(namespace.url(Server.address).absoluteString)\n\(file.path)"]
        ) { $1 }
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
      }

      deinit { try? FileManager.default.removeItem(at: file) }

      private var saves: [Int] {
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { Int($0) }
      }

      var lastSave: Int { saves.max() ?? 0 }

      func waitForSaves(_ count: Int) { while process.isRunning, saves.count < count { sched_yield() } }

      func kill() {
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
      }
    }
  }
#endif
