import Foundation

/// An identifier as a URL: `x-coredata://<store>/<entity>/p<reference>`, or `x-coredata:///<entity>/t<number>` for a
/// temporary one.
///
/// The parts are percent-encoded, and decoded when they are read. A reference that is a decimal number in its usual
/// form is a number; a string that looks like one has its first character encoded, so that it stays a string.
struct ObjectURI {
  /// Nil for a temporary identifier.
  let store: String?
  let entity: String
  let reference: ObjectReference

  init(_ identifier: NSManagedObjectID) {
    store = identifier.identity?.uuid
    entity = identifier.entity.name ?? ""
    reference = identifier.reference
  }

  /// Nil if the text is not the URL of a permanent identifier.
  init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 5, parts[0] == "x-coredata:", parts[1].isEmpty, !parts[2].isEmpty, parts[4].first == "p",
      let store = parts[2].removingPercentEncoding, let entity = parts[3].removingPercentEncoding
    else { return nil }
    let written = String(parts[4].dropFirst())
    guard let read = written.removingPercentEncoding, !read.isEmpty else { return nil }
    self.store = store
    self.entity = entity
    reference = Self.number(written).map(ObjectReference.integer) ?? .string(read)
  }

  var url: URL {
    let text = "x-coredata://\(Self.encoded(store ?? ""))/\(Self.encoded(entity))/\(referenceText)"
    guard let url = URL(string: text) else { fatalError("\(text) is no URL.") }
    return url
  }

  private var referenceText: String {
    switch reference {
    case .temporary(let number): "t\(Self.process)\(String(number, radix: 16, uppercase: true))"
    case .integer(let number): "p\(number)"
    case .string(let text) where Self.number(text) != nil:
      "p%\(String(text.utf8.first ?? 0, radix: 16))\(text.dropFirst())"
    case .string(let text): "p\(Self.encoded(text))"
    }
  }

  /// The number whose usual form is the text; nil for any other text.
  private static func number(_ text: String) -> Int64? {
    Int64(text).flatMap { "\($0)" == text ? $0 : nil }
  }

  private static func encoded(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }

  /// The characters that need no encoding in any part of a URL.
  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

  /// Distinguishes the temporary identifiers of this process from those of others.
  private static let process = UUID().uuidString
}
