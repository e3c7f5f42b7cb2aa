import Observation
import Synchronization
import Testing

@testable import OpenCoreData

@Suite("Observation of objects") struct ObjectObservationTests {
  private let family: Family

  init() throws { family = try Family() }

  /// Counts how often observers are told.
  private final class Counter: Sendable {
    private let told = Atomic(0)

    /// Tracks what `body` reads, and counts the first change.
    func track(_ body: () -> Void) {
      withObservationTracking(body) { [self] in told.add(1, ordering: .relaxed) }
    }

    /// How often observers have been told since the last call.
    func take() -> Int { told.exchange(0, ordering: .relaxed) }
  }

  @Test("An observer is told at once when a property that it has read is set, and is not told of other properties.")
  func setting() throws {
    try family.run { a, _ in
      let (ann, bob) = (a.make("Person", "Ann"), a.make("Person", "Bob"))
      for _ in 0..<3 {
        let counter = Counter()
        counter.track { _ = ann["name"] }
        bob["name"] = "Ben"
        ann["friend"] = bob
        a.processPendingChanges()
        #expect(counter.take() == 0)
        ann["name"] = "Anna"
        #expect(counter.take() == 1)
        ann["name"] = "Anne"
        #expect(counter.take() == 0)
        counter.track { _ = ann["name"] }
        a.processPendingChanges()
        #expect(counter.take() == 0, "This change was told before.")
      }
    }
  }

  @Test("An observer of a relationship is told at once when the application changes members, in any way.")
  func members() throws {
    try family.run { a, _ in
      let (ann, bob, counter) = (a.make("Person", "Ann"), a.make("Person", "Bob"), Counter())
      let shelf = a.make("Shelf", "Left")
      let books = ["B", "C", "A"].map { a.make("Book", $0, ["shelf": shelf]) }
      let changes: [(NSManagedObject, String, () -> Void)] = [
        (ann, "children", { ann.mutableSetValue(forKey: "children").add(bob) }),
        (ann, "children", { ann["children"] = NSSet() }),
        (shelf, "books", { shelf.mutableOrderedSetValue(forKey: "books").exchangeObject(at: 0, withObjectAt: 2) }),
        (shelf, "books", { shelf.mutableOrderedSetValue(forKey: "books").remove(books[1]) }),
        (
          ann, "name",
          {
            ann.willChangeValue(forKey: "name")
            ann.setPrimitiveValue("Anna", forKey: "name")
            ann.didChangeValue(forKey: "name")
          }
        ),
      ]
      for (number, (object, key, change)) in changes.enumerated() {
        counter.track { _ = object[key] }
        change()
        #expect(counter.take() == 1, "change \(number)")
      }
    }
  }

  @Test("An observer is told of the other ends of relationships, of undo, refreshes and deletions with the event.")
  func events() throws {
    try family.run { a, b in
      let (ann, bob, counter) = (a.make("Person", "Ann"), a.make("Person", "Bob"), Counter())
      try a.save()
      a.undoManager = UndoManager()
      defer { a.undoManager = nil }
      func isTold(_ key: String, _ change: () throws -> Void) rethrows {
        counter.track { _ = ann[key] }
        try change()
        a.processPendingChanges()
        #expect(counter.take() == 1)
      }
      isTold("children") { bob["parent"] = ann }
      isTold("children") { a.undo() }
      isTold("name") { ann["name"] = "Anna" }
      isTold("name") { a.undo() }
      isTold("name") { a.redo() }
      isTold("name") { a.rollback() }
      isTold("name") { a.refresh(ann, mergeChanges: true) }
      try isTold("name") {
        try b.own(ann)["name"] = "Bea"
        try b.save()
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: [ann.objectID]], into: [a])
        #expect(ann["name"] as? String == "Bea")
      }
      isTold("name") { a.delete(ann) }
      a.rollback()
      isTold("name") { a.reset() }
    }
  }

  @Test("What is read without tracking, and objects that are gone, leave nothing behind.")
  func memory() throws {
    try family.run { a, _ in
      let ann = a.make("Person", "Ann")
      try a.save()
      let observation = a.registry.observation
      for key in ["name", "children", "friend"] { _ = ann[key] }
      #expect(observation.count == 0 && !ann.isObserved)
      weak var gone: Counter?
      for isTold in [false, true, false] {
        do {
          let (bob, counter) = (a.make("Person", "Bob"), Counter())
          gone = counter
          counter.track { _ = (bob["name"], ann["name"], bob["name"]) }
          #expect(observation.count == 2 && gone != nil)
          if isTold { ann["name"] = "Anna" }
          #expect(counter.take() == (isTold ? 1 : 0))
          try a.save()
        }
        #expect(observation.count == 1, "The other object was freed.")
        #expect(isTold ? gone == nil : gone != nil, "The observer waits for changes of the object that is left.")
      }
      do {
        let (bob, counter) = (a.make("Person", "Bob"), Counter())
        gone = counter
        counter.track { _ = (bob["name"], bob["friend"]) }
        try a.save()
      }
      #expect(observation.count == 1 && gone == nil, "The object was freed, and nobody was told.")
      a.reset()
      #expect(a.registry.observation.count == 0 && observation.count == 0)
    }
  }

  @Test("A sequence of observed values follows the changes of an object.", .timeLimit(.minutes(2)))
  @MainActor static func sequence() async throws {
    let family = try Family()
    let context = NSManagedObjectContext(.mainQueue)
    context.persistentStoreCoordinator = family.coordinator
    let ann = context.make("Person", "0")
    var names: [String] = []
    for await name in Observations({ ann["name"] as? String ?? "" }) {
      names.append(name)
      guard names.count < 4 else { break }
      ann["name"] = "\(names.count)"
    }
    #expect(names == ["0", "1", "2", "3"])
  }
}
