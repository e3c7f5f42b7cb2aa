import CCairnPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The text in the lock's file, which names the process that holds the lock.
package enum LockOwner {
  /// The name of that file.
  static let fileName = "LOCK"

  /// The text for this process.
  static var text: String { "process \(getpid()) on \(place)" }

  private static var place: String {
    var host = [CChar](repeating: 0, count: 256)
    var boot = [CChar](repeating: 0, count: 64)
    unsafe gethostname(&host, host.count - 1)
    let length = unsafe cairn_boot_identity(&boot, boot.count)
    func text(_ characters: some Sequence<CChar>) -> String {
      String(decoding: characters.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    return "\(text(host.prefix { $0 != 0 })), boot \(text(boot.prefix(length)))"
  }

  /// Whether the process that a text names is running on this machine; false also if that cannot be determined.
  package static func isRunning(_ text: String) -> Bool {
    let words = text.split(separator: " ", maxSplits: 3)
    guard words.count == 4, words[0] == "process", words[2] == "on", words[3] == place, let id = pid_t(words[1]), id > 0
    else { return false }
    return kill(id, 0) == 0 || errno == EPERM
  }
}
