import Foundation

/// A value that the dictionaries of a fetch have under one key, or by which they are grouped.
struct DictionaryColumn {
  let name: String
  let expression: NSExpression
  let type: NSAttributeType
}

extension DictionaryColumn {
  /// Makes a column from an element of a request: a key path, a property or an expression.
  init(_ given: Any, of entity: NSEntityDescription) throws(FetchRequestError) {
    switch given {
    case let computed as NSExpressionDescription:
      guard let expression = computed.expression, !computed.name.isEmpty else {
        throw FetchRequestError(.noProperty, entity, keyPath: computed.expression?.name ?? computed.name)
      }
      self.init(name: computed.name, expression: expression, type: computed.expressionResultType)
    case let property as NSPropertyDescription: self.init(keyPath: property.name)
    case let keyPath as String: self.init(keyPath: keyPath)
    default: throw FetchRequestError(.noProperty, entity, keyPath: "\(given)")
    }
  }

  /// Makes the column of the values at the end of a key path, which are not converted.
  init(keyPath: String) {
    self.init(name: keyPath, expression: NSExpression(forKeyPath: keyPath), type: .undefinedAttributeType)
  }
}
