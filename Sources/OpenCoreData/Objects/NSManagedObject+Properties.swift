public import Foundation

/// What the properties of generated classes call: ``value(forKey:)`` and ``setValue(_:forKey:)`` without conversion to
/// `Any` and `NSNumber`. They call these methods if the class of the object overrides them, and otherwise
/// ``willAccessValue(forKey:)``, ``didChangeValue(forKey:)`` and the like, as these methods do.
extension NSManagedObject {
  // MARK: Reading

  /// The value of an attribute, as ``value(forKey:)`` returns it; nil if it has none.
  public final func attributeValue(forKey key: String) -> String? {
    attributeValue(key) { if case .string(let value) = $0 { value } else { nil } }
  }

  /// The value of an attribute, as ``value(forKey:)`` returns it; nil if it has none.
  public final func attributeValue(forKey key: String) -> Date? {
    attributeValue(key) { if case .date(let value) = $0 { value } else { nil } }
  }

  /// The value of an attribute, as ``value(forKey:)`` returns it; nil if it has none.
  public final func attributeValue(forKey key: String) -> Data? {
    attributeValue(key) { if case .data(let value) = $0 { value } else { nil } }
  }

  /// The value of an attribute, as ``value(forKey:)`` returns it; nil if it has none.
  public final func attributeValue(forKey key: String) -> UUID? {
    attributeValue(key) { if case .uuid(let value) = $0 { value } else { nil } }
  }

  /// The `boolValue` of an attribute's number; nil if it has none.
  public final func attributeValue(forKey key: String) -> Bool? { integer(key, \.boolValue) { $0 != 0 } }

  /// The `int16Value` of an attribute's number, which is cut off if it does not fit; nil if it has none.
  public final func attributeValue(forKey key: String) -> Int16? {
    integer(key, \.int16Value, Int16.init(truncatingIfNeeded:))
  }

  /// The `int32Value` of an attribute's number, which is cut off if it does not fit; nil if it has none.
  public final func attributeValue(forKey key: String) -> Int32? {
    integer(key, \.int32Value, Int32.init(truncatingIfNeeded:))
  }

  /// The `int64Value` of an attribute's number; nil if it has none.
  public final func attributeValue(forKey key: String) -> Int64? { integer(key, \.int64Value) { $0 } }

  /// The `doubleValue` of an attribute's number; nil if it has none.
  public final func attributeValue(forKey key: String) -> Double? { double(key, \.doubleValue) { $0 } }

  /// The `floatValue` of an attribute's number; nil if it has none.
  public final func attributeValue(forKey key: String) -> Float? { double(key, \.floatValue, Float.init) }

  /// The object at the other end of a to-one relationship, as ``value(forKey:)`` returns it.
  public final func relatedObject(forKey key: String) -> NSManagedObject? {
    guard let place = placeToRead(key), case .toOne = layout.slots[place].kind else {
      return value(forKey: key) as! NSManagedObject?
    }
    willAccessValue(forKey: key)
    let object = hasValues ? toOne(at: place) : nil
    didAccessValue(forKey: key)
    return object
  }

  /// The number of members of a to-many relationship. Makes no objects of members that have not been read. Nil if the
  /// key is of another property, or if ``value(forKey:)`` must be called.
  final func memberCount(forKey key: String) -> Int? {
    guard let place = placeToRead(key), case .toMany(let relationship) = layout.slots[place].kind else { return nil }
    willAccessValue(forKey: key)
    defer { didAccessValue(forKey: key) }
    return memberCount(of: relationship, at: place)
  }

  // MARK: Changing

  /// Sets the value of an attribute, as ``setValue(_:forKey:)`` does.
  public final func setAttributeValue(_ value: String?, forKey key: String) {
    set(value, value.map { .string($0) }, key) { $0 == .stringAttributeType }
  }

  /// Sets the value of an attribute, as ``setValue(_:forKey:)`` does.
  public final func setAttributeValue(_ value: Date?, forKey key: String) {
    set(value, value.map { .date($0) }, key) { $0 == .dateAttributeType }
  }

  /// Sets the value of an attribute, as ``setValue(_:forKey:)`` does.
  public final func setAttributeValue(_ value: Data?, forKey key: String) {
    set(value, value.map { .data($0) }, key) { $0 == .binaryDataAttributeType }
  }

  /// Sets the value of an attribute, as ``setValue(_:forKey:)`` does.
  public final func setAttributeValue(_ value: UUID?, forKey key: String) {
    set(value, value.map { .uuid($0) }, key) { $0 == .UUIDAttributeType }
  }

