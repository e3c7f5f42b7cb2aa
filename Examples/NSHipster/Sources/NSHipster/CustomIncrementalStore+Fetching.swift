import CoreData

extension CustomIncrementalStore {
  func fetch(_ request: NSFetchRequest<NSManagedObject>, with context: NSManagedObjectContext) throws -> Any {
    say("execute a fetch of \(request.entity!.name!)")
    let numbers = numbers(request)
    let objectIDs = numbers.map { newObjectID(for: request.entity!, referenceObject: NSNumber(value: $0)) }
    switch request.resultType {
    case .managedObjectResultType: return objectIDs.map(context.object(with:))
    case .managedObjectIDResultType: return objectIDs
    case .dictionaryResultType: return numbers.map { attributes(table.rows[$0]!, request) }
    case .countResultType: return [NSNumber(value: numbers.count)]
    default: throw CocoaError(CocoaError.Code(rawValue: NSPersistentStoreUnsupportedRequestTypeError))
    }
  }

  /// The numbers of the rows that a request asks for: those that match its predicate, in its order, from its offset up
  /// to its limit. Predicates and sort descriptors can only use attributes.
  private func numbers(_ request: NSFetchRequest<NSManagedObject>) -> [Int] {
    let numbers = table.rows.keys.sorted().filter { table.rows[$0]!.entityName == request.entity!.name }
    let rows = numbers.map { number in
      var values = table.rows[number]!.values
      values["number"] = number
      return NSDictionary(dictionary: values)
    }
    let found = rows.filter { request.predicate?.evaluate(with: $0) ?? true }
    let sorted = NSArray(array: found).sortedArray(using: request.sortDescriptors ?? [])
    let window = sorted.map { ($0 as! NSDictionary)["number"] as! Int }.dropFirst(request.fetchOffset)
    return Array(request.fetchLimit > 0 ? window.prefix(request.fetchLimit) : window)
  }

  /// The attributes that a request for dictionaries asks for.
  private func attributes(_ row: Row, _ request: NSFetchRequest<NSManagedObject>) -> NSDictionary {
    let asked = request.propertiesToFetch?.map { ($0 as? NSPropertyDescription)?.name ?? "\($0)" }
    let names = asked ?? Array(request.entity!.attributesByName.keys)
    return NSDictionary(dictionary: row.values.filter { names.contains($0.key) })
  }
}
