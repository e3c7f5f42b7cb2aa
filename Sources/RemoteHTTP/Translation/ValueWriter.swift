#if HTTP
  import Foundation
  import RemoteIncrementalStore

  /// Makes JSON, and parameters of URLs, of values and changes.
  struct ValueWriter {
    let entities: [String: HTTPEntity]
    let dates: HTTPDescription.Dates

    /// The body of a request that makes a change; nil if the change has nothing that is sent.
    ///
    /// - Parameter identifier: an identifier that the body has; nil if the path tells it or the backend chooses it.
    func body(_ change: RemoteChange, _ entity: HTTPEntity, identifier: String? = nil) throws -> JSONValue? {
      let isNew = change.kind == .insert
      var body = JSONValue.object([:])
      if let identifier { body.set(self.identifier(identifier, entity.name), at: entity.identifierKey) }
      if isNew, let finding = entity.finding { body.set(.string(Self.key(of: change)), at: finding.key) }
      if isNew, let family = entity.family, let type = family.type(of: entity.name) {
        body.set(.string(type), at: family.types.key)
      }
      for (name, value) in change.values.sorted(by: { $0.key < $1.key }) {
        if let attribute = entity.attributes[name] {
          if !attribute.isReadOnly { body.set(json(value), at: attribute.key) }
        } else if let key = entity.relationships[name]?.sentKey {
          body.set(json(value), at: key)
        }
      }
      try set(change.added, of: entity, in: &body) { isNew ? $0.sentKey : $0.addedKey }
      try set(change.removed, of: entity, in: &body) { $0.removedKey }
      return isNew || body != .object([:]) ? body : nil
    }

    /// The key of a change as a text.
    static func key(of change: RemoteChange) -> String { change.key.uuidString.lowercased() }

    private func set(
      _ members: [String: [RemoteIdentifier]], of entity: HTTPEntity, in body: inout JSONValue,
      at key: (HTTPRelationship) -> String?
    ) throws {
      for (name, identifiers) in members where !identifiers.isEmpty {
        guard let relationship = entity.relationships[name] else { continue }
        guard let key = key(relationship) else {
          throw RemoteFailure.refused("\(entity.name): nothing says how members of \(name) are sent")
        }
        body.set(.array(identifiers.map { identifier($0.value, $0.entityName) }), at: key)
      }
    }

    private func identifier(_ text: String, _ entityName: String) -> JSONValue {
      guard entities[entityName]?.hasNumericIdentifiers == true, let number = Int64(text) else { return .string(text) }
      return .integer(number)
    }

    private func json(_ value: RemoteValue) -> JSONValue {
      switch value {
      case .null: .null
      case .bool(let bool): .bool(bool)
      case .integer(let number): .integer(number)
      case .double(let number): .number(number, nil)
      case .decimal(let number): .number(0, number)
      case .date(let date) where dates == .seconds: .number(date.timeIntervalSince1970, nil)
      case .object(let other): identifier(other.value, other.entityName)
      case .string, .data, .date, .uuid, .url: .string(text(value) ?? "")
      }
    }

    /// A value as a text; nil for no value.
    func text(_ value: RemoteValue) -> String? {
      switch value {
      case .null: nil
      case .bool(let bool): bool ? "true" : "false"
      case .integer(let number): "\(number)"
      case .double(let number): "\(number)"
      case .decimal(let number): "\(number)"
      case .string(let text): text
      case .data(let bytes): bytes.base64EncodedString()
      case .date(let date): dates == .iso8601 ? DateText.text(date) : "\(date.timeIntervalSince1970)"
      case .uuid(let uuid): uuid.uuidString.lowercased()
      case .url(let url): url.absoluteString
      case .object(let other): other.value
      }
    }
  }

  extension JSONValue {
    /// The text of the value, with the members of objects sorted by name.
    func data() throws -> Data {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return try encoder.encode(self)
    }

    /// Puts a value where a key path leads: in place of everything if it is empty.
    mutating func set(_ value: JSONValue, at keyPath: String) {
      set(value, at: keyPath.split(separator: ".")[...])
    }
  }
#endif
