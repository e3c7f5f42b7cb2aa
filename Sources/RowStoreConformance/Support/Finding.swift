/// What is wrong with a store.
struct Finding: Error {
  let sentence: String

  init(_ sentence: String) { self.sentence = sentence }
}

func expect(_ condition: Bool, _ sentence: @autoclosure () -> String) throws {
  if !condition { throw Finding(sentence()) }
}

func expect<Value: Equatable>(
  _ subject: @autoclosure () -> String, _ found: Value, is expected: Value
) throws {
  try expect(
    found == expected, "\(subject()) should be \(description(of: expected)), but is \(description(of: found)).")
}

/// Names the first element that differs, since the lists may be long.
func expect<Value: Equatable>(
  _ subject: @autoclosure () -> String, _ found: [Value], are expected: [Value]
) throws {
  guard found != expected else { return }
  let place = zip(found, expected).prefix { $0 == $1 }.count
  func element(_ values: [Value]) -> String { place < values.count ? description(of: values[place]) : "nothing" }
  throw Finding(
    """
    \(subject()) should have \(element(expected)) at place \(place + 1), but have \(element(found)) there \
    (\(expected.count) expected, \(found.count) found).
    """)
}

private func description<Value>(of value: Value) -> String {
  switch value {
  case let bytes as [UInt8]: bytes.abbreviated
  case let entries as [[UInt8]] where entries.count > 4: "\(description(of: Array(entries.prefix(4)))), …"
  case let entries as [[UInt8]]: "[\(entries.map(\.abbreviated).joined(separator: ", "))]"
  case let optional as any OptionalValue: optional.text
  default: "\(value)"
  }
}

private protocol OptionalValue {
  var text: String { get }
}

extension Optional: OptionalValue {
  fileprivate var text: String { map { description(of: $0) } ?? "nothing" }
}

extension [UInt8] {
  /// The first bytes in hexadecimal digits.
  var abbreviated: String {
    guard !isEmpty else { return "no bytes" }
    let digits = prefix(12).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
    return count > 12 ? "\(digits) … (\(count) bytes)" : digits
  }
}
