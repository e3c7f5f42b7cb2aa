import Foundation
import FoundationXML

/// An XML element of a model file.
package struct ModelElement {
  /// The path of the file that contains the element.
  package let file: String
  /// The line in which the opening tag ends, counted from 1.
  package let line: Int
  /// The name of the element, such as `entity`.
  package let kind: String
  /// The XML attributes, as they are written in the file.
  package let attributes: [String: String]
  /// The elements inside the element, in the order of the file.
  package fileprivate(set) var children: [ModelElement] = []
  /// The text inside the element, without that inside of other elements.
  fileprivate(set) var content = ""
  /// The warnings about the whole model.
  let warnings: ModelFileWarnings

  /// The root of the XML in `data`, which was read from `file`.
  static func root(
    of data: Data, file: String, _ warnings: ModelFileWarnings
  ) throws(ModelFileError) -> ModelElement {
    let builder = TreeBuilder(file: file, warnings)
    let parser = XMLParser(data: data)
    parser.delegate = builder
    guard parser.parse(), let root = builder.root else {
      let code = (parser.parserError as NSError?).map { " (error \($0.code) of the XML parser)" } ?? ""
      throw ModelFileError(file: file, line: max(parser.lineNumber, 1), reason: "this is no well-formed XML\(code)")
    }
    return root
  }

  /// The elements of that kind directly inside the element.
  package func children(_ kind: String) -> [ModelElement] { children.filter { $0.kind == kind } }

  /// An error about the element.
  func error(_ reason: String) -> ModelFileError { ModelFileError(file: file, line: line, reason: reason) }

  /// Adds a warning about the element. The reason says what has no meaning, and what is assumed instead.
  package func warn(_ reason: String) { warnings.add(ModelFileWarning(file: file, line: line, reason: reason)) }

  /// The result of `read`. If `read` throws, adds its error as a warning together with the assumption, and returns nil.
  func assuming<Value>(_ assumption: String, _ read: @autoclosure () throws(ModelFileError) -> Value?) -> Value? {
    do throws(ModelFileError) {
      return try read()
    } catch {
      let reason = "\(error.reason); \(assumption)"
      warnings.add(ModelFileWarning(file: error.file, line: error.line, reason: reason))
      return nil
    }
  }

  /// Warns of each element inside the element that is none of `kinds`, because no reader reads it.
  func expect(_ kinds: Set<String>) {
    for child in children where !kinds.contains(child.kind) {
      child.warn("<\(child.kind)> is not known in <\(kind)>; it is passed over")
    }
  }

  private final class TreeBuilder: NSObject, XMLParserDelegate {
    private let file: String
    private let warnings: ModelFileWarnings
    private var open: [ModelElement] = []
    private(set) var root: ModelElement?

    init(file: String, _ warnings: ModelFileWarnings) {
      self.file = file
      self.warnings = warnings
    }

    func parser(
      _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName qName: String?,
      attributes attributeDict: [String: String] = [:]
    ) {
      open.append(
        ModelElement(
          file: file, line: parser.lineNumber, kind: elementName, attributes: attributeDict, warnings: warnings))
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
      if !open.isEmpty { open[open.count - 1].content += string }
    }

    func parser(
      _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName qName: String?
    ) {
      let closed = open.removeLast()
      if open.isEmpty { root = closed } else { open[open.count - 1].children.append(closed) }
    }
  }
}
