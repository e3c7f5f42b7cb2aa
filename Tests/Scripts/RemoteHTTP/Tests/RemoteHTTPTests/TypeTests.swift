import CoreData
import Foundation
import Hummingbird
import RemoteHTTP
import RemoteIncrementalStore
import Testing

/// Animals, which are dogs, of which some are poodles, and cats.
private func animals(at url: URL, parameter: String? = "kind", _ change: (inout HTTPDescription) -> Void = { _ in })
  -> HTTPDescription
{
  var animal = HTTPEntity("Animal", path: "/animals", attributes: ["name": "name"])
  animal.types = HTTPTypes(
    "kind", ["dog": "Dog", "poodle": "Poodle", "cat": "Cat", "tomcat": "Cat"], parameter: parameter)
  (animal.hasNumericIdentifiers, animal.hasExhaustiveLists, animal.versionKey) = (true, true, "v")
  var dog = HTTPEntity("Dog", attributes: ["tricks": "tricks"])
  dog.types = HTTPTypes("kind", ["dog": "Dog", "poodle": "Poodle"])
  let poodle = HTTPEntity("Poodle", attributes: ["name": "full_name"])
  let owner = HTTPEntity("Owner", path: "/owners", relationships: ["pet": .toOne("Animal", key: "pet")])
  var description = HTTPDescription(baseURL: url, entities: [poodle, dog, animal, HTTPEntity("Cat"), owner])
  change(&description)
  return description
}

struct TypeTests {
  private let url = URL(string: "https://example.com")!

