import CairnIncrementalStore
import CoreData
@testable import IncrementalStore
import Testing

/// Inferred migrations that make the entries of new constraints and relationships: in steps, before the schema changes.
@Suite("Entries that a migration makes")
final class EntryStepTests: MigratedStore {
  private static let count = 40
  /// The numbers of saves after which a migration by steps of one row is at another kind of entries, or amid them.
  private static let places = [1, 3, 9, 12, 17, 22, 27, 35, 39]

  /// All kinds of entries: keys; members that come from a field, from the entries of another relationship, and from
  /// either of them in an order.
  private var second: ModelVersion {
    first.changed {
      $0.entities["Item"]!.constraints = [["name"]]
      $0.entities["Item"]!.properties["list"] = .toMany("List", "items")
      $0.entities["Item"]!.properties["tags"] = .toMany("Tag", "items", isOrdered: true)
      $0.entities["Item"]!.properties["next"] = .toOne("Item", "previous")
      $0.entities["Item"]!.properties["previous"] = .toMany("Item", "next", isOrdered: true)
    }
  }

  /// Saves items in two lists, each with one of five tags, that all refer to the first.
  private func fillMany() throws {
    try work(first) { (context) throws in
      let lists = (0..<2).map { context.insert("List", ["name": "l\($0)"]) }
      let tags = (0..<5).map { context.insert("Tag", ["name": "t\($0)"]) }
      var head: NSManagedObject?
      for number in 0..<Self.count {
        let item = context.insert(
          "Item", ["name": "i\(number + 100)", "number": number, "list": lists[number % 2]])
        item.setValue(NSSet(object: tags[number % 5]), forKey: "tags")
        if let head { item.setValue(head, forKey: "next") }
        head = head ?? item
      }
      try context.save()
    }
  }

  private func check(_ context: NSManagedObjectContext, _ location: SourceLocation = #_sourceLocation) throws {
    let items = try items(context)
    #expect(items.count == Self.count, sourceLocation: location)
    for (number, item) in items.enumerated() {
      #expect(item.value(forKey: "name") as? String == "i\(number + 100)", sourceLocation: location)
      #expect(names(item.value(forKey: "list")) == ["l\(number % 2)"], sourceLocation: location)
      #expect(names(item.value(forKey: "tags")) == ["t\(number % 5)"], sourceLocation: location)
      let previous = number == 0 ? (1..<Self.count).map { "i\($0 + 100)" } : []
      #expect(names(item.value(forKey: "previous")) == previous, sourceLocation: location)
    }
    for list in try context.all("List") {
      #expect(names(list.value(forKey: "items")).count == Self.count / 2, sourceLocation: location)
    }
    _ = context.insert("Item", ["name": "i100"])
    #expect(code { try context.save() } == NSManagedObjectConstraintMergeError, sourceLocation: location)
    context.rollback()
  }

  @discardableResult
  private func migrate(
    _ version: ModelVersion, step: Int, after saves: Int = .max, space: DiskSpace? = nil,
    _ meanwhile: (() throws -> Void)? = nil
  ) throws -> EndingRows {
    let rows = try CairnIncrementalStore.rowStore(at: url, options: [CairnDurabilityOption: "buffered"])
    defer { try? rows.close() }
    let ending = EndingRows(rows, after: saves, meanwhile)
    _ = try StoreMigration(
      ending, url, version.model, "PF_DEFAULT_CONFIGURATION_NAME", ValueCoder(coordinator: nil), step: step,
      space: space
    ).run()
    return ending
  }

