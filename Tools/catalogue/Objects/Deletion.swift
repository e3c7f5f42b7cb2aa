import CoreData

/// Deletes every tenth package in order of name. The deletion cascades to its versions, and removes the package from
/// the dependencies of others.
struct Deletion {
  static let packagesPerSave = 1000

  private(set) var names: Set<String> = []

  init(from store: ObjectStore, progress: (_ done: Int, _ packages: Int) -> Void) throws {
    let ids = try store.work { context in
      let request: NSFetchRequest<Package> = Package.fetchRequest()
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      let packages = try context.fetch(request)
      return stride(from: 0, to: packages.count, by: 10).map { packages[$0].objectID }
    }
    for start in stride(from: 0, to: ids.count, by: Self.packagesPerSave) {
      try store.work { context in
        for id in ids[start..<min(start + Self.packagesPerSave, ids.count)] {
          let package = context.object(with: id) as! Package
          if let name = package.name { names.insert(name) }
          context.delete(package)
        }
        try context.save()
      }
      progress(names.count, names.count)
    }
  }
}
