import OpenCoreData
import Testing

@Suite("Relationships that two contexts change")
struct KeptRelationshipTests {
  /// Changes a child with `here` in one context, moves it from the first parent to the third in another and saves that;
  /// then calls `settle` and saves the first context.
  private func move(
    _ here: (_ child: NSManagedObject, _ parents: [NSManagedObject]) throws -> Void,
    _ settle: (_ child: NSManagedObject, _ b: NSManagedObjectContext) -> Void,
    _ check: (_ child: NSManagedObject, _ parents: [NSManagedObject], Family) throws -> Void
  ) throws {
    let family = try Family()
    try family.run { a, b in
      let parents = (1...3).map { a.make("Person", "P\($0)") }
      let child = a.make("Person", "X", ["parent": parents[0]])
      try a.save()
      let own = try b.own(child)
      try here(own, try parents.map(b.own))
      child["parent"] = parents[2]
      try a.save()
      settle(own, b)
      try b.save()
      try check(own, parents, family)
    }
  }

  private func isSecond(_ child: NSManagedObject, _ parents: [NSManagedObject], _ family: Family) throws {
    #expect(try family.stored(child, "parent") == ["P2"])
    #expect(try parents.map { try family.stored($0, "children") } == [[], ["X"], []])
  }

  @Test("Refreshing an object keeps both ends of a changed relationship equal.")
  func refresh() throws {
    try move({ $0["parent"] = $1[1] }) { child, b in
      b.refreshAllObjects()
      b.refresh(child, mergeChanges: true)
    } _: {
      try isSecond($0, $1, $2)
    }
  }

  @Test("Merging a save keeps both ends of a changed relationship equal.")
  func merge() throws {
    try move({ $0["parent"] = $1[1] }) { child, b in
      let ids = [child.objectID] + (b.registeredObjects.map(\.objectID))
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectIDsKey: ids], into: [b])
    } _: {
      try isSecond($0, $1, $2)
    }
  }

  @Test("The object-trump policy keeps both ends of a changed relationship equal.", arguments: [false, true])
  func objectTrump(overwrites: Bool) throws {
    try move({ $0["parent"] = $1[1] }) { _, b in
      b.mergePolicy = overwrites ? NSMergePolicy.overwrite : NSMergePolicy.mergeByPropertyObjectTrump
    } _: {
      try isSecond($0, $1, $2)
    }
  }

  @Test("Overwriting what did not change here keeps both ends of a relationship equal.")
  func overwritten() throws {
    try move({ child, _ in child["name"] = "Y" }) { _, b in
      b.mergePolicy = NSMergePolicy.overwrite
    } _: { child, parents, family throws in
      #expect(try family.stored(child, "parent") == ["P1"])
      #expect(try parents.map { try family.stored($0, "children") } == [["Y"], [], []])
    }
  }
}
