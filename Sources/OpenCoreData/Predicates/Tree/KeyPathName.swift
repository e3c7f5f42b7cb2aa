import Foundation

/// The names of the properties that a Swift key path reads, found once they are needed.
final class KeyPathName {
  private let find: () -> String?
  private let description: String
  private let found = Locked<String?>(nil)

  init(_ description: String, _ find: @escaping () -> String?) {
    self.description = description
    self.find = find
  }

  /// The names with dots between them.
  var key: String {
    if let found = found.withLock({ $0 }) { return found }
    guard let key = find() else {
      fatalError(
        "\(description) names no property: no model in use has its class, or it does not only read properties.")
    }
    found.withLock { $0 = key }
    return key
  }
}