  /// Sets the value of an attribute, as ``setValue(_:forKey:)`` does.
  public final func setAttributeValue(_ value: Bool, forKey key: String) {
    set(value, .integer(value ? 1 : 0), key) { $0 == .booleanAttributeType }
  }

  /// Sets the value of an attribute, as ``setValue(_:forKey:)`` does.
  public final func setAttributeValue(_ value: Int16, forKey key: String) {
    setAttributeValue(Int64(value), forKey: key)
  }

  /// Sets the value of an attribute, as ``setValue(_:forKey:)`` does.
  public final func setAttributeValue(_ value: Int32, forKey key: String) {
    setAttributeValue(Int64(value), forKey: key)
  }

  /// Sets the value of an attribute, as ``setValue(_:forKey:)`` does.
  public final func setAttributeValue(_ value: Int64, forKey key: String) {
    set(value, .integer(value), key) {
      $0 == .integer64AttributeType || $0 == .integer32AttributeType || $0 == .integer16AttributeType
    }
  }

  /// Sets the value of an attribute, as ``setValue(_:forKey:)`` does.
  public final func setAttributeValue(_ value: Double, forKey key: String) {
    set(value, .double(value), key) { $0 == .doubleAttributeType }
  }

  /// Sets the value of an attribute, as ``setValue(_:forKey:)`` does.
  public final func setAttributeValue(_ value: Float, forKey key: String) {
    set(value, .double(Double(value)), key) { $0 == .floatAttributeType || $0 == .doubleAttributeType }
  }

  /// Sets the object at the other end of a to-one relationship, as ``setValue(_:forKey:)`` does.
  public final func setRelatedObject(_ object: NSManagedObject?, forKey key: String) {
    guard let place = placeToChange(key), case .toOne(let relationship) = layout.slots[place].kind else {
      return setValue(object, forKey: key)
    }
    willChangeValue(forKey: key)
    fireFaultToChange(key)
    if let object { check(object, relationship) }
    setToOne(object, relationship, at: place)
    didChangeValue(forKey: key)
  }

  // MARK: For all types

  /// The place of a property's slot; nil if ``value(forKey:)`` must be called.
  private final func placeToRead(_ key: String) -> Int? {
    guard !OverriddenMethod.value.isOverridden(in: type(of: self)), let place = layout.place(of: key) else {
      return nil
    }
    checkQueue()
    return place
  }

  /// The place of a property's slot; nil if ``setValue(_:forKey:)`` must be called.
  private final func placeToChange(_ key: String) -> Int? {
    guard !OverriddenMethod.setValue.isOverridden(in: type(of: self)), let place = layout.place(of: key) else {
      return nil
    }
    checkQueue()
    return place
  }

  /// - Parameter value: Returns the value that is kept; nil if it is of another kind.
  @inline(__always)
  private final func attributeValue<Value>(
    _ key: String, _ converted: (Any) -> Value = { $0 as! Value }, _ value: (ManagedValue) -> Value?
  ) -> Value? {
    guard let place = placeToRead(key) else { return self.value(forKey: key).map(converted) }
    willAccessValue(forKey: key)
    defer { didAccessValue(forKey: key) }
    guard hasValues else { return nil }
    let kept = self.value(inSlot: place)
    return kept.isNull ? nil : value(kept) ?? self.value(at: place).map(converted)
  }

  @inline(__always)
  private final func integer<Value>(
    _ key: String, _ converted: (NSNumber) -> Value, _ value: (Int64) -> Value
  ) -> Value? {
    attributeValue(key, { converted($0 as! NSNumber) }) {
      if case .integer(let number) = $0 { value(number) } else { nil }
    }
  }

  @inline(__always)
  private final func double<Value>(
    _ key: String, _ converted: (NSNumber) -> Value, _ value: (Double) -> Value
  ) -> Value? {
    attributeValue(key, { converted($0 as! NSNumber) }) {
      if case .double(let number) = $0 { value(number) } else { nil }
    }
  }

  /// - Parameters:
  ///   - value: The value for ``setValue(_:forKey:)``.
  ///   - kept: The value as objects keep it; nil for no value.
  ///   - fits: Whether attributes of a type keep such values.
  @inline(__always)
  private final func set(
    _ value: @autoclosure () -> Any?, _ kept: ManagedValue?, _ key: String, _ fits: (NSAttributeType) -> Bool
  ) {
    guard let place = placeToChange(key), let attribute = layout.slots[place].attribute, fits(attribute.attributeType)
    else { return setValue(value(), forKey: key) }
    willChangeValue(forKey: key)
    fireFaultToChange(key)
    change(at: place, to: kept ?? .null)
    didChangeValue(forKey: key)
  }
}
