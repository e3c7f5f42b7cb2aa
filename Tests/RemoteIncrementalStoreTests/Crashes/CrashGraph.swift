import CoreData
import RemoteIncrementalStore

/// The objects of a store or of a service by their tokens: the values of the properties, as texts, by name.
typealias CrashGraph = [String: [String: String]]

extension ServiceState {
  func graph() throws -> CrashGraph {
    func tokens(_ identifiers: some Sequence<RemoteIdentifier>) -> String {
      identifiers.map { token(of: $0) ?? "?" }.sorted().joined(separator: ", ")
    }
    var graph: CrashGraph = [:]
    for (identifier, thing) in things {
      var properties = thing.values.mapValues { value in
        switch value {
        case .string(let text): text
        case .integer(let number): "\(number)"
        case .object(let other): tokens([other])
        default: ""
        }
      }
      switch identifier.entityName {
      case "Bug": properties["tags"] = tokens(thing.tags)
      case "Tag": properties["bugs"] = tokens(members(of: "bugs", of: identifier))
      default: properties["assigned"] = tokens(members(of: "assigned", of: identifier))
      }
      try graph.add(properties)
    }
    return graph
  }
}

extension NSManagedObjectContext {
  /// The objects that the store has.
  func graph() throws -> CrashGraph {
    func token(_ object: NSManagedObject) -> String { object.value(forKey: "token") as? String ?? "?" }
    var graph: CrashGraph = [:]
    for entity in ServiceState.entities {
      let request = NSFetchRequest<NSManagedObject>(entityName: entity)
      request.freshness = .cached
      for object in try fetch(request) {
        var properties: [String: String] = [:]
        for name in object.entity.propertiesByName.keys {
          properties[name] =
            switch object.value(forKey: name) {
            case let text as String: text
            case let other as NSManagedObject: token(other)
            case let members as Set<NSManagedObject>: members.map(token).sorted().joined(separator: ", ")
            case let number?: "\(number)"
            case nil: ""
            }
        }
        try graph.add(properties)
      }
    }
    return graph
  }
}

extension CrashGraph {
  fileprivate mutating func add(_ properties: [String: String]) throws {
    let token = properties["token"] ?? "?"
    guard updateValue(properties, forKey: token) == nil else { throw TestFailure("\(token) is there twice") }
  }

  /// The values of a property, in their order.
  func values(_ name: String) -> [String] { values.compactMap { $0[name] }.sorted() }

  /// What other objects another graph has, or with which values.
  func difference(from other: CrashGraph) -> String {
    Set(keys).union(other.keys).sorted().compactMap { token in
      self[token] == other[token] ? nil : "\(token): \(Self.text(self[token])) instead of \(Self.text(other[token]))"
    }.joined(separator: "\n")
  }

  private static func text(_ properties: [String: String]?) -> String {
    properties.map { "\($0.sorted { $0.key < $1.key }.map { "\($0) \($1)" })" } ?? "nothing"
  }
}
