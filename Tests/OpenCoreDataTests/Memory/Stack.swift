import CairnIncrementalStore
import OpenCoreData

/// The stores in which groups are kept.
enum StoreKind: String, CaseIterable, Codable, Sendable {
  case memory, rows, cairn
}

/// A coordinator with one store of groups.
struct Stack {
  private let coordinator: NSPersistentStoreCoordinator

  /// - Parameter hasRanks: Whether members have a rank. A store of the other model is migrated.
  init(_ kind: StoreKind, _ url: URL, hasRanks: Bool = false) throws {
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.makeModel(hasRanks: hasRanks))
    let migrates: [AnyHashable: Any] = [
      NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
      RowCacheBytesOption: 20_000,
    ]
    switch kind {
    case .memory: _ = try coordinator.addPersistentStore(type: .inMemory, at: URL(filePath: "/dev/null"))
    case .rows:
      NSPersistentStoreCoordinator.registerStoreClass(TestRowStore.self, forStoreType: TestRowStore.storeType)
      _ = try coordinator.addPersistentStore(
        ofType: TestRowStore.storeType, configurationName: nil, at: url, options: migrates)
    case .cairn:
      CairnIncrementalStore.register()
      _ = try coordinator.addPersistentStore(
        type: .cairn, at: url, options: migrates.merging([CairnDurabilityOption: "buffered"]) { $1 })
    }
  }

  func makeContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  func close() { for store in coordinator.persistentStores { try? coordinator.remove(store) } }

  static func makeModel(hasRanks: Bool) -> NSManagedObjectModel {
    let (group, member, tag) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
    (group.name, member.name, tag.name) = ("Group", "Member", "Tag")
    let (members, ofGroup) = (
      relationship("members", to: member) { $0.deleteRule = .cascadeDeleteRule },
      relationship("group", to: group, isToMany: false)
    )
    let (tags, tagged) = (
      relationship("tags", to: tag) { $0.deleteRule = .cascadeDeleteRule }, relationship("members", to: member)
    )
    connect(members, ofGroup)
    connect(tags, tagged)
    let names = (0..<3).map { _ in attribute("name", .string, isOptional: false) }
    group.properties = [names[0], members, relationship("next", to: group, isToMany: false)]
    member.properties = [names[1], ofGroup, tags, relationship("next", to: member, isToMany: false)]
    if hasRanks {
      let rank = attribute("rank", .integer64, isOptional: false)
      rank.defaultValue = 7
      member.properties.append(rank)
    }
    tag.properties = [names[2], tagged]
    group.uniquenessConstraints = [["name"]]
    let model = NSManagedObjectModel()
    model.entities = [group, member, tag]
    return model
  }
}
