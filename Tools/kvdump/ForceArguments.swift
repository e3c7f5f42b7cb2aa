import ArgumentParser
import Cairn
import CairnInspection

/// The argument of commands that change single rows or keyspaces without regard to other rows.
struct ForceArguments: ParsableArguments {
  @Flag(help: "Also change rows of Core Data objects, which may then contradict each other.")
  var force = false
}

extension ForceArguments {
  /// A keyspace that the command may change.
  func keyspace(_ name: String, of store: Store) throws -> Keyspace {
    let keyspace = try store.existingKeyspace(name)
    guard try force || !store.hasObjects(in: keyspace) else { throw RowsOfObjects(keyspace: name) }
    return keyspace
  }
}

/// An attempt to change rows of Core Data objects, which depend on each other, without `--force`.
struct RowsOfObjects: Error, CustomStringConvertible {
  let keyspace: String

  var description: String {
    "\(keyspace) has rows of Core Data objects, which depend on other rows; use --force to change it anyway"
  }
}
