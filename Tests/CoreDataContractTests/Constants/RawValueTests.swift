import CoreData
import Testing

@Suite("Raw values of enumerations")
struct RawValueTests {
  @Test("The types of attributes have Apple's raw values.")
  func attributeTypes() {
    let types: [(NSAttributeType, UInt)] = [
      (.undefinedAttributeType, 0), (.integer16AttributeType, 100), (.integer32AttributeType, 200),
      (.integer64AttributeType, 300), (.decimalAttributeType, 400), (.doubleAttributeType, 500),
      (.floatAttributeType, 600), (.stringAttributeType, 700), (.booleanAttributeType, 800),
      (.dateAttributeType, 900), (.binaryDataAttributeType, 1000), (.UUIDAttributeType, 1100),
      (.URIAttributeType, 1200), (.transformableAttributeType, 1800), (.objectIDAttributeType, 2000),
      (.compositeAttributeType, 2100),
    ]
    for (type, number) in types { #expect(type.rawValue == number) }
  }

  @Test("The delete rules have Apple's raw values.")
  func deleteRules() {
    let rules: [NSDeleteRule] = [.noActionDeleteRule, .nullifyDeleteRule, .cascadeDeleteRule, .denyDeleteRule]
    #expect(rules.map(\.rawValue) == [0, 1, 2, 3])
  }

  @Test("The types of requests and of fetch results have Apple's raw values.")
  func requests() {
    let types: [NSPersistentStoreRequestType] = [
      .fetchRequestType, .saveRequestType, .batchInsertRequestType, .batchUpdateRequestType, .batchDeleteRequestType,
    ]
    #expect(types.map(\.rawValue) == [1, 2, 5, 6, 7])
    let results: [NSFetchRequestResultType] = [
      .managedObjectResultType, .managedObjectIDResultType, .dictionaryResultType, .countResultType,
    ]
    #expect(results.map(\.rawValue) == [0, 1, 2, 4])
  }

  @Test("The results and changes of history have Apple's raw values.")
  func history() {
    let results: [NSPersistentHistoryResultType] = [
      .statusOnly, .objectIDs, .count, .transactionsOnly, .changesOnly, .transactionsAndChanges,
    ]
    #expect(results.map(\.rawValue) == [0, 1, 2, 3, 4, 5])
    let changes: [NSPersistentHistoryChangeType] = [.insert, .update, .delete]
    #expect(changes.map(\.rawValue) == [0, 1, 2])
  }

  @Test("The events that change the values of an object have Apple's raw values.")
  func snapshotEvents() {
    let events: [NSSnapshotEventType] = [
      .undoInsertion, .undoDeletion, .undoUpdate, .rollback, .refresh, .mergePolicy,
    ]
    #expect(events.map(\.rawValue) == [2, 4, 8, 16, 32, 64])
  }

  @Test("The concurrency types have Apple's raw values.")
  func concurrency() {
    #expect(NSManagedObjectContextConcurrencyType.privateQueueConcurrencyType.rawValue == 1)
    #expect(NSManagedObjectContextConcurrencyType.mainQueueConcurrencyType.rawValue == 2)
  }
}
