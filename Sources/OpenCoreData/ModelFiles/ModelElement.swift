import Foundation
import FoundationXML

/// An element of a model file as it lies in the XML.
package struct ModelElement {
  /// The file it is from.
  package let file: String
  /// The line its opening tag ends in.
  package let line: Int
  /// The name of the element, such as `entity`.
  package let kind: String
  /// The attributes, as they are written.
  package let attributes: [String: String]
  /// The elements in it, in their order.
  package fileprivate(set) var children: [ModelElement] = []

  /// The root of the XML in `data`, which was read from `file`.
  static func root(of data: Data, file: String) throws(ModelFileError) -> ModelElement {
    let builder = TreeBuilder(file: file)
    let parser = XMLParser(data: data)
    parser.delegate = builder
    guard parser.parse(), let root = builder.root else {
      let code = (parser.parserError as NSError?).map { " (error \($0.code) of the XML parser)" } ?? ""
      throw ModelFileError(file: file, line: max(parser.lineNumber, 1), reason: "this is no well-formed XML\(code)")
    }
    return root
  }

  /// The elements in it of that kind.
  package func children(_ kind: String) -> [ModelElement] { children.filter { $0.kind == kind } }

  /// An error about the element.
  func error(_ reason: String) -> ModelFileError { ModelFileError(file: file, line: line, reason: reason) }

  /// Throws if there is an element in it that is none of `kinds`.
  func allow(_ kinds: Set<String>) throws(ModelFileError) {
    for child in children where !kinds.contains(child.kind) {
      throw child.error("<\(child.kind)> is not known in <\(kind)>")
    }
  }

  private final class TreeBuilder: NSObject, XMLParserDelegate {
    private let file: String
    private var open: [ModelElement] = []
    private(set) var root: ModelElement?

    init(file: String) { self.file = file }

    func parser(
      _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName qName: String?,
      attributes attributeDict: [String: String] = [:]
    ) {
      open.append(
        ModelElement(file: file, line: parser.lineNumber, kind: elementName, attributes: attributeDict))
    }

    func parser(
      _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName qName: String?
    ) {
      let closed = open.removeLast()
      if open.isEmpty { root = closed } else { open[open.count - 1].children.append(closed) }
    }
  }
}
