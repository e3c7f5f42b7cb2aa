/// The places of entities in a list, by their numbers.
struct EntityPlaces {
  private let numbers: [UInt32]
  /// Nil if there are so few that a number is found sooner by comparing it with each than by its hash.
  private let byNumber: [UInt32: Int]?

  init(_ maps: [EntityMap]) {
    numbers = maps.map(\.number)
    byNumber = maps.count > 8 ? Dictionary(uniqueKeysWithValues: maps.enumerated().map { ($1.number, $0) }) : nil
  }

  subscript(number: UInt32) -> Int? { byNumber.map { $0[number] } ?? numbers.firstIndex(of: number) }
}
