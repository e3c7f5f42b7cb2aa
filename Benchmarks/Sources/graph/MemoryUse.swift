import Comparing
import Foundation

/// The memory of a process that only opens a store and holds 10,000 of its versions. Counts memory that belongs to no
/// file: the system can take back the pages of mapped files at any time.
struct MemoryUse: Codable {
  /// Growth in bytes since before the opening.
  let opened: Int
  let held: Int

  /// Runs this program again, as `graph memory`.
  static func measure(_ side: Side, _ url: URL) throws -> MemoryUse {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["memory", side.rawValue, url.path]
    process.standardOutput = output
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return try JSONDecoder().decode(MemoryUse.self, from: text)
  }

  init(of contender: any GraphContender) throws {
    let before = Self.anonymousBytes
    try contender.open()
    opened = Self.anonymousBytes - before
    held = try contender.holding(PackageGraph.sample) { Self.anonymousBytes } - before
    try contender.close()
  }

  private static var anonymousBytes: Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
    return (line?.split(separator: " ").compactMap { Int($0) }.first ?? 0) * 1024
  }
}
