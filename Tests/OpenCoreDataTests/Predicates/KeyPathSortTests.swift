import CairnIncrementalStore
import OpenCoreData
import Testing

@Suite struct KeyPathSortTests {
  private let coordinator: NSPersistentStoreCoordinator
  private let early: NSSortDescriptor
  private let earlyExpression: NSExpression

  init() throws {
    early = NSSortDescriptor(keyPath: \Chore.due, ascending: true)
    earlyExpression = NSExpression(forKeyPath: \Chore.due)
    let (task, list) = (entity("Chore", class: "Chore"), entity("ChoreList", class: "ChoreList"))
    let (owner, tasks) = (relationship("list", to: list, isToMany: false), relationship("tasks", to: task))
    connect(owner, tasks)
    task.properties = [
      attribute("due", .date), attribute("title", .string), attribute("priority", .integer16),
      attribute("isDone", .boolean), attribute("price", .decimal), owner,
    ]
    list.properties = [attribute("name", .string), tasks]
    let model = NSManagedObjectModel()
    model.entities = [task, list]
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
  }

  @Test("An expression with a key path is that with the names of the properties, also if it was made before the model.")
  func expressions() throws {
    let names = NSExpression(forKeyPath: \Chore.list?.name)
    #expect(names.keyPath == "list.name" && names.expressionType == .keyPath && names.description == "list.name")
    #expect(names == NSExpression(forKeyPath: "list.name") && names.hash == NSExpression(forKeyPath: "list.name").hash)
    #expect(earlyExpression.keyPath == "due")
    let comparison = NSComparisonPredicate(
      leftExpression: names, rightExpression: NSExpression(forConstantValue: "home"), modifier: .direct, type: .equalTo)
    #expect(comparison.predicateFormat == #"list.name == "home""#)
    #expect(comparison.evaluate(with: ["list": ["name": "home"]]))
  }

  @Test("The key of a descriptor with a key path is the name of the property, optional or not.")
  func keys() {
    #expect(NSSortDescriptor(keyPath: \Chore.due, ascending: true).key == "due")
    #expect(NSSortDescriptor(keyPath: \Chore.title, ascending: true).key == "title")
    #expect(NSSortDescriptor(keyPath: \Chore.priority, ascending: true).key == "priority")
    #expect(NSSortDescriptor(keyPath: \Chore.isDone, ascending: true).key == "isDone")
    #expect(NSSortDescriptor(keyPath: \Chore.price, ascending: true).key == "price")
    #expect(NSSortDescriptor(keyPath: \Chore.list, ascending: true).key == "list")
    #expect(NSSortDescriptor(keyPath: \Chore.list?.name, ascending: true).key == "list.name")
    #expect(early.key == "due")
    #expect(key(of: \Chore.due) == "due" && key(of: \Chore.priority) == "priority")
    func key<Root, Value>(of path: KeyPath<Root, Value>) -> String? {
      NSSortDescriptor(keyPath: path, ascending: true).key
    }
    func comparableKey<Root, Value: Comparable>(of path: KeyPath<Root, Value>) -> String? {
      NSSortDescriptor(keyPath: path, ascending: true).key
    }
    #expect(comparableKey(of: \Chore.title) == "title" && comparableKey(of: \String.count) == nil)
  }

  @Test("A key path of managed objects has the name that libraries read, also if its types are not known.")
  func names() {
    func name<Root, Value>(of path: KeyPath<Root, Value>) -> String? { path._kvcKeyPathString }
    #expect(name(of: \Chore.due) == "due" && name(of: \Chore.list?.name) == "list.name")
    #expect((\Chore.priority as AnyKeyPath)._kvcKeyPathString == "priority")
    #expect((\Chore.lowercasedTitle)._kvcKeyPathString == nil && name(of: \String.count) == nil)
  }

  @Test("A computed property that does more than pass on a value has no key, and still sorts.")
  func computed() throws {
    #expect(NSSortDescriptor(keyPath: \Chore.lowercasedTitle, ascending: true).key == nil)
    #expect(NSSortDescriptor(keyPath: \Chore.label, ascending: true).key == nil)
    #expect(NSSortDescriptor(keyPath: \Chore.isOpen, ascending: true).key == nil)
    try withChores { context throws in
      let request = NSFetchRequest<Chore>(entityName: "Chore")
      request.sortDescriptors = [NSSortDescriptor(keyPath: \Chore.lowercasedTitle, ascending: true)]
      #expect(try titles(request, context) == ["a", "B", "c"])
    }
  }

