import CoreData

/// Encodes values of attributes as fields of a row, and decodes them.
final class ValueCoder {
  /// Resolves URIs to object identifiers.
  private weak let coordinator: NSPersistentStoreCoordinator?

  init(coordinator: NSPersistentStoreCoordinator?) { self.coordinator = coordinator }

  // MARK: Writing

  /// Appends the field of an attribute to `row`.
  ///
  /// - Throws: 134030 for a value that cannot be stored.
  func write(_ value: ManagedValue, of attribute: NSAttributeDescription, _ number: UInt32, _ row: inout FieldWriter)
    throws
  {
    guard let encoded = try encoded(value, of: attribute) else { return row.begin(number, .null) }
    row.begin(number, encoded.type)
    row.withOutput { encoded.write(to: &$0) }
  }

  /// A value, and the type of its field.
  private enum Encoded {
    case boolean(Bool)
    case integer(Int64)
    case double(Double)
    case float(Float)
    case date(Date)
    case text(FieldType, String)
    case data(Data)
    case uuid(UUID)
    case transformed(Data)
    case composite([UInt8])

    var type: FieldType {
      switch self {
      case .boolean(let value): value ? .truth : .falsity
      case .integer: .integer
      case .double: .double
      case .float: .float
      case .date: .date
      case .text(let type, _): type
      case .data: .data
      case .uuid: .uuid
      case .transformed: .transformed
      case .composite: .composite
      }
    }

    func write(to output: inout ByteOutput) {
      switch self {
      case .boolean: break
      case .integer(let value): output.integer(value)
      case .double(let value): output.fixed(value.bitPattern)
      case .float(let value): output.fixed(value.bitPattern)
      case .date(let value): output.fixed(value.timeIntervalSinceReferenceDate.bitPattern)
      case .text(_, let value): output.text(value)
      case .data(let value): output.counted(value)
      case .uuid(let value): output.append(value.bytes)
      case .transformed(let value): output.transformed(value)
      case .composite(let bytes): output.counted(bytes)
      }
    }
  }

  private func encoded(_ value: ManagedValue, of attribute: NSAttributeDescription) throws -> Encoded? {
    switch value {
    case .integer(let value):
      return attribute.attributeType == .booleanAttributeType ? .boolean(value != 0) : .integer(value)
    case .double(let value):
      return attribute.attributeType == .floatAttributeType ? .float(Float(value)) : .double(value)
    case .string(let value): return .text(.string, value)
    case .date(let value): return .date(value)
    case .data(let value): return .data(value)
    case .uuid(let value): return .uuid(value)
    case .other(let value): return try encoded(other: value, of: attribute)
    default: return nil
    }
  }

  private func encoded(other value: Any, of attribute: NSAttributeDescription) throws -> Encoded? {
    switch attribute.attributeType {
    case .decimalAttributeType:
      guard let number = value as? NSDecimalNumber else { break }
      return .text(.decimal, number.decimalValue.isNaN ? "NaN" : number.decimalValue.description)
    case .URIAttributeType:
      guard let url = value as? URL else { break }
      return .text(.uri, url.absoluteString)
    case .objectIDAttributeType:
      guard let id = value as? NSManagedObjectID, !id.isTemporaryID else { break }
      return .text(.identifier, id.uriRepresentation().absoluteString)
    case .transformableAttributeType:
      guard let data = attribute.data(of: value) else { break }
      return .transformed(data)
    case .compositeAttributeType:
      guard let composite = attribute as? NSCompositeAttributeDescription, let values = value as? [String: Any] else {
        break
      }
      return .composite(try bytes(of: values, composite))
    default: break
    }
    throw StoreFailure.make(
      NSPersistentStoreSaveError,
      "The value of \(attribute.name) cannot be stored: it is a \(type(of: value)), the attribute's type is \(attribute.attributeType).",
      [NSValidationKeyErrorKey: attribute.name, NSValidationValueErrorKey: value])
  }

  private func bytes(of values: [String: Any], _ composite: NSCompositeAttributeDescription) throws -> [UInt8] {
    var elements: [(name: String, value: Encoded)] = []
    for element in composite.elements {
      guard let value = values[element.name],
        let encoded = try encoded(ManagedValue(value, of: element), of: element)
      else { continue }
      elements.append((element.name, encoded))
    }
    var output = ByteOutput()
    output.varint(elements.count)
    for element in elements {
      output.text(element.name)
      output.byte(element.value.type.rawValue)
      element.value.write(to: &output)
    }
    return output.bytes
  }

  // MARK: Reading

