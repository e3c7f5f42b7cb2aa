import CoreData
import Testing

@Suite("Versions of rows", .anyStore)
struct VersionTests {
  @Test("Row versions begin with 1, and rise with each save that updates or locks the object.")
  func counting() throws {
    let stack = try Stack<RecordingStore>(Town.model(), Backing())
    func version() -> UInt64? { stack.backing.rows[1]?.version }
    try stack.work { context in
      let ada = context.make("Person", ["name": "Ada"])
      try context.save()
      #expect(version() == 1)
      ada["age"] = 37
      try context.save()
      #expect(version() == 2)
      context.detectConflicts(for: ada)
      try context.save()
      #expect(version() == 3)
      context.make("House")
      try context.save()
      #expect(version() == 3)
    }
  }

  @Test("Consecutive saves succeed without reading anything in between.")
  func savesInARow() throws {
    let stack = try Stack<RecordingStore>()
    try stack.work { context in
      let ada = try context.person("Ada")
      for age in 37...40 {
        ada["age"] = age
        try context.save()
      }
      context.delete(ada)
      try context.save()
    }
    #expect(stack.backing.rows[1] == nil)
  }
}
