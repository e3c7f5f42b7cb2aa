import CoreData
import Testing

@Suite("Rows found by a store", .anyStore)
struct StorePredicateTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  /// The names of the people that a predicate finds.
  private func names(_ format: String, _ arguments: [Any] = []) throws -> String {
    try stack.work { try names(format, arguments, $0) }
  }

  private func names(_ format: String, _ arguments: [Any], _ context: NSManagedObjectContext) throws -> String {
    let request = people()
    request.predicate = NSPredicate(format: format, argumentArray: arguments)
    return try context.names(request)
  }

  @Test("A store finds the rows that a predicate accepts, also through relationships.")
  func predicates() throws {
    for (format, expected) in [
      ("age > 7 AND NOT name BEGINSWITH 'B'", "Ada"), ("name LIKE[c] 'a*' OR age = 7", "Ada Cleo"),
      ("age BETWEEN {7, 25}", "Bob Cleo"), ("name IN {'Bob', 'Dan'}", "Bob"), ("nickname = nil", "Ada Bob Cleo"),
      ("nickname != nil", ""), ("home.street = 'Elm'", "Ada Bob"), ("home = nil", "Cleo"),
      ("ANY friends.name = 'Bob'", "Ada"), ("ANY errands.title IN {'milk', 'tea'}", "Ada"), ("pets.@count = 1", "Ada"),
      ("ANY home.residents.age = 25", "Ada Bob"), ("friends.@max.age = 36", "Bob"),
      ("SUBQUERY(errands, $e, $e.title CONTAINS 'm').@count > 0", "Ada"), ("TRUEPREDICATE", "Ada Bob Cleo"),
      ("FALSEPREDICATE OR age = 7", "Cleo"), ("age + 11 = 36", "Bob"), ("NONE friends.name = 'Bob'", "Bob Cleo"),
    ] {
      #expect(try names(format) == expected, "\(format)")
    }
  }

  @Test("A store finds rows by the objects and identifiers in a predicate.", arguments: [true, false])
  func objects(areIdentifiers: Bool) throws {
    try stack.work { context throws in
      let (ada, bob, cleo) = (try context.person("Ada"), try context.person("Bob"), try context.person("Cleo"))
      let home = try #require(ada["home"] as? NSManagedObject)
      func named(_ object: NSManagedObject) -> Any { areIdentifiers ? object.objectID : object }
      var cases: [(String, Any, String)] = [
        ("SELF = %@", named(ada), "Ada"), ("SELF != %@", named(ada), "Bob Cleo"),
        ("NOT SELF IN %@", [named(ada), named(cleo)], "Bob"), ("SELF IN %@", [named(ada), named(cleo)], "Ada Cleo"),
        ("home = %@", named(home), "Ada Bob"),
        ("home IN %@", NSSet(object: named(home)), "Ada Bob"), ("ANY friends = %@", named(bob), "Ada"),
        ("ANY friends IN %@", [named(ada), named(bob)], "Ada Bob"), ("%@ IN friends", named(bob), "Ada"),
        ("SUBQUERY(friends, $f, $f = %@).@count = 1", named(ada), "Bob"),
      ]
      // Random references are not in the order of insertion.
      if StoreKind.current != .uuids {
        cases += [
          ("SELF > %@", named(ada), "Bob Cleo"), ("NOT SELF <= %@", named(ada), "Bob Cleo"),
          ("NOT SELF >= %@", named(cleo), "Ada Bob"), ("SELF < %@ OR age = 7", named(bob), "Ada Cleo"),
        ]
      }
      for (format, argument, expected) in cases {
        #expect(try names(format, [argument], context) == expected, "\(format)")
      }
    }
  }

  @Test("A store does not find rows of another entity with the same reference.")
  func otherEntity() throws {
    try stack.work { context throws in
      let person = try context.person("Ada")
      let ada = person.objectID
      let entity = try #require((person["home"] as? NSManagedObject)?.entity)
      let text = ada.uriRepresentation().absoluteString
        .replacing("/\(ada.entity.name ?? "")/", with: "/\(entity.name ?? "")/")
      let coordinator = try #require(context.persistentStoreCoordinator)
      let url = try #require(URL(string: text))
      let home = try #require(coordinator.managedObjectID(forURIRepresentation: url))
      #expect(home.entity == entity)
      for (format, argument) in [("SELF = %@", home as Any), ("SELF IN %@", [home]), ("objectID = %@", home)] {
        #expect(try names(format, [argument], context) == "", "\(format)")
      }
      #expect(try names("SELF IN %@", [[home, ada]], context) == "Ada")
    }
  }

  @Test("A store finds the members of a relationship that is given as the set that follows it.")
  func followingSet() throws {
    try stack.work { context throws in
      let home = try #require(try context.person("Ada")["home"] as? NSManagedObject)
      let residents = home.mutableSetValue(forKey: "residents")
      #expect(try names("SELF IN %@", [residents], context) == "Ada Bob")
      #expect(try names("NOT SELF IN %@", [residents], context) == "Cleo")
    }
  }

  @Test("A store finds no rows for objects that are not saved.")
  func temporaryObject() throws {
    try stack.work { context throws in
      let dan = context.make("Person", ["name": "Dan"])
      let request = people()
      request.includesPendingChanges = false
      for (format, expected) in [("SELF != %@", 3), ("ANY friends = %@", 0), ("SELF > %@", 0)] {
        request.predicate = NSPredicate(format: format, dan)
        #expect(try context.count(for: request) == expected, "\(format)")
      }
    }
  }

  @Test("A store passes objects to the block of a block predicate.")
  func block() throws {
    try stack.work { context throws in
      let request = people()
      let isAda = NSPredicate { object, _ in (object as? NSManagedObject)?["name"] as? String == "Ada" }
      request.predicate = NSCompoundPredicate(type: .not, subpredicates: [isAda])
      #expect(try context.names(request) == "Bob Cleo")
    }
  }

  @Test("A store returns rows in the order of the sort descriptors, up to the limit.")
  func order() throws {
    try stack.work { context throws in
      let request = people()
      for (keys, limit, expected) in [
        (["home.street", "age"], 0, "Cleo Bob Ada"), (["friends.@count", "name"], 0, "Cleo Ada Bob"),
        (["age"], 2, "Cleo Bob"),
      ] {
        request.sortDescriptors = keys.map { NSSortDescriptor(key: $0, ascending: true) }
        request.fetchLimit = limit
        #expect(try context.names(request) == expected, "\(keys)")
      }
    }
  }

  @Test("A store returns the first of many rows, however many it examines.")
  func fewOfMany() throws {
    stack.backing.add("Pet", each: (0..<3_000).map { ["name": "\($0 * 7 % 3_000 + 10_000)"] })
    let request = people("name BEGINSWITH '1'", "Pet")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
    (request.fetchOffset, request.fetchLimit) = (2, 3)
    #expect(try stack.work { try $0.names(request) } == "12997 12996 12995")
    request.sortDescriptors = nil
    #expect(try stack.work { try $0.count(for: request) } == 3)
  }

  @Test("A store throws an error for a key that the entity does not have.")
  func unknownKey() {
    stack.work { context in
      let (predicate, order) = (people("shoeSize = 43"), people())
      order.sortDescriptors = [NSSortDescriptor(key: "home.colour", ascending: true)]
      for request in [predicate, order] {
        request.entity = stack.store.entity("Person")
        // Call the store directly: the context would refuse the request itself.
        #expect(thrown { try stack.store.execute(request, with: context) }?.domain == NSCocoaErrorDomain)
      }
    }
  }
}
