/// A declaration of a property, in two forms.
protocol Declaration {
  /// The form for Apple's platforms, where Core Data implements the property.
  func managed(_ access: String) -> String
  /// The form for other platforms, which calls methods of the object with its key.
  func portable(_ access: String) -> String
}

struct AttributeDeclaration: Declaration {
  let name: String
  let type: ValueType

  func managed(_ access: String) -> String {
    "@NSManaged \(access)var \(SwiftName.quoted(name)): \(type.declared)"
  }

  func portable(_ access: String) -> String {
    """
    \(access)var \(SwiftName.quoted(name)): \(type.declared) {
      get { \(type.read("\"\(name)\"")) }
      set { \(type.write("\"\(name)\"")) }
    }
    """
  }
}

struct FetchedDeclaration: Declaration {
  let name: String
  let destination: String

  func managed(_ access: String) -> String { "@NSManaged \(access)var \(SwiftName.quoted(name)): [\(destination)]" }

  func portable(_ access: String) -> String {
    """
    \(access)var \(SwiftName.quoted(name)): [\(destination)] {
      (value(forKey: "\(name)") as! [\(destination)]?) ?? []
    }
    """
  }
}
