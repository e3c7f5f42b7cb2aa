import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// What is done and measured on the machine between runs.
enum Machine {
  /// Waits until no engine works in the background any more, then syncs the file systems, so that one engine's
  /// compaction or write-back is not charged to the next. Stops waiting after two minutes.
  static func settle() {
    let deadline = now() + 120_000_000_000
    var idle = 0
    while idle < 3 && now() < deadline {
      let used = processorTime()
      usleep(25_000)
      idle = processorTime() - used < 2_000 ? idle + 1 : 0
    }
    sync()
  }

  /// Microseconds of processor time that this process has used.
  private static func processorTime() -> Int {
    Int(clock()) / (Int(CLOCKS_PER_SEC) / 1_000_000)
  }

  /// The bytes that the files under `directory` use: neither holes nor space allocated beyond a file's end count.
  static func diskBytes(under directory: String) -> Int {
    let names = FileManager.default.enumerator(atPath: directory)
    var bytes = 0
    while let name = names?.nextObject() as? String {
      var status = stat()
      guard lstat(directory + "/" + name, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
      bytes += min(Int(status.st_size), Int(status.st_blocks) * 512)
    }
    return bytes
  }

  /// Bytes of resident memory that belong to no file; nil if the system does not report them.
  static func anonymousMemory() -> Int? {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
    for line in status.split(separator: "\n") where line.hasPrefix("RssAnon:") {
      return line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) }
        .map { $0 * 1024 }
    }
    return nil
  }
}
