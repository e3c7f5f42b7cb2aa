import Foundation

/// The memory of this process.
enum Memory {
  /// Bytes that are the process's own.
  static var ownBytes: Int { bytes("RssAnon") }
  /// Bytes of files that are mapped, the store's above all, which the system takes back when it needs memory.
  static var mappedBytes: Int { bytes("RssFile") }

  private static func bytes(_ field: String) -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix(field + ":") }
    return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
  }
}
