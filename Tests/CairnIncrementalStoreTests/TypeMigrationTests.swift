import CairnIncrementalStore
import CoreData
@testable import IncrementalStore
import Testing

/// Inferred migrations of attributes whose type changes.
@Suite("Inferred migrations of types")
final class TypeMigrationTests: MigratedStore {
  private func retyped(_ type: NSAttributeType, _ version: ModelVersion? = nil) -> ModelVersion {
    (version ?? first).changed { $0.entities["Item"]!.properties["number"] = .attribute(type) }
  }

  @Test("Integers get wider, and an attribute becomes no relationship.")
  func integers() throws {
    try fill()
    try refuse(
      first.changed { $0.entities["Item"]!.properties["name"] = .toOne("List") },
      "name was an attribute and becomes a relationship")
    try refuse(retyped(.dateAttributeType), "attribute types of number are incompatible")
    try refuse(retyped(.binaryDataAttributeType), "attribute types of number are incompatible")
    try work(retyped(.integer64AttributeType)) { (context) throws in
      let items = try items(context)
      #expect(items.map { $0.value(forKey: "number") as? Int } == [0, 1, 2])
      items[2].setValue(70_000, forKey: "number")
      try context.save()
    }
    #expect(code { try work(first) { _ in } } == 134190)
  }

  /// A type, a value of it, another type, and the value as one of that; nil if it is none.
  private static var conversions: [(NSAttributeType, Any, NSAttributeType, String?)] {
    let uuid = "0C5A6AF2-1F5E-4B0F-8D1B-2F6C0C9A7D11"
    return [
      (.integer64AttributeType, 7, .integer16AttributeType, "7"),
      (.integer64AttributeType, 70_000, .integer16AttributeType, nil),
      (.integer64AttributeType, 9_007_199_254_740_993, .doubleAttributeType, nil),
      (.integer64AttributeType, -5, .doubleAttributeType, "-5"),
      (.integer64AttributeType, -5, .stringAttributeType, "-5"),
      (.integer16AttributeType, 1, .booleanAttributeType, "1"),
      (.integer16AttributeType, 2, .booleanAttributeType, nil),
      (.booleanAttributeType, true, .integer32AttributeType, "1"),
      (.booleanAttributeType, false, .doubleAttributeType, "0"),
      (.doubleAttributeType, 3.0, .integer32AttributeType, "3"),
      (.doubleAttributeType, 3.5, .integer32AttributeType, nil),
      (.doubleAttributeType, Double.infinity, .integer64AttributeType, nil),
      (.doubleAttributeType, 0.1, .decimalAttributeType, "0.1"), (.doubleAttributeType, 0.1, .floatAttributeType, nil),
      (.doubleAttributeType, 0.5, .floatAttributeType, "0.5"),
      (.floatAttributeType, 0.25, .doubleAttributeType, "0.25"),
      (.doubleAttributeType, 2.5, .stringAttributeType, "2.5"),
      (.decimalAttributeType, Decimal(string: "12.50")!, .doubleAttributeType, "12.5"),
      (.decimalAttributeType, Decimal(12), .integer16AttributeType, "12"),
      (.decimalAttributeType, Decimal(string: "0.3")!, .stringAttributeType, "0.3"),
      (.stringAttributeType, "42", .integer16AttributeType, "42"),
      (.stringAttributeType, " 42", .integer16AttributeType, nil),
      (.stringAttributeType, "4.25", .doubleAttributeType, "4.25"),
      (.stringAttributeType, "0x10", .doubleAttributeType, nil),
      (.stringAttributeType, "nan", .doubleAttributeType, nil),
      (.stringAttributeType, "", .integer64AttributeType, nil),
      (.stringAttributeType, "0.1", .floatAttributeType, "0.1"),
      (.stringAttributeType, "1.10", .decimalAttributeType, "1.1"),
      (.stringAttributeType, "1e400", .doubleAttributeType, nil),
      (.stringAttributeType, "twelve", .decimalAttributeType, nil),
      (.stringAttributeType, uuid, .UUIDAttributeType, uuid), (.stringAttributeType, "x", .UUIDAttributeType, nil),
      (.UUIDAttributeType, UUID(uuidString: uuid)!, .stringAttributeType, uuid),
      (.stringAttributeType, "https://example.org/a", .URIAttributeType, "https://example.org/a"),
      (.URIAttributeType, URL(string: "https://example.org/b")!, .stringAttributeType, "https://example.org/b"),
    ]
  }

  @Test("A value becomes the same value of another type, or the migration is refused.", arguments: conversions.indices)
  func conversions(_ index: Int) throws {
    let (type, value, other, expected) = Self.conversions[index]
    func version(_ type: NSAttributeType) -> ModelVersion { retyped(type) }
    try work(version(type)) { (context) throws in
      _ = context.insert("Item", ["name": "a", "number": value])
      _ = context.insert("Item", ["name": "b"])
      try context.save()
    }
    func values(_ version: ModelVersion) throws -> [String?] {
      try work(version) { (context) throws in
        try items(context).map { item in
          item.value(forKey: "number").map { value in
            // Foundation writes whole fractions with or without a decimal point.
            (value as? NSNumber)?.stringValue.replacing(/\.0$/, with: "") ?? "\(value)"
          }
        }
      }
    }
    guard let expected else {
      let failure = error { try work(version(other)) { _ in } }
      #expect(failure?.code == 134190)
      #expect(failure?.userInfo["reason"] as? String == "An object has a value of number that the new type cannot have")
      #expect(try values(version(type)).count == 2)
      return
    }
    #expect(try values(version(other)) == [expected, nil])
  }

