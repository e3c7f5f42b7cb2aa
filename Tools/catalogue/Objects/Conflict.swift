import CoreData

/// Two contexts change the same version. The second save is refused; it is repeated with a merge policy that keeps the
/// changes of both contexts, and the second context's own where both have changed the same property.
struct Conflict {
  let package: String
  let number: String
  private(set) var checks: [Check] = []

  /// Nil if there is no version to change.
  init?(_ store: ObjectStore) throws {
    let (first, second) = (store.newContext(), store.newContext())
    let version = try first.performAndWait {
      try first.anyVersion().map { (id: $0.objectID, package: $0.package?.name ?? "", number: $0.number ?? "") }
    }
    guard let version else { return nil }
    let id = version.id
    (package, number) = (version.package, version.number)

    second.performAndWait { second.version(id).summary = "changed second" }
    try first.performAndWait {
      first.version(id).summary = "changed first"
      first.version(id).homepage = "https://example.org/first"
      try first.save()
    }
    try second.performAndWait {
      var refusal = 0
      do { try second.save() } catch { refusal = (error as NSError).code }
      checks.append(Check("the error of the second save", expected: NSManagedObjectMergeError, found: refusal))
      second.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try second.save()
    }
    store.work { context in
      let version = context.version(id)
      checks.append(
        Check("the value changed by both contexts", expected: "changed second", found: version.summary ?? ""))
      checks.append(
        Check(
          "the value changed by the first context", expected: "https://example.org/first",
          found: version.homepage ?? ""))
    }
  }
}

extension NSManagedObjectContext {
  fileprivate func version(_ id: NSManagedObjectID) -> Version { object(with: id) as! Version }
}