  /// The value of an attribute, whose type the caller knows.
  ///
  /// - Throws: `RowDamage` for bytes that are not a value of the attribute.
  func value(
    _ field: Field, of attribute: NSAttributeDescription, _ type: NSAttributeType, in bytes: [UInt8]
  ) throws -> ManagedValue {
    switch (field.type, type) {
    case (.null, _): return .null
    case (.falsity, .booleanAttributeType): return .integer(0)
    case (.truth, .booleanAttributeType): return .integer(1)
    case (.integer, .integer16AttributeType), (.integer, .integer32AttributeType), (.integer, .integer64AttributeType):
      return .integer(try field.integer(in: bytes))
    case (.double, .doubleAttributeType): return .double(try field.double(in: bytes))
    case (.float, .floatAttributeType): return .double(Double(try field.float(in: bytes)))
    case (.string, .stringAttributeType): return .string(try field.text(in: bytes))
    case (.date, .dateAttributeType):
      return .date(Date(timeIntervalSinceReferenceDate: try field.double(in: bytes)))
    case (.data, .binaryDataAttributeType): return .data(Data(bytes[field.range]))
    case (.uuid, .UUIDAttributeType): return .uuid(UUID(bytes: bytes[field.range]))
    case (.decimal, .decimalAttributeType): return .other(NSDecimalNumber(decimal: try decimal(field, bytes)))
    case (.uri, .URIAttributeType):
      guard let url = URL(string: try field.text(in: bytes)) else {
        throw RowDamage("a URI is invalid", at: field.range.lowerBound)
      }
      return .other(url)
    case (.identifier, .objectIDAttributeType): return try identifier(field, bytes)
    case (.transformed, .transformableAttributeType):
      guard let value = attribute.value(of: Data(try field.transformed(in: bytes))) else {
        throw RowDamage(
          "the transformer of \(attribute.name) does not accept the stored bytes", at: field.range.lowerBound)
      }
      return .other(value)
    case (.composite, .compositeAttributeType): return .other(try composite(field, attribute, bytes))
    default:
      throw RowDamage("\(attribute.name) has a field of type \(field.type)", at: field.range.lowerBound)
    }
  }

  private func decimal(_ field: Field, _ bytes: [UInt8]) throws -> Decimal {
    let text = try field.text(in: bytes)
    if text == "NaN" { return .nan }
    guard let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) else {
      throw RowDamage("a decimal number is invalid", at: field.range.lowerBound)
    }
    return value
  }

  /// An object identifier as a value; null for one of a store that is not open.
  private func identifier(_ field: Field, _ bytes: [UInt8]) throws -> ManagedValue {
    guard let url = URL(string: try field.text(in: bytes)) else {
      throw RowDamage("a URI is invalid", at: field.range.lowerBound)
    }
    return coordinator?.managedObjectID(forURIRepresentation: url).map { .other($0) } ?? .null
  }

  private func composite(_ field: Field, _ attribute: NSAttributeDescription, _ bytes: [UInt8]) throws -> [String: Any]
  {
    let elements = (attribute as? NSCompositeAttributeDescription)?.elements ?? []
    var input = ByteInput(bytes, field.range)
    var values: [String: Any] = [:]
    for _ in 0..<(try input.count()) {
      let name = try input.text()
      let part = try input.field(try input.type())
      guard let element = elements.first(where: { $0.name == name }) else { continue }
      values[name] = try value(part, of: element, element.attributeType, in: bytes).anyValue(of: element.attributeType)
    }
    try input.requireEnd()
    return values
  }
}

extension NSAttributeDescription {
  /// The value as its transformer stores it; nil if the transformer does not accept the value. Transformers that
  /// unarchive are used in the reverse direction, as on Apple's platforms.
  fileprivate func data(of value: Any) -> Data? {
    guard let transformer else { return nil }
    return
      (transformer is NSSecureUnarchiveFromDataTransformer
      ? transformer.reverseTransformedValue(value) : transformer.transformedValue(value)) as? Data
  }

  fileprivate func value(of data: Data) -> Any? {
    guard let transformer else { return nil }
    return transformer is NSSecureUnarchiveFromDataTransformer
      ? transformer.transformedValue(data) : transformer.reverseTransformedValue(data)
  }

  private var transformer: ValueTransformer? {
    guard let name = valueTransformerName, !name.isEmpty else {
      return ValueTransformer(forName: .secureUnarchiveFromDataTransformerName)
    }
    return ValueTransformer(forName: NSValueTransformerName(name))
  }
}

extension UUID {
  var bytes: [UInt8] { unsafe Swift.withUnsafeBytes(of: uuid) { unsafe Array($0) } }

  fileprivate init(bytes: ArraySlice<UInt8>) {
    var uuid: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    unsafe Swift.withUnsafeMutableBytes(of: &uuid) { unsafe $0.copyBytes(from: bytes) }
    self.init(uuid: uuid)
  }
}
