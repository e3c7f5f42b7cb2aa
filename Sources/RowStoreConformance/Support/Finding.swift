import IncrementalStore

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
  try expect(found == expected, "\(subject()) should be \(text(expected)), but is \(text(found)).")
}

/// Names the first element that differs, since the lists may be long.
func expect<Value: Equatable>(
  _ subject: @autoclosure () -> String, _ found: [Value], are expected: [Value]
) throws {
  guard found != expected else { return }
  let place = zip(found, expected).prefix { $0 == $1 }.count
  func element(_ values: [Value]) -> String { place < values.count ? text(values[place]) : "nothing" }
  throw Finding(
    """
    \(subject()) should be \(expected.count) in number with \(element(expected)) at place \(place), but are \
    \(found.count) with \(element(found)) there.
    """)
}

private func text<Value>(_ value: Value) -> String {
  switch value {
  case let bytes as [UInt8]: bytes.abbreviated
  case let optional as any OptionalValue where optional.isNil: "nothing"
  default: "\(value)"
  }
}

private protocol OptionalValue {
  var isNil: Bool { get }
}

extension Optional: OptionalValue {
  fileprivate var isNil: Bool { self == nil }
}

extension [UInt8] {
  /// The first bytes in hexadecimal digits.
  var abbreviated: String {
    guard !isEmpty else { return "no bytes" }
    let digits = prefix(12).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
    return count > 12 ? "\(digits) … (\(count) bytes)" : digits
  }
}
