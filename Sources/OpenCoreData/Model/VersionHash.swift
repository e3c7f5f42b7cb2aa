import Foundation
import Hashing

/// The version hashes of a model: SHA-256 over what of it leaves a trace in a store, and nothing else.
///
/// Stores keep them, so the encoding never changes. A text is its length in UTF-8 as eight bytes, big-endian, and that
/// UTF-8; a missing text is eight bytes of 0xFF; a flag is one byte; a number is eight bytes, big-endian; a hash is its
/// 32 bytes. One after the other:
///
/// - property: the text "property", name, modifier; the flags optional, transient.
/// - attribute: the text "attribute", the property's hash, the number of the type.
/// - composite: the text "composite", the attribute's hash, the hashes of the elements in the order of their names.
/// - relationship: the text "relationship", the property's hash, the names of destination and inverse; the flags
///   to-many, ordered.
/// - entity: the text "entity", name, modifier; the flag abstract; the superentity's hash, or nothing; the hashes of the
///   attributes and relationships it declares in the order of their names.
/// - model: the text "model"; for every entity in the order of names, the name and the hash.
///
/// Fetched properties, indexes, constraints, counts, delete rules, default values, classes, renaming identifiers,
/// validation and user info leave no trace.
enum VersionHash {
  static func property(_ property: NSPropertyDescription) -> Data {
    hash("property") { encoder in
      encoder.text(property.name)
      encoder.text(property.versionHashModifier)
      encoder.flag(property.isOptional)
      encoder.flag(property.isTransient)
    }
  }

  static func attribute(_ attribute: NSAttributeDescription) -> Data {
    hash("attribute") { encoder in
      encoder.hash(property(attribute))
      encoder.number(UInt64(attribute.attributeType.rawValue))
    }
  }

  static func composite(_ composite: NSCompositeAttributeDescription) -> Data {
    hash("composite") { encoder in
      encoder.hash(attribute(composite))
      for element in composite.elements.sorted(by: { $0.name < $1.name }) { encoder.hash(element.versionHash) }
    }
  }

  static func relationship(_ relationship: NSRelationshipDescription) -> Data {
    hash("relationship") { encoder in
      encoder.hash(property(relationship))
      encoder.text(relationship.destinationEntity?.name)
      encoder.text(relationship.inverseRelationship?.name)
      encoder.flag(relationship.isToMany)
      encoder.flag(relationship.isOrdered)
    }
  }

  static func entity(_ entity: NSEntityDescription) -> Data {
    hash("entity") { encoder in
      encoder.text(entity.name)
      encoder.text(entity.versionHashModifier)
      encoder.flag(entity.isAbstract)
      if let superentity = entity.superentity { encoder.hash(superentity.versionHash) }
      for property in entity.ownProperties.sorted(by: { $0.name < $1.name })
      where property is NSAttributeDescription || property is NSRelationshipDescription {
        encoder.hash(property.versionHash)
      }
    }
  }

  static func model(_ hashes: [String: Data]) -> Data {
    hash("model") { encoder in
      for (name, hash) in hashes.sorted(by: { $0.key < $1.key }) {
        encoder.text(name)
        encoder.hash(hash)
      }
    }
  }

  private static func hash(_ kind: String, _ encode: (inout Encoder) -> Void) -> Data {
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
  }
}
