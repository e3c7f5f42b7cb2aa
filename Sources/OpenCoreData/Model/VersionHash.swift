import Foundation
import Hashing

/// How the version hashes of a model are computed: SHA-256 over what tells two versions of an entity apart, and nothing
/// else.
///
/// Stores keep them, so neither encoding ever changes. A text is its length in UTF-8 as eight bytes, big-endian, and that
/// UTF-8; a missing text is eight bytes of 0xFF; a flag is one byte; a number is eight bytes, big-endian, in two's
/// complement; a hash is its 32 bytes. One after the other:
///
/// - property: the text "property", name, modifier; the flags optional, transient.
/// - attribute: the text "attribute", the property's hash, the number of the type.
/// - composite: the text "composite", the attribute's hash, the hashes of the elements in the order of their names.
/// - relationship: the text "relationship with counts", the property's hash, the names of destination and inverse; the
///   numbers least and greatest count; the flag ordered. In ``former``: the text "relationship", the property's hash, the
///   names of destination and inverse; the flags to-many, ordered.
/// - entity: the text "entity", name, modifier; the flag abstract; the superentity's hash, or nothing; the hashes of the
///   attributes and relationships it declares in the order of their names.
/// - model: the text "model"; for every entity in the order of names, the name and the hash.
///
/// Fetched properties, indexes, constraints, delete rules, default values, classes, renaming identifiers, validation and
/// user info leave no trace.
enum VersionHash {
  /// As hashes are computed.
  case current
  /// As they were before counts had a part in them. Stores of that time are compared in this way.
  case former

  func property(_ property: NSPropertyDescription) -> Data {
    hash("property") { encoder in
      encoder.text(property.name)
      encoder.text(property.versionHashModifier)
      encoder.flag(property.isOptional)
      encoder.flag(property.isTransient)
    }
  }

  func attribute(_ attribute: NSAttributeDescription) -> Data {
    hash("attribute") { encoder in
      encoder.hash(property(attribute))
      encoder.number(UInt64(attribute.attributeType.rawValue))
    }
  }

  func composite(_ composite: NSCompositeAttributeDescription) -> Data {
    hash("composite") { encoder in
      encoder.hash(attribute(composite))
      encoder.hashes(composite.elements, hash)
    }
  }

  func relationship(_ relationship: NSRelationshipDescription) -> Data {
    hash(self == .current ? "relationship with counts" : "relationship") { encoder in
      encoder.hash(property(relationship))
      encoder.text(relationship.destinationEntity?.name)
      encoder.text(relationship.inverseRelationship?.name)
      switch self {
      case .current:
        encoder.number(UInt64(bitPattern: Int64(relationship.minCount)))
        encoder.number(UInt64(bitPattern: Int64(relationship.maxCount)))
      case .former: encoder.flag(relationship.isToMany)
      }
      encoder.flag(relationship.isOrdered)
    }
  }

  func entity(_ entity: NSEntityDescription) -> Data {
    hash("entity") { encoder in
      encoder.text(entity.name)
      encoder.text(entity.versionHashModifier)
      encoder.flag(entity.isAbstract)
      if let superentity = entity.superentity { encoder.hash(self.entity(superentity)) }
      encoder.hashes(entity.ownProperties, hash)
    }
  }

  func model(_ hashes: [String: Data]) -> Data {
    hash("model") { encoder in
      for (name, hash) in hashes.sorted(by: { $0.key < $1.key }) {
        encoder.text(name)
        encoder.hash(hash)
      }
    }
  }

  /// Nil for a property that leaves no trace.
  private func hash(_ property: NSPropertyDescription) -> Data? {
    switch property {
    case let composite as NSCompositeAttributeDescription: self.composite(composite)
    case let attribute as NSAttributeDescription: self.attribute(attribute)
    case let relationship as NSRelationshipDescription: self.relationship(relationship)
    default: nil
    }
  }

  private func hash(_ kind: String, _ encode: (inout Encoder) -> Void) -> Data {
    var encoder = Encoder()
    encoder.text(kind)
    encode(&encoder)
    return Data(encoder.function.finish())
  }

  private struct Encoder {
    var function = SHA256()

    mutating func text(_ text: String?) {
      number(text.map { UInt64($0.utf8.count) } ?? .max)
      function.update((text ?? "").utf8)
    }

    mutating func flag(_ flag: Bool) { function.update([flag ? 1 : 0]) }

    mutating func number(_ number: UInt64) { function.update(number.bigEndianBytes) }

    mutating func hash(_ hash: Data) { function.update(hash) }

    /// The hashes of the properties in the order of their names.
    mutating func hashes(_ properties: [NSPropertyDescription], _ hash: (NSPropertyDescription) -> Data?) {
      for property in properties.sorted(by: { $0.name < $1.name }) { hash(property).map { self.hash($0) } }
    }
  }
}
