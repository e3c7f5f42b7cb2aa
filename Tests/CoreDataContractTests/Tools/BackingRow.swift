/// A row as tests see it, however the store keeps it.
struct BackingRow {
  let entityName: String
  var version: UInt64 = 1
  var attributes: [String: Any]
  /// The number of the related row.
  var toOne: [String: Int] = [:]
  /// The numbers of the related rows of an ordered or many-to-many relationship; others follow from their inverse.
  var toMany: [String: [Int]] = [:]
}

extension Backing {
  /// Changes a row, and increases its version.
  func change(_ number: Int, _ attributes: [String: Any]) {
    rows[number]?.attributes.merge(attributes) { $1 }
    rows[number]?.version += 1
  }

  /// Ada and Bob, who are friends and live in one house; Cleo, who is a child; Ada's dog Rex and her two errands.
  static func town() -> Backing {
    let town = Backing()
    town.add("Person", ["name": "Ada", "age": 36], toOne: ["home": 4], toMany: ["friends": [2], "errands": [6, 7]])
    town.add("Person", ["name": "Bob", "age": 25], toOne: ["home": 4], toMany: ["friends": [1]])
    town.add("Child", ["name": "Cleo", "age": 7, "grade": 2])
    town.add("House", ["street": "Elm"])
    town.add("Pet", ["name": "Rex"], toOne: ["owner": 1])
    town.add("Errand", ["title": "bread"], toOne: ["person": 1])
    town.add("Errand", ["title": "milk"], toOne: ["person": 1])
    return town
  }
}
