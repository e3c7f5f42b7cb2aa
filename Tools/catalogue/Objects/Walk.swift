import CoreData

/// Measures how fast a graph is followed from object to object, each of them a fault at first.
struct Walk {
  /// The package that most versions depend on.
  struct LargestNode: Encodable {
    let package: String
    let dependents: Int
    /// The seconds to find it among all packages.
    let searchSeconds: Double
    /// The seconds to fire its relationship `dependents`, whose members are then all faults.
    let faultSeconds: Double
  }

  /// Versions fired one by one, in random order.
  private(set) var faults = Rate()
  /// Packages, maintainers and sections read from the versions.
  private(set) var toOne = Rate()
  /// Members of the versions' dependencies.
  private(set) var toMany = Rate()
  /// Nil if there are no packages.
  private(set) var largestNode: LargestNode?

  init(_ store: ObjectStore) throws {
    var ids = try store.work { context in
      let request = NSFetchRequest<NSManagedObjectID>(entityName: "Version")
      request.resultType = .managedObjectIDResultType
      return try context.fetch(request)
    }
    var generator = SplitMix()
    ids.shuffle(using: &generator)

    faults = store.rate { context in
      for id in ids { _ = (context.object(with: id) as! Version).number }
      return ids.count
    }
    toOne = store.rate { context in
      ids.reduce(0) { count, id in
        let version = context.object(with: id) as! Version
        let names = [version.package?.name, version.maintainer?.name, version.section?.name]
        return count + names.count { $0 != nil }
      }
    }
    toMany = store.rate { context in
      ids.reduce(0) { $0 + ((context.object(with: $1) as! Version).dependencies?.count ?? 0) }
    }
    largestNode = try store.work(Self.largestNode)
  }

  private static func largestNode(_ context: NSManagedObjectContext) throws -> LargestNode? {
    let request: NSFetchRequest<Package> = Package.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "dependents.@count", ascending: false)]
    request.fetchLimit = 1
    let (found, searchSeconds) = try timed { try context.fetch(request) }
    guard let package = found.first, let name = package.name else { return nil }
    let (dependents, faultSeconds) = timed { package.dependents?.count ?? 0 }
    return LargestNode(package: name, dependents: dependents, searchSeconds: searchSeconds, faultSeconds: faultSeconds)
  }
}

extension ObjectStore {
  /// Measures how fast `body` works in a context of its own; `body` returns how much it has done.
  fileprivate func rate(_ body: (NSManagedObjectContext) -> Int) -> Rate {
    work { context in
      let (count, seconds) = timed { body(context) }
      return Rate(count: count, seconds: seconds)
    }
  }
}
