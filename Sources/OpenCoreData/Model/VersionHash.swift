import Foundation
import Hashing

/// Computes the version hashes of a model: SHA-256 of what distinguishes two versions of an entity, nothing else.
///
/// Stores keep the hashes, so neither encoding may ever change. A text is encoded as the number of its UTF-8 bytes in
/// eight bytes, big-endian, followed by those bytes; a missing text as eight bytes of 0xFF; a flag as one byte; a
/// number as eight bytes, big-endian, in two's complement; a hash as its 32 bytes. Each hash is that of these parts, in
/// this order:
///
/// - property: the text "property", name, modifier; the flags optional, transient.
/// - attribute: the text "attribute", the property's hash, the number of the type.
/// - composite: the text "composite", the attribute's hash, the hashes of the elements in the order of their names.
/// - relationship: the text "relationship with counts", the property's hash, the names of destination and inverse; the
///   numbers least and greatest count; the flag ordered. In ``former``: the text "relationship", the property's hash,
///   the names of destination and inverse; the flags to-many, ordered.
/// - entity: the text "entity", name, modifier; the flag abstract; the superentity's hash, or nothing; the hashes of
///   the attributes and relationships it declares in the order of their names.
/// - model: the text "model"; for every entity in the order of names, the name and the hash.
///
/// Fetched properties, indexes, constraints, delete rules, default values, classes, renaming identifiers, validation
/// and user info do not affect the hashes.
enum VersionHash {
  /// The hashes as they are computed now.
  case current
  /// The hashes as they were computed before they included the counts of relationships, for comparison with stores of
  /// that time.
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

  /// The hash of a property; nil for a property that does not affect the version hash of its entity.
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

    /// Appends the hashes of the properties, in the order of their names.
    mutating func hashes(_ properties: [NSPropertyDescription], _ hash: (NSPropertyDescription) -> Data?) {
      for property in properties.sorted(by: { $0.name < $1.name }) { hash(property).map { self.hash($0) } }
    }
  }
}
