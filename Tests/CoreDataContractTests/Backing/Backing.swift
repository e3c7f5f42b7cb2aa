import CoreData

/// The numbered rows of a store, for one store after another to open. Changes made here are those of another client.
final class Backing {
  /// The key of a store's options under which it finds its rows.
  static let option = "Backing"

  let identifier = UUID().uuidString
  var url: URL { URL(filePath: "/nowhere/\(identifier)") }
  var rows: [Int: BackingRow] = [:]
  /// The metadata that a store has saved.
  var metadata: [String: Any] = [:]
  /// The methods that a store is to refuse.
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
