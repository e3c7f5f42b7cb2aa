import CoreData

extension BackedStore {
  func results(of request: NSFetchRequest<NSManagedObject>, _ context: NSManagedObjectContext) -> Any {
    let found = numbers(request)
    switch request.resultType {
    case .managedObjectIDResultType: return found.map(identifier)
    case .dictionaryResultType: return found.map { dictionary(backing.rows[$0]!, request) }
    case .countResultType: return [NSNumber(value: found.count)]
    default: return found.map { context.object(with: identifier($0)) }
    }
  }

  /// The numbers of the rows that a request finds: those that satisfy the predicate, sorted, with offset and limit
  /// applied.
  private func numbers(_ request: NSFetchRequest<NSManagedObject>) -> [Int] {
    let numbers = backing.rows.keys.sorted().filter { matches(request, backing.rows[$0]!) }
    let rows = numbers.map { number in
      NSDictionary(dictionary: backing.rows[number]!.attributes.merging(["number": number]) { $1 })
    }
    let sorted = NSArray(array: rows).sortedArray(using: request.sortDescriptors ?? [])
    let found = sorted.map { ($0 as! NSDictionary)["number"] as! Int }.dropFirst(request.fetchOffset)
    return Array(request.fetchLimit > 0 ? found.prefix(request.fetchLimit) : found)
  }

  private func matches(_ request: NSFetchRequest<NSManagedObject>, _ row: BackingRow) -> Bool {
    let asked = request.entity ?? entity(request.entityName!)
    let own = entity(row.entityName)
    guard request.includesSubentities ? own.isKindOf(entity: asked) : own.name == asked.name else { return false }
    return request.predicate?.evaluate(with: NSDictionary(dictionary: row.attributes)) ?? true
  }

  private func dictionary(_ row: BackingRow, _ request: NSFetchRequest<NSManagedObject>) -> NSDictionary {
    guard let properties = request.propertiesToFetch else { return NSDictionary(dictionary: row.attributes) }
    let names = properties.map { ($0 as? NSPropertyDescription)?.name ?? $0 as! String }
    return NSDictionary(dictionary: row.attributes.filter { names.contains($0.key) })
  }
}
