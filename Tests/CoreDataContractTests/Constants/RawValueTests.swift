import CoreData
import Testing

@Suite("Numbers behind enumerations")
struct RawValueTests {
  @Test("types of attributes")
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

  @Test("delete rules")
  func deleteRules() {
    let rules: [NSDeleteRule] = [.noActionDeleteRule, .nullifyDeleteRule, .cascadeDeleteRule, .denyDeleteRule]
    #expect(rules.map(\.rawValue) == [0, 1, 2, 3])
  }

  @Test("requests and what fetches give")
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

  @Test("events that change the values of an object")
  func snapshotEvents() {
    let events: [NSSnapshotEventType] = [
      .undoInsertion, .undoDeletion, .undoUpdate, .rollback, .refresh, .mergePolicy,
    ]
    #expect(events.map(\.rawValue) == [2, 4, 8, 16, 32, 64])
  }

  @Test("queues")
  func concurrency() {
    #expect(NSManagedObjectContextConcurrencyType.privateQueueConcurrencyType.rawValue == 1)
    #expect(NSManagedObjectContextConcurrencyType.mainQueueConcurrencyType.rawValue == 2)
  }
}
