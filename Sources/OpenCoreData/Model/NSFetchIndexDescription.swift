public import Foundation

/// An index of an entity, which makes fetches by the values of some of its properties fast.
open class NSFetchIndexDescription: NSObject, NSCopying, Freezable {
  /// The name, unique among the indexes of the entity.
  open var name: String { willSet { willChange() } }

  /// The indexed properties. The index sorts by the first, then by the second, and so on.
  open var elements: [NSFetchIndexElementDescription] {
    willSet { willChange() }
    didSet { adoptElements() }
  }

  /// The predicate that objects in the index satisfy; nil if all objects are in the index.
  open var partialIndexPredicate: NSPredicate? {
    willSet { willChange() }
    didSet { partialIndexPredicate = partialIndexPredicate?.adopted }
  }

  /// The entity that declares the index; nil if there is none.
  open internal(set) weak var entity: NSEntityDescription?

  private(set) var isFrozen = false

  /// An index of `elements`.
  public init(name: String, elements: [NSFetchIndexElementDescription]?) {
    self.name = name
    self.elements = elements ?? []
    super.init()
    adoptElements()
  }

  private func adoptElements() {
    for element in elements { element.indexDescription = self }
  }

  func freeze() {
    isFrozen = true
    for element in elements { element.freeze() }
  }

  /// A copy that belongs to no entity. Its elements refer to the same properties.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSFetchIndexDescription(name: name, elements: elements.map { copied($0) })
    copy.partialIndexPredicate = partialIndexPredicate
    return copy
  }

  open override var hash: Int { name.hashValue }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSFetchIndexDescription else { return false }
    return self === other
      || name == other.name && elements == other.elements
        && areEqual(partialIndexPredicate, other.partialIndexPredicate)
  }
}

/// How an element of an index orders its values.
public enum NSFetchIndexElementType: UInt, Sendable {
  /// By comparison.
  case binary
  /// By location, for rectangles and points.
  case rTree
}

/// A property in an index.
open class NSFetchIndexElementDescription: NSObject, NSCopying, Freezable {
  let indexed: NSPropertyDescription

  /// How values are ordered.
  open var collationType: NSFetchIndexElementType { willSet { willChange() } }

  /// Whether the smallest value comes first; true unless set.
  open var isAscending = true { willSet { willChange() } }

  /// The index the element belongs to.
  open internal(set) weak var indexDescription: NSFetchIndexDescription?

  private(set) var isFrozen = false

  /// An ascending element.
  public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
    indexed = property
    self.collationType = collationType
  }

  /// The indexed attribute, relationship or expression.
  open var property: NSPropertyDescription? { indexed }

  /// The name of the property.
  open var propertyName: String? { indexed.name }

  func freeze() {
    isFrozen = true
    indexed.freeze()
  }

  /// An element for the same property that belongs to no index.
  open func copy(with zone: NSZone? = nil) -> Any { copy(for: indexed) }

  func copy(for property: NSPropertyDescription) -> NSFetchIndexElementDescription {
    let copy = NSFetchIndexElementDescription(property: property, collationType: collationType)
    copy.isAscending = isAscending
    return copy
  }

  open override var hash: Int { indexed.hash }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSFetchIndexElementDescription else { return false }
    return self === other
      || indexed == other.indexed && collationType == other.collationType && isAscending == other.isAscending
  }
}
