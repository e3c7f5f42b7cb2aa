import CoreData
import Testing

/// Executes a batch update itself, and gives a result of its own.
private final class UpdatingStore: RecordingStore {
  private final class Result: NSBatchUpdateResult {
    private let count: Int

    init(count: Int) {
      self.count = count
      super.init()
    }

    override var result: Any? { NSNumber(value: count) }
    override var resultType: NSBatchUpdateRequestResultType { .updatedObjectsCountResultType }
  }

  override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
    guard request is NSBatchUpdateRequest else { return try super.execute(request, with: context) }
    return Result(count: 3)
  }
}

@Suite("Results of batch requests", .anyStore)
struct BatchResultTests {
  @Test("A store makes the result of a batch request by a subclass.")
  func ofTheStore() throws {
    let stack = try Stack<UpdatingStore>()
    try stack.work { context in
      let request = NSBatchUpdateRequest(entityName: "Person")
      request.resultType = .updatedObjectsCountResultType
      let result = try #require(try context.execute(request) as? NSBatchUpdateResult)
      #expect(result.resultType == .updatedObjectsCountResultType)
      #expect(result.result as? Int == 3)
    }
  }

  @Test("The types of results of batch requests have Apple's raw values.")
  func rawValues() {
    #expect(
      [NSBatchInsertRequestResultType.statusOnly, .objectIDs, .count].map(\.rawValue) == [0, 1, 2])
    #expect(
      [
        NSBatchUpdateRequestResultType.statusOnlyResultType, .updatedObjectIDsResultType,
        .updatedObjectsCountResultType,
      ].map(\.rawValue) == [0, 1, 2])
    #expect(
      [NSBatchDeleteRequestResultType.resultTypeStatusOnly, .resultTypeObjectIDs, .resultTypeCount].map(\.rawValue)
        == [0, 1, 2])
  }

  @Test("A new batch request wants the status only.")
  func defaults() {
    let insert = NSBatchInsertRequest(entityName: "Person", objects: [["name": "Dan"]])
    #expect(insert.requestType == .batchInsertRequestType && insert.resultType == .statusOnly)
    #expect(insert.entityName == "Person" && insert.objectsToInsert?.count == 1)
    let update = NSBatchUpdateRequest(entityName: "Person")
    #expect(update.requestType == .batchUpdateRequestType && update.resultType == .statusOnlyResultType)
    #expect(update.entityName == "Person" && update.includesSubentities && update.predicate == nil)
    let delete = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Person"))
    #expect(delete.requestType == .batchDeleteRequestType && delete.resultType == .resultTypeStatusOnly)
    #expect(delete.fetchRequest.entityName == "Person")
  }
}
