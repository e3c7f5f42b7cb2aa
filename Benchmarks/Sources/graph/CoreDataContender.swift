import Comparing
import Foundation
import OpenCoreData

final class CoreDataContender: GraphContender {
  let store: ManagedStore
  private var packages: [NSManagedObjectID] = []
  private var versions: [NSManagedObjectID] = []

  init(at url: URL) { store = ManagedStore(Self.model(), at: url) }

  func open() throws {
    try store.open()
    _ = try store.work { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Version")
      request.fetchLimit = 1
      request.returnsObjectsAsFaults = false
      return try context.fetch(request)
    }
  }

  func resolveIdentifiers() {
    packages = store.resolved(packages)
    versions = store.resolved(versions)
  }

  func insert(_ graph: PackageGraph) throws {
    var packages = KnownObjects(count: graph.packages.count)
    var maintainers = KnownObjects(count: graph.maintainers.count)
    var sections = KnownObjects(count: graph.sections.count)
    for batch in graph.versions.batches {
      try store.work { context in
        func package(_ position: Int) -> NSManagedObject {
          packages.object(position, "Package", in: context) {
            $0.setAttributeValue(graph.packages[position], forKey: "name")
          }
        }
        let inserted = batch.map { version in
          let object = NSEntityDescription.insertNewObject(forEntityName: "Version", into: context)
          object.setAttributeValue(version.number, forKey: "number")
          object.setAttributeValue(version.architecture, forKey: "architecture")
          object.setAttributeValue(version.homepage, forKey: "homepage")
          object.setAttributeValue(version.summary, forKey: "summary")
          object.setAttributeValue(Int64(version.installedSize), forKey: "installedSize")
          object.setAttributeValue(Int64(version.size), forKey: "size")
          object.setAttributeValue(version.sha256, forKey: "sha256")
          object.setRelatedObject(package(version.package), forKey: "package")
          let maintainer = maintainers.object(version.maintainer, "Maintainer", in: context) {
            $0.setAttributeValue(graph.maintainers[version.maintainer].name, forKey: "name")
            $0.setAttributeValue(graph.maintainers[version.maintainer].email, forKey: "email")
          }
          object.setRelatedObject(maintainer, forKey: "maintainer")
          let section = sections.object(version.section, "Section", in: context) {
            $0.setAttributeValue(graph.sections[version.section], forKey: "name")
          }
          object.setRelatedObject(section, forKey: "section")
          object.setValue(Set(version.dependencies.map(package)), forKey: "dependencies")
          return object
        }
        try context.save()
        versions += inserted.map(\.objectID)
        packages.noteSave()
        maintainers.noteSave()
        sections.noteSave()
      }
    }
    self.packages = packages.ids.map { $0! }
  }

