/// A method of `NSManagedObject`, of which each class can tell whether it overrides it.
///
/// Swift has no function for this, so the entries for the method in the tables of methods are compared, which are part
/// of the metadata of classes; see `docs/ABI/TypeMetadata.rst` in the sources of Swift. The entry is the one in which a
/// class that overrides the method differs from one that overrides none. Should there be no such entry, every class
/// counts as one that overrides the method.
@safe struct OverriddenMethod: @unchecked Sendable {
  static let value = OverriddenMethod(OverridingValue.self)
  static let setValue = OverriddenMethod(OverridingSetValue.self)
  static let validateValue = OverriddenMethod(OverridingValidateValue.self)

  /// The number of the entry, counted in words from the beginning of the metadata; nil if it was not found.
  private let entry: Int?
  /// The entry of `NSManagedObject`.
  private let original: UInt

  private init(_ overriding: NSManagedObject.Type) {
    let (base, plain) = (ClassMetadata(NSManagedObject.self), ClassMetadata(OverridingNothing.self))
    let other = ClassMetadata(overriding)
    let entries = (0..<base.wordCount).filter { base[$0] == plain[$0] && base[$0] != other[$0] }
    entry = entries.count == 1 ? entries[0] : nil
    original = entry.map { base[$0] } ?? 0
  }

  func isOverridden(in type: NSManagedObject.Type) -> Bool {
    guard let entry else { return true }
    return ClassMetadata(type)[entry] != original
  }
}

private class OverridingNothing: NSManagedObject {}

private final class OverridingValue: OverridingNothing {
  override func value(forKey key: String) -> Any? { super.value(forKey: key) }
}

private final class OverridingSetValue: OverridingNothing {
  override func setValue(_ value: Any?, forKey key: String) { super.setValue(value, forKey: key) }
}

private final class OverridingValidateValue: OverridingNothing {
  override func validateValue(_ value: inout Any?, forKey key: String) throws {
    try super.validateValue(&value, forKey: key)
  }
}

/// The metadata of a class, as words.
@safe private struct ClassMetadata {
  private let words: UnsafePointer<UInt>

  init(_ type: NSManagedObject.Type) { unsafe words = unsafeBitCast(type, to: UnsafePointer<UInt>.self) }

  /// The number of words that `NSManagedObject` has, and therefore every class that inherits from it.
  var wordCount: Int {
    // With Objective-C, three words for its runtime come after the superclass. Then come four fields of 32 bits, one of
    // these in two halves, the size of the metadata and the bytes of it before the beginning.
    #if canImport(ObjectiveC)
      let sizes = 7
    #else
      let sizes = 4
    #endif
    let size = unsafe words[sizes]
    return (Int(size & 0xffff_ffff) - Int(size >> 32)) / MemoryLayout<UInt>.size
  }

  subscript(place: Int) -> UInt { unsafe words[place] }
}
