import OpenCoreData
import Testing

final class Guest: NSManagedObject {
  override func awakeFromFetch() { self["mood"] = "sleepy" }
}

@Suite("Transient values")
struct TransientValueTests {
  private let family: Family

  init() throws { family = try Family(personClass: Guest.self) }

  @Test("A transient value counts as changed until it is saved.")
  func saved() throws {
    try family.run { context, _ in
      let ada = context.make("Person", "Ada", ["mood": "merry"])
      #expect(Set(ada.changedValues().keys) == ["name", "mood"])
      try context.save()
      #expect(ada.changedValues().isEmpty)
      ada["mood"] = nil
      #expect(Set(ada.changedValues().keys) == ["mood"])
      try context.save()
      #expect(ada.changedValues().isEmpty)
    }
  }

  @Test("A transient value computed from a row is not a change, and reading the row again does not make it saved.")
  func fetched() throws {
    try family.run { a, b in
      let ada = try b.own(
        {
          let ada = a.make("Person", "Ada")
          try a.save()
          return ada
        }())
      #expect(ada["mood"] as? String == "sleepy")
      #expect(ada.changedValues().isEmpty)
      ada["mood"] = "merry"
      b.refresh(ada, mergeChanges: true)
      #expect(Set(ada.changedValues().keys) == ["mood"])
      ada["mood"] = "sleepy"
      #expect(ada.changedValues().isEmpty)
    }
  }
}
