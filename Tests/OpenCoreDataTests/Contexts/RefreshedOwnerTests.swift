import OpenCoreData
import Testing

@Suite struct RefreshedOwnerTests {
  @Test(
    "An object that is refreshed without its changes does not refer to an object that is deleted.",
    arguments: AgreementStores.Kind.allCases, [GraphProperty.line, .friends, .members, .peer])
  func refreshing(_ kind: AgreementStores.Kind, _ property: GraphProperty) throws {
    let stores = try AgreementStores(kind)
    let context = stores.contexts[0]
    try context.performAndWait {
      let (owner, member) = (node(1, context), node(2, context))
      owner.setValue(
        property.isOrdered ? NSOrderedSet(object: member) : property.isToMany ? NSSet(object: member) : member,
        forKey: property.rawValue)
      try context.save()
      context.delete(member)
      context.processPendingChanges()
      context.refresh(owner, mergeChanges: false)
      #expect(owner.hasChanges)
      try context.save()
    }
    let saved = try stores.saved()
    #expect(saved.keys.sorted() == [1])
    #expect(saved[1]?.values[property] == .links([]))
  }

  private func node(_ serial: Int, _ context: NSManagedObjectContext) -> NSManagedObject {
    let node = NSEntityDescription.insertNewObject(forEntityName: "Node", into: context)
    node.setValue(serial, forKey: "serial")
    node.setValue("a", forKey: "text")
    return node
  }
}
