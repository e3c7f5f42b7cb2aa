import OpenCoreData

/// The life of `count` objects, measured once.
struct Round {
  /// The number of items per owner.
  private static let partsOfOwner = 100

  let count: Int
  private let figures: Figures
  private let stack: Stack

  init(count: Int, into figures: Figures) throws {
    self.count = count
    self.figures = figures
    stack = try Stack()
  }

  func run() throws {
    try insert()
    try read()
    try changeAndMerge()
    try delete()
    try addChildren(.child10, .child100) { parent, child in child.setValue(parent, forKey: "owner") }
    try addChildren(.member10, .member100) { parent, child in parent.mutableSetValue(forKey: "parts").add(child) }
  }

  /// Runs `body`, and adds its nanoseconds per operation to a figure. By default there are as many operations as
  /// objects.
  private func time<Result>(
    _ figure: Figure, of operations: Int? = nil, _ body: () throws -> Result
  ) rethrows -> Result {
    let clock = ContinuousClock()
    let start = clock.now
    let result = try body()
    figures.add(figure, (clock.now - start) / .nanoseconds(1) / Double(operations ?? count))
    return result
  }

  // MARK: Parts of a round

  private func insert() throws {
    let context = stack.context()
    try context.performAndWait {
      time(.made) {
        var owner: NSManagedObject?
        for number in 0..<count {
          let item = context.insertItem()
          item.setValue(number, forKey: "number")
          item.setValue("a name of twenty \(1000 + number % 9000)", forKey: "name")
          item.setValue(Date(timeIntervalSinceReferenceDate: Double(number)), forKey: "date")
          item.setValue(number.isMultiple(of: 2), forKey: "flag")
          if number.isMultiple(of: Self.partsOfOwner) { owner = item } else { item.setValue(owner, forKey: "owner") }
        }
        context.processPendingChanges()
      }
      try time(.savedNew) { try context.save() }
    }
  }

  private func read() throws {
    let context = stack.context()
    try context.performAndWait {
      let empty = Heap.bytes
      let items = try time(.fetchedFaults) { try context.items() }
      precondition(items.count == count)
      let asFaults = Heap.bytes
      time(.fired) { for item in items { item.willAccessValue(forKey: nil) } }
      precondition(items.allSatisfy { !$0.isFault })
      let asObjects = Heap.bytes
      figures.add(.fault, Double(asFaults - empty) / Double(count))
      figures.add(.realised, Double(asObjects - empty) / Double(count))

      _ = try time(.fetchedAgain) { try context.items() }
      let sum = time(.read) { items.reduce(0) { $0 &+ ($1.value(forKey: "number") as! Int64) } }
      precondition(sum == Int64(count * (count - 1) / 2))
      let owned = time(.readRelated) { items.count { $0.value(forKey: "owner") != nil } }
      precondition(owned == count - (count + Self.partsOfOwner - 1) / Self.partsOfOwner)
      time(.refreshed) { for item in items { context.refresh(item, mergeChanges: false) } }
    }
    let other = stack.context()
    try other.performAndWait {
      let items = try time(.fetchedValues) { try other.items(asFaults: false) }
      precondition(items.allSatisfy { !$0.isFault })
    }
  }

  private func changeAndMerge() throws {
    let (writer, withFaults, withValues) = (stack.context(), stack.context(), stack.context())
    let faults = try withFaults.performAndWait { try withFaults.items() }
    let objects = try withValues.performAndWait { try withValues.items(asFaults: false) }
    let mailbox = Mailbox(writer)
    try writer.performAndWait {
      let items = try writer.items(asFaults: false)
      time(.changed) { for (index, item) in items.enumerated() { item.setValue(-index, forKey: "number") } }
      time(.changedAgain) { for (index, item) in items.enumerated() { item.setValue(index, forKey: "number") } }
      for item in items { item.setValue(true, forKey: "flag") }
      try time(.savedChanged) { try writer.save() }
    }
    let notification = mailbox.last!
    withFaults.performAndWait {
      time(.mergedFaults) { withFaults.mergeChanges(fromContextDidSave: notification) }
      precondition(faults.allSatisfy(\.isFault))
    }
    withValues.performAndWait {
      time(.mergedValues) { withValues.mergeChanges(fromContextDidSave: notification) }
      precondition(objects.allSatisfy { $0.value(forKey: "flag") as! Bool })
    }
  }

  private func delete() throws {
    let context = stack.context()
    try context.performAndWait {
      let items = try context.items()
      time(.deleted) {
        for item in items { context.delete(item) }
        context.processPendingChanges()
      }
      try time(.savedDeleted) { try context.save() }
      let left = try context.items()
      precondition(left.isEmpty)
    }
  }

  /// Adds 100,000 children to one parent, and measures the last thousand of the first 10,000 and the last thousand of
  /// all.
  private func addChildren(
    _ early: Figure, _ late: Figure, _ add: (_ parent: NSManagedObject, _ child: NSManagedObject) -> Void
  ) throws {
    let context = try Stack().context()
    context.performAndWait {
      let parent = context.insertItem()
      let children = (0..<100_000).map { _ in context.insertItem() }
      for child in children[..<9000] { add(parent, child) }
      time(early, of: 1000) { for child in children[9000..<10_000] { add(parent, child) } }
      for child in children[10_000..<99_000] { add(parent, child) }
      time(late, of: 1000) { for child in children[99_000...] { add(parent, child) } }
      context.processPendingChanges()
      precondition((parent.value(forKey: "parts") as! NSSet).count == children.count)
    }
  }
}

/// Keeps the last notification of a context's saves.
private final class Mailbox: @unchecked Sendable {
  /// Guards `kept`.
  private let lock = NSLock()
  private var kept: Notification?
  private var observer: (any NSObjectProtocol)?

  init(_ context: NSManagedObjectContext) {
    observer = NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didSaveObjectsNotification, object: context, queue: nil
    ) { [weak self] notification in
      guard let self else { return }
      lock.withLock { kept = notification }
    }
  }

  deinit { if let observer { NotificationCenter.default.removeObserver(observer) } }

  var last: Notification? { lock.withLock { kept } }
}
