import CoreData

/// The rows of a store, numbered, for one store after another to open. Whoever changes them here is another client.
final class Backing {
  /// The key of a store's options under which it finds its rows.
  static let option = "Backing"

  let identifier = UUID().uuidString
  var url: URL { URL(filePath: "/nowhere/\(identifier)") }
  var rows: [Int: BackingRow] = [:]
  /// What a store has saved of its metadata.
  var metadata: [String: Any] = [:]
  /// What a store is to refuse.
  var failing: Set<StoreMethod> = []
  private var lastNumber = 0

  /// A number that no row has ever had.
  func reserveNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  @discardableResult
  func add(
    _ entityName: String, _ attributes: [String: Any] = [:], toOne: [String: Int] = [:], toMany: [String: [Int]] = [:]
  ) -> Int {
    let number = reserveNumber()
    rows[number] = BackingRow(entityName: entityName, attributes: attributes, toOne: toOne, toMany: toMany)
    return number
  }
}
