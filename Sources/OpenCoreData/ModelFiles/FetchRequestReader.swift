import Foundation

extension ModelReader {
  /// A fetched property. Its element contains exactly one request.
  func fetchedProperty(_ element: ModelElement) throws(ModelFileError) -> NSFetchedPropertyDescription {
    element.expect(["fetchRequest", "userInfo"])
    let requests = element.children("fetchRequest")
    guard requests.count == 1 else { throw element.error("a fetched property has one <fetchRequest>") }
    let property = NSFetchedPropertyDescription()
    try property.describe(element)
    property.fetchRequest = try fetchRequest(requests[0])
    return property
  }

  /// A request; settings that the element does not have are as in any new request.
  func fetchRequest(_ element: ModelElement) throws(ModelFileError) -> NSFetchRequest<any NSFetchRequestResult> {
    element.expect([])
    let request = NSFetchRequest<any NSFetchRequestResult>()
    request.entity = try entity("entity", of: element)
    request.predicate = try element.predicate("predicateString")
    request.fetchLimit = element.count("fetchLimit") ?? request.fetchLimit
    request.fetchBatchSize = element.count("fetchBatchSize") ?? request.fetchBatchSize
    request.resultType =
      element.count("resultType").map { NSFetchRequestResultType(rawValue: UInt($0)) }
      ?? request.resultType
    request.includesSubentities = element.flag("includeSubentities", otherwise: request.includesSubentities)
    request.includesPropertyValues = element.flag(
      "includePropertyValues", otherwise: request.includesPropertyValues)
    request.includesPendingChanges = element.flag(
      "includesPendingChanges", otherwise: element.flag("includePendingChanges", otherwise: true))
    request.returnsObjectsAsFaults = element.flag(
      "returnObjectsAsFaults", otherwise: request.returnsObjectsAsFaults)
    request.returnsDistinctResults = element.flag("returnDistinctResults")
    return request
  }
}
