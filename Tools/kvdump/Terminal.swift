#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Output that only terminals get, not pipes or files.
enum Terminal {
  /// Whether standard error is a terminal, so that progress is shown.
  static let showsProgress = isatty(STDERR_FILENO) != 0

  /// Whether standard output is a terminal that shows colours, and `NO_COLOR` is not set.
  static let hasColors: Bool = {
    guard isatty(STDOUT_FILENO) != 0, unsafe getenv("NO_COLOR").map({ unsafe $0[0] == 0 }) ?? true else { return false }
    return unsafe getenv("TERM").map { unsafe strcmp($0, "dumb") != 0 } ?? true
  }()

  enum Style: String {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
  }

  static func styled(_ text: String, _ style: Style) -> String {
    hasColors ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// Writes to standard error.
  static func tell(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
