import CMalloc
import Foundation

/// The memory of this process.
enum Memory {
  /// Bytes of anonymous memory, which belong to the process alone.
  static var ownBytes: Int { bytes("RssAnon") }
  /// Bytes of mapped files, mainly the store's. The system takes them back when it needs memory.
  static var mappedBytes: Int { bytes("RssFile") }

  /// Sets up glibc's allocator for a service that should stay small. Call it before there are other threads.
  ///
  /// By default, glibc gives each thread an arena of its own, and keeps as much memory for each as it has ever needed.
  /// With a dozen threads, that is several times as much as the service uses. Once a large block has been freed, it
  /// also takes blocks of that size from the heap, where they leave holes, instead of from the system.
  static func keepSmall() {
    mallopt(M_ARENA_MAX, 1)
    mallopt(M_MMAP_THRESHOLD, 32 << 10)
    mallopt(M_TRIM_THRESHOLD, 64 << 10)
  }

  private static func bytes(_ field: String) -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix(field + ":") }
    return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
  }
}
