package import Cairn
package import RowFormat

/// The names of the objects and properties of a Core Data store, from the schema in the store.
package struct ObjectNames: Sendable {
  package let schema: Schema
  /// The store's UUID, with which the URIs of its objects begin.
  package let uuid: String
  let index: SchemaIndex
  private let properties: [UInt32: [Schema.Property]]
  /// What rows lack that were written before a migration, by the number of their entity.
  let completions: [UInt32: RowCompletion]

  package init(_ schema: Schema, uuid: String) {
    self.schema = schema
    self.uuid = uuid
    index = SchemaIndex(schema)
    properties = Dictionary(schema.entities.map { ($0.number, schema.properties(of: $0.number)) }) { first, _ in first }
    completions = schema.completions
  }

  /// - Throws: `notFound`, with the names that exist.
  package func entity(named name: String) throws(StoreError) -> Schema.Entity {
    if let entity = schema.entities.first(where: { $0.name == name }) { return entity }
    throw StoreError(
      .notFound,
      "there is no entity \(Key.string(name).literal); the entities are "
        + schema.entities.map { Key.string($0.name).literal }.sorted().joined(separator: ", "))
  }

  /// As `Person/p12`.
  package func name(of object: ObjectReference) -> String { "\(entityName(object.entity))/p\(object.reference)" }

  /// As `x-coredata://UUID/Person/p12`.
  package func uri(of object: ObjectReference) -> String {
    "\(Self.scheme)\(uuid)/\(Self.percentEncoded(entityName(object.entity)))/p\(object.reference)"
  }

  package func entityName(_ number: UInt32) -> String { index.entities[number]?.name ?? "\(number)" }

  /// The properties of an entity's objects, sorted by name; see `Schema.properties(of:)`.
  package func properties(of entity: UInt32) -> [Schema.Property] { properties[entity] ?? [] }

  /// The object that a URI or a name as above identifies, whether it exists or not.
  package func reference(_ text: String) throws(StoreError) -> ObjectReference {
    guard let parts = Self.parts(of: text), let number = Int64(parts.reference) else {
      throw StoreError(
        .invalidArgument, "\(text) does not name an object; use x-coredata://UUID/Person/p12 or Person/p12")
    }
    if let store = parts.store, store != uuid {
      throw StoreError(.notFound, "\(text) is an object of another store; the UUID of this store is \(uuid)")
    }
    let entity = schema.entities.first { Self.percentEncoded($0.name) == parts.entity }?.name ?? parts.entity
    return ObjectReference(entity: try self.entity(named: entity).number, reference: .integer(number))
  }

  private static let scheme = "x-coredata://"

  private static func parts(of text: String) -> (store: String?, entity: String, reference: String)? {
    var parts = text.hasPrefix(scheme) ? text.dropFirst(scheme.count).split(separator: "/") : text.split(separator: "/")
    let store = text.hasPrefix(scheme) && !parts.isEmpty ? String(parts.removeFirst()) : nil
    guard parts.count == 2, parts[1].hasPrefix("p"), parts[1].count > 1, store != nil || !text.hasPrefix(scheme) else {
      return nil
    }
    return (store, String(parts[0]), String(parts[1].dropFirst()))
  }

  private static func percentEncoded(_ text: String) -> String {
    var encoded = ""
    for unit in text.utf8 {
      switch unit {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        encoded.unicodeScalars.append(Unicode.Scalar(unit))
      default: encoded += "%" + (unit < 16 ? "0" : "") + String(unit, radix: 16, uppercase: true)
      }
    }
    return encoded
  }
}
