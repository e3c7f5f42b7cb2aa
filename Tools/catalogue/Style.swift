import Foundation

/// The style of the report: bold and dim on a terminal, plain elsewhere.
struct Style {
  let isPlain: Bool

  /// The style for standard output.
  static var standardOutput: Style {
    let environment = ProcessInfo.processInfo.environment
    let isTerminal = isatty(STDOUT_FILENO) != 0 && environment["TERM"] != "dumb"
    return Style(isPlain: !isTerminal || !(environment["NO_COLOR"] ?? "").isEmpty)
  }

  func bold(_ text: String) -> String { isPlain ? text : "\u{1B}[1m\(text)\u{1B}[0m" }

  func dim(_ text: String) -> String { isPlain ? text : "\u{1B}[2m\(text)\u{1B}[0m" }

  /// A title, a fact, and a remark, in columns.
  func line(_ title: String, _ fact: String, _ remark: String) -> String {
    let line = "  \(title.padded(to: 10)) \(bold(remark.isEmpty ? fact : fact.padded(to: 28)))"
    return remark.isEmpty ? line : "\(line) \(dim(remark))"
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(width - count, 0))
  }
}

extension Int {
  /// `65,484`
  var grouped: String {
    var digits = String(magnitude)
    var groups: [Substring] = []
    while digits.count > 3 {
      groups.insert(digits.suffix(3), at: 0)
      digits.removeLast(3)
    }
    groups.insert(digits[...], at: 0)
    return (self < 0 ? "-" : "") + groups.joined(separator: ",")
  }

  /// `51.3 MiB`
  var asBytes: String {
    var value = Double(self)
    var unit = "bytes"
    for larger in ["KiB", "MiB", "GiB"] where value >= 1024 {
      value /= 1024
      unit = larger
    }
    return unit == "bytes" ? "\(grouped) bytes" : "\(value.rounded(toPlaces: 1)) \(unit)"
  }
}

extension Double {
  /// `1.92 s`, `38.1 ms` or `12 µs`
  var asTime: String {
    switch self {
    case ..<0.001: "\(Int((self * 1_000_000).rounded()).grouped) µs"
    case ..<1: "\((self * 1000).rounded(toPlaces: 1)) ms"
    default: "\(rounded(toPlaces: 2)) s"
    }
  }

  fileprivate func rounded(toPlaces places: Int) -> Double {
    let scale = Double((0..<places).reduce(1) { product, _ in product * 10 })
    return (self * scale).rounded() / scale
  }
}
