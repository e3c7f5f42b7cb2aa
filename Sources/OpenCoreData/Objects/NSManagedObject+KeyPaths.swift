import Foundation

extension NSManagedObject {
  /// Sets the value at the end of a key path, whose keys are separated by dots.
  ///
  /// If a key leads to a collection of objects, the value is set for each of them; if it leads to no object, nothing
  /// happens. In a composite attribute, the path leads to an element, and the other elements keep their values. Ends the
  /// program if the path leads into any other value, or to a key that the entity or the composite does not have.
  public final func setValue(_ value: Any?, forKeyPath keyPath: String) {
    let (key, rest) = keyPath.splitAtFirstDot
    guard let rest else {
      setValue(value, forKey: key)
      return
    }
    if let composite = entity.attributesByName[key] as? NSCompositeAttributeDescription {
      setValue(composite.value(self.value(forKey: key), with: value, at: rest), forKey: key)
      return
    }
    switch self.value(forKey: key) {
    case nil where entity.attributesByName[key] == nil: break
    case let object as NSManagedObject: object.setValue(value, forKeyPath: rest)
    case let objects as NSSet: set(value, at: rest, ofEach: objects.allObjects, key)
    case let objects as NSOrderedSet: set(value, at: rest, ofEach: objects.array, key)
    case let objects as [Any]: set(value, at: rest, ofEach: objects, key)
    default: cannotSet(rest, key)
    }
  }

  private final func set(_ value: Any?, at path: String, ofEach objects: [Any], _ key: String) {
    for object in objects {
      guard let object = object as? NSManagedObject else { cannotSet(path, key) }
      object.setValue(value, forKeyPath: path)
    }
  }

  private final func cannotSet(_ path: String, _ key: String) -> Never {
    fatalError(
      "\"\(path)\" cannot be set in \(entity.name ?? "").\(key), which leads neither to objects nor to a composite.")
  }
}

extension NSCompositeAttributeDescription {
  /// A value of the attribute with another value for the element at the end of a path.
  fileprivate func value(_ old: Any?, with new: Any?, at path: String) -> [String: Any]? {
    let (key, rest) = path.splitAtFirstDot
    guard let element = elements.first(where: { $0.name == key }) else {
      fatalError("The composite attribute \(name) has no element \"\(key)\".")
    }
    var values = old as? [String: Any]
    if let rest {
      guard let composite = element as? NSCompositeAttributeDescription else {
        fatalError("\"\(rest)\" cannot be set in \(name).\(key), which is no composite.")
      }
      let part = composite.value(values?[key], with: new, at: rest)
      if values != nil || part != nil { values = values ?? [:] }
      values?[key] = part
    } else {
      let fit = ManagedValue(new, of: element).anyValue(of: element.attributeType)
      if fit != nil { values = values ?? [:] }
      values?[key] = fit
    }
    return values
  }
}

extension String {
  /// The text before the first dot, and the text after it; nil for no dot.
  fileprivate var splitAtFirstDot: (String, String?) {
    guard let dot = firstIndex(of: ".") else { return (self, nil) }
    return (String(self[..<dot]), String(self[index(after: dot)...]))
  }
}