  @Test("A fetch sorted by key paths has the order of a fetch sorted by the keys, in memory and in a store.")
  func order() throws {
    try withChores { context throws in
      let request = NSFetchRequest<Chore>(entityName: "Chore")
      request.sortDescriptors = [early]
      #expect(try titles(request, context) == ["c", "a", "B"])
      request.sortDescriptors = [NSSortDescriptor(keyPath: \Chore.due, ascending: false)]
      #expect(try titles(request, context) == ["B", "a", "c"])
      request.sortDescriptors = [
        NSSortDescriptor(keyPath: \Chore.list?.name, ascending: false),
        NSSortDescriptor(keyPath: \Chore.priority, ascending: true),
      ]
      #expect(try titles(request, context) == ["c", "B", "a"])
    }
  }

  @Test("A descriptor with a key path equals the one with its key, and can be reversed.")
  func equality() throws {
    let byKey = NSSortDescriptor(key: "due", ascending: true)
    #expect(early == byKey && byKey == early && early.hash == byKey.hash)
    #expect(early.selector == "compare:" && early.description == byKey.description)
    let reversed = try #require(early.reversedSortDescriptor as? NSSortDescriptor)
    #expect(reversed == NSSortDescriptor(key: "due", ascending: false) && reversed != early)
    #expect(
      NSSortDescriptor(keyPath: \Chore.label, ascending: true)
        == NSSortDescriptor(keyPath: \Chore.label, ascending: true))
    #expect(NSSortDescriptor(keyPath: \Chore.label, ascending: true) != byKey)
  }

  private func titles(_ request: NSFetchRequest<Chore>, _ context: NSManagedObjectContext) throws -> [String] {
    try context.fetch(request).map(\.title)
  }

  /// Saves three chores in a store in memory and in one on Cairn, and calls `body` with a context of each.
  private func withChores(_ body: (NSManagedObjectContext) throws -> Void) throws {
    try Fixtures.withFolder { folder in
      CairnIncrementalStore.register()
      for type in [NSInMemoryStoreType, CairnIncrementalStore.storeType] {
        let store = try coordinator.addPersistentStore(
          ofType: type, configurationName: nil, at: folder.appending(path: type))
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
          let list = ChoreList(context: context)
          list.name = "list"
          let date = Date(timeIntervalSinceReferenceDate: 0)
          for (title, due, priority) in [("B", date + 2, 1), ("a", date + 1, 2), ("c", nil, 3)] {
            let task = Chore(context: context)
            (task.title, task.due, task.priority) = (title, due, Int16(priority))
            if title == "c" { task.list = list }
          }
          try context.save()
          context.reset()
          try body(context)
        }
      }
    }
  }
}

final class Chore: NSManagedObject {
  var due: Date? {
    get { value(forKey: "due") as! Date? }
    set { setValue(newValue, forKey: "due") }
  }
  var title: String {
    get { value(forKey: "title") as! String }
    set { setValue(newValue, forKey: "title") }
  }
  var priority: Int16 {
    get { (value(forKey: "priority") as! NSNumber?)?.int16Value ?? 0 }
    set { setValue(newValue, forKey: "priority") }
  }
  var isDone: Bool {
    willAccessValue(forKey: "isDone")
    defer { didAccessValue(forKey: "isDone") }
    return primitiveValue(forKey: "isDone") as? Bool ?? false
  }
  var price: NSDecimalNumber? { self["price"] as! NSDecimalNumber? }
  var list: ChoreList? {
    get { value(forKey: "list") as! ChoreList? }
    set { setValue(newValue, forKey: "list") }
  }
  var lowercasedTitle: String { title.lowercased() }
  var label: String { "\(title) \(priority)" }
  var isOpen: Bool { !isDone }
}

final class ChoreList: NSManagedObject {
  var name: String? {
    get { value(forKey: "name") as! String? }
    set { setValue(newValue, forKey: "name") }
  }
}
