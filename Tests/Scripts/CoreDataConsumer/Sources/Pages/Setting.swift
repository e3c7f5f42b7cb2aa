import CoreData

/// What the code of the pages, which becomes methods of this class, uses without making it; the rest are parameters.
@MainActor
final class Setting: NSObject, NSFetchedResultsControllerDelegate {
  let (model, former, current) = (NSManagedObjectModel(), NSManagedObjectModel(), NSManagedObjectModel())
  let (url, newURL) = (URL(filePath: "store"), URL(filePath: "new store"))
  let container: NSPersistentContainer
  var notes: NSFetchedResultsController<Note>!
  var token: NSPersistentHistoryToken?
  let rows: [Row] = []

  init(_ container: NSPersistentContainer) { self.container = container }

  var viewContext: NSManagedObjectContext { container.viewContext }

  func show(_ title: String) {}
}

final class Note: NSManagedObject {
  var title: String { value(forKey: "title") as? String ?? "" }
}

final class Fleet: NSManagedObject {}

final class Ship: NSManagedObject {
  var name: String {
    get { value(forKey: "name") as? String ?? "" }
    set { setValue(newValue, forKey: "name") }
  }
}

final class Lines {
  func next() -> (name: String, guns: Int)? { nil }
}

struct Backend {
  func bugs() async throws -> [(id: String, title: String, isOpen: Bool)] { [] }
}

struct Row {
  let id: NSManagedObjectID
  let values: [PredicateValue]
}

let slots: [String: Int] = [:]

extension Bundle {
  static var module: Bundle { .main }
}
