import CoreData
import Testing

@Suite("Permanent identifiers of a row store", .anyStore)
struct ReferenceTests {
  private let backing = Backing()

  /// The identifiers of new people, who are then saved or not.
  private func identifiers(_ count: Int, isSaved: Bool) throws -> [String] {
    try Stack<RecordingStore>(Town.model(), backing).work { context in
      let people = (0..<count).map { context.make("Person", ["name": "\($0)"]) }
      try context.obtainPermanentIDs(for: people)
      if isSaved { try context.save() }
      return people.map { $0.objectID.uriRepresentation().absoluteString }
    }
  }

  @Test("A permanent identifier is never used again, whether it was saved or not, by any coordinator.")
  func unique() throws {
    var all: [String] = []
    for round in 0..<6 { all += try identifiers(round % 2 == 0 ? 3 : 600, isSaved: round % 3 != 0) }
    #expect(Set(all).count == all.count)
  }

  @Test("A permanent identifier is never used again after its object was deleted.")
  func deleted() throws {
    let before = try identifiers(5, isSaved: true)
    try Stack<RecordingStore>(Town.model(), backing).work { context in
      for person in try context.all("Person") { context.delete(person) }
      try context.save()
    }
    #expect(try Set(identifiers(300, isSaved: false)).isDisjoint(with: before))
  }

  @Test("Two coordinators that are open at once make different permanent identifiers.")
  func twoCoordinators() throws {
    let stacks = try (0..<2).map { _ in try Stack<RecordingStore>(Town.model(), backing) }
    var all: [String] = []
    for round in 0..<6 {
      all += try stacks[round % 2].work { context in
        let people = (0..<100).map { _ in context.make("Person") }
        try context.obtainPermanentIDs(for: people)
        return people.map { $0.objectID.uriRepresentation().absoluteString }
      }
    }
    #expect(Set(all).count == 600)
  }
}