  /// All entries of the store, and what its schema lists as to be removed.
  private func stored() throws -> (entries: [[UInt8]], removals: [Schema.Removal]) {
    let rows = try CairnIncrementalStore.rowStore(at: url, options: [CairnDurabilityOption: "buffered"])
    defer { try? rows.close() }
    let snapshot = try rows.snapshot()
    var entries: [[UInt8]] = []
    try snapshot.forEachEntry(from: [], before: nil, reverse: false) { entry in
      entries.append(entry)
      return true
    }
    return (entries, try #require(try StoreHead.load(snapshot, url)).stored.removals)
  }

  /// Options that leave what a migration has begun.
  private let leaving: [AnyHashable: Any] = [
    BuildsIndexesFirstOption: false, NSPersistentStoreDeferredLightweightMigrationOptionKey: true,
  ]

  @Test("No save of a migration changes more entries than it may hold in memory.", arguments: [1, 3, 20])
  func size(_ step: Int) throws {
    try fillMany()
    let rows = try migrate(second, step: step)
    #expect(rows.mostEntries <= 5 * step)
    #expect(rows.saves >= Self.count / step)
    try work(second, leaving) { try check($0) }
    try work(second) { try check($0) }
    #expect(try stored().removals.isEmpty)
  }

  @Test("A migration that has ended half way leaves the store to the former model, and goes on.", arguments: [1, 4])
  func ended(_ step: Int) throws {
    try fillMany()
    let before = try stored().entries.count
    var saves = 1
    while true {
      do {
        try migrate(second, step: step, after: saves)
        break
      } catch is CocoaError {
        try work(first, leaving) { (context) throws in
          #expect(try items(context).count == Self.count)
          #expect(names(try context.all("List").first?.value(forKey: "items")).count == Self.count / 2)
        }
        saves += 1
      }
      if saves.isMultiple(of: 3) {
        // The former model removes what it does not know.
        try work(first) { _ in }
        let left = try stored()
        #expect(left.entries.count == before && left.removals.isEmpty)
      }
    }
    #expect(saves > 8)
    try work(second) { try check($0) }
  }

  /// Exchanges the names of two items, which takes two saves, moves an item to the other list, and lets the second item
  /// refer to itself.
  private func disturb() throws {
    try work(first, leaving) { (context) throws in
      let items = try items(context)
      for (number, name) in [(3, "x"), (5, "i103"), (3, "i105")] {
        items[number].setValue(name, forKey: "name")
        try context.save()
      }
      items[1].setValue(items[1], forKey: "next")
      items[2].setValue(nil, forKey: "tags")
      items[0].setValue(try context.all("List", "name == %@", "l1")[0], forKey: "list")
      context.delete(items[7])
      try context.save()
    }
  }

  private func checkDisturbed(_ context: NSManagedObjectContext) throws {
    let items = try items(context)
    #expect(items.count == Self.count - 1)
    #expect(items[3].value(forKey: "number") as? Int == 5 && items[5].value(forKey: "number") as? Int == 3)
    #expect(names(items[1].value(forKey: "previous")) == ["i101"])
    let numbers = (items[0].value(forKey: "previous") as! NSOrderedSet).map { item in
      (item as! NSManagedObject).value(forKey: "number") as! Int
    }
    #expect(numbers == (2..<Self.count).filter { $0 != 7 })
    #expect(names(items[0].value(forKey: "list")) == ["l1"] && names(items[2].value(forKey: "tags")).isEmpty)
    #expect(names(try context.all("List", "name == %@", "l0")[0].value(forKey: "items")).count == Self.count / 2 - 1)
    _ = context.insert("Item", ["name": "i105"])
    #expect(code { try context.save() } == NSManagedObjectConstraintMergeError)
    context.rollback()
    _ = context.insert("Item", ["name": "i107"])
    try context.save()
  }

  @Test("What is saved between the steps of a migration is in the entries in the end.", arguments: Self.places)
  func disturbed(_ saves: Int) throws {
    try fillMany()
    let rows = try migrate(second, step: 1, after: saves) { try self.disturb() }
    #expect(rows.saves > saves)
    // A part of the entries of each source may exceed the limit.
    #expect(rows.mostEntries <= 10)
    try work(second) { try checkDisturbed($0) }
  }

  @Test("What is saved after a migration has ended half way is in the entries in the end.", arguments: Self.places)
  func resumed(_ saves: Int) throws {
    try fillMany()
    #expect(throws: CocoaError.self) { try migrate(second, step: 1, after: saves) }
    try disturb()
    try migrate(second, step: 1)
    try work(second) { try checkDisturbed($0) }
  }

  @Test("Entries of a migration that has ended half way do not show in a migration to another model.")
  func another() throws {
    try fillMany()
    #expect(throws: CocoaError.self) { try migrate(second, step: 1, after: 20) }
    #expect(try !stored().removals.isEmpty)
    let other = second.changed { $0.entities["Tag"]!.properties["note"] = .attribute(.stringAttributeType) }
    try migrate(other, step: 1)
    try work(other) { try check($0) }
    #expect(try stored().removals.isEmpty)
  }

  @Test("Objects that violate a new constraint are found in steps, and leave the store as it was.", arguments: [1, 20])
  func duplicates(_ step: Int) throws {
    try fillMany()
    try work(first) { (context) throws in
      try items(context)[31].setValue("i102", forKey: "name")
      try context.save()
    }
    let before = try stored().entries
    #expect(code { try migrate(second, step: step) } == 134111)
    let after = try stored()
    #expect(after.entries == before && after.removals.isEmpty)
    try work(first) { (context) throws in
      let item = try #require(try items(context).first { $0.value(forKey: "number") as? Int == 31 })
      item.setValue("i131", forKey: "name")
      try context.save()
    }
    try migrate(second, step: step)
    try work(second) { try check($0) }
  }

  @Test("A duplicate that is saved between the steps of a migration is found.", arguments: [3, 9, 12])
  func newDuplicates(_ saves: Int) throws {
    try fillMany()
    let failure = code {
      try migrate(second, step: 2, after: saves) { [self] in
        try work(first, leaving) { (context) throws in
          try items(context)[30].setValue("i103", forKey: "name")
          try context.save()
        }
      }
    }
    #expect(failure == 134111)
    try work(first) { (context) throws in #expect(try items(context).count == Self.count) }
  }

  @Test("Cancelling the progress ends a migration between two steps, and the progress counts entries.")
  func cancelled() throws {
    try fillMany()
    let progress = Progress(totalUnitCount: 1)
    progress.becomeCurrent(withPendingUnitCount: 1)
    #expect(
      code {
        try migrate(second, step: 1, after: 12) { progress.cancel() }
      } == 134120)
    progress.resignCurrent()
    #expect(progress.fractionCompleted > 0 && progress.fractionCompleted < 1)
    try work(first, leaving) { (context) throws in #expect(try items(context).count == Self.count) }
    let whole = Progress(totalUnitCount: 1)
    whole.becomeCurrent(withPendingUnitCount: 1)
    try migrate(second, step: 1)
    whole.resignCurrent()
    #expect(whole.isFinished)
    try work(second) { try check($0) }
  }

  @Test("A constraint holds for the objects of an entity that inherits it from now on.")
  func heirs() throws {
    let unique = first.changed {
      $0.entities["Item"]!.constraints = [["name"]]
      $0.entities["Extra"] = ModelVersion.Entity(properties: ["name": .attribute(.stringAttributeType)])
    }
    try work(unique) { (context) throws in
      _ = (context.insert("Item", ["name": "a"]), context.insert("Extra", ["name": "b"]))
      try context.save()
    }
    let inheriting = unique.changed {
      $0.entities["Extra"]!.parent = "Item"
      $0.entities["Extra"]!.properties = [:]
    }
    try work(inheriting) { (context) throws in
      for name in ["a", "b"] {
        _ = context.insert("Item", ["name": name])
        #expect(code { try context.save() } == NSManagedObjectConstraintMergeError)
        context.rollback()
      }
    }
    #expect(try stored().removals.isEmpty)
  }

  // MARK: Space

  @Test("A migration whose entries do not fit on the disk is refused, and changes nothing.")
  func space() throws {
    try fillMany()
    let before = try stored().entries
    for version in [
      first.changed { $0.entities["Item"]!.constraints = [["name"]] },
      first.changed { $0.entities["Item"]!.properties["list"] = .toMany("List", "items") },
      first.changed {
        $0.entities["Item"]!.properties["next"] = .toOne("Item", "previous")
        $0.entities["Item"]!.properties["previous"] = .toMany("Item", "next", isOrdered: true)
      },
      first.changed {
        $0.entities["Item"]!.indexes = [["name"]]
        $0.entities["Item"]!.properties["note"] = .attribute(.stringAttributeType)
      },
    ] {
      #expect(code { try migrate(version, step: 10, space: DiskSpace { 5 * Self.count }) } == 640)
      #expect(try stored().entries == before)
    }
    try migrate(second, step: 10, space: DiskSpace { 1000 * Self.count })
    try work(second) { try check($0) }
  }

  @Test("An index that does not fit on the disk is not begun.")
  func spaceOfIndex() throws {
    try fillMany()
    let indexed = first.changed { $0.entities["Item"]!.indexes = [["name"]] }
    try work(indexed, leaving) { _ in }
    let before = try stored().entries
    let rows = try CairnIncrementalStore.rowStore(at: url, options: [CairnDurabilityOption: "buffered"])
    #expect(code { _ = try IndexBuilder(space: DiskSpace { 5 * Self.count }).advance(rows) } == 640)
    try rows.close()
    #expect(try stored().entries == before)
    try work(indexed) { (context) throws in #expect(try context.all("Item", "name == %@", "i110").count == 1) }
    #expect(try stored().entries.count == before.count + Self.count)
  }
}