  func content() throws -> GraphContent {
    try store.work { context in
      func objects(_ entity: String) throws -> Int {
        try context.count(for: NSFetchRequest<NSManagedObject>(entityName: entity))
      }
      var content = GraphContent(
        packages: try objects("Package"), versions: try objects("Version"), maintainers: try objects("Maintainer"),
        sections: try objects("Section"), dependencies: 0, textBytes: 0, sizes: 0)
      for version in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Version")) {
        content.dependencies += (version.value(forKey: "dependencies") as! NSSet).count
        for key in ["number", "architecture", "homepage", "summary", "sha256"] {
          content.textBytes += (version.value(forKey: key) as! String?)?.utf8.count ?? 0
        }
        content.sizes += version.size + version.installedSize
      }
      return content
    }
  }

  func find(_ versions: [Int]) throws -> Int {
    let ids = versions.map { self.versions[$0] }
    return try store.work { context in try ids.reduce(0) { try $0 + context.existingObject(with: $1).size } }
  }

  func fetch(_ versions: [Int]) throws -> Int {
    let ids = versions.map { self.versions[$0] }
    return try store.work { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Version")
      request.returnsObjectsAsFaults = false
      return try ids.reduce(0) { sum, id in
        request.predicate = NSPredicate(format: "SELF == %@", id)
        return try sum + context.fetch(request)[0].size
      }
    }
  }

  func realise(_ versions: [Int]) throws -> Int {
    let ids = versions.map { self.versions[$0] }
    return store.work { context in ids.reduce(0) { $0 + context.object(with: $1).size } }
  }

  func realiseTogether(_ versions: [Int]) throws -> Int {
    let ids = versions.map { self.versions[$0] }
    return try store.work { context in try context.versions(ids).reduce(0) { $0 + $1.size } }
  }

  func dependentIDs(_ packages: [Int]) throws -> Int {
    let ids = packages.map { self.packages[$0] }
    return store.work { context in
      ids.reduce(0) { $0 + context.object(with: $1).objectIDs(forRelationshipNamed: "dependents").count }
    }
  }

  func dependents(_ packages: [Int]) throws -> Int {
    let ids = packages.map { self.packages[$0] }
    return store.work { context in
      ids.reduce(0) { $0 + (context.object(with: $1).value(forKey: "dependents") as! NSSet).count }
    }
  }

  func scan(installedSizeAbove size: Int) throws -> Int {
    try store.work { context in
      let request = Self.request(installedSizeAbove: size)
      request.returnsObjectsAsFaults = false
      return try context.fetch(request).reduce(0) { $0 + $1.size }
    }
  }

  func count(installedSizeAbove size: Int) throws -> Int {
    try store.work { context in try context.count(for: Self.request(installedSizeAbove: size)) }
  }

  func change(_ versions: [Int]) throws -> Int {
    let ids = versions.map { self.versions[$0] }
    var sum = 0
    for batch in ids.batches {
      try store.work { context in
        for version in try context.versions(Array(batch)) {
          sum += version.size
          version.setAttributeValue("now of \(version.size) bytes", forKey: "summary")
          version.setAttributeValue(Int64(version.installedSize + 1), forKey: "installedSize")
        }
        try context.save()
      }
    }
    return sum
  }

  func delete(packages: [Int]) throws -> Int {
    let ids = packages.map { self.packages[$0] }
    for batch in ids.batches {
      try store.work { context in
        for id in batch { context.delete(context.object(with: id)) }
        try context.save()
      }
    }
    return packages.count
  }

  func holding<Result>(_ versions: Int, _ body: () -> Result) throws -> Result {
    try store.work { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Version")
      request.fetchLimit = versions
      request.returnsObjectsAsFaults = false
      let held = try context.fetch(request)
      return withExtendedLifetime(held, body)
    }
  }

  private static func request(installedSizeAbove size: Int) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Version")
    request.predicate = NSPredicate(format: "installedSize > %@", size as NSNumber)
    return request
  }
}

/// The identifiers of objects that have been saved, and the objects that have not been yet, by position in the graph.
private struct KnownObjects {
  private(set) var ids: [NSManagedObjectID?]
  private var inserted: [Int: NSManagedObject] = [:]

  init(count: Int) { ids = Array(repeating: nil, count: count) }

  mutating func object(
    _ position: Int, _ entity: String, in context: NSManagedObjectContext, setUp: (NSManagedObject) -> Void
  ) -> NSManagedObject {
    if let id = ids[position] { return context.object(with: id) }
    if let object = inserted[position] { return object }
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
    setUp(object)
    inserted[position] = object
    return object
  }

  mutating func noteSave() {
    for (position, object) in inserted { ids[position] = object.objectID }
    inserted.removeAll()
  }
}

extension NSManagedObjectContext {
  fileprivate func versions(_ ids: [NSManagedObjectID]) throws -> [NSManagedObject] {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Version")
    request.predicate = NSPredicate(format: "SELF IN %@", ids)
    request.returnsObjectsAsFaults = false
    return try fetch(request)
  }
}

extension NSManagedObject {
  fileprivate var size: Int { Int(attributeValue(forKey: "size") as Int64? ?? 0) }
  fileprivate var installedSize: Int { Int(attributeValue(forKey: "installedSize") as Int64? ?? 0) }
}
