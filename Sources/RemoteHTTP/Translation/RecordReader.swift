#if HTTP
  import Foundation
  import RemoteIncrementalStore

  /// Makes records of JSON.
  struct RecordReader {
    let entities: [String: HTTPEntity]
    /// Objects that were found within others.
    private(set) var included: [RemoteRecord] = []

    init(_ entities: [String: HTTPEntity]) { self.entities = entities }

    /// The record of an object.
    ///
    /// - Parameter tag: the version that the answer as a whole tells; that of the object itself is preferred.
    mutating func record(_ json: JSONValue, _ listed: HTTPEntity, tag: String? = nil) throws -> RemoteRecord {
      let entity = entity(of: json, among: listed)
      var record = RemoteRecord(try identifier(json[entity.identifierKey], entity.name), tag: tag)
      if let version = entity.versionKey.flatMap({ json[$0]?.text }) { record.tag = Self.tag(version) }
      for (name, attribute) in entity.attributes {
        guard let value = json[attribute.key] else { continue }
        guard let value = Self.value(value, attribute.kind) else {
          throw RemoteFailure.invalidAnswer("\(record.identifier): \(name) has no valid value at \(attribute.key)")
        }
        record.values[name] = value
      }
      for (name, relationship) in entity.relationships {
        guard let value = relationship.key.flatMap({ json[$0] }) else { continue }
        if relationship.isToMany {
          guard case .array(let elements) = value else {
            throw RemoteFailure.invalidAnswer("\(record.identifier): \(name) is no array")
          }
          record.members[name] = .all(try elements.map { try object($0, relationship.entityName) })
        } else {
          record.values[name] = value == .null ? .null : .object(try object(value, relationship.entityName))
        }
      }
      return record
    }

    /// The entity of an object of a collection.
    private func entity(of json: JSONValue, among listed: HTTPEntity) -> HTTPEntity {
      guard let types = listed.family?.types, let type = json[types.key]?.text, let name = types.entityNames[type]
      else {
        return listed
      }
      return entities[name] ?? listed
    }

    /// The records of an array.
    mutating func records(_ json: JSONValue?, _ entity: HTTPEntity) throws -> [RemoteRecord] {
      guard case .array(let elements)? = json else {
        throw RemoteFailure.invalidAnswer("there is no array of \(entity.name)")
      }
      return try elements.map { try record($0, entity) }
    }

    /// An identifier, which must be there.
    func identifier(_ json: JSONValue?, _ entityName: String) throws -> RemoteIdentifier {
      guard let text = json?.text, !text.isEmpty else {
        throw RemoteFailure.invalidAnswer("\(entityName): an object has no identifier")
      }
      return RemoteIdentifier(entityName, text)
    }

    /// The other end of a relationship: an identifier, or an object, which is included.
    private mutating func object(_ json: JSONValue, _ entityName: String) throws -> RemoteIdentifier {
      guard case .object = json, let entity = entities[entityName] else {
        guard entities[entityName]?.types == nil else {
          throw RemoteFailure.invalidAnswer("\(entityName): an identifier alone does not tell which entity it is")
        }
        return try identifier(json, entityName)
      }
      let other = try record(json, entity)
      included.append(other)
      return other.identifier
    }

    /// The entity tag of a version.
    private static func tag(_ version: String) -> String {
      version.hasPrefix("\"") || version.hasPrefix("W/\"") ? version : "\"\(version)\""
    }

    private static func value(_ json: JSONValue, _ kind: HTTPAttribute.Kind) -> RemoteValue? {
      switch (json, kind) {
      case (.null, _): .null
      case (.string(let text), .date): DateText.date(text).map { .date($0) }
      case (.integer(let number), .date): .date(Date(timeIntervalSince1970: Double(number)))
      case (.number(let number, _), .date): .date(Date(timeIntervalSince1970: number))
      case (.string(let text), .data): Data(base64Encoded: text).map { .data($0) }
      case (_, .date), (_, .data): nil
      case (.string(let text), .decimal): Decimal(string: text).map { .decimal($0) }
      case (.integer(let number), .decimal): .decimal(Decimal(number))
      case (.number(_, let digits?), .decimal): .decimal(digits)
      case (.bool(let bool), _): .bool(bool)
      case (.integer(let number), _): .integer(number)
      case (.number(let number, _), _): .double(number)
      case (.string(let text), _): .string(text)
      case (.array, _), (.object, _): nil
      }
    }
  }

  /// Dates as texts.
  enum DateText {
    /// Reads fractions of seconds if there are any, and writes milliseconds.
    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// The date that a text means; nil if it means none.
    static func date(_ text: String) -> Date? { try? Date(text, strategy: style) }

    /// A date, to the nearest millisecond, with milliseconds only if there are any.
    static func text(_ date: Date) -> String {
      let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
      // A style leaves out what is below a millisecond, and few milliseconds are a whole number of bits.
      let date = Date(timeIntervalSince1970: (milliseconds + 0.25) / 1000)
      return milliseconds.truncatingRemainder(dividingBy: 1000) == 0
        ? date.formatted(.iso8601) : date.formatted(style)
    }
  }
#endif
