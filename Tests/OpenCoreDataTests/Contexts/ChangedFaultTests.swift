import OpenCoreData
import Testing

@Suite struct ChangedFaultTests {
  @Test(
    "A fetch does not find a fault whose members have changed, but whose row somebody else has deleted.",
    arguments: AgreementStores.Kind.allCases, [nil, "serial == 1", "text == 'a'", "SELF.serial != 7"])
  func gone(_ kind: AgreementStores.Kind, _ format: String?) throws {
    let stores = try AgreementStores(kind)
    let (context, other) = (stores.contexts[0], stores.contexts[2])
    try context.performAndWait {
      let parent = node(1, context)
      try context.save()
      context.refresh(parent, mergeChanges: false)
      node(2, context).setValue(parent, forKey: "parent")
      #expect(parent.isFault && parent.hasChanges)
    }
    try other.performAndWait {
      try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Node")).forEach(other.delete)
      try other.save()
    }
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Node")
      request.predicate = format.map { NSPredicate(format: $0) }
      let serials = try context.fetch(request).map { $0.value(forKey: "serial") as? Int64 }
      #expect(serials == (format == "serial == 1" ? [] : [2]))
      #expect(try context.count(for: request) == serials.count)
    }
  }

  @discardableResult
  private func node(_ serial: Int, _ context: NSManagedObjectContext) -> NSManagedObject {
    let node = NSEntityDescription.insertNewObject(forEntityName: "Node", into: context)
    node.setValue(serial, forKey: "serial")
    return node
  }
}
