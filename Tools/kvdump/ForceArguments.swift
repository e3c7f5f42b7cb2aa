import ArgumentParser
import Cairn
import CairnInspection

/// What commands take that change rows as they lie in the store.
struct ForceArguments: ParsableArguments {
  @Flag(help: "Change rows of Core Data objects too, although they may contradict each other then.")
  var force = false
}

extension ForceArguments {
  /// A keyspace that may be changed.
  func keyspace(_ name: String, of store: Store) throws -> Keyspace {
    let keyspace = try store.existingKeyspace(name)
    guard try force || !store.hasObjects(in: keyspace) else { throw RowsOfObjects(keyspace: name) }
    return keyspace
  }
}

/// Rows that depend on each other are changed through Core Data.
struct RowsOfObjects: Error, CustomStringConvertible {
  let keyspace: String

  var description: String {
    "\(keyspace) has rows of Core Data objects, which depend on other rows; --force changes it nevertheless"
  }
}
