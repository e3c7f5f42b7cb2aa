package import OpenCoreData

extension RowIncrementalStore: RelatingStore {
  package func members(
    of relationship: NSRelationshipDescription, ofObjectsWith objectIDs: [NSManagedObjectID],
    _ context: NSManagedObjectContext
  ) throws -> [[NSManagedObjectID]?] {
    let owners = try objectIDs.map { try access.reference($0) }
    let snapshot = try pinnedSnapshot(context) ?? currentSnapshot()
    return try snapshot.readingInBulk(owners) { snapshot in
      try owners.map { try members(of: relationship, of: $0, snapshot) }
    }
  }
}
