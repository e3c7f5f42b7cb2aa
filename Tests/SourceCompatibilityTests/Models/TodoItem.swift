import CoreData
import Foundation

class TodoItem: NSManagedObject {
  enum Priority: Int16, CaseIterable {
    case low, normal, high
  }

  var title: String? {
    get { value(forKey: #function) as? String }
    set { setValue(newValue, forKey: #function) }
  }
  var createdAt: Date? {
    get { primitiveDate("createdAt") }
    set { setValue(newValue, forKey: "createdAt") }
  }
  var completedAt: Date? {
    get { primitiveDate("completedAt") }
    set { setValue(newValue, forKey: "completedAt") }
  }
  var priority: Priority {
    get {
      willAccessValue(forKey: "priority")
      defer { didAccessValue(forKey: "priority") }
      return Priority(rawValue: primitiveValue(forKey: "priority") as? Int16 ?? 0) ?? .low
    }
    set {
      willChangeValue(forKey: "priority")
      setPrimitiveValue(newValue.rawValue, forKey: "priority")
      didChangeValue(forKey: "priority")
    }
  }
  var isCompleted: Bool { completedAt != nil }

  override func awakeFromInsert() {
    super.awakeFromInsert()
    setPrimitiveValue(Date(), forKey: "createdAt")
    setPrimitiveValue(Priority.normal.rawValue, forKey: "priority")
  }

  private func primitiveDate(_ key: String) -> Date? {
    willAccessValue(forKey: key)
    defer { didAccessValue(forKey: key) }
    return primitiveValue(forKey: key) as? Date
  }
}

extension TodoItem {
  static func getAllItems() -> NSFetchRequest<TodoItem> {
    let request: NSFetchRequest<TodoItem> = TodoItem.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    return request
  }

  static func openItems(in context: NSManagedObjectContext) throws -> [TodoItem] {
    let request = TodoItem.fetchRequest() as NSFetchRequest<TodoItem>
    request.predicate = NSPredicate(format: "completedAt == nil AND priority >= %d", Priority.normal.rawValue)
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    return try context.fetch(request)
  }

  static func titles(in context: NSManagedObjectContext) throws -> [String] {
    let request: NSFetchRequest<NSFetchRequestResult> = TodoItem.fetchRequest()
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["title"]
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)]
    let rows = try context.fetch(request) as! [[String: Any]]
    return rows.compactMap { $0["title"] as? String }
  }
}
