import Foundation

extension ModelReader {
  /// A fetched property, which has one request in it.
  func fetchedProperty(_ element: ModelElement) throws(ModelFileError) -> NSFetchedPropertyDescription {
    try element.allow(["fetchRequest", "userInfo"])
    let requests = element.children("fetchRequest")
    guard requests.count == 1 else { throw element.error("a fetched property has one <fetchRequest>") }
    let property = NSFetchedPropertyDescription()
    try property.describe(element)
    property.fetchRequest = try fetchRequest(requests[0])
    return property
  }

  /// A request; what it doesn't say is as in any new request.
  func fetchRequest(_ element: ModelElement) throws(ModelFileError) -> NSFetchRequest<any NSFetchRequestResult> {
    try element.allow([])
    let request = NSFetchRequest<any NSFetchRequestResult>()
    request.entity = try entity("entity", of: element)
    request.predicate = try element.predicate("predicateString")
    request.fetchLimit = try element.count("fetchLimit") ?? request.fetchLimit
    request.fetchBatchSize = try element.count("fetchBatchSize") ?? request.fetchBatchSize
    request.resultType =
      try element.count("resultType").map { NSFetchRequestResultType(rawValue: UInt($0)) }
      ?? request.resultType
    request.includesSubentities = try element.flag("includeSubentities", otherwise: request.includesSubentities)
    request.includesPropertyValues = try element.flag(
      "includePropertyValues", otherwise: request.includesPropertyValues)
    request.includesPendingChanges = try element.flag(
      "includesPendingChanges", otherwise: try element.flag("includePendingChanges", otherwise: true))
    request.returnsObjectsAsFaults = try element.flag(
      "returnObjectsAsFaults", otherwise: request.returnsObjectsAsFaults)
    request.returnsDistinctResults = try element.flag("returnDistinctResults")
    return request
  }
}
