import OpenCoreData
import Testing

@Suite struct RejoinedMemberTests {
  @Test(
    "An object that a merge policy inserts again has the members that the rule No Action has kept referring to it.",
    arguments: AgreementStores.Kind.allCases, [NSMergePolicy.overwrite, .mergeByPropertyObjectTrump])
  func kept(_ kind: AgreementStores.Kind, _ policy: NSMergePolicy) throws {
    let stores = try AgreementStores(kind)
    let (first, second, third) = (stores.contexts[0], stores.contexts[1], stores.contexts[2])
    try first.performAndWait {
      let subject = node(1, first)
      for serial in 2...3 { node(serial, first).setValue(subject, forKey: "subject") }
      try first.save()
    }
    try second.performAndWait { try node(numbered: 1, second).setValue("changed", forKey: "text") }
    try first.performAndWait {
      first.delete(try node(numbered: 1, first))
      try first.save()
    }
    try second.performAndWait {
      second.mergePolicy = policy
      try second.save()
    }
    try third.performAndWait {
      let subject = try node(numbered: 1, third)
      let remarks = subject.value(forKey: "remarks") as? Set<NSManagedObject> ?? []
      #expect(remarks.compactMap { $0.value(forKey: "serial") as? Int64 }.sorted() == [2, 3])
      for remark in remarks { #expect(remark.value(forKey: "subject") as? NSManagedObject === subject) }
    }
  }

  @Test(
    "Merging a deletion changes no object that a merge policy has inserted again since.",
    arguments: AgreementStores.Kind.allCases)
  func earlierDeletion(_ kind: AgreementStores.Kind) throws {
    let stores = try AgreementStores(kind)
    let (first, second, third) = (stores.contexts[0], stores.contexts[1], stores.contexts[2])
    try first.performAndWait {
      node(2, first).setValue(node(1, first), forKey: "head")
      try first.save()
    }
    try second.performAndWait {
      let member = try node(numbered: 2, second)
      let head = try node(numbered: 1, second)
      #expect((head.value(forKey: "line") as? NSOrderedSet)?.count == 1)
      head.setValue("changed", forKey: "text")
      try first.performAndWait {
        first.delete(try node(numbered: 1, first))
        try first.save()
      }
      second.mergePolicy = NSMergePolicy.overwrite
      try second.save()
      second.delete(member)
      second.processPendingChanges()
      stores.merge(into: second)
      #expect(!head.isDeleted)
      try second.save()
    }
    try third.performAndWait {
      let head = try node(numbered: 1, third)
      #expect((head.value(forKey: "line") as? NSOrderedSet)?.count == 0)
    }
  }

  @Test(
    "A rollback does not bring back an object that somebody else has deleted, too.",
    arguments: AgreementStores.Kind.allCases)
  func deletedTwice(_ kind: AgreementStores.Kind) throws {
    let stores = try AgreementStores(kind)
    let (first, second) = (stores.contexts[0], stores.contexts[1])
    try first.performAndWait {
      node(2, first).setValue(node(1, first), forKey: "head")
      try first.save()
    }
    try second.performAndWait {
      let (head, member) = (try node(numbered: 1, second), try node(numbered: 2, second))
      #expect((head.value(forKey: "line") as? NSOrderedSet)?.count == 1)
      second.delete(member)
      second.processPendingChanges()
      try first.performAndWait {
        first.delete(try node(numbered: 2, first))
        try first.save()
      }
      stores.merge(into: second)
      second.rollback()
      #expect(member.isDeleted && !second.hasChanges)
      #expect((head.value(forKey: "line") as? NSOrderedSet)?.count == 0)
      #expect(try second.fetch(NSFetchRequest<NSManagedObject>(entityName: "Node")) == [head])
      head.setValue("changed", forKey: "text")
      try second.save()
    }
  }

  @Test(
    "An object does not keep a reference to a deleted object that a merge policy takes from the store.",
    arguments: AgreementStores.Kind.allCases)
  func referenceFromTheStore(_ kind: AgreementStores.Kind) throws {
    let stores = try AgreementStores(kind)
    let (first, second, third) = (stores.contexts[0], stores.contexts[1], stores.contexts[2])
    try first.performAndWait {
      _ = (node(1, first), node(2, first))
      try first.save()
    }
    try second.performAndWait {
      let (one, two) = (try node(numbered: 1, second), try node(numbered: 2, second))
      #expect(two.value(forKey: "peerOf") == nil)
      try first.performAndWait {
        node(3, first).setValue(try node(numbered: 2, first), forKey: "peer")
        try first.save()
      }
      let three = try node(numbered: 3, second)
      three.setValue(one, forKey: "peer")
      two.setValue("changed", forKey: "text")
      second.delete(three)
      second.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
      try second.save()
    }
    try third.performAndWait {
      let two = try node(numbered: 2, third)
      #expect(two.value(forKey: "peerOf") == nil)
    }
    #expect(try stores.saved().faults == [])
  }

  private func node(_ serial: Int, _ context: NSManagedObjectContext) -> NSManagedObject {
    let node = NSEntityDescription.insertNewObject(forEntityName: "Node", into: context)
    node.setValue(serial, forKey: "serial")
    return node
  }

  private func node(numbered serial: Int, _ context: NSManagedObjectContext) throws -> NSManagedObject {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Node")
    request.predicate = NSPredicate(format: "serial == %d", serial)
    return try #require(try context.fetch(request).first)
  }
}