  @Test("A converted attribute has its index, its constraint and the default that it needs from now on.")
  func keys() throws {
    try fill()
    try work(first) { (context) throws in
      _ = context.insert("Item", ["name": "i3"])
      try context.save()
    }
    let indexed = first.changed {
      $0.entities["Item"]!.indexes = [["number"]]
      $0.entities["Item"]!.constraints = [["number"]]
    }
    try work(indexed) { _ in }
    let second = indexed.changed {
      $0.entities["Item"]!.properties["number"] = .attribute(.stringAttributeType, required: "none")
    }
    try work(second) { (context) throws in
      #expect(try items(context).map { $0.value(forKey: "number") as? String } == ["0", "1", "2", "none"])
      #expect(try context.all("Item", "number == %@", "2").count == 1)
      #expect(try context.all("Item", "number == %@", "none").count == 1)
      _ = context.insert("Item", ["name": "i4", "number": "2"])
      #expect(code { try context.save() } == 133021)
    }
  }

  // MARK: Ended migrations

  /// Migrates the store by steps of one row.
  ///
  /// - Parameter meanwhile: Called after a number of saves; if there is nothing to call, the migration ends there.
  @discardableResult
  private func migrate(
    _ version: ModelVersion, after saves: Int, _ meanwhile: (() throws -> Void)? = nil
  ) throws -> EndingRows {
    let rows = try CairnIncrementalStore.rowStore(at: url, options: [CairnDurabilityOption: "buffered"])
    defer { try? rows.close() }
    let ending = EndingRows(rows, after: saves, meanwhile)
    _ = try StoreMigration(
      ending, url, version.model, "PF_DEFAULT_CONFIGURATION_NAME", ValueCoder(coordinator: nil), step: 1
    ).run()
    return ending
  }

  /// Begins a migration that ends after a number of saves.
  private func begin(_ version: ModelVersion, saves: Int) throws {
    #expect(throws: CocoaError.self) { try migrate(version, after: saves) }
  }

  @Test(
    "A migration that has ended half way leaves the store to the former model, and goes on later.", arguments: 1...3)
  func ended(_ saves: Int) throws {
    try fill()
    let second = retyped(.stringAttributeType)
    try begin(second, saves: saves)
    try work(first) { (context) throws in
      let items = try items(context)
      #expect(items.map { $0.value(forKey: "number") as? Int } == [0, 1, 2])
      items[0].setValue(10, forKey: "number")
      try context.save()
    }
    try begin(second, saves: 1)
    try work(second) { (context) throws in
      #expect(try items(context).map { $0.value(forKey: "number") as? String } == ["10", "1", "2"])
      let coordinator = try #require(context.persistentStoreCoordinator)
      let metadata = coordinator.persistentStores.first?.metadata
      #expect(metadata?[ReservedNumbers.key] == nil)
      let checksum = metadata?[NSPersistentStoreModelVersionChecksumKey] as? String
      #expect(checksum == coordinator.managedObjectModel.versionChecksum)
    }
  }

  @Test("A migration that has ended half way does not show in a migration to another model.")
  func endedForAnother() throws {
    try fill()
    try begin(retyped(.stringAttributeType), saves: 3)
    let other = retyped(.doubleAttributeType).changed {
      $0.entities["Item"]!.properties["note"] = .attribute(.stringAttributeType)
    }
    try work(other) { (context) throws in
      let items = try items(context)
      #expect(items.map { $0.value(forKey: "number") as? Double } == [0, 1, 2])
      #expect(items.allSatisfy { $0.value(forKey: "note") == nil })
    }
  }

  @Test("A migration leaves alone what has been saved since another one has ended first.", arguments: 1...4)
  func overtaken(_ saves: Int) throws {
    try fill()
    let second = retyped(.stringAttributeType)
    try migrate(second, after: saves) { [self] in
      try work(second) { (context) throws in
        for item in try items(context) { item.setValue("changed", forKey: "number") }
        try context.save()
      }
    }
    try work(second) { (context) throws in
      #expect(try items(context).map { $0.value(forKey: "number") as? String } == ["changed", "changed", "changed"])
    }
  }

  @Test("Rows that are saved between the steps of a migration are rewritten, in steps too.", arguments: 1...4)
  func disturbed(_ saves: Int) throws {
    try fill()
    let second = retyped(.stringAttributeType)
    let rows = try migrate(second, after: saves) { [self] in
      try work(first) { (context) throws in
        for (number, item) in try items(context).enumerated() { item.setValue(number + 10, forKey: "number") }
        try context.save()
      }
    }
    // The row of a step, the metadata and the schema.
    #expect(rows.mostRows <= 3)
    try work(second) { (context) throws in
      #expect(try items(context).map { $0.value(forKey: "number") as? String } == ["10", "11", "12"])
    }
  }

  @Test("Cancelling the progress of the thread ends a migration before it changes anything.")
  func cancelled() throws {
    try fill()
    let progress = Progress(totalUnitCount: 1)
    progress.cancel()
    progress.becomeCurrent(withPendingUnitCount: 1)
    #expect(
      code { try work(retyped(.stringAttributeType), [StoreMigration.stepOption: 1]) { _ in } } == 134120)
    progress.resignCurrent()
    try work(first) { (context) throws in
      #expect(try items(context).map { $0.value(forKey: "number") as? Int } == [0, 1, 2])
    }
    let whole = Progress(totalUnitCount: 1)
    whole.becomeCurrent(withPendingUnitCount: 1)
    try work(retyped(.stringAttributeType)) { _ in }
    whole.resignCurrent()
    #expect(whole.isFinished)
  }
}
