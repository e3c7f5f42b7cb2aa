import Foundation

/// A value that has properties for keys, as its class on Apple's platforms has through key-value coding.
protocol PropertyValue {
  /// The value for a key; nil for a key that it does not have.
  func property(_ key: String) -> PredicateValue?
}

extension PredicateValue: PropertyValue {
  /// The property that key-value coding gives on Apple's platforms; nil for a key that values of this kind do not have.
  func property(_ key: String) -> PredicateValue? {
    switch self {
    case .string(let text): text.property(key)
    case .integer, .double, .decimal: numberProperty(key)
    case .date(let date): date.property(key)
    case .uuid(let uuid): ["UUIDString", "description"].contains(key) ? .string(uuid.uuidString) : nil
    case .data(let data): key == "length" ? .integer(Int64(data.count)) : nil
    case .object(let value): (value as? any PropertyValue)?.property(key)
    case .null, .collection: nil
    }
  }

  private func numberProperty(_ key: String) -> PredicateValue? {
    switch key {
    case "intValue": .integer(Int64(Int32(truncatingIfNeeded: truncated)))
    case "integerValue", "longLongValue": .integer(truncated)
    case "doubleValue": doubleValue.map(PredicateValue.double)
    case "floatValue": doubleValue.map { .double(Double(Float($0))) }
    case "boolValue": .integer(doubleValue == 0 ? 0 : 1)
    case "stringValue", "description": (anyValue as? NSNumber).map { .string($0.stringValue) }
    default: nil
    }
  }

  /// The number without its fraction; the nearest `Int64` if it does not fit, 0 for NaN.
  private var truncated: Int64 {
    switch self {
    case .integer(let value): return value
    case .decimal(let value):
      if let whole = Int64(value.description.prefix { $0 != "." }) { return whole }
    default: break
    }
    guard let value = doubleValue, !value.isNaN else { return 0 }
    return Int64(exactly: value.rounded(.towardZero)) ?? (value < 0 ? .min : .max)
  }
}

extension String {
  fileprivate func property(_ key: String) -> PredicateValue? {
    let text = self as NSString
    return switch key {
    case "length": .integer(Int64(utf16.count))
    case "description": .string(self)
    case "lowercaseString": .string(lowercased())
    case "uppercaseString": .string(uppercased())
    case "capitalizedString": .string(capitalized)
    case "intValue": .integer(Int64(text.intValue))
    case "integerValue", "longLongValue": .integer(text.longLongValue)
    case "doubleValue": .double(text.doubleValue)
    case "floatValue": .double(Double(text.floatValue))
    case "boolValue": .integer(text.boolValue ? 1 : 0)
    case "pathExtension": .string(text.pathExtension)
    case "lastPathComponent": .string(text.lastPathComponent)
    case "pathComponents": PredicateValue(text.pathComponents)
    case "stringByDeletingPathExtension": .string(text.deletingPathExtension)
    case "stringByDeletingLastPathComponent": .string(text.deletingLastPathComponent)
    default: nil
    }
  }
}

extension Date {
  fileprivate func property(_ key: String) -> PredicateValue? {
    switch key {
    case "timeIntervalSinceReferenceDate": .double(timeIntervalSinceReferenceDate)
    case "timeIntervalSince1970": .double(timeIntervalSince1970)
    case "timeIntervalSinceNow": .double(timeIntervalSinceNow)
    case "description": .string(description)
    default: nil
    }
  }
}

extension URL: PropertyValue {
  func property(_ key: String) -> PredicateValue? {
    switch key {
    case "absoluteString", "description": .string(absoluteString)
    case "relativeString": .string(relativeString)
    case "scheme": PredicateValue(scheme)
    case "host": PredicateValue(host)
    case "port": PredicateValue(port)
    case "path": .string(path)
    case "query": PredicateValue(query)
    case "fragment": PredicateValue(fragment)
    case "lastPathComponent": .string(lastPathComponent)
    case "pathExtension": .string(pathExtension)
    case "pathComponents": PredicateValue(pathComponents)
    default: nil
    }
  }
}
