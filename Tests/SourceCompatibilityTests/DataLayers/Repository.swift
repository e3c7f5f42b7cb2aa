import CoreData
import Foundation

enum RepositoryError: LocalizedError {
  case notFound(String)
  case underlying(Error)

  var errorDescription: String? {
    switch self {
    case .notFound(let name): return "There is no \(name)."
    case .underlying(let error): return error.localizedDescription
    }
  }
}

protocol RepositoryProtocol {
  associatedtype Entity: NSManagedObject

  func getAll(predicate: NSPredicate?, sortDescriptors: [NSSortDescriptor]?) -> Result<[Entity], Error>
  func create(_ configure: (Entity) -> Void) -> Result<Entity, Error>
  func delete(_ entity: Entity) -> Result<Bool, Error>
}

final class CoreDataRepository<T: NSManagedObject>: RepositoryProtocol {
  typealias Entity = T

  private let context: NSManagedObjectContext

  init(context: NSManagedObjectContext) {
    self.context = context
  }

  func getAll(predicate: NSPredicate? = nil, sortDescriptors: [NSSortDescriptor]? = nil) -> Result<[T], Error> {
    let fetchRequest: NSFetchRequest<T> = T.fetchRequest()
    fetchRequest.predicate = predicate
    fetchRequest.sortDescriptors = sortDescriptors
    do {
      return .success(try context.fetch(fetchRequest))
    } catch {
      return .failure(RepositoryError.underlying(error))
    }
  }

  func first(where format: String, _ arguments: CVarArg...) throws -> T {
    let fetchRequest = NSFetchRequest<T>(entityName: T.entity().name ?? String(describing: T.self))
    fetchRequest.predicate = NSPredicate(format: format, argumentArray: arguments)
    fetchRequest.fetchLimit = 1
    guard let object = try context.fetch(fetchRequest).first else {
      throw RepositoryError.notFound(String(describing: T.self))
    }
    return object
  }

  func create(_ configure: (T) -> Void) -> Result<T, Error> {
    guard
      let object = NSEntityDescription.insertNewObject(forEntityName: "\(T.self)", into: context) as? T
    else {
      return .failure(RepositoryError.notFound("\(T.self)"))
    }
    configure(object)
    return .success(object)
  }

  func delete(_ entity: T) -> Result<Bool, Error> {
    context.delete(entity)
    return .success(entity.isDeleted)
  }

  func deleteAll() throws -> Int {
    let request: NSFetchRequest<NSFetchRequestResult> = T.fetchRequest()
    request.includesPropertyValues = false
    let objects = try context.fetch(request) as? [NSManagedObject] ?? []
    objects.forEach(context.delete)
    return objects.count
  }

  func count(_ predicate: NSPredicate? = nil) -> Int {
    let request = T.fetchRequest()
    request.predicate = predicate
    return (try? context.count(for: request)) ?? 0
  }

  func save() throws {
    if context.hasChanges { try context.save() }
  }
}