  @Test func aKeyTellsTheEntity() async throws {
    try await withBackend { _, _ in
      .json(
        """
        [{"id": 1, "kind": "dog", "name": "Rex", "tricks": 3, "v": 1}, {"id": 2, "kind": "poodle", "full_name": "Ada",
          "tricks": 9}, {"id": 3, "kind": "tomcat", "name": "Tom", "tricks": 1}, {"id": 4, "kind": "fox"}, {"id": 5}]
        """)
    } _: { backend async throws in
      let service = HTTPService(animals(at: backend.url))
      let page = try await service.page(of: RemoteQuery("Animal"), after: nil, ifNot: nil)
      #expect(
        page.records == [
          RemoteRecord(
            RemoteIdentifier("Dog", "1"), tag: "\"1\"", values: ["name": .string("Rex"), "tricks": .integer(3)]),
          RemoteRecord(RemoteIdentifier("Poodle", "2"), values: ["name": .string("Ada"), "tricks": .integer(9)]),
          RemoteRecord(RemoteIdentifier("Cat", "3"), values: ["name": .string("Tom")]),
          RemoteRecord(RemoteIdentifier("Animal", "4")), RemoteRecord(RemoteIdentifier("Animal", "5")),
        ])
      #expect(try await service.page(of: RemoteQuery("Dog"), after: nil, ifNot: nil).records[0] == page.records[0])
      await service.shutdown()
    }
  }

  @Test func aParameterSelectsAnEntity() throws {
    func query(_ fetch: RemoteFetch, parameter: String? = "kind") throws -> RemoteQuery {
      try #require(HTTPService(animals(at: url, parameter: parameter)).query(for: fetch))
    }
    var expected = RemoteQuery("Poodle", parameters: ["kind": "poodle"], served: .all, isExhaustive: true)
    #expect(try query(RemoteFetch("Poodle")) == expected)
    expected = RemoteQuery("Animal", served: .all, isExhaustive: true)
    #expect(try query(RemoteFetch("Animal")) == expected)
    // Poodles are dogs; cats have two types; and without a parameter there is only the list of all.
    expected = RemoteQuery("Animal", served: .order)
    expected.hasOthers = true
    #expect(try query(RemoteFetch("Dog")) == expected)
    #expect(try query(RemoteFetch("Cat")) == expected)
    #expect(try query(RemoteFetch("Poodle"), parameter: nil) == expected)
    #expect(try query(RemoteFetch("Animal", includesSubentities: false)) == expected)
  }

  @Test func anEntityMayHaveAPathOfItsOwn() async throws {
    let service = HTTPService(animals(at: url) { $0["Poodle"].path = "/poodles" })
    #expect(
      service.query(for: RemoteFetch("Poodle")) == RemoteQuery("Poodle", served: .all, isExhaustive: true))
  }

  @Test func aNewObjectIsSentWithItsType() async throws {
    try await withBackend { request, _ in
      .json(#"{"id": 7, "kind": "poodle", "full_name": "Ada"}"#, .created)
    } _: { backend async throws in
      let service = HTTPService(animals(at: backend.url))
      let insertion = RemoteChange(
        .insert, entityName: "Poodle", identifier: nil, key: UUID(), values: ["name": .string("Ada")])
      let record = RemoteRecord(RemoteIdentifier("Poodle", "7"), values: ["name": .string("Ada")])
      #expect(try await service.send([insertion]) == [.accepted(record)])
      let update = RemoteChange(
        .update, entityName: "Poodle", identifier: record.identifier, key: UUID(), values: ["tricks": .integer(1)])
      #expect(try await service.send([update]) == [.accepted(record)])
      #expect(backend.lines == ["POST /animals", "PATCH /animals/7"])
      #expect(backend.received.map(\.body) == [#"{"full_name":"Ada","kind":"poodle"}"#, #"{"tricks":1}"#])
      await service.shutdown()
    }
  }

  @Test(arguments: [nil, "ids"]) func anObjectIsFoundWhateverItsEntity(parameter: String?) async throws {
    try await withBackend { _, _ in
      let object = #"{"id": 7, "kind": "dog"}"#
      return .json(parameter == nil ? object : "[\(object)]")
    } _: { backend async throws in
      let service = HTTPService(animals(at: backend.url) { $0["Animal"].identifiersParameter = parameter })
      for name in ["Dog", "Animal"] {
        let records = try await service.records([RemoteReference(RemoteIdentifier(name, "7"))])
        #expect(records == RemoteRecords([RemoteRecord(RemoteIdentifier("Dog", "7"))]))
      }
      await service.shutdown()
    }
  }

  @Test func aReferenceTellsTheEntity() async throws {
    try await withBackend { request, _ in
      request.query.isEmpty
        ? .json(#"[{"id": "a", "pet": {"id": 7, "kind": "dog"}}, {"id": "b", "pet": null}]"#)
        : .json(#"[{"id": "a", "pet": 7}]"#)
    } _: { backend async throws in
      let service = HTTPService(animals(at: backend.url))
      let page = try await service.page(of: RemoteQuery("Owner"), after: nil, ifNot: nil)
      #expect(page.records.map(\.values) == [["pet": .object(RemoteIdentifier("Dog", "7"))], ["pet": .null]])
      #expect(page.included == [RemoteRecord(RemoteIdentifier("Dog", "7"))])
      #expect(
        try await failure {
          _ = try await service.page(of: RemoteQuery("Owner", parameters: ["x": ""]), after: nil, ifNot: nil)
        } == .invalidAnswer("Animal: an identifier alone does not tell which entity it is"))
      await service.shutdown()
    }
  }

  @Test func theUserInfoOfAModelDescribesTypes() {
    func entity(_ name: String, _ info: [String: String], _ subentities: [NSEntityDescription] = [])
      -> NSEntityDescription
    {
      let entity = NSEntityDescription()
      (entity.name, entity.userInfo, entity.subentities) = (name, info, subentities)
      return entity
    }
    let (poodle, cat) = (entity("Poodle", ["remoteType": "poodle"]), entity("Cat", ["remoteType": "cat"]))
    let dog = entity("Dog", ["remoteType": "dog"], [poodle])
    let animal = entity(
      "Animal",
      ["remotePath": "/animals", "remoteTypeKey": "kind", "remoteTypeParameter": "k", "remoteExhaustive": "YES"],
      [dog, cat])
    let model = NSManagedObjectModel()
    model.entities = [animal, dog, poodle, cat]
    let described = HTTPEntity.all(of: model)
    #expect(Set(described.map(\.name)) == ["Animal", "Dog", "Poodle", "Cat"])
    func types(_ name: String) -> HTTPTypes? { described.first { $0.name == name }?.types }
    #expect(
      types("Animal") == HTTPTypes("kind", ["dog": "Dog", "poodle": "Poodle", "cat": "Cat"], parameter: "k"))
    #expect(types("Dog") == HTTPTypes("kind", ["dog": "Dog", "poodle": "Poodle"], parameter: "k"))
    #expect(types("Poodle") == nil && types("Cat") == nil)
    #expect(described.first { $0.name == "Animal" }?.hasExhaustiveLists == true)
  }
}
